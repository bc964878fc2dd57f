"""Chunks of a page: where it is cut, and the SHA-1 of every piece.

Pages are cut on their bytes. With normalisation `text` HTML is parsed instead, and what is cut is
the text that a reader sees.
"""

import hashlib
from dataclasses import dataclass

import numpy as np

from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import LEXBOR, ChunkSettings
from beam_reuse.core.text import Document, name_rows, read_html
from beam_reuse.kernels.chunks import hash_chunks, join_chunks, paragraph_starts, tag_starts

SHA1 = np.dtype("V20")
# Which bytes may follow the name of a tag, as 256 booleans.
_ENDS = np.isin(np.arange(256), list(b"\t\n\v\f\r />"))
_CLASSIC_ENDS = np.isin(np.arange(256), list(b" \t/>"))


@dataclass(frozen=True, slots=True)
class Chunks:
    """The chunks of a page in order, as equal-length columns.

    `sha1` ('V20') and `length` are of the chunk after normalising; `start` and `end`
    (uint64) are byte positions in the raw payload, where chunks touch: `end[i] == start[i + 1]`.
    Chunks of text are joined by line feeds in `text`, and positions are those in it; it is
    empty where the bytes were cut.
    """

    sha1: np.ndarray
    start: np.ndarray
    end: np.ndarray
    length: np.ndarray
    text: bytes = b""

    def __len__(self) -> int:
        return len(self.sha1)


_NO_PLACES = np.zeros(0, np.uint64)
NO_CHUNKS = Chunks(np.zeros(0, SHA1), _NO_PLACES, _NO_PLACES, _NO_PLACES)


def cuts_text(kind: Kind, settings: ChunkSettings) -> bool:
    """Whether pages of this kind are cut by their text, and so have to be decoded and parsed."""
    return settings.normalise == "text" and kind is Kind.HTML


def chunk_page(
    payload: bytes, kind: Kind, settings: ChunkSettings, text: str | None = None,
    parser: str = LEXBOR,
) -> Chunks:
    """Cut a page and hash its chunks. `text` is the decoded payload, where the setting `cuts_text`
    of this kind (see `chunk_document`), and `parser` reads it.

    HTML breaks before each start tag of `settings.tags`; text and code before each line
    that is not blank and follows a blank one (so blank lines end the chunk before them, and
    those at the start of a page are a chunk of white space). *classic* cuts every kind as
    HTML, at its own narrower tags. Always at least one chunk, except that kind OTHER has
    none unless classic. Cost: one pass to cut, one to hash; the interpreter lock is free.
    """
    if not (kind.has_chunks or settings.classic):
        return NO_CHUNKS
    if cuts_text(kind, settings):
        assert text is not None, "a page that is cut by its text, without it"
        return chunk_document(read_html(text, settings.tags, parser))
    data = np.frombuffer(payload, np.uint8)
    bounds = _bounds(data, kind, settings)
    digests, lengths = hash_chunks(data, bounds, settings.squeezes)
    places = bounds.view(np.uint64)
    return Chunks(digests.view(SHA1)[:, 0], places[:-1], places[1:], lengths.view(np.uint64))


def chunk_document(document: Document) -> Chunks:
    """The chunks of a parsed page, which was read with the settings' tags as `cutting`.

    The first begins with the text, each other one where an element of these tags starts; its
    content is the text up to the next, white space squeezed. Chunks without text do not exist.
    """
    joined, bounds = _joined(document)
    text = joined.tobytes()
    digests, lengths = hash_chunks(np.frombuffer(text, np.uint8), bounds, True)
    start, length = bounds[:-1].view(np.uint64), lengths.view(np.uint64)
    return Chunks(digests.view(SHA1)[:, 0], start, start + length, length, text[:-1])


def count_document_chunks(document: Document) -> int:
    """How many chunks `chunk_document` finds."""
    return len(_joined(document)[1]) - 1


def _joined(document: Document) -> tuple[np.ndarray, np.ndarray]:
    return join_chunks(np.frombuffer(document.text, np.uint8), document.cuts)


def count_chunks(payload: bytes, kind: Kind, settings: ChunkSettings) -> int:
    """How many chunks `chunk_page` finds in bytes; a fourth of its cost."""
    if not (kind.has_chunks or settings.classic):
        return 0
    return len(_bounds(np.frombuffer(payload, np.uint8), kind, settings)) - 1


def _bounds(data: np.ndarray, kind: Kind, settings: ChunkSettings) -> np.ndarray:
    """Where chunks start, and the end of the last."""
    if kind is Kind.HTML or settings.classic:
        ends = _CLASSIC_ENDS if settings.classic else _ENDS
        return np.asarray(tag_starts(data, name_rows(settings.tags), ends))
    return np.asarray(paragraph_starts(data))


def string_hashes(data: np.ndarray, offsets: np.ndarray, squeeze: bool = False) -> np.ndarray:
    """SHA-1 ('V20') of each `data[offsets[i]:offsets[i + 1]]`, its white space squeezed as a
    chunk's is, if asked."""
    return np.asarray(hash_chunks(data, offsets, squeeze)[0].view(SHA1)[:, 0])


def file_sha1(payload: bytes) -> bytes:
    """H(f): SHA-1 of the payload, 20 raw bytes."""
    return hashlib.sha1(payload, usedforsecurity=False).digest()
