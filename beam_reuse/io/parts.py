"""Page parts: pages with their features as Parquet files, the spine of every run.

A part holds the pages of one input range, in the order they were read, in row groups of
about ROW_GROUP_BYTES of payload. Whatever needs pages afterwards reads the columns it needs
from parts, never the crawl again. An index is a folder of parts.
"""

import os
import uuid
from collections.abc import Collection, Iterator, Sequence
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from beam_reuse.columnar.store import full_disk_told
from beam_reuse.core.features import FeatureSettings
from beam_reuse.core.settings import LEXBOR
from beam_reuse.io.files import is_local, join, open_files
from beam_reuse.io.part_columns import NUMBERS, REPEATED, Page, PageRows, page_batch, part_schema

ROW_GROUP_BYTES = 8 << 20
ROW_GROUP_ROWS = 20_000
READ_BYTES = 8 << 20


class PartWriter:
    """Writes pages to one part; memory is one row group. Use as a context manager.

    The file appears at `path` whole, when the block ends without an error; with no page
    added there is no file. Equal pages in equal order give equal bytes.
    """

    def __init__(self, path: str, features: FeatureSettings, parser: str = LEXBOR) -> None:
        self.rows = 0
        self._path = path
        self._files = open_files(path)
        self._temporary = f"{path}.{uuid.uuid4().hex}.tmp"
        self._features, self._schema = features, part_schema(features, parser)
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
            self._writer.write_batch(page_batch(
                self._pages, self._schema, self._features), row_group_size=1 << 40)
        self._pages, self._bytes = [], 0

    def _rename(self) -> None:
        if is_local(self._path):
            os.replace(self._temporary, self._path)
        else:
            self._files.move(self._temporary, self._path)


def part_writer(sink: IO[bytes], schema: pa.Schema) -> pq.ParquetWriter:
    """A Parquet writer for parts: hashes as they are, everything else compressed. What the schema
    says beside its columns is written, too."""
    leaves = _leaves(schema)
    packed = [leaf for leaf in leaves if leaf not in NUMBERS]
    return pq.ParquetWriter(
        sink, schema, version="2.6", store_schema=bool(schema.metadata), write_statistics=False,
        compression=dict.fromkeys(leaves, "none") | dict.fromkeys(packed, "zstd"),
        compression_level=dict.fromkeys(packed, 1), use_dictionary=REPEATED,
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


def has_columns(path: str, names: Collection[str]) -> bool:
    """Whether a part has all these columns; reads its end alone."""
    with open_files(path).open(path) as source:
        return set(names) <= set(pq.read_schema(source).names)


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


def part_path(folder: str, number: int) -> str:
    """Where the part of range `number` is in a folder of parts."""
    return join(folder, f"part-{number:07d}.parquet")


def _leaves(schema: pa.Schema) -> list[str]:
    return [
        f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name
        for field in schema
    ]
