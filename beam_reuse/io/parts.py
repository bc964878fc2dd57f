"""Page parts: pages with their features as Parquet files, the spine of every run.

A part holds the pages of one input range, in the order they were read, in row groups of
about ROW_GROUP_BYTES of payload. Whatever needs pages afterwards reads the columns it needs
from parts, never the crawl again. An index is a folder of parts.
"""

import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from beam_reuse.columnar.block import VarBytes
from beam_reuse.columnar.store import full_disk_told
from beam_reuse.core.chunking import Chunks
from beam_reuse.core.features import (
    CHUNKS,
    LINES,
    LINKS,
    PAYLOAD,
    FeatureSettings,
    PageFeatures,
)
from beam_reuse.core.pages import RawPage
from beam_reuse.core.text import ByteStrings
from beam_reuse.core.urls import PageName
from beam_reuse.io.files import is_local, join, open_files

ROW_GROUP_BYTES = 8 << 20
ROW_GROUP_ROWS = 20_000
READ_BYTES = 8 << 20
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
_CHUNKS: dict[str, pa.DataType] = {
    "chunk_sha1": pa.binary(20), "chunk_start": pa.uint32(), "chunk_end": pa.uint32(),
    "chunk_length": pa.uint32(),
}
_TOKENS: dict[str, pa.DataType] = {"tokens": pa.uint64(), "images": pa.uint64()}
_LINES: dict[str, pa.DataType] = {"lines": pa.uint64(), "paragraphs": pa.uint32()}
_LINKS: dict[str, pa.DataType] = {"links": pa.binary()}
_NUMPY = {pa.uint32(): np.uint32, pa.uint64(): np.uint64}
_REPEATED = ["host", "site", "domain", "content_type", "charset", "crawl", "file", "ip"]
_DENSE = [f"{name}.list.element" for name in (*_CHUNKS, *_TOKENS, *_LINES)]


def part_schema(features: FeatureSettings) -> pa.Schema:
    """Columns of a part: of each page its name and counts, and what is kept."""
    text, kept = features.text, features.kept
    lists = {
        **(_CHUNKS if CHUNKS in kept else {}), **(_TOKENS if text else {}),
        **(_LINES if text and LINES in kept else {}), **(_LINKS if text and LINKS in kept else {}),
    }
    fields = [pa.field(name, kind, nullable=False) for name, kind in _META.items()]
    fields += [pa.field(name, _list_of(kind), nullable=False) for name, kind in lists.items()]
    if "links" in lists:
        fields.append(pa.field("base", pa.binary(), nullable=False))
    if PAYLOAD in kept:
        fields.append(pa.field("payload", pa.binary(), nullable=False))
    return pa.schema(fields)


@dataclass(frozen=True)
class Page:
    """A page with its name, its features and the input it came with."""

    raw: RawPage
    name: PageName
    features: PageFeatures
    crawl: str
    file: str


class PartWriter:
    """Writes pages to one part; memory is one row group. Use as a context manager.

    The file appears at `path` whole, when the block ends without an error; with no page
    added there is no file. Equal pages in equal order give equal bytes.
    """

    def __init__(self, path: str, features: FeatureSettings) -> None:
        self.rows = 0
        self._path = path
        self._files = open_files(path)
        self._temporary = f"{path}.{uuid.uuid4().hex}.tmp"
        self._schema = part_schema(features)
        self._writer: pq.ParquetWriter | None = None
        self._pages: list[Page] = []
        self._bytes = 0

    def add(self, page: Page) -> None:
        self._pages.append(page)
        self._bytes += len(page.raw.payload)
        self.rows += 1
        if self._bytes >= ROW_GROUP_BYTES or len(self._pages) >= ROW_GROUP_ROWS:
            self._flush()

    def __enter__(self) -> "PartWriter":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self._pages:
            self._flush()
        if self._writer is not None:
            with full_disk_told(os.path.dirname(self._path)):
                self._writer.close()
                self._sink.close()
            if kind is None:
                self._rename()
            else:
                self._files.delete([self._temporary])

    def _flush(self) -> None:
        with full_disk_told(os.path.dirname(self._path)):
            if self._writer is None:
                self._sink = self._files.create(self._temporary)
                self._writer = part_writer(self._sink, self._schema)
            self._writer.write_batch(_batch(self._pages, self._schema), row_group_size=1 << 40)
        self._pages, self._bytes = [], 0

    def _rename(self) -> None:
        if is_local(self._path):
            os.replace(self._temporary, self._path)
        else:
            self._files.move(self._temporary, self._path)


@dataclass(frozen=True)
class PageRows:
    """Some columns of one row group of a part; `first` is the number of its first row."""

    batch: pa.RecordBatch
    first: int

    def __len__(self) -> int:
        return self.batch.num_rows

    def numbers(self, name: str) -> NDArray:
        """A column of numbers, or of hashes as 'V20'."""
        return _flat(self.batch.column(name))

    def strings(self, name: str) -> VarBytes:
        """A column of strings or bytes."""
        return string_column(self.batch.column(name))

    def lists(self, name: str) -> tuple[NDArray[np.int64], NDArray]:
        """A column of lists: row i has values[offsets[i]:offsets[i + 1]]."""
        array = self.batch.column(name)
        offsets = array.offsets.to_numpy().astype(np.int64)
        return offsets - offsets[0], _flat(array.flatten())


