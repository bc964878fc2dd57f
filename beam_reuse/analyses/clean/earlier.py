"""What an earlier result found, as if the analyses had found it now: tables with URLs become rows
with the numbers of this run's pages. Refuses a result of other pages.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_reuse.analyses.clean.quilts import QUILTS, SOURCES
from beam_reuse.analyses.clean.strips import BY_URL
from beam_reuse.columnar.block import Block, Lists, Maybe, VarBytes
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.schema import (
    FINGERPRINT,
    FLAG,
    NOTHING,
    PAGE,
    SHA1,
    SHARE,
    TEXT,
    columns,
    gives,
    less,
    maybe,
)
from beam_reuse.io.part_columns import column_of, maybe_column, number_column, string_column
from beam_reuse.io.results.scan import TableScan
from beam_reuse.io.results.tables import read_manifest
from beam_reuse.pages.analysis import Found, Pages
from beam_reuse.pages.rows import numbered_rows
from beam_reuse.rows import Rows

_FILES = columns(path=TEXT)
_DROPPED = columns(url=TEXT, because_of=TEXT, containment=maybe(SHARE))
_MEMBERS = columns(centre=TEXT, url=TEXT)
_HASHES = columns(url=TEXT, sha1=SHA1)


class OtherPages(RuntimeError):
    """A result of which the pages are not those of the input."""


@dataclass(frozen=True)
class EarlierResult:
    """The result in `folder`, which has the tables that are asked for."""

    folder: str

    def found(self, pages: Pages, tables: Sequence[str]) -> Found:
        """Rows of these tables, of the columns that cleaning looks at. Cost: each table is read
        once; a row travels for each column of it that names pages."""
        return Found({name: self._found(pages, name) for name in tables})

    def compared(self, pages: Pages) -> Rows:
        """No rows: fails where a page of the result is none of the input, or the other way round,
        or has other content."""
        return pages.rows(page_hashes).join(
            self._table(pages, "pages", hashes_in), "url", require_same_pages, self.folder)

    def _found(self, pages: Pages, name: str) -> Rows:
        rows = self._table(pages, name, _READ[name])
        if name == "keep":
            return numbered(pages, numbered(pages, rows, "url"), "because_of").map(as_keep)
        if name == "exact_copies":
            return numbered(pages, numbered(pages, rows, "url"), "centre")
        if name == "contaminated_pages":
            return numbered(pages, rows, "url")
        return rows

    def _table(self, pages: Pages, name: str, kernel: Callable[..., Any]) -> Rows:
        """What a kernel reads of each part of a table."""
        parts = read_manifest(self.folder).tables()[name]
        files = [Block({"path": VarBytes.from_list([part.path.encode()])}) for part in parts]
        return pages.plan.rows(files, f"{name} of a result", _FILES).map(kernel, self.folder)


def numbered(pages: Pages, rows: Rows, column: str) -> Rows:
    """Rows with numbers of pages where a column has their URLs."""
    return rows.join(pages.names.map(names_as, column), column, with_numbers, column)


@gives(lambda names, column: columns(**{column: TEXT}, number=PAGE))
def names_as(names: Block, column: str) -> Block:
    """The names of pages, in a column of this name."""
    return Block({column: names["url"], "number": names["page"]})


@gives(lambda rows, names, column: columns(less(rows, column), **{column: PAGE}))
def with_numbers(rows: Block | None, names: Block | None, column: str) -> Block | None:
    """Rows with numbers in place of URLs. A URL that no page has is refused by
    `require_same_pages`, which sees all pages; its rows are left out here."""
    if rows is None or names is None:
        return None
    found = lookup(rows, names, (column,))
    known = found >= 0
    numbers = names.array("number")[found[known]]
    return rows.without(column).take(known).with_columns(**{column: numbers})


def _batches(
    files: Block, folder: str, table: str, wanted: Sequence[str],
) -> Iterator[pa.RecordBatch]:
    """These columns of parts of a table, a batch at a time."""
    paths = {path.decode() for path in files.strings("path").to_list()}
    scan = TableScan(folder, table)
    scan.parts = [part for part in scan.parts if part.path in paths]
    return scan.batches(wanted)


@gives(_DROPPED)
def dropped_in(files: Block, folder: str) -> Iterator[Block]:
    """Of `keep`: the pages that are not kept."""
    for batch in _batches(files, folder, "keep", ("url", "because_of", "containment")):
        some = batch.filter(batch.column("because_of").is_valid())
        yield Block({"url": string_column(some.column("url")),
                     "because_of": string_column(some.column("because_of")),
                     "containment": maybe_column(some.column("containment"))})


@gives(columns(url=PAGE, because_of=maybe(PAGE), containment=maybe(SHARE)))
def as_keep(dropped: Block) -> Block:
    """Dropped pages as rows of `keep`."""
    because = dropped.array("because_of")
    return dropped.with_columns(because_of=Maybe(because, np.ones(len(because), np.bool_)))


@gives(_MEMBERS)
def members_in(files: Block, folder: str) -> Iterator[Block]:
    """Of `exact_copies`: the members of sets."""
    for batch in _batches(files, folder, "exact_copies", ("centre", "url")):
        yield Block({name: string_column(batch.column(name)) for name in ("centre", "url")})


@gives(columns(url=TEXT, flagged=FLAG))
def flagged_in(files: Block, folder: str) -> Iterator[Block]:
    """Of `page_reuse`: the pages that are flagged."""
    for batch in _batches(files, folder, "page_reuse", ("url", "flagged")):
        some = batch.filter(batch.column("flagged"))
        yield Block({"url": string_column(some.column("url")),
                     "flagged": np.ones(len(some), np.bool_)})


@gives(QUILTS)
def quilts_in(files: Block, folder: str) -> Iterator[Block]:
    """Of `quilts`: how much of each page its sources have, for each combination of a sweep."""
    for batch in _batches(files, folder, "quilts", QUILTS.names):
        yield _block_of(batch)


@gives(SOURCES)
def sources_in(files: Block, folder: str) -> Iterator[Block]:
    """Of `quilt_sources`: the sources."""
    for batch in _batches(files, folder, "quilt_sources", SOURCES.names):
        yield _block_of(batch)


def _block_of(batch: pa.RecordBatch) -> Block:
    """A batch without nulls as a block."""
    return Block({name: column_of(batch.schema.field(name).with_nullable(False), batch[name])
                  for name in batch.schema.names})


@gives(columns(url=TEXT))
def contaminated_in(files: Block, folder: str) -> Iterator[Block]:
    """Of `contaminated_pages`: the pages."""
    for batch in _batches(files, folder, "contaminated_pages", ("url",)):
        yield Block({"url": string_column(batch.column("url"))})


@gives(columns(host=FINGERPRINT, line=FINGERPRINT))
def templates_in(files: Block, folder: str) -> Iterator[Block]:
    """Of `boilerplate`: hash of the host, and fingerprint of the line."""
    for batch in _batches(files, folder, "boilerplate", ("host", "fingerprint")):
        lines = [int(each, 16) for each in batch.column("fingerprint").to_pylist()]
        yield Block({"host": string_column(batch.column("host")).hash64(),
                     "line": np.array(lines, np.uint64)})


@gives(BY_URL)
def spans_in(files: Block, folder: str) -> Iterator[Block]:
    """Of `matched_chunks`: the chunks that are not a page's own; a page may have several rows."""
    for batch in _batches(files, folder, "matched_chunks", ("url", "start", "end", "own")):
        some = batch.filter(pc.invert(batch.column("own")))
        urls = string_column(some.column("url"))
        starts = Block({"url": urls}).starts(("url",))
        lengths = np.diff(np.append(starts, len(urls)))
        yield Block({"url": urls.take(starts), **{
            name: Lists.from_lengths(lengths, number_column(some.column(name)).astype(np.uint32))
            for name in ("start", "end")}})


