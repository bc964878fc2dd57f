"""Blocks to the parts of a result table, the same bytes however they arrive.

Rows go to parts by a hash of the first column and are sorted by all columns, so neither
bundles nor workers nor the order of input show in the files.
"""

import hashlib
import io
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import IO, Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.coders import Coder, registry
from apache_beam.typehints.decorators import no_annotations
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Column
from beam_reuse.columnar.group import bucket_slabs
from beam_reuse.columnar.scatter import Keyed, Split, hash_buckets
from beam_reuse.columnar.shuffle import MapBlocks, PutAway, Shuffle
from beam_reuse.columnar.store import Piece, Store
from beam_reuse.columnar.sums import Sums
from beam_reuse.io.files import join, open_files, written_whole
from beam_reuse.io.results.arrow_columns import Coded, nulls_first, to_arrow
from beam_reuse.io.results.reporting import ProgressReporter
from beam_reuse.io.results.tables import TableSchema

PART_ROWS = 5_000_000
GROUP_ROWS = 32_768
MOST_PARTS = 1 << 16

Receipt = tuple[str, str, int, str, str]
"""One part as Beam carries it: the fields of `manifest.Part`."""


class WriteTables(beam.PTransform):
    """{name: Blocks} -> Receipt of every part of these tables, written below `folder`.

    There is one part per `part_rows` rows, at least one, and none is missing: a part no row
    falls to is a file without rows. Equal rows give equal bytes, whatever their blocks and
    their order. Memory: about twice the shuffle's bucket budget. Rows are put away once to be
    counted, and again only where a table has several parts; all tables share one grouping, since
    each costs a step of the graph. A repeated attempt writes the same file again. Tables with a
    `folding` come as folded rows, which are unfolded when they are written.
    """

    def __init__(
        self, schemas: Mapping[str, TableSchema], shuffle: Shuffle, folder: str,
        part_rows: int = PART_ROWS, progress: str = "",
        foldings: Mapping[str, "Folding"] | None = None,
    ) -> None:
        super().__init__()
        self.shuffle = shuffle
        self.writers = {
            name: PartWriter(schema, folder, part_rows, progress, (foldings or {}).get(name))
            for name, schema in schemas.items()
        }

    @no_annotations
    def expand(self, found: Mapping[str, beam.PCollection]) -> beam.PCollection:
        writers = [self.writers[name] for name in found]
        pieces = {
            name: blocks
            | f"{name}: NullsFirst" >> MapBlocks(self.writers[name].prepared)
            | f"{name}: PutAway" >> PutAway(self.shuffle)
            for name, blocks in found.items()
        }
        rows = beam.pvalue.AsSingleton(
            [each | f"{name}: Rows" >> beam.Map(self.writers[name].rows_of, self.shuffle.store)
             .with_output_types(Sums) for name, each in pieces.items()]
            | "RowsOfAll" >> beam.Flatten()
            | "SumRows" >> beam.CombineGlobally(_AddRows()).with_output_types(Sums)
        )
        split = [
            each | f"{name}: ToParts" >> beam.ParDo(
                _ToParts(self.writers[name], self.shuffle, number * MOST_PARTS), rows)
            .with_output_types(Keyed)
            for number, (name, each) in enumerate(pieces.items())
        ]
        written = (
            split | "PartsOfAll" >> beam.Flatten()
            | "Group" >> beam.GroupByKey()
            | "WriteParts" >> beam.ParDo(_WriteParts(writers, self.shuffle), rows)
            .with_output_types(Receipt)
        )
        pipeline = next(iter(found.values())).pipeline
        missing = pipeline | "Once" >> beam.Create([None]) | "WriteEmptyParts" >> (
            beam.FlatMap(_write_missing, writers, rows, beam.pvalue.AsList(written))
            .with_output_types(Receipt)
        )
        return (written, missing) | beam.Flatten()


class WriteTable(beam.PTransform):
    """Block -> Receipt of every part of one table; see `WriteTables`."""

    def __init__(self, schema: TableSchema, shuffle: Shuffle, folder: str,
                 part_rows: int = PART_ROWS, progress: str = "") -> None:
        super().__init__()
        self.name = schema.name
        self.tables = WriteTables({schema.name: schema}, shuffle, folder, part_rows, progress)

    def default_label(self) -> str:
        return f"Write {self.name}"

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        return {self.name: blocks} | self.tables


class _AddRows(beam.CombineFn):
    """Rows by table."""

    def create_accumulator(self) -> Sums:
        return Sums()

    def add_input(self, sums: Sums, more: Sums) -> Sums:
        return Sums({**sums, **{name: sums.get(name, 0) + n for name, n in more.items()}})

    def merge_accumulators(self, accumulators: Iterable[Sums]) -> Sums:
        out = Sums()
        for sums in accumulators:
            out = self.add_input(out, sums)
        return out

    def extract_output(self, sums: Sums) -> Sums:
        return sums

    def get_accumulator_coder(self) -> Coder:
        return registry.get_coder(Sums)