def part_writer(sink: IO[bytes], schema: pa.Schema) -> pq.ParquetWriter:
    """A Parquet writer for parts: hashes as they are, everything else compressed."""
    leaves = _leaves(schema)
    packed = [leaf for leaf in leaves if leaf not in _DENSE]
    return pq.ParquetWriter(
        sink, schema, version="2.6", store_schema=False, write_statistics=False,
        compression=dict.fromkeys(leaves, "none") | dict.fromkeys(packed, "zstd"),
        compression_level=dict.fromkeys(packed, 1), use_dictionary=_REPEATED,
    )


def read_part(
    path: str, columns: Sequence[str], wanted: NDArray[np.int64] | None = None,
) -> Iterator[PageRows]:
    """The columns of a part, about READ_BYTES of them at a time; only these columns are read, and
    with `wanted`, row numbers in order, only row groups that have one of them."""
    with open_files(path).open(path) as source:
        part = pq.ParquetFile(source)
        for first, groups in _read_together(part.metadata, columns, wanted):
            table = part.read_row_groups(groups, columns=list(columns), use_threads=False)
            batches = table.combine_chunks().to_batches()
            if batches:
                yield PageRows(batches[0], first)


def _read_together(
    metadata: pq.FileMetaData, columns: Sequence[str], wanted: NDArray[np.int64] | None,
) -> Iterator[tuple[int, list[int]]]:
    """Neighbouring row groups that are read at once, after the number of their first row. Hashes
    of some hundred pages are few: most of the time would go for each time, not for each hash."""
    asked = [at for at in range(metadata.num_columns)
             if metadata.schema.column(at).path.partition(".")[0] in columns]
    groups: list[int] = []
    row = first = held = 0
    for group in range(metadata.num_row_groups):
        chunks = metadata.row_group(group)
        after = row + chunks.num_rows
        if wanted is None or np.diff(np.searchsorted(wanted, (row, after)))[0]:
            size = sum(chunks.column(at).total_uncompressed_size for at in asked)
            if groups and (groups[-1] != group - 1 or held + size > READ_BYTES):
                yield first, groups
                groups = []
            if not groups:
                first, held = row, 0
            groups.append(group)
            held += size
        row = after
    if groups:
        yield first, groups


def string_column(array: pa.Array) -> VarBytes:
    """Strings or bytes of Arrow, without nulls, as a column of a block; nothing is copied."""
    offsets = np.frombuffer(array.buffers()[1], np.int32)
    offsets = offsets[array.offset : array.offset + len(array) + 1].astype(np.int64)
    data = array.buffers()[2]
    values = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return VarBytes(offsets - offsets[0], values[offsets[0] : offsets[-1]])


def part_path(folder: str, number: int) -> str:
    """Where the part of range `number` lies in a folder of parts."""
    return join(folder, f"part-{number:07d}.parquet")


def chunk_columns(pages: list[Chunks]) -> dict[str, pa.Array]:
    """The chunk columns of pages."""
    return {
        name: _lists([getattr(chunks, name.removeprefix("chunk_")) for chunks in pages], kind)
        for name, kind in _CHUNKS.items()
    }


def _leaves(schema: pa.Schema) -> list[str]:
    return [
        f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name
        for field in schema
    ]


def _batch(pages: list[Page], schema: pa.Schema) -> pa.RecordBatch:
    columns = {name: pa.array(values, _META[name]) for name, values in _meta(pages).items()}
    features = [page.features for page in pages]
    if "chunk_sha1" in schema.names:
        columns |= chunk_columns([f.chunks for f in features])
    for name, kind in {**_TOKENS, **_LINES}.items():
        if name in schema.names:
            columns[name] = _lists([getattr(f, name) for f in features], kind)
    if "links" in schema.names:
        columns["links"] = _string_lists([f.links for f in features])
        columns["base"] = pa.array([f.base or b"" for f in features], pa.binary())
    if "payload" in schema.names:
        columns["payload"] = pa.array([p.raw.payload for p in pages], pa.binary())
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


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


def _list_of(kind: pa.DataType) -> pa.ListType:
    return pa.list_(pa.field("element", kind, nullable=False))


def _lists(values: list[NDArray], kind: pa.DataType) -> pa.ListArray:
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum([len(v) for v in values], out=offsets[1:])
    flat = np.concatenate(values)
    if pa.types.is_fixed_size_binary(kind):
        inner = pa.Array.from_buffers(kind, len(flat), [None, pa.py_buffer(flat.tobytes())])
    else:
        inner = pa.array(flat.astype(_NUMPY[kind], copy=False), kind)
    return pa.ListArray.from_arrays(pa.array(offsets), inner, type=_list_of(kind))


def _string_lists(values: list[ByteStrings]) -> pa.ListArray:
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum([len(v) for v in values], out=offsets[1:])
    ends = np.zeros(offsets[-1] + 1, np.int32)
    np.cumsum(np.concatenate([np.diff(v.offsets) for v in values]), out=ends[1:])
    data = np.concatenate([v.data for v in values])
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(data)]
    inner = pa.Array.from_buffers(pa.binary(), int(offsets[-1]), buffers)
    return pa.ListArray.from_arrays(pa.array(offsets), inner, type=_list_of(pa.binary()))


def _flat(array: pa.Array) -> NDArray:
    if pa.types.is_fixed_size_binary(array.type):
        width = array.type.byte_width
        values = np.frombuffer(array.buffers()[1] or b"", np.dtype(f"V{width}"))
        return values[array.offset : array.offset + len(array)]
    return array.to_numpy(zero_copy_only=False)
