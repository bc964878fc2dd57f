"""Tables of a run, from Rows to files: page numbers become URLs, rows are sorted into parts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.runs import row_key, rows_up_to
from beam_reuse.columnar.schema import NUMBER, TEXT, columns, gives, only
from beam_reuse.io.results.manifest import Part
from beam_reuse.io.results.table_writer import TableWriter
from beam_reuse.pages.naming import require_tables, with_urls
from beam_reuse.rows import Rows, Value
from beam_reuse.rows.nodes import by_number

_PART_BUCKETS = 24
_RECEIPT = ("table", "path", "sha256", "crc32")
RECEIPTS = columns(**dict.fromkeys(_RECEIPT, TEXT), rows=NUMBER)
RowsOfTables = Mapping[str, int]


@dataclass(frozen=True)
class Written:
    """`receipts`: a row for each file that was written (see `parts_of`). `rows`: how many rows
    each table has; parts that no row falls to are not written yet."""

    receipts: Rows
    rows: Value


def write_tables(
    tables: Mapping[str, Rows], writers: Mapping[str, TableWriter], names: Rows,
) -> Written:
    """Write all tables. Each costs a group of the last round, and none a step of the graph."""
    counts = names.plan.nothing()
    for name, rows in tables.items():
        counts += rows.map(row_count, writers[name])
    total = counts.fold(SumRows())
    schemas = {name: writers[name].schema for name in tables}
    require_tables({name: rows for name, rows in tables.items() if not writers[name].folding},
                   schemas)
    receipts = names.plan.nothing()
    for name, rows in with_urls(tables, schemas, names).items():
        writer = writers[name]
        receipts += rows.map(with_part, writer, total, name=f"part of {name}").into_buckets(
            by_number, "part", order=("part", *writer.order), kernel=write_parts,
            kernel_args=(writer, total), buckets=_PART_BUCKETS)
    return Written(receipts, total)


@gives(columns(table=TEXT, rows=NUMBER))
def row_count(block: Block, writer: TableWriter) -> Block:
    """How many rows of a table a block holds."""
    return Block({"table": VarBytes.from_list([writer.schema.name.encode()]),
                  "rows": np.array([writer.rows_of(block)])})


class SumRows:
    """{table: rows}."""

    def start(self) -> dict[str, int]:
        return {}

    def add(self, held: dict[str, int], block: Block) -> dict[str, int]:
        tables = (name.decode() for name in block.strings("table").to_list())
        return self.merge(held, dict(zip(tables, block.array("rows").tolist(), strict=True)))

    def merge(self, held: dict[str, int], other: dict[str, int]) -> dict[str, int]:
        return held | {name: held.get(name, 0) + rows for name, rows in other.items()}

    def finish(self, held: dict[str, int] | None) -> dict[str, int]:
        return held or {}


def _with_part(rows: pa.Schema, writer: TableWriter, _: Value) -> pa.Schema:
    kept = rows if writer.folding else only(rows, *writer.columns)
    return columns(kept, part=NUMBER)


@gives(_with_part)
def with_part(block: Block, writer: TableWriter, rows: RowsOfTables) -> Block:
    """Rows with the number of their part."""
    kept = block if writer.folding else block.select(writer.columns)
    return kept.with_columns(part=writer.part_of_rows(block, rows[writer.schema.name]))


@gives(RECEIPTS)
def write_parts(
    slabs: Iterator[Block], writer: TableWriter, rows: RowsOfTables,
) -> Iterator[Block]:
    """Write the parts whose rows come in order of part; a receipt for each."""
    waiting = _Ahead(slabs)
    while (part := waiting.part) is not None:
        yield receipts_of(writer.write(part, waiting.rest_of(part), rows[writer.schema.name]))


class _Ahead:
    """A stream of rows in order of their part, of which one slab is looked at ahead."""

    def __init__(self, slabs: Iterator[Block]) -> None:
        self._slabs = slabs
        self._slab = next(slabs, None)

    @property
    def part(self) -> int | None:
        """The part of the next row."""
        return None if self._slab is None else int(row_key(self._slab, 0, ("part",))[0])

    def rest_of(self, part: int) -> Iterator[Block]:
        """The rows of that part."""
        while self._slab is not None and self.part == part:
            slab = self._slab
            end = rows_up_to(slab, (part,), ("part",))
            yield slab.slice(0, end).without("part")
            self._slab = slab.slice(end, len(slab)) if end < len(slab) else next(self._slabs, None)


def receipts_of(parts: Iterator[Part]) -> Block:
    """Files that were written, as rows."""
    some = list(parts)
    return Block({
        **{name: VarBytes.from_list([getattr(each, name).encode() for each in some])
           for name in _RECEIPT},
        "rows": np.array([each.rows for each in some], np.int64),
    })


def parts_of(receipts: Block) -> list[Part]:
    """The files that rows of `receipts_of` are of."""
    table, path, sha256, crc32 = (
        [value.decode() for value in receipts.strings(name).to_list()] for name in _RECEIPT)
    return [Part(*each) for each in zip(
        table, path, receipts.array("rows").tolist(), sha256, crc32, strict=True)]