class _ToParts(beam.DoFn):
    """Piece -> the parts its rows belong to, numbered from `first`. The pieces of a table that
    has one part go there as they are; only others are read, split and put away again."""

    def __init__(self, writer: "PartWriter", shuffle: Shuffle, first: int) -> None:
        self.writer, self.first = writer, first
        self.split = Split(
            replace(shuffle, buckets=MOST_PARTS), (), writer.part_of_rows, None)

    def start_bundle(self) -> None:
        self.split.start_bundle()

    @no_annotations
    def process(self, piece: Piece, rows: Sums) -> Iterator[Keyed]:
        if self.writer.parts(rows.get(self.writer.schema.name, 0)) == 1:
            yield self.first, piece
            return
        block = self.split.shuffle.store.get_block(piece)
        for part, smaller in self.split.process(block, rows):
            yield self.first + part, smaller

    def finish_bundle(self) -> Iterator[Any]:
        for keyed in self.split.finish_bundle():
            part, smaller = keyed.value
            yield keyed.with_value((self.first + part, smaller))


class _WriteParts(beam.DoFn):
    def __init__(self, writers: Sequence["PartWriter"], shuffle: Shuffle) -> None:
        self.writers, self.shuffle = writers, shuffle

    @no_annotations
    def process(self, keyed: tuple[int, Iterable[Piece]], rows: Sums) -> Iterator[Receipt]:
        number, part = divmod(keyed[0], MOST_PARTS)
        writer = self.writers[number]
        slabs = bucket_slabs(self.shuffle, keyed[1], writer.order)
        yield from writer.write(part, slabs, rows.get(writer.schema.name, 0))


@no_annotations
def _write_missing(
    _: Any, writers: Sequence["PartWriter"], rows: Sums, written: list[Receipt],
) -> Iterator[Receipt]:
    there = {path for _, path, *_ in written}
    for writer in writers:
        yield from writer.write_missing(rows.get(writer.schema.name, 0), there)


@dataclass(frozen=True)
class Folding:
    """Rows of a table that travel as one: all with the same value in the first column, in
    order. `rows` names the column with their number, `unfold` gives some rows of a block of
    folded ones, as columns; a value of the first column stands in one folded row only."""

    rows: str
    unfold: Callable[[Block, slice], Mapping[str, Column | Coded]]

    def unfolded(
        self, slabs: Iterable[Block], rows: int,
    ) -> Iterator[Mapping[str, Column | Coded]]:
        """The rows of all slabs, exactly `rows` at a time, the last time fewer."""
        held, given = Block({}), 0  # `given` rows of what is held are given already
        for slab in filter(len, slabs):
            held = Block.concat([held, slab]) if len(held) else slab
            bounds = np.append(0, np.cumsum(held.array(self.rows)))
            for start in range(given, int(bounds[-1]) - rows + 1, rows):
                low = int(np.searchsorted(bounds, start, "right")) - 1
                high = int(np.searchsorted(bounds, start + rows))
                first = start - int(bounds[low])
                yield self.unfold(held.slice(low, high), slice(first, first + rows))
                given = start + rows
            low = int(np.searchsorted(bounds, given, "right")) - 1
            held, given = held.slice(low, len(held)), given - int(bounds[low])
        if len(held):
            yield self.unfold(held, slice(given, None))


@dataclass(frozen=True)
class PartWriter:
    """Which rows belong to which part of a table, and the writing of one part.

    `progress` is the folder where workers report; '' for none.
    """

    schema: TableSchema
    folder: str
    part_rows: int = PART_ROWS
    progress: str = ""
    folding: Folding | None = None

    @property
    def order(self) -> tuple[str, ...]:
        """The columns by which what travels is sorted."""
        return self.schema.names[:1] if self.folding else self.schema.names

    def prepared(self, block: Block) -> Block:
        """Rows as they travel."""
        return block if self.folding else nulls_first(self.schema, block)

    def rows_of(self, piece: Piece, store: Store) -> Sums:
        """How many rows of the table a piece holds."""
        if self.folding is None:
            return Sums({self.schema.name: piece.rows})
        folded = store.get_block(piece).array(self.folding.rows)
        return Sums({self.schema.name: int(folded.sum())})

    def parts(self, rows: int) -> int:
        """How many parts a table of `rows` rows has."""
        return max(1, -(-rows // self.part_rows))

    def part_of_rows(self, block: Block, most: int, rows: Mapping[str, int]) -> NDArray[np.int64]:
        """The part of each row, by a hash of the first column."""
        parts = self.parts(rows[self.schema.name])
        if parts > most:
            raise ValueError(f"table {self.schema.name} would have more than {most} parts")
        return hash_buckets(block, self.schema.names[:1], parts)

    def path(self, part: int, parts: int) -> str:
        return f"{self.schema.name}/part-{part:05d}-of-{parts:05d}.parquet"

    def write(self, part: int, slabs: Iterable[Block], rows: int) -> Iterator[Receipt]:
        """Write one part from its rows in order; the file is complete when this yields."""
        if self.progress:
            ProgressReporter(self.progress).update(stage=f"writing {self.schema.name}")
        groups: Iterable[Any] = (
            self.folding.unfolded(slabs, GROUP_ROWS) if self.folding
            else regrouped(slabs, GROUP_ROWS))
        path = self.path(part, self.parts(rows))
        target = join(self.folder, path)
        with written_whole(open_files(target), target) as sink:
            count, digest = write_parquet(sink, self.schema, groups)
        yield self.schema.name, path, count, digest, ""

    def write_missing(self, rows: int, there: Container[str]) -> Iterator[Receipt]:
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
    hashed = _HashedFile(sink)
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
