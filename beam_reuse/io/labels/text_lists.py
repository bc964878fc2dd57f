"""Lists that are text: one hash or, for stop chunks, one text per line."""

import re
from collections.abc import Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

from beam_reuse.core.chunking import SHA1
from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.core.stop_chunks import text_hashes
from beam_reuse.kernels.hex_lines import HASH, OTHER, read_hash_lines

STEP = 8 << 20
LONGEST_LINE = 64 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SHOWN = 60
_SPOILED = re.compile(rb"\s*[\"']?[0-9a-fA-F]{38,42}(?![0-9a-zA-Z])")


def read_hash_text(source: IO[bytes], name: str) -> Iterator[NDArray]:
    """Hashes ('V20') of a text list, in order; UserError naming the first line that is none.

    Memory: 8 MB and the longest line. Some 10 ns per line.
    """
    first = 1
    for piece in _whole_lines(source, name):
        hashes, lines, bad = read_hash_lines(np.frombuffer(piece, np.uint8), OTHER)
        if bad >= 0:
            raise UserError(
                f"{name}, line {first + bad}: {_shown(piece, bad)} is no hash; each line must hold "
                "40 hexadecimal digits, or be empty or a comment after #.")
        first += lines
        if len(hashes):
            yield hashes.view(SHA1)[:, 0]


def read_stop_text(source: IO[bytes], name: str, chunks: ChunkSettings) -> Iterator[NDArray]:
    """Hashes ('V20') of a stop list that is text: of hashes, or of texts, not of both.

    A text is a line without its line end; it is normalised and hashed as a chunk is under
    `chunks`. Lines of white space and lines that begin with `#` are neither.
    """
    first, kind, decided_at = 1, 0, 0
    for piece in _whole_lines(source, name):
        data = np.frombuffer(piece, np.uint8)
        if not kind:
            kind, decided_at = _first_kind(data, first)
        hashes, lines, bad = read_hash_lines(data, OTHER if kind == HASH else HASH)
        if bad >= 0:
            words = ("a text", "a hash") if kind == HASH else ("a hash", "a text")
            raise UserError(
                f"{name}, line {first + bad}: {_shown(piece, bad)} is {words[0]}, but line "
                f"{decided_at} is {words[1]}. Put hashes and texts into two files.")
        first += lines
        if kind == HASH:
            yield hashes.view(SHA1)[:, 0]
        elif kind == OTHER:
            texts = list(_texts(piece))
            for text in texts:
                if _SPOILED.match(text):
                    raise UserError(
                        f"{name}: {text[:_SHOWN].decode('utf-8', 'replace')!r} looks like a hash "
                        "with something beside it, and is none. A list of hashes has 40 "
                        "hexadecimal digits per line and nothing else; a list of texts, none.")
            yield text_hashes(texts, chunks)


def _first_kind(data: NDArray[np.uint8], first: int) -> tuple[int, int]:
    """What the first line of `data` that says anything is, and its number; 0, 0 if none does."""
    hashes, _, other = read_hash_lines(data, OTHER)
    _, _, hash_at = read_hash_lines(data, HASH)
    if other >= 0 and not len(hashes):
        return OTHER, first + other
    return (HASH, first + hash_at) if hash_at >= 0 else (0, 0)


def _texts(piece: bytes) -> Iterator[bytes]:
    for line in piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"):
        clean = line.strip()
        if clean and not clean.startswith(b"#"):
            yield line


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
            yield _require_text(piece[:end], name)
        rest = piece[end:]
    if rest:
        yield _require_text(rest, name)


def _require_text(piece: bytes, name: str) -> bytes:
    """The lines, unless they are of another encoding than UTF-8, or no text at all."""
    try:
        piece.decode("utf-8")
        sound = b"\0" not in piece
    except UnicodeDecodeError:
        sound = False
    if not sound:
        raise UserError(f"{name} is no text in UTF-8 (perhaps UTF-16, or binary). Save it as UTF-8 "
                        "with one entry per line, or give Parquet.")
    return piece


def _shown(piece: bytes, line: int) -> str:
    """The beginning of a line, for people."""
    text = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n", line + 1)[line]
    clean = text.strip()
    short = clean if len(clean) <= _SHOWN else clean[:_SHOWN] + b"..."
    return repr(short.decode("utf-8", "replace"))
