"""The columns of page parts: how pages become columns, and how columns are read back as those of
blocks.

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

from beam_reuse.columnar.block import Column, Lists, Maybe, VarBytes
from beam_reuse.core.chunking import Chunks
from beam_reuse.core.features import (
    CHUNKS,
    LINE_TOKENS,
    LINES,
    LINKS,
    PAYLOAD,
    STORED,
    TOKENS,
    UNSTORED,
    FeatureSettings,
    PageFeatures,
    Signer,
)
from beam_reuse.core.pages import RawPage
from beam_reuse.core.settings import LEXBOR
from beam_reuse.core.text import ByteStrings
from beam_reuse.core.urls import PageName
from beam_reuse.io.crawl.declared import NOTHING, Declared

_META: dict[str, pa.DataType] = {
    "url": pa.string(), "fetched_url": pa.string(), "kind": pa.uint8(), "host": pa.string(),
    "ip": pa.string(), "site": pa.string(), "domain": pa.string(), "depth": pa.int64(),
    "timestamp": pa.int64(), "status": pa.int64(), "content_type": pa.string(),
    "charset": pa.string(), "bytes": pa.int64(), "sha1": pa.binary(20), "crawl": pa.string(),
    "file": pa.string(), "offset": pa.int64(), "record_length": pa.int64(),
    "record_id": pa.string(), "encoding_absent": pa.bool_(), "chunk_count": pa.int64(),
    "token_count": pa.int64(), "line_count": pa.int64(), "declared_canonical": pa.string(),
    "declared_date": pa.int64(),
}
# What a page may lack.
_NULLABLE = ("ip", "timestamp", "status", "content_type", "charset", "record_id", "base",
             "declared_canonical", "declared_date")
_CHUNKS = {"chunk_sha1": "V20", "chunk_start": "<u4", "chunk_end": "<u4", "chunk_length": "<u4"}
_TOKENS = {"tokens": "<u8", "images": "<u8"}
_LINES = {"lines": "<u8", "paragraphs": "<u4"}
_LINE_TOKENS = {"line_tokens": "<u4"}
HAS_TOKENS = "has_tokens"
TOKEN_PLACES = "token_places"
"""Of a part from which lines were taken: the places of its tokens among all of the page."""
PAGE_TEXT = "page_text"
# Columns of many numbers a page, and of which type.
NUMBERS = {name: np.dtype(kind) for name, kind in (
    _CHUNKS | _TOKENS | _LINES | _LINE_TOKENS | {TOKEN_PLACES: "<u4"}).items()}
REPEATED = ["host", "site", "domain", "content_type", "charset", "crawl", "file", "ip",
            "form"]
_NO_TOKENS = np.zeros(0, np.uint64)
_PARSER = b"parser"
_STRINGS = pa.list_(pa.field("element", pa.binary(), nullable=False))


def part_schema(features: FeatureSettings, parser: str = LEXBOR) -> pa.Schema:
    """Columns of a part: of each page its name and counts, and what is kept. The parser that reads
    its pages is recorded with them, if it is not the usual one."""
    text, kept = features.text, features.kept
    columns = dict(_META)
    numbers = {
        **(_CHUNKS if CHUNKS in kept else {}), **(_TOKENS if text and TOKENS in kept else {}),
        **(_LINES if text and LINES in kept else {}),
        **(_LINE_TOKENS if text and LINE_TOKENS in kept else {}),
    }
    columns |= dict.fromkeys(numbers, pa.binary())
    if CHUNKS in kept and features.chunks.normalise == "text":
        columns[PAGE_TEXT] = pa.binary()
    if text:
        of_no_page = _signatures([], features.signers)
        columns |= {name: column.type for name, column in of_no_page.items()}
    if text and LINKS in kept:
        columns |= {"links": _STRINGS, "base": pa.binary()}
    if {PAYLOAD, UNSTORED} & kept:
        columns["payload"] = pa.binary()
    if STORED in kept:
        columns |= {"stored": pa.binary(), "form": pa.string()}
    return pa.schema(
        [pa.field(name, kind, name in _NULLABLE) for name, kind in columns.items()],
        None if parser == LEXBOR else {_PARSER: parser.encode()})


def parser_of(schema: pa.Schema) -> str:
    """Which parser reads the pages of a part."""
    return str((schema.metadata or {}).get(_PARSER, LEXBOR.encode()).decode())


class Page(NamedTuple):
    """A page with its name, its features, the input it came with, and what it says of itself."""

    raw: RawPage
    name: PageName
    features: PageFeatures
    crawl: str
    file: str
    declared: Declared = NOTHING


@dataclass(frozen=True)
class PageRows:
    """Some columns of one row group of a part; `first` is the number of its first row."""

    batch: pa.RecordBatch
    first: int

    def __len__(self) -> int:
        return self.batch.num_rows

    @property
    def parser(self) -> str:
        """Which parser reads these pages."""
        return parser_of(self.batch.schema)

    def numbers(self, name: str) -> NDArray:
        """A column of one number a page, or of hashes as 'V20'."""
        return number_column(self.batch.column(name))

    def strings(self, name: str) -> VarBytes:
        """A column of strings or bytes; null is empty."""
        return string_column(self.batch.column(name))

    def maybe(self, name: str) -> Maybe:
        """A column in which null may occur."""
        return maybe_column(self.batch.column(name))

    def column(self, name: str) -> Column:
        """A column of one value a page, whatever it is."""
        return column_of(self.batch.schema.field(name), self.batch.column(name))

    def lists(self, name: str) -> Lists:
        """A column of NUMBERS, or of lists of bytes."""
        if name in NUMBERS:
            column, kind = self.strings(name), NUMBERS[name]
            return Lists(column.offsets // kind.itemsize, column.data.view(kind))
        array = self.batch.column(name)
        return Lists(_offsets(array), string_column(array.values))


# Columns of Arrow, as Parquet files have them, as columns of blocks.


def number_column(array: pa.Array) -> NDArray:
    """Numbers (0 for null), or hashes as 'V20'."""
    if pa.types.is_fixed_size_binary(array.type):
        width = array.type.byte_width
        values = np.frombuffer(array.buffers()[1] or b"", np.dtype(f"V{width}"))
        return values[array.offset : array.offset + len(array)]
    if array.null_count:
        array = array.fill_null(0)
    return array.to_numpy(zero_copy_only=False)


def string_column(array: pa.Array) -> VarBytes:
    """Strings or bytes; nothing is copied. Null is empty."""
    offsets, data = _offsets(array), array.buffers()[2]
    values = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return VarBytes(offsets - offsets[0], values[offsets[0] : offsets[-1]])


def maybe_column(array: pa.Array) -> Maybe:
    """Numbers, strings or bytes, of which some may be null."""
    values = string_column(array) if _is_bytes(array.type) else number_column(array)
    return Maybe(values, array.is_valid().to_numpy(zero_copy_only=False))


def column_of(field: pa.Field, array: pa.Array) -> Column:
    """The column of a field with one value a row."""
    if field.nullable:
        return maybe_column(array)
    return string_column(array) if _is_bytes(field.type) else number_column(array)


def _offsets(array: pa.Array) -> NDArray[np.int64]:
    """Where the strings or lists of an array begin and end."""
    offsets = np.frombuffer(array.buffers()[1], np.int32)
    return offsets[array.offset : array.offset + len(array) + 1].astype(np.int64)


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))


def page_batch(
    pages: list[Page], schema: pa.Schema, settings: FeatureSettings
) -> pa.RecordBatch:
    """The columns of `schema`, which is that of `settings`, of these pages."""
    columns = {name: pa.array(values, _META[name]) for name, values in _meta(pages).items()}
    features = [page.features for page in pages]
    if "chunk_sha1" in schema.names:
        columns |= chunk_columns([f.chunks for f in features])
        columns[PAGE_TEXT] = page_texts([f.chunks for f in features])
    for name in (*_TOKENS, *_LINES, *_LINE_TOKENS):
        if name in schema.names:
            columns[name] = _numbers([getattr(f, name) for f in features], NUMBERS[name])
    if HAS_TOKENS in schema.names:
        columns |= _signatures(features, settings.signers)
    if "links" in schema.names:
        columns["links"] = _string_lists([f.links for f in features])
        columns["base"] = pa.array([f.base or None for f in features], pa.binary())
    if "payload" in schema.names:
        every = PAYLOAD in settings.kept
        columns["payload"] = pa.array(
            [p.raw.payload if every or not p.raw.stored else b"" for p in pages], pa.binary())
    if "stored" in schema.names:
        columns["stored"] = pa.array([p.raw.stored for p in pages], pa.binary())
        columns["form"] = pa.array([p.raw.form for p in pages], pa.string())
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
    """`signature_columns` of pages: of their text's tokens and their images' after them."""
    sequences = [tokens for page in pages for tokens in (page.tokens, page.images)]
    ends = np.zeros(len(sequences) + 1, np.int64)
    np.cumsum([len(tokens) for tokens in sequences], out=ends[1:])
    return signature_columns(np.concatenate([_NO_TOKENS, *sequences]), ends[::2],
                             np.diff(ends)[::2], signers)


def signature_columns(
    tokens: NDArray[np.uint64], offsets: NDArray[np.int64], texts: NDArray[np.int64],
    signers: Sequence[Signer],
) -> dict[str, pa.Array]:
    """Signatures of pages whose tokens are tokens[offsets[i]:offsets[i + 1]], the first texts[i] of
    them of the text, and which pages have any; nothing if nobody signs."""
    if not signers:
        return {}
    return {
        HAS_TOKENS: pa.array(np.diff(offsets) > 0),
        **{name: _hashes(values) for signer in signers
           for name, values in zip(signer.names, signer.sign(tokens, offsets, texts),
                                    strict=True)},
    }


def with_images(
    text: tuple[NDArray[np.int64], NDArray[np.uint64]],
    images: tuple[NDArray[np.int64], NDArray[np.uint64]],
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """The tokens of each page, those of its images after those of its text, their offsets, and how
    many are of the text; of both kinds offsets and tokens are given."""
    (text_offsets, of_text), (image_offsets, of_images) = text, images
    texts = np.diff(text_offsets)
    if not len(of_images):
        return of_text.astype(np.uint64, copy=False), text_offsets, texts
    out = np.empty(len(of_text) + len(of_images), np.uint64)
    shift = np.repeat(image_offsets[:-1], texts)
    out[np.arange(len(of_text)) + shift] = of_text
    shift = np.repeat(text_offsets[1:], np.diff(image_offsets))
    out[np.arange(len(of_images)) + shift] = of_images
    return out, text_offsets + image_offsets, texts


def _hashes(values: NDArray) -> pa.Array:
    """A column of hashes, given as 'V20' or another width."""
    kind = pa.binary(values.dtype.itemsize)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values.view(np.uint8))])


def _meta(pages: list[Page]) -> dict[str, list]:
    rows = [
        (
            p.name.url, p.raw.fetched_url, int(p.raw.kind), p.name.host, p.raw.ip or None,
            p.name.site, p.name.domain, p.name.depth, p.raw.timestamp, p.raw.status,
            p.raw.content_type or None, p.raw.charset or None, len(p.raw.payload),
            p.features.sha1, p.crawl, p.file, p.raw.offset, p.raw.record_length,
            p.raw.record_id or None, p.raw.encoding_absent, p.features.chunk_count,
            len(p.features.tokens), p.features.line_count, *p.declared,
        )
        for p in pages
    ]
    return dict(zip(_META, map(list, zip(*rows, strict=True)), strict=True))


def _numbers(values: Sequence[NDArray], kind: np.dtype) -> pa.Array:
    ends = np.zeros(len(values) + 1, np.int32)
    np.cumsum([kind.itemsize * len(v) for v in values], out=ends[1:])
    flat = np.concatenate(values).astype(kind, copy=False)
    return _bytes(ends, flat)


def number_lists(offsets: NDArray[np.int64], values: NDArray) -> pa.Array:
    """A column of NUMBERS, of which page i has values[offsets[i]:offsets[i + 1]]."""
    return _bytes((offsets * values.dtype.itemsize).astype(np.int32), np.ascontiguousarray(values))


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
