"""From numbered parts to blocks: what an analysis reads of the pages.

A row of a block of *numbered parts* stands for one part: `path`, and `pages`: for each page of this
run that the part holds its `row` there, its page `number` and, if that differs from the URL, its
`name`; in order of rows. They are cut into chunks by the settings of this run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Lists, Maybe, VarBytes
from beam_reuse.columnar.distinct import distinct_strings
from beam_reuse.columnar.filters import RowFilter
from beam_reuse.columnar.schema import gives
from beam_reuse.core.pages import Kind
from beam_reuse.io.part_columns import PageRows
from beam_reuse.io.parts import read_part
from beam_reuse.io.results.tables import PAGES
from beam_reuse.pages.sides import Sides

OF_BASELINE = b"baseline:"
"""What the `crawl` of a page of a baseline begins with, before its name."""
CHUNK_COLUMNS = ("chunk_sha1", "chunk_start", "chunk_end", "chunk_length")
_AS_STORED = (
    "fetched_url", "host", "ip", "site", "domain", "timestamp", "status", "content_type",
    "charset", "bytes", "sha1", "file", "offset", "record_length", "record_id",
    "declared_canonical", "declared_date",
)
# Counts of a page's text, and what the table calls them.
_COUNTS = {"token_count": "tokens", "line_count": "lines"}


@dataclass(frozen=True)
class NumberedRows:
    """Neighbouring pages of one part, those of this run only, with their numbers.

    `part` and `row` say where each page lies, for whoever needs its payload later.
    """

    rows: PageRows
    number: NDArray[np.int64]
    names: VarBytes | None
    part: int
    row: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.number)

    def take(self, at: NDArray[np.int64]) -> "NumberedRows":
        """Some of the pages, in order."""
        if len(at) == len(self):
            return self
        rows = PageRows(self.rows.batch.take(pa.array(at)), self.rows.first)
        names = None if self.names is None else self.names.take(at)
        return NumberedRows(rows, self.number[at], names, self.part, self.row[at])

    def urls(self) -> VarBytes:
        """What the pages are called: their URLs, or the keys of their captures."""
        return self.rows.strings("url") if self.names is None else self.names


def numbered_rows(
    parts: Block, columns: Sequence[str], wanted: NDArray[np.int64] | None = None,
) -> Iterator[NumberedRows]:
    """`columns` of all pages of the parts that belong to this run, some row groups at a time; with
    `wanted`, rows in order, only of row groups that have one of them."""
    for i in range(len(parts)):
        pages = parts.lists("pages")[i]
        for rows in read_part(parts.strings("path")[i].decode(), columns, wanted):
            some = pages.slice(*np.searchsorted(
                pages.array("row"), (rows.first, rows.first + len(rows))))
            if not len(some):
                continue
            row = some.array("row")
            if len(some) < len(rows):
                rows = PageRows(rows.batch.take(pa.array(row - rows.first)), rows.first)
            yield NumberedRows(rows, some.array("number"),
                               some.strings("name") if "name" in some else None,
                               int(parts.array("range")[i]), row)


def chosen_rows(
    parts: Block, columns: Sequence[str], pages: RowFilter,
) -> Iterator[NumberedRows]:
    """As `numbered_rows`, of pages whose numbers (`page`) a filter may hold; only row groups that
    have one are read."""
    for i in range(len(parts)):
        part = parts.slice(i, i + 1)
        here = part.lists("pages")[0]
        may = pages.may_hold(Block({"page": here.array("number").astype(np.uint64)}))
        if may.any():
            few = part.with_columns(pages=Lists(
                np.array([0, int(may.sum())]), here.take(may)))
            yield from numbered_rows(few, columns, here.array("row")[may])


@dataclass(frozen=True)
class ChunkRows:
    """The chunks of pages, page after page: page i has rows offsets[i] to offsets[i + 1].
    Columns that were not asked for are None."""

    pages: NumberedRows
    offsets: NDArray[np.int64]
    sha1: NDArray
    start: Any
    end: Any
    length: Any

    def take(self, kept: NDArray[np.int64], offsets: NDArray[np.int64]) -> "ChunkRows":
        """The chunks at `kept`, with the offsets they then have."""
        places = (
            column if column is None else column[kept]
            for column in (self.start, self.end, self.length))
        return ChunkRows(self.pages, offsets, self.sha1[kept], *places)

    def per_chunk(self, values: NDArray) -> NDArray:
        """A value of each page, repeated for each of its chunks."""
        return np.repeat(values, np.diff(self.offsets))


def chunk_rows(
    parts: Block, columns: Sequence[str] = (), needed: Sequence[str] = CHUNK_COLUMNS,
) -> Iterator[ChunkRows]:
    """Chunks of all pages of the parts, with further `columns` of their pages; of the chunks only
    the columns `needed` and the hashes are read."""
    read = dict.fromkeys(["chunk_sha1", *needed, *columns])
    for pages in numbered_rows(parts, list(read)):
        offsets, sha1 = pages.rows.lists("chunk_sha1").flat()
        start, end, length = (
            pages.rows.lists(name).used() if name in needed else None
            for name in CHUNK_COLUMNS[1:])
        yield ChunkRows(pages, offsets, sha1, start, end, length)


@gives(PAGES.rows)
def page_table(parts: Block, text: bool, sides: Sides) -> Iterator[Block]:
    """The rows of the table `pages`; without `text`, without counts of it. `crawl` says of pages of
    a baseline that they are."""
    labels = np.array([kind.label.encode() for kind in Kind], object)
    read = ("url", "kind", "chunk_count", "crawl", *_AS_STORED, *_COUNTS)
    for pages in numbered_rows(parts, read):
        rows = pages.rows
        crawl = rows.strings("crawl")
        if not sides.is_new_part(pages.part):
            some, which = distinct_strings(crawl)
            crawl = VarBytes.from_list(OF_BASELINE + name for name in some.to_list()).take(which)
        yield Block({
            "url": pages.urls(), **{name: rows.column(name) for name in _AS_STORED},
            "kind": VarBytes.from_list(labels[rows.numbers("kind")].tolist()),
            "chunks": rows.numbers("chunk_count"), "crawl": crawl,
            **{of: Maybe(rows.numbers(name), np.full(len(pages), text))
               for name, of in _COUNTS.items()},
        })


