"""Tokens and lines of a page's text, as 64-bit fingerprints.

With a fingerprint of 64 bits, n distinct keys have about n²/2⁶⁵ false matches: at 10⁹ keys
the expected number is 0.03.
"""

import re
import sys
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from beam_reuse.core.text import PLAIN_LINE_ENDS
from beam_reuse.core.urls import BadUrl, PageName, name_page, resolve_url
from beam_reuse.kernels import tokens as kernels
from beam_reuse.kernels.fingerprint import fingerprint_each

# Scripts written without spaces: each character is a token of its own.
UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),
)

_FLAGGED = {
    kernels.BY_CONTEXT: "Σİ",  # whose lower case depends on their neighbours or is not one letter
    kernels.LINE_END: "\n\f",
    kernels.PLAIN_LINE_END: f"\n{PLAIN_LINE_ENDS}",
    kernels.WHITE: "\t\n\v\f\r ",
    kernels.ENDS_LINE: "\n\r",
}


def fingerprint64(data: bytes) -> int:
    """XXH64 of one byte string. For many at once use the kernels: a call costs 2 µs."""
    return int(fingerprint_each(np.frombuffer(data, np.uint8), np.array([0, len(data)]))[0])


class ScannedText(NamedTuple):
    """Fingerprints (uint64) of the tokens of a text in order, how many of them (uint32) each of its
    lines has that is not empty, and into how many chunks it is cut if it is plain."""

    tokens: np.ndarray
    line_tokens: np.ndarray
    chunks: int

    @property
    def lines(self) -> int:
        return len(self.line_tokens)


def scan_text(text: bytes) -> ScannedText:
    """Tokens and lines of the UTF-8 text of a `Document`, whose lines end at newlines and form
    feeds. Exact for every string, encoded with `surrogatepass`.

    Tokens: `str.lower()` of the whole text, then maximal runs of `str.isalnum()`
    characters, where each character of an unspaced script is a token of its own. The interpreter
    lock is free, except on texts with Σ or İ, which Python itself has to lower.
    """
    return _scan(text, kernels.LINE_END)


def scan_plain(payload: bytes) -> ScannedText:
    """The same of plain text as it was fetched, in UTF-8, its lines by `str.splitlines()`. What is
    no UTF-8 counts as U+FFFD. A byte order mark is taken for a character."""
    return _scan(payload, kernels.PLAIN_LINE_END)


def _scan(text: bytes, line_end: int) -> ScannedText:
    data, table = np.frombuffer(text, np.uint8), _code_points()
    tokens, line_tokens, chunks, by_context = kernels.scan_text(data, table, line_end)
    if by_context:
        lowered = text.decode("utf-8", "replace").lower().encode("utf-8")
        data = np.frombuffer(lowered, np.uint8)
        tokens, line_tokens, *_ = kernels.scan_text(data, table, line_end)
    return ScannedText(tokens, line_tokens, chunks)


def count_tokens(text: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """How many tokens are in each of `text[starts[i]:ends[i]]` (int64), where no token is cut;
    `text` is UTF-8 as bytes (uint8). Some 2 ns per byte."""
    places = (each.astype(np.int64, copy=False) for each in (starts, ends))
    return np.asarray(kernels.count_tokens(text, _code_points(), *places))


def token_texts(text: bytes) -> list[str]:
    """The tokens of UTF-8 `text` themselves, in order: for people to read, at some 100 ns each.
    `scan_text` has their fingerprints."""
    found: list[str] = _token_pattern().findall(text.decode("utf-8", "surrogatepass").lower())
    return found


def token_places(text: str) -> np.ndarray:
    """Where in `text` each token is that `token_texts` finds (int64, a row each): its first
    character, and the one behind it."""
    lowered = text.lower()
    found = np.fromiter((place for match in _token_pattern().finditer(lowered)
                         for place in match.span()), np.int64).reshape(-1, 2)
    if len(lowered) == len(text):
        return found
    came_from = np.array([at for at, letter in enumerate(text)  # İ becomes two
                          for _ in letter.lower()], np.int64)
    return np.stack([came_from[found[:, 0]], came_from[found[:, 1] - 1] + 1], 1)


@lru_cache(maxsize=1)
def _token_pattern() -> re.Pattern[str]:
    alone = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED)
    return re.compile(rf"(?=[^\W_])[{alone}]|[^\W_{alone}]+")


