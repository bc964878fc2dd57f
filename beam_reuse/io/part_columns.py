"""The columns of page parts: how pages become columns, and how columns are read back.

Numbers of which a page has many (tokens, lines, chunks) are one value of bytes per page: the
numbers, little-endian, end to end. Arrow copies such a value; of a list it would look at every
number, which took eight times as long to read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.columnar.block import VarBytes
from beam_reuse.core.chunking import Chunks
from beam_reuse.core.features import (
    CHUNKS,
    LINES,
    LINKS,
    PAYLOAD,
    TOKENS,
    FeatureSettings,
    PageFeatures,
    Signer,
)
from beam_reuse.core.pages import RawPage
from beam_reuse.core.text import ByteStrings
from beam_reuse.core.urls import PageName

NO_TIME = np.iinfo(np.int64).min
NO_NUMBER = np.iinfo(np.int64).min

_META: dict[str, pa.DataType] = {
    "url": pa.string(), "fetched_url": pa.string(), "kind": pa.uint8(), "host": pa.string(),
    "ip": pa.string(), "site": pa.string(), "domain": pa.string(), "depth": pa.int64(),
    "timestamp": pa.int64(), "status": pa.int64(), "content_type": pa.string(),
    "charset": pa.string(), "bytes": pa.int64(), "sha1": pa.binary(20), "crawl": pa.string(),
    "file": pa.string(), "offset": pa.int64(), "record_length": pa.int64(),
    "record_id": pa.string(), "encoding_absent": pa.bool_(), "chunk_count": pa.int64(),
    "token_count": pa.int64(), "line_count": pa.int64(),
}
_CHUNKS = {"chunk_sha1": "V20", "chunk_start": "<u4", "chunk_end": "<u4", "chunk_length": "<u4"}
_TOKENS = {"tokens": "<u8", "images": "<u8"}
_LINES = {"lines": "<u8", "paragraphs": "<u4"}
HAS_TOKENS = "has_tokens"
PAGE_TEXT = "page_text"
# Columns of many numbers a page, and of which type.
NUMBERS = {name: np.dtype(kind) for name, kind in (_CHUNKS | _TOKENS | _LINES).items()}
REPEATED = ["host", "site", "domain", "content_type", "charset", "crawl", "file", "ip"]
_NO_TOKENS = np.zeros(0, np.uint64)
_STRINGS = pa.list_(pa.field("element", pa.binary(), nullable=False))


def part_schema(features: FeatureSettings) -> pa.Schema:
    """Columns of a part: of each page its name and counts, and what is kept."""
    text, kept = features.text, features.kept
    columns = dict(_META)
    numbers = {
        **(_CHUNKS if CHUNKS in kept else {}), **(_TOKENS if text and TOKENS in kept else {}),
        **(_LINES if text and LINES in kept else {}),
    }
    columns |= dict.fromkeys(numbers, pa.binary())
    if CHUNKS in kept and features.chunks.normalise == "text":
        columns[PAGE_TEXT] = pa.binary()
    if text:
        of_no_page = _signatures([], features.signers)
        columns |= {name: column.type for name, column in of_no_page.items()}
    if text and LINKS in kept:
        columns |= {"links": _STRINGS, "base": pa.binary()}
    if PAYLOAD in kept:
        columns["payload"] = pa.binary()
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


class Page(NamedTuple):
    """A page with its name, its features and the input it came with."""

    raw: RawPage
    name: PageName
    features: PageFeatures
    crawl: str
    file: str


@dataclass(frozen=True)
class PageRows:
    """Some columns of one row group of a part; `first` is the number of its first row."""

    batch: pa.RecordBatch
    first: int

    def __len__(self) -> int:
        return self.batch.num_rows

    def numbers(self, name: str) -> NDArray:
        """A column of one number a page, or of hashes as 'V20'."""
        array = self.batch.column(name)
        if pa.types.is_fixed_size_binary(array.type):
            width = array.type.byte_width
            values = np.frombuffer(array.buffers()[1] or b"", np.dtype(f"V{width}"))
            return values[array.offset : array.offset + len(array)]
        return array.to_numpy(zero_copy_only=False)

    def strings(self, name: str) -> VarBytes:
        """A column of strings or bytes."""
        return string_column(self.batch.column(name))

    def lists(self, name: str) -> tuple[NDArray[np.int64], NDArray]:
        """A column of NUMBERS: row i has values[offsets[i]:offsets[i + 1]]."""
        column, kind = self.strings(name), NUMBERS[name]
        return column.offsets // kind.itemsize, column.data.view(kind)


def string_column(array: pa.Array) -> VarBytes:
    """Strings or bytes of Arrow, without nulls, as a column of a block; nothing is copied."""
    offsets = np.frombuffer(array.buffers()[1], np.int32)
    offsets = offsets[array.offset : array.offset + len(array) + 1].astype(np.int64)
    data = array.buffers()[2]
    values = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return VarBytes(offsets - offsets[0], values[offsets[0] : offsets[-1]])


def page_batch(
    pages: list[Page], schema: pa.Schema, settings: FeatureSettings
) -> pa.RecordBatch:
    """The columns of `schema`, which is that of `settings`, of these pages."""
    columns = {name: pa.array(values, _META[name]) for name, values in _meta(pages).items()}
    features = [page.features for page in pages]
    if "chunk_sha1" in schema.names:
        columns |= chunk_columns([f.chunks for f in features])
        columns[PAGE_TEXT] = page_texts([f.chunks for f in features])
    for name in (*_TOKENS, *_LINES):
        if name in schema.names:
            columns[name] = _numbers([getattr(f, name) for f in features], NUMBERS[name])
    if HAS_TOKENS in schema.names:
        columns |= _signatures(features, settings.signers)
    if "links" in schema.names:
        columns["links"] = _string_lists([f.links for f in features])
        columns["base"] = pa.array([f.base or b"" for f in features], pa.binary())
    if "payload" in schema.names:
        columns["payload"] = pa.array([p.raw.payload for p in pages], pa.binary())
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def chunk_columns(pages: Sequence[Chunks]) -> dict[str, pa.Array]:
    """The chunk columns of pages."""
    return {
        name: _numbers([getattr(chunks, name.removeprefix("chunk_")) for chunks in pages],
                       NUMBERS[name])
        for name in _CHUNKS
    }


def page_texts(pages: Sequence[Chunks]) -> pa.Array:
    """The texts that chunks of pages are places in; empty where they are places in the payload."""
    return pa.array([chunks.text for chunks in pages], pa.binary())


def _signatures(
    pages: Sequence[PageFeatures], signers: Sequence[Signer]
) -> dict[str, pa.Array]:
    """Signatures of pages, of their text's tokens and their images' after them, and which pages
    have any; nothing if nobody signs."""
    if not signers:
        return {}
    sequences = [tokens for page in pages for tokens in (page.tokens, page.images)]
    ends = np.zeros(len(sequences) + 1, np.int64)
    np.cumsum([len(tokens) for tokens in sequences], out=ends[1:])
    offsets = ends[::2]
    tokens = np.concatenate([_NO_TOKENS, *sequences])
    return {
        HAS_TOKENS: pa.array(np.diff(offsets) > 0),
        **{name: _hashes(values) for signer in signers
           for name, values in zip(signer.names, signer.sign(tokens, offsets), strict=True)},
    }


def _hashes(values: NDArray) -> pa.Array:
    """A column of hashes, given as 'V20' or another width."""
    kind = pa.binary(values.dtype.itemsize)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values.view(np.uint8))])


def _meta(pages: list[Page]) -> dict[str, list]:
    rows = [
        (
            p.name.url, p.raw.fetched_url, int(p.raw.kind), p.name.host, p.raw.ip, p.name.site,
            p.name.domain, p.name.depth, NO_TIME if p.raw.timestamp is None else p.raw.timestamp,
            NO_NUMBER if p.raw.status is None else p.raw.status, p.raw.content_type,
            p.raw.charset, len(p.raw.payload), p.features.sha1, p.crawl, p.file, p.raw.offset,
            p.raw.record_length, p.raw.record_id, p.raw.encoding_absent, p.features.chunk_count,
            len(p.features.tokens), p.features.line_count,
        )
        for p in pages
    ]
    return dict(zip(_META, map(list, zip(*rows, strict=True)), strict=True))


def _numbers(values: Sequence[NDArray], kind: np.dtype) -> pa.Array:
    ends = np.zeros(len(values) + 1, np.int32)
    np.cumsum([kind.itemsize * len(v) for v in values], out=ends[1:])
    flat = np.concatenate(values).astype(kind, copy=False)
    return _bytes(ends, flat)


def _string_lists(values: list[ByteStrings]) -> pa.ListArray:
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum([len(v) for v in values], out=offsets[1:])
    ends = np.zeros(offsets[-1] + 1, np.int32)
    np.cumsum(np.concatenate([np.diff(v.offsets) for v in values]), out=ends[1:])
    data = np.concatenate([v.data for v in values])
    return pa.ListArray.from_arrays(pa.array(offsets), _bytes(ends, data), type=_STRINGS)


def _bytes(ends: NDArray[np.int32], data: NDArray) -> pa.Array:
    """A column of bytes whose values end at `ends`, the first of which is 0."""
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(data.view(np.uint8))]
    return pa.Array.from_buffers(pa.binary(), len(ends) - 1, buffers)
