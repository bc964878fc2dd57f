"""What says nothing wherever it occurs: idioms of markup without content, and empty files.

They are everywhere, so as labels they would find everything, and in shares they water down
what is found. Small on purpose: only what holds no word, no image and no attribute.
"""

import hashlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import product

import numpy as np

from beam_reuse.core.chunking import SHA1, string_hashes
from beam_reuse.core.settings import ChunkSettings

_FILLINGS = ("", "&nbsp;", "&nbsp;&nbsp;", "&#160;", "&#xa0;", "\u00a0",
             "<br>", "<br/>", "<br />", "<br><br>", "<br /><br />", "&nbsp;<br>", "<br>&nbsp;")
_CLOSERS = 3
_NO_BREAK_SPACES = 4
_LINE_ENDS = ("\n", "\r\n")


@lru_cache(maxsize=16)
def builtin_chunk_hashes(chunks: ChunkSettings) -> np.ndarray:
    """Hashes ('V20', sorted, distinct, read-only) of the idioms as chunks under `chunks`.

    The empty chunk, and for each chunk tag alone: filled with nothing, no-break spaces or
    `<br>`, closed by nothing or by up to three end tags (of `p` or `div`, which may close
    what began in an earlier chunk), in lower and in upper case. With normalise `none` also
    with the usual line ends. With `text`, where markup is no part of a chunk, the empty chunk and
    up to four no-break spaces. None under *classic*, whose lists are as published.
    """
    if chunks.classic:
        return _distinct(np.zeros(0, SHA1))
    if chunks.normalise == "text":
        return _distinct(text_hashes((text.encode() for text in _empty_texts()), chunks))
    line_ends = _LINE_ENDS if chunks.normalise == "none" else ()
    texts = (idiom + end for idiom in _idioms(chunks.tags, (" ", *line_ends))
             for end in ("", *line_ends))
    return _distinct(text_hashes((text.encode() for text in texts), chunks))


def text_hashes(texts: Iterable[bytes], chunks: ChunkSettings) -> np.ndarray:
    """The hashes ('V20') that `texts` have as chunks under `chunks`: normalised as these are."""
    pieces = list(texts)
    bounds = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum([len(piece) for piece in pieces], out=bounds[1:])
    data = np.frombuffer(b"".join(pieces), np.uint8)
    return string_hashes(data, bounds, chunks.squeezes)


@lru_cache(maxsize=1)
def builtin_file_hashes() -> np.ndarray:
    """Hashes ('V20', sorted, distinct, read-only) of files that say nothing: the empty file,
    and the robots.txt that forbids all, as it is usually spelled and with any line ends."""
    texts = [b""]
    for agent, colon, end, closing in product(
        ("User-agent", "User-Agent", "user-agent"), (": ", ":"), ("\n", "\r\n", "\r"), (0, 1, 2)
    ):
        texts.append(f"{agent}{colon}*{end}Disallow{colon}/{end * closing}".encode())
    hashes = b"".join(hashlib.sha1(text, usedforsecurity=False).digest() for text in texts)
    return _distinct(np.frombuffer(hashes, SHA1))


def _idioms(tags: tuple[str, ...], blanks: tuple[str, ...]) -> Iterator[str]:
    """Idioms in both cases, with nothing or one of `blanks` where white space may be."""
    yield ""
    for tag, filling, closing in product(tags, _FILLINGS, _closings(blanks)):
        idiom = f"<{tag}>{filling}{closing}"
        yield idiom
        yield idiom.upper().replace("&NBSP;", "&nbsp;").replace("&#XA0;", "&#xa0;")


def _empty_texts() -> Iterator[str]:
    """Nothing, and no-break spaces with nothing or a blank between them."""
    yield ""
    for count in range(_NO_BREAK_SPACES):
        for blanks in product(("", " "), repeat=count):
            yield "".join(("\u00a0", *(f"{blank}\u00a0" for blank in blanks)))


def _closings(blanks: tuple[str, ...]) -> Iterator[str]:
    yield ""
    for count in range(1, _CLOSERS + 1):
        for ends, blank in product(product(("</p>", "</div>"), repeat=count), ("", *blanks)):
            yield blank.join(ends)
            yield blank.join(("", *ends))


def _distinct(hashes: np.ndarray) -> np.ndarray:
    """`hashes` sorted, each once, read-only."""
    return np.frombuffer(b"".join(sorted({row.tobytes() for row in hashes})), SHA1)