def line_fingerprints(text: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Fingerprints (uint64) of the lines of UTF-8 `text`, and the numbers (uint32) of those
    that start a paragraph.

    Lines end at newlines and form feeds. Each is `' '.join(line.split())`; empty ones are
    dropped. A paragraph starts at the first line, after a form feed, after an empty line.
    """
    lines, starts = kernels.hash_lines(np.frombuffer(text, np.uint8), _code_points())
    return lines, np.flatnonzero(starts).astype(np.uint32)


def image_tokens(images: Collection[bytes], base: bytes | None, page: PageName) -> np.ndarray:
    """Fingerprints (uint64) of the tokens that IMG elements add, in document order."""
    if not len(images):
        return np.zeros(0, np.uint64)
    found = image_token_texts(images, base, page)
    bounds = np.zeros(len(found) + 1, np.int64)
    np.cumsum([len(token) for token in found], out=bounds[1:])
    return np.asarray(kernels.token_fingerprints(
        np.frombuffer(b"".join(found), np.uint8), bounds))


def image_token_texts(
    images: Collection[bytes], base: bytes | None, page: PageName,
) -> list[bytes]:
    """The tokens that IMG elements add, in document order.

    `images` are the values of `src`, resolved against `base` (itself against the page). On
    another host the token is the whole canonical URL, on the page's own the last component
    of the path. No token where that or `src` is empty, for `data:` and for what is no URL
    of a host.
    """
    start = page.url if base is None else resolve_url(page.url, base.decode("utf-8", "replace"))
    here = base is None
    tokens = [
        _own_token(source) if here and _PLAIN_PATH(source) else _any_token(source, start, page.host)
        for source in images
    ]
    return [token for token in tokens if token]


# Lies on the page's host for sure: no scheme, no host, no blanks to drop, some path.
_PLAIN_PATH = re.compile(rb"/?[!\"$-.0->@-~][!-9;-~]*\Z").match


def _own_token(source: bytes) -> bytes:
    path = re.split(rb"[?#]", source, maxsplit=1)[0]
    name = path.rpartition(b"/")[2]
    return b"" if name in (b".", b"..") else name


def _any_token(source: bytes, start: str, host: str) -> bytes:
    if not source.strip() or source.lstrip()[:5].lower() == b"data:":
        return b""
    resolve = _resolved_token if len(source) < 500 else _resolved_token.__wrapped__
    return resolve(source, start, host)


@lru_cache(maxsize=1 << 14)
def _resolved_token(source: bytes, start: str, host: str) -> bytes:
    try:
        image = name_page(resolve_url(start, source.decode("utf-8", "replace")))
    except BadUrl:
        return b""
    if image.host != host:
        return image.url.encode("utf-8")
    return image.url.partition("?")[0].rpartition("/")[2].encode("utf-8")


@lru_cache(maxsize=1)
def _code_points() -> np.ndarray:
    """What the kernels need to know of each code point, as this Python sees it; 4 MB.

    Lower case in the low bits; WORD or ALONE where the lower case `isalnum()`; SPACE where
    `str.split` splits; BY_CONTEXT where Python itself has to lower; the ends of lines. Built
    in about 50 ms, with one regular expression per property, because `\\w` and `\\s` are
    `isalnum()` (and `_`) and `isspace()`.
    """
    count = sys.maxunicode + 1
    everything = np.arange(count, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    lowered = everything.replace("İ", "i").lower()
    lower = np.frombuffer(lowered.encode("utf-32-le", "surrogatepass"), "<u4")
    if len(lower) != count:
        raise RuntimeError("this Python lowers another letter than İ to several; name it among "
                           "those that are BY_CONTEXT")
    flags = np.zeros(count, np.uint32)
    for run in re.finditer(r"[^\W_]+", everything):
        flags[run.start():run.end()] = kernels.WORD
    for first, last in UNSPACED:
        part = flags[first:last + 1]
        part[part == kernels.WORD] = kernels.ALONE
    table = lower | flags[lower]
    for run in re.finditer(r"\s+", everything):
        table[run.start():run.end()] |= kernels.SPACE
    for flag, letters in _FLAGGED.items():
        table[[ord(letter) for letter in letters]] |= flag
    return table.astype(np.int32)