@gives(_HASHES)
def hashes_in(files: Block, folder: str) -> Iterator[Block]:
    """Of `pages`: what each is called, and the hash of its content."""
    for batch in _batches(files, folder, "pages", ("url", "sha1")):
        raw = [bytes.fromhex(each) for each in batch.column("sha1").to_pylist()]
        yield Block({"url": string_column(batch.column("url")),
                     "sha1": np.frombuffer(b"".join(raw), "V20")})


@gives(_HASHES)
def page_hashes(parts: Block) -> Iterator[Block]:
    """The same of the pages of this run."""
    for pages in numbered_rows(parts, ("url", "sha1")):
        yield Block({"url": pages.urls(), "sha1": pages.rows.numbers("sha1")})


@gives(NOTHING)
def require_same_pages(mine: Block | None, known: Block | None, folder: str) -> None:
    """Refuse pages that are only on one side, or whose content differs."""
    no_pages = Block({"url": VarBytes.from_list([]), "sha1": np.zeros(0, "V20")})
    mine, known = mine or no_pages, known or no_pages
    found = lookup(mine, known, ("url",))
    there = found >= 0
    other = mine.array("sha1")[there] != known.array("sha1")[found[there]]
    without = np.setdiff1d(np.arange(len(known)), found[there])
    for rows, which, what in (
        (mine, ~there, "of the input is not in it"),
        (known, without, "of it is not in the input"),
        (mine.take(there), other, "has other content in it"),
    ):
        for url in rows.strings("url").take(np.asarray(which)).to_list()[:1]:
            raise OtherPages(
                f"--result {folder}: its pages are not those of INPUT: {url.decode()} {what}. Give "
                "the input that the result was made from, or leave --result out.")


# What is read of each table that may decide.
_READ: dict[str, Callable[..., Any]] = {
    "keep": dropped_in, "exact_copies": members_in, "page_reuse": flagged_in, "quilts": quilts_in,
    "quilt_sources": sources_in, "contaminated_pages": contaminated_in,
    "boilerplate": templates_in, "matched_chunks": spans_in,
}
