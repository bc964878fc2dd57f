"""A page at the edge, cut as labels ask for: the file and the chunks that count. No Beam."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from resiliparse.parse.html import HTMLTree

from beam_reuse.core.chunking import (
    Chunks,
    chunk_document,
    chunk_page,
    cuts_text,
    file_sha1,
)
from beam_reuse.core.errors import UserError
from beam_reuse.core.labels import LabelKind, LabelSettings
from beam_reuse.core.nesting import check_nesting
from beam_reuse.core.nilsimsa import digests
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import LEXBOR, ChunkSettings, StopSettings, require_parser
from beam_reuse.core.text import read_html, read_text
from beam_reuse.core.trees import parse_html
from beam_reuse.io.crawl.payload import decode_text, find_charset, tokens_between
from beam_reuse.io.crawl.rows import utf8
from beam_reuse.io.labels.loading import load_stops

_INPUT = re.compile("<[iI][nN][pP][uU][tT]")
_PASSWORD = 'input[type="password" i]'
KINDS = {kind.name.lower(): kind for kind in Kind}


@dataclass(frozen=True)
class Counted:
    """The file and the chunks of a page that count: no stop files and stop chunks. `position` are
    the places of the chunks among all of the page, `html` and `tree` what
    was parsed to cut it."""

    payload: bytes
    kind: Kind
    file: NDArray
    chunks: Chunks
    position: NDArray[np.int64]
    sha1: NDArray
    html: str = ""
    tree: HTMLTree | None = None

    @property
    def has_password(self) -> bool:
        """Whether a page that was parsed asks for a password."""
        return (self.tree is not None and _INPUT.search(self.html) is not None
                and self.tree.document.query_selector(_PASSWORD) is not None)

    def chunk(self, at: int, settings: ChunkSettings) -> bytes:
        """What was hashed of a chunk that counts."""
        place = self.position[at]
        chunk = (self.chunks.text or self.payload)[self.chunks.start[place]:self.chunks.end[place]]
        return b" ".join(chunk.split()) if settings.squeezes else chunk

    def digests(self, at: NDArray[np.int64], settings: ChunkSettings) -> NDArray:
        """The Nilsimsa digests of chunks that count."""
        place = self.position[at]
        return digests(self.chunks.text or self.payload, self.chunks.start[place],
                       self.chunks.end[place], settings)


class Cutter:
    """Cuts pages as `settings` say, and leaves out what stops: short chunks, stop lists, and chunks
    of the hashes `generic` ('V20'). Chunks of text are those that `parser` finds."""

    def __init__(
        self, settings: LabelSettings, stops: StopSettings, generic: NDArray | None = None,
        parser: str = LEXBOR,
    ) -> None:
        require_parser(parser)
        self.settings, self._parser = settings, parser
        chunks = settings.chunks
        self._stops = {LabelKind.FILE: load_stops(chunks, stops, LabelKind.FILE),
                       LabelKind.CHUNK: load_stops(chunks, stops, LabelKind.CHUNK, generic)}

    def count(self, page: bytes | str, kind: str | Kind, charset: str) -> Counted:
        """The file and the chunks of a page that count; `TooDeep` for HTML that no parser should
        see. Cost: that of cutting and hashing, and where chunks are text that of parsing."""
        payload, kind, found = _payload(page), _kind(kind), "utf-8"
        html, tree = "", None
        chunked = self.settings.chunks
        if chunked.normalise == "text" and not isinstance(page, str):
            found = find_charset(payload, kind, charset)
        if cuts_text(kind, chunked):
            check_nesting(payload, found)
            html = decode_text(payload, found)
            tree = parse_html(html)
            document = (read_text(tree, len(html), chunked.tags) if self._parser == LEXBOR
                        else read_html(html, chunked.tags, self._parser))
            chunks = chunk_document(document)
        else:
            chunks = chunk_page(payload, kind, chunked)
        counts = chunks.length >= self.settings.min_chunk_bytes
        counts &= ~self._stops[LabelKind.CHUNK].contain(chunks.sha1)
        if self.settings.min_chunk_tokens:
            places = chunks.start.astype(np.int64), chunks.end.astype(np.int64)
            tokens = (tokens_between(payload, *places, found) if tree is None
                      else tokens_between(chunks.text, *places, "utf-8"))
            counts &= tokens >= self.settings.min_chunk_tokens
        file = np.frombuffer(file_sha1(payload), "V20")
        file = file[~self._stops[LabelKind.FILE].contain(file)]
        position = np.flatnonzero(counts)
        return Counted(payload, kind, file, chunks, position, chunks.sha1[position], html, tree)


def one_by_one(hashes: NDArray) -> list[bytes]:
    """The hashes of an array as bytes; some ten times as fast as asking for each."""
    every, width = hashes.tobytes(), hashes.itemsize
    return [every[at:at + width] for at in range(0, len(every), width)]


def _kind(kind: str | Kind) -> Kind:
    if isinstance(kind, Kind):
        return kind
    if kind not in KINDS:
        raise UserError(f"kind {kind!r} is not known; it must be one of {', '.join(KINDS)}.")
    return KINDS[kind]


def _payload(page: bytes | str) -> bytes:
    return utf8(page) if isinstance(page, str) else page
