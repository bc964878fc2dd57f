"""Blocks to the parts of a result table, the same bytes however they arrive.

Rows go to parts by a hash of the first column and are sorted by all columns, so neither
bundles nor workers nor the order of input show in the files.
"""

import hashlib
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, Any

import apache_beam as beam
import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.group import ProcessBuckets
from beam_reuse.columnar.scatter import hash_buckets
from beam_reuse.columnar.shuffle import Fetch, MapBlocks, PutAway, Shuffle
from beam_reuse.columnar.store import Piece
from beam_reuse.io.files import join, open_files, written_whole
from beam_reuse.io.results.arrow_columns import nulls_first, to_arrow
from beam_reuse.io.results.reporting import ProgressReporter
from beam_reuse.io.results.tables import TableSchema

PART_ROWS = 5_000_000
GROUP_ROWS = 32_768
MOST_PARTS = 1 << 16

Receipt = tuple[str, str, int, str]
"""One part as Beam carries it: the fields of `manifest.Part`."""


class WriteTable(beam.PTransform):
    """Block -> Receipt of every part of the table `schema`, written below `folder`.

    There is one part per `part_rows` rows, at least one, and none is missing: a part no row
    falls to is a file without rows. Equal rows give equal bytes, whatever their blocks and
    their order. Memory: about twice the shuffle's bucket budget. Rows are put away once to be
    counted and travel once; a repeated attempt writes the same file again.
    """

    def __init__(self, schema: TableSchema, shuffle: Shuffle, folder: str,
                 part_rows: int = PART_ROWS, progress: str = "") -> None:
        super().__init__()
        self.writer = PartWriter(schema, folder, part_rows, progress)
        self.shuffle = shuffle

    def default_label(self) -> str:
        return f"Write {self.writer.schema.name}"

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        writer, schema = self.writer, self.writer.schema
        pieces = (
            blocks
            | "PutNullsFirst" >> MapBlocks(partial(nulls_first, schema))
            | "PutAway" >> PutAway(self.shuffle)
        )
        rows = beam.pvalue.AsSingleton(
            pieces
            | "Rows" >> beam.Map(_rows).with_output_types(int)
            | "SumRows" >> beam.CombineGlobally(sum)
        )
        written = pieces | "Fetch" >> Fetch(self.shuffle, rows) | "WriteParts" >> ProcessBuckets(
            replace(self.shuffle, buckets=MOST_PARTS), schema.names[:1], writer.write, rows,
            order=schema.names[1:], bucketer=writer.part_of_rows, bucketer_side=[rows],
            output_type=Receipt,
        )
        missing = blocks.pipeline | "Once" >> beam.Create([None]) | "WriteEmptyParts" >> (
            beam.FlatMap(writer.write_missing, rows, beam.pvalue.AsList(written))
            .with_output_types(Receipt)
        )
        return (written, missing) | beam.Flatten()


def _rows(piece: Piece) -> int:
    return piece.rows


@dataclass(frozen=True)
class PartWriter:
    """Which rows belong to which part of a table, and the writing of one part.

    `progress` is the folder where workers report; '' for none.
    """

    schema: TableSchema
    folder: str
    part_rows: int = PART_ROWS
    progress: str = ""

    def parts(self, rows: int) -> int:
        """How many parts a table of `rows` rows has."""
        return max(1, -(-rows // self.part_rows))

    def part_of_rows(self, block: Block, most: int, rows: int) -> NDArray[np.int64]:
        """The part of each row, by a hash of the first column."""
        parts = self.parts(rows)
        if parts > most:
            raise ValueError(f"table {self.schema.name}: {rows} rows are more than {most} parts")
        return hash_buckets(block, self.schema.names[:1], parts)

    def path(self, part: int, parts: int) -> str:
        return f"{self.schema.name}/part-{part:05d}-of-{parts:05d}.parquet"

    def write(self, part: int, slabs: Iterable[Block], rows: int) -> Iterator[Receipt]:
        """Write one part from its rows in order; the file is complete when this yields."""
        if self.progress:
            ProgressReporter(self.progress).update(stage=f"writing {self.schema.name}")
        path = self.path(part, self.parts(rows))
        target = join(self.folder, path)
        with written_whole(open_files(target), target) as sink:
            count, digest = write_parquet(sink, self.schema, slabs)
        yield self.schema.name, path, count, digest

    def write_missing(self, _: Any, rows: int, written: list[Receipt]) -> Iterator[Receipt]:
        """Write the parts that no row falls to."""
        there = {path for _, path, _, _ in written}
        parts = self.parts(rows)
        for part in range(parts):
            if self.path(part, parts) not in there:
                yield from self.write(part, (), rows)


def write_parquet(
    sink: IO[bytes], schema: TableSchema, slabs: Iterable[Block], group_rows: int = GROUP_ROWS
) -> tuple[int, str]:
    """Write sorted rows as one Parquet file; gives the number of rows and the file's SHA-256.

    The bytes depend on the rows and the version of pyarrow alone, not on where slabs are
    cut. Memory: one row group.
    """
    hashed = _HashedFile(sink)
    rows = 0
    with pq.ParquetWriter(hashed, schema.arrow(), version="2.6", compression="zstd",
                          store_schema=False) as writer:
        for group in _regrouped(slabs, group_rows):
            writer.write_table(to_arrow(schema, group), row_group_size=group_rows)
            rows += len(group)
    return rows, hashed.digest.hexdigest()


def _regrouped(slabs: Iterable[Block], rows: int) -> Iterator[Block]:
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


class _HashedFile(io.RawIOBase):
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
