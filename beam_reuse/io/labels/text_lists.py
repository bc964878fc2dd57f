"""Lists that are text: one hash or, for stop chunks, one text per line."""

import re
from collections.abc import Iterator
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.core.stop_chunks import text_hashes
from beam_reuse.io.labels.batches import HEX_DIGITS, hashes_of_hex

STEP = 8 << 20
LONGEST_LINE = 64 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SHOWN = 60
_HASH = r"^[\t-\r ]*[0-9a-fA-F]{40}([\t-\r ]+(#.*)?)?$"
_NOTHING = r"^[\t-\r ]*(#.*)?$"
_SPOILED = re.compile(rb"\s*[\"']?[0-9a-fA-F]{38,42}(?![0-9a-zA-Z])")


class _SomeLines(NamedTuple):
    """Some lines of a list: the hashes ('V20') and the texts (anything else that says something)
    among them, each with the numbers of their lines."""

    hashes: NDArray
    hash_at: NDArray[np.int64]
    texts: list[bytes]
    text_at: NDArray[np.int64]


def read_hash_text(source: IO[bytes], name: str) -> Iterator[NDArray]:
    """Hashes ('V20') of a text list, in order; UserError naming the first line that is none.

    Memory: some 8 MB and the longest line. Some 40 ns per line, and 250 ns with comments or blanks.
    """
    for lines in _read(source, name):
        if lines.texts:
            raise UserError(
                f"{name}, line {lines.text_at[0]}: {_shown(lines.texts[0])} is no hash; each line "
                "must hold 40 hexadecimal digits, or be empty or a comment after #.")
        if len(lines.hashes):
            yield lines.hashes


def read_stop_text(source: IO[bytes], name: str, chunks: ChunkSettings) -> Iterator[NDArray]:
    """Hashes ('V20') of a stop list that is text: of hashes, or of texts, not of both.

    A text is a line without its line end; it is normalised and hashed as a chunk is under
    `chunks`. Lines of white space and lines that begin with `#` are neither.
    """
    first_hash = first_text = 0
    for lines in _read(source, name):
        first_hash = first_hash or int(next(iter(lines.hash_at), 0))
        first_text = first_text or int(next(iter(lines.text_at), 0))
        if first_hash and first_text:
            after_texts = first_text < first_hash
            said, before = ("a hash", "a text") if after_texts else ("a text", "a hash")
            shown = lines.hashes[0].tobytes().hex().encode() if after_texts else lines.texts[0]
            raise UserError(
                f"{name}, line {max(first_hash, first_text)}: {_shown(shown)} is {said}, but line "
                f"{min(first_hash, first_text)} is {before}. Put hashes and texts into two files.")
        for text in lines.texts:
            if _SPOILED.match(text):
                raise UserError(
                    f"{name}: {text[:_SHOWN].decode('utf-8', 'replace')!r} looks like a hash "
                    "with something beside it, and is none. A list of hashes has 40 "
                    "hexadecimal digits per line and nothing else; a list of texts, none.")
        yield text_hashes(lines.texts, chunks) if first_text else lines.hashes


def _read(source: IO[bytes], name: str) -> Iterator[_SomeLines]:
    """The lines of a list, some at a time."""
    first = 1
    for piece in _whole_lines(source, name):
        lines = _plain_hashes(piece, first) or _any_lines(piece, first)
        yield lines
        first += piece.count(b"\n")


def _plain_hashes(piece: bytes, first: int) -> _SomeLines | None:
    """Lines that are a hash each and nothing else; None if one is not."""
    width = HEX_DIGITS + 1
    if len(piece) % width or piece[HEX_DIGITS::width].strip(b"\n"):
        return None
    hashes = hashes_of_hex(piece)
    if len(hashes) * width != len(piece):
        return None
    return _SomeLines(hashes, np.arange(first, first + len(hashes)), [], np.zeros(0, np.int64))


def _any_lines(piece: bytes, first: int) -> _SomeLines:
    """Lines that may have blanks around a hash, and a comment behind it; or be texts."""
    lines = pc.split_pattern(pa.array([piece.decode().removesuffix("\n")]), "\n").flatten()
    is_hash = pc.match_substring_regex(lines, _HASH)
    is_text = pc.and_not(pc.invert(is_hash), pc.match_substring_regex(lines, _NOTHING))
    hashes = pc.ascii_ltrim_whitespace(lines.filter(is_hash))
    digits = pc.utf8_slice_codeunits(hashes, 0, HEX_DIGITS)
    return _SomeLines(
        hashes_of_hex("".join(digits.to_pylist()).encode()),
        pc.indices_nonzero(is_hash).to_numpy().astype(np.int64) + first,
        lines.filter(is_text).cast(pa.binary()).to_pylist(),
        pc.indices_nonzero(is_text).to_numpy().astype(np.int64) + first)


def _whole_lines(source: IO[bytes], name: str) -> Iterator[bytes]:
    """The file in pieces that end where a line ends."""
    rest = source.read(len(_BYTE_ORDER_MARK)).removeprefix(_BYTE_ORDER_MARK)
    while read := source.read(STEP):
        piece = rest + read
        end = piece.rfind(b"\n") + 1
        if not end and len(piece) > LONGEST_LINE:
            raise UserError(f"{name}: a line of more than {LONGEST_LINE >> 20} MB is neither a "
                            "hash nor a text. Give Parquet, or text with one hash per line.")
        if end:
            yield _text(piece[:end], name)
        rest = piece[end:]
    if rest:
        yield _text(rest, name)


def _text(piece: bytes, name: str) -> bytes:
    """The lines with one kind of line end, unless they are of another encoding than UTF-8, or no
    text at all."""
    try:
        piece.decode("utf-8")
        sound = b"\0" not in piece
    except UnicodeDecodeError:
        sound = False
    if not sound:
        raise UserError(f"{name} is no text in UTF-8 (perhaps UTF-16, or binary). Save it as UTF-8 "
                        "with one entry per line, or give Parquet.")
    return piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _shown(line: bytes) -> str:
    """The beginning of a line, for people."""
    clean = line.strip()
    short = clean if len(clean) <= _SHOWN else clean[:_SHOWN] + b"..."
    return repr(short.decode("utf-8", "replace"))
