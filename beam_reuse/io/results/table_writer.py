"""Rows to the parts of a result table, the same bytes however they arrive. No Beam.

Rows go to parts by a hash of the first column and are sorted by all columns, so neither
bundles nor workers nor the order of input show in the files.
"""

import hashlib
import io
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Column
from beam_reuse.columnar.splitting import hash_buckets
from beam_reuse.io.files import join, open_files, written_whole
from beam_reuse.io.results.arrow_columns import Coded, to_arrow
from beam_reuse.io.results.folding import FoldedRows
from beam_reuse.io.results.manifest import Part
from beam_reuse.io.results.reporting import ProgressReporter
from beam_reuse.io.results.tables import TableSchema

PART_ROWS = 5_000_000
GROUP_ROWS = 32_768


@dataclass(frozen=True)
class TableWriter:
    """Which rows belong to which part of a table, and the writing of one part.

    `progress` is the folder where workers report; '' for none.
    """

    schema: TableSchema
    folder: str
    part_rows: int = PART_ROWS
    progress: str = ""
    folding: FoldedRows | None = None

    @property
    def order(self) -> tuple[str, ...]:
        """The columns by which what travels is sorted."""
        if self.folding:
            return self.schema.names[:1]
        return tuple(self.schema.numbers.get(name, name) for name in self.schema.names)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of rows that travel, if they are not folded."""
        return *self.schema.names, *self.schema.numbers.values()

    def rows_of(self, block: Block) -> int:
        """How many rows of the table a block holds."""
        return int(self.folding.counts(block).sum()) if self.folding else len(block)

    def parts(self, rows: int) -> int:
        """How many parts a table of `rows` rows has."""
        return max(1, -(-rows // self.part_rows))

    def part_of_rows(self, block: Block, rows: int) -> NDArray[np.int64]:
        """The part of each row of a table that has so many, by a hash of the first column."""
        return hash_buckets(block, self.schema.names[:1], self.parts(rows))

    def path(self, part: int, parts: int) -> str:
        return f"{self.schema.name}/part-{part:05d}-of-{parts:05d}.parquet"

    def write(self, part: int, slabs: Iterable[Block], rows: int) -> Iterator[Part]:
        """Write one part from its rows in order; the file is complete when this yields."""
        if self.progress:
            ProgressReporter(self.progress).update(stage=f"writing {self.schema.name}")
        groups: Iterable[Any] = (
            self.folding.unfolded(slabs, self.schema, GROUP_ROWS) if self.folding
            else regrouped(slabs, GROUP_ROWS))
        path = self.path(part, self.parts(rows))
        target = join(self.folder, path)
        with written_whole(open_files(target), target) as sink:
            count, digest = write_parquet(sink, self.schema, groups)
        yield Part(self.schema.name, path, count, digest)

    def write_missing(self, rows: int, there: Container[str]) -> Iterator[Part]:
        """Write the parts that no row falls to: those that are not `there`."""
        parts = self.parts(rows)
        for part in range(parts):
            if self.path(part, parts) not in there:
                yield from self.write(part, (), rows)


def write_parquet(
    sink: IO[bytes], schema: TableSchema,
    groups: Iterable[Block | Mapping[str, Column | Coded]],
) -> tuple[int, str]:
    """Write sorted rows as one Parquet file, a row group for each group of them; gives the number
    of rows and the file's SHA-256. The bytes depend on the groups and the version of pyarrow
    alone. Memory: one group.
    """
    hashed = HashedFile(sink)
    rows = 0
    strings = [column.name for column in schema.columns if pa.types.is_string(column.type)]
    tables = (to_arrow(schema, group) for group in groups)
    first = next(tables, None)
    with pq.ParquetWriter(hashed, schema.arrow() if first is None else first.schema,
                          version="2.6", compression="zstd", use_dictionary=strings,
                          store_schema=False, write_page_checksum=True) as writer:
        for table in (() if first is None else chain([first], tables)):
            writer.write_table(table, row_group_size=max(table.num_rows, 1))
            rows += table.num_rows
    return rows, hashed.digest.hexdigest()


def regrouped(slabs: Iterable[Block], rows: int) -> Iterator[Block]:
    """The same rows in blocks of exactly `rows`, the last one shorter."""
    held: list[Block] = []
    count = 0
    for slab in slabs:
        held.append(slab)
        count += len(slab)
        if count >= rows:
            block = Block.concat(held)
            whole = count - count % rows
            for start in range(0, whole, rows):
                yield block.slice(start, start + rows)
            held, count = [block.slice(whole, count)], count - whole
    if count:
        yield Block.concat(held)


class HashedFile(io.RawIOBase):
    """Passes bytes on and digests them; closing it leaves the file below open."""

    def __init__(self, below: IO[bytes]) -> None:
        self.below = below
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data)
        self.below.write(view)
        self.digest.update(view)
        return view.nbytes
