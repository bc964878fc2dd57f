"""Chunks of a page: where it is cut, and the SHA-1 of every piece."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.kernels.chunks import hash_chunks, paragraph_starts, tag_starts

SHA1 = np.dtype("V20")
_WHITE = b"\t\n\v\f\r "


@dataclass(frozen=True, slots=True)
class Chunks:
    """The chunks of a page in order, as equal-length columns.

    `sha1` ('V20') and `length` are of the chunk after normalising; `start` and `end`
    (uint64) are byte positions in the raw payload. Chunks touch: `end[i] == start[i + 1]`.
    """

    sha1: np.ndarray
    start: np.ndarray
    end: np.ndarray
    length: np.ndarray

    def __len__(self) -> int:
        return len(self.sha1)


_NO_PLACES = np.zeros(0, np.uint64)
NO_CHUNKS = Chunks(np.zeros(0, SHA1), _NO_PLACES, _NO_PLACES, _NO_PLACES)


def chunk_page(payload: bytes, kind: Kind, settings: ChunkSettings) -> Chunks:
    """Cut a payload and hash its chunks.

    HTML breaks before each start tag of `settings.tags`; text and code before each line
    that is not blank and follows a blank one (so blank lines end the chunk before them, and
    those at the start of a page are a chunk of white space). *classic* cuts every kind as
    HTML, at its own narrower tags. Always at least one chunk, except that kind OTHER has
    none unless classic. Cost: one pass to cut, one to hash; the interpreter lock is free.
    """
    if not (kind.has_chunks or settings.classic):
        return NO_CHUNKS
    data = np.frombuffer(payload, np.uint8)
    bounds = _bounds(data, kind, settings)
    digests, lengths = hash_chunks(data, bounds, settings.normalise == "whitespace")
    places = bounds.view(np.uint64)
    return Chunks(digests.view(SHA1)[:, 0], places[:-1], places[1:], lengths.view(np.uint64))


def count_chunks(payload: bytes, kind: Kind, settings: ChunkSettings) -> int:
    """How many chunks `chunk_page` finds; a fourth of its cost."""
    if not (kind.has_chunks or settings.classic):
        return 0
    return len(_bounds(np.frombuffer(payload, np.uint8), kind, settings)) - 1


def _bounds(data: np.ndarray, kind: Kind, settings: ChunkSettings) -> np.ndarray:
    """Where chunks start, and the end of the last."""
    if kind is Kind.HTML or settings.classic:
        return np.asarray(tag_starts(data, *_tag_tables(settings)))
    return np.asarray(paragraph_starts(data))


def string_hashes(data: np.ndarray, offsets: np.ndarray, squeeze: bool = False) -> np.ndarray:
    """SHA-1 ('V20') of each `data[offsets[i]:offsets[i + 1]]`, its white space squeezed as a
    chunk's is, if asked."""
    return np.asarray(hash_chunks(data, offsets, squeeze)[0].view(SHA1)[:, 0])


def file_sha1(payload: bytes) -> bytes:
    """H(f): SHA-1 of the payload, 20 raw bytes."""
    return hashlib.sha1(payload, usedforsecurity=False).digest()


@lru_cache(maxsize=16)
def _tag_tables(settings: ChunkSettings) -> tuple[np.ndarray, np.ndarray]:
    """Tag names as rows of bytes, and which bytes may follow a name."""
    width = max(map(len, settings.tags))
    names = b"".join(tag.encode("ascii").ljust(width, b"\0") for tag in settings.tags)
    ends = np.zeros(256, np.bool_)
    ends[list(b" \t/>" if settings.classic else _WHITE + b"/>")] = True
    return np.frombuffer(names, np.uint8).reshape(-1, width), ends
