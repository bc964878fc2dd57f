"""From page numbers back to URLs, once for all tables.

Rows of tables wait, sealed, while the pages of each block ask for their names; then a block is
opened and gets those of all its columns. So a name travels once for each block that asks for it,
however many rows and columns that has.
"""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Column, Lists, Maybe, VarBytes
from beam_reuse.columnar.matching import lookup, match_ranges
from beam_reuse.columnar.schema import BYTES, NOTHING, PAGE, TEXT, columns, gives, only, raw
from beam_reuse.io.results.arrow_columns import require_rows
from beam_reuse.io.results.tables import TableSchema
from beam_reuse.rows import Rows, Tagged
from beam_reuse.rows.declared import made_by

ASKED = "asked"
SEALED = columns(block=raw(16), table=TEXT, content=BYTES)
ASKED_PAGES = columns(page=PAGE, block=raw(16))


def require_tables(tables: Mapping[str, Rows], schemas: Mapping[str, TableSchema]) -> None:
    """Refuse rows that are declared to have other columns than their tables."""
    for name, rows in tables.items():
        if rows.columns is not None:
            require_rows(schemas[name], rows.columns, made_by(rows.outputs))


def with_urls(
    tables: Mapping[str, Rows], schemas: Mapping[str, TableSchema], names: Rows,
) -> dict[str, Rows]:
    """The tables with URLs where their page columns have numbers, which are then in columns beside
    (`TableSchema.numbers`); `names` has `page` and `url`."""
    paged = [name for name in tables if page_columns(schemas[name])]
    sealed = names.plan.nothing()
    for name in paged:
        sealed += tables[name].map(seal, schemas[name])
    if not paged:
        return dict(tables)
    answers = sealed.tagged(ASKED).join(names, "page", answer)
    opened = sealed.join(answers, "block", open_blocks, {
        name: _Waiting(schemas[name], tables[name].columns) for name in paged})
    return {name: opened.tagged(name) if name in paged else rows for name, rows in tables.items()}


class _Waiting(NamedTuple):
    """A table whose rows wait, and the columns that are declared of them, if they are."""

    schema: TableSchema
    declared: pa.Schema | None


def page_columns(schema: TableSchema) -> list[str]:
    """The columns of a table that hold pages, or lists of them."""
    return [column.name for column in schema.columns if column.is_page]


def _numbers_in(column: Column) -> NDArray[np.uint64]:
    """The numbers in a column of pages, or of lists of them, without nulls."""
    if isinstance(column, Maybe):
        return _numbers_in(column.values)[column.valid]
    return np.asarray(column.used() if isinstance(column, Lists) else column)


@gives(SEALED, {ASKED: ASKED_PAGES})
def seal(rows: Block, schema: TableSchema) -> Iterator[Block | Tagged]:
    """A block as one row: an id, its table and its content; ASKED: the pages that it names."""
    pages = np.unique(np.concatenate([
        _numbers_in(rows[name]) for name in page_columns(schema)]))
    block = np.frombuffer(uuid.uuid4().bytes, "V16")
    yield Block({
        "block": block, "table": VarBytes.from_list([schema.name.encode()]),
        "content": VarBytes.from_list([rows.select(schema.names).to_bytes()]),
    })
    yield Tagged(ASKED, Block({"page": pages, "block": np.repeat(block, len(pages))}))


@gives(columns(ASKED_PAGES, url=TEXT))
def answer(asked: Block | None, names: Block | None) -> Block | None:
    """The URLs of the pages that were asked for."""
    if asked is None:
        return None
    if names is None or (found := lookup(asked, names, ("page",))).min(initial=0) < 0:
        raise AssertionError("a page number without a page")
    return asked.with_columns(url=names.strings("url").take(found))


def _opened(
    sealed: pa.Schema, answers: pa.Schema, waiting: Mapping[str, _Waiting],
) -> Mapping[str, pa.Schema | None]:
    return {name: declared and columns(only(declared, *schema.names), **_named(schema))
            for name, (schema, declared) in waiting.items()}


def _named(schema: TableSchema) -> dict[str, pa.Field]:
    """The columns of a table that hold pages, with their names, and those with their numbers."""
    shown = [each for each in schema.columns if each.is_page]
    named = {each.name: pa.field("", replace(each, is_page=False).given, each.nullable)
             for each in shown}
    numbers = {schema.numbers[each.name]: pa.field("", PAGE, each.nullable)
               for each in shown if each.name in schema.numbers}
    return named | numbers


@gives(NOTHING, _opened)
def open_blocks(
    sealed: Block | None, answers: Block | None, waiting: Mapping[str, _Waiting],
) -> Iterator[Tagged]:
    """The rows of sealed blocks, tagged with their table, with URLs in place of page numbers."""
    if sealed is None:
        return
    if answers is None:
        answers = Block({"block": np.zeros(0, "V16"), "page": np.zeros(0, np.uint64),
                         "url": VarBytes.from_list([])})
    contents, tables = sealed.strings("content"), sealed.strings("table")
    for row, (low, high) in enumerate(zip(
            *match_ranges(sealed, answers, ("block",)), strict=True)):
        schema = waiting[tables[row].decode()].schema
        block = Block.from_bytes(contents[row])
        mine = answers.slice(int(low), int(high)).sort(("page",))
        names = _Names(mine.array("page"), mine.strings("url"))
        numbers = {number: block[name] for name, number in schema.numbers.items()}
        yield Tagged(schema.name, block.with_columns(**numbers, **{
            name: names.of(block[name]) for name in page_columns(schema)}))


class _Names:
    """The names of some pages, which are in order."""

    def __init__(self, pages: NDArray[np.uint64], urls: VarBytes) -> None:
        self.pages, self.urls = pages, urls

    def of(self, column: Column) -> Column:
        """The URLs of a column of pages: null for null, lists for lists."""
        if isinstance(column, Maybe):
            return Maybe.spread(self.of(_numbers_in(column)), column.valid)
        urls = self.urls.take(np.searchsorted(self.pages, _numbers_in(column)))
        return Lists.from_lengths(column.lengths(), urls) if isinstance(column, Lists) else urls
