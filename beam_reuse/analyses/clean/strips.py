"""What is taken out of pages: lines of templates, lines on many pages, and matched chunks, each
brought to the part that has it.

A row of LINES is a line that goes from the pages of a part: that of one `host` (a hash of its name)
as `boilerplate`, or that of all hosts (NO_HOST) as `frequent-lines`, but for the page `first`.
A row of SPANS has the chunks of a page that go, as places in its payload.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.boilerplate.lines import keys_of, line_rows, lines_of
from beam_reuse.analyses.boilerplate.settings import MOST_PAGES
from beam_reuse.analyses.clean.stripping import BOILERPLATE, FREQUENT
from beam_reuse.columnar.block import Block, Lists
from beam_reuse.columnar.coarse import HeavyKeys
from beam_reuse.columnar.distinct import find_rows, number_distinct
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.matching import lookup, match_ranges
from beam_reuse.columnar.schema import (
    FINGERPRINT,
    KIND,
    NUMBER,
    PAGE,
    PART,
    TEXT,
    columns,
    gives,
    lists,
)
from beam_reuse.kernels import lines as kernels
from beam_reuse.kernels.compiled import frozen
from beam_reuse.pages.analysis import Pages
from beam_reuse.pages.rows import numbered_rows
from beam_reuse.rows import Rows
from beam_reuse.rows.folds import FindFrequent

LINES = columns(range=PART, reason=KIND, host=FINGERPRINT, line=FINGERPRINT, first=PAGE)
SPANS = columns(page=PAGE, range=PART, start=lists(PART), end=lists(PART))
BY_URL = columns(url=TEXT, start=lists(PART), end=lists(PART))
_COUNTED = columns(line=FINGERPRINT, range=PART, page=PAGE, pages=NUMBER)
NO_PAGE = np.array([-1]).astype(np.uint64)[0]
NO_HOST = np.uint64(0)


def _rows(part: NDArray, reason: int, host: NDArray, line: NDArray, first: NDArray) -> Block:
    return Block({"range": part, "reason": np.full(len(line), reason, np.uint8), "host": host,
                  "line": line, "first": first})


@gives(LINES)
def of_templates(templates: Block) -> Block:
    """Template lines, which go from every page of their host."""
    line = templates.array("line")
    return _rows(templates.array("range"), BOILERPLATE, templates.array("host"), line,
                 np.full(len(line), NO_PAGE))


def frequent_lines(pages: Pages, dropped: Rows, most: int, everywhere: bool) -> Rows:
    """LINES that are on more than `most` of the pages that are not `dropped` (claims with their
    part), for the parts that have them on such pages, or `everywhere`. Exact. Cost: lines of all
    pages are read twice; a row of 28 bytes travels for each part and line that may be on so many
    pages."""
    heavy = pages.rows(line_rows, None).fold(FindFrequent(
        ("line",), pages.plan.shuffle.counter_bits(2, 26), min(most + 1, MOST_PAGES)))
    counted = pages.with_parts(dropped, counted_lines, heavy, everywhere)
    return counted.group("line", frequent, most, order=("range", "page"))


@gives(_COUNTED)
def counted_lines(
    dropped: Block | None, parts: Block | None, heavy: HeavyKeys, everywhere: bool,
) -> Iterator[Block]:
    """On how many `pages` of a part (or of what is read of it at once) that stay each line is that
    may be frequent, and the smallest `page` of them; with `everywhere` also on no page for lines of
    pages that are dropped."""
    gone = np.zeros(0, np.uint64) if dropped is None else dropped.array("page")
    for read in numbered_rows(parts, ("host", "lines")) if parts is not None else ():
        lines = lines_of(read.rows)
        may = heavy.may_hold(lines)
        page = np.repeat(np.arange(len(read)), read.rows.lists("lines").lengths())
        stays = ~np.isin(read.number.astype(np.uint64), gone)[page]
        kept = np.flatnonzero(stays & may)
        line, page = lines.array("line")[kept], page[kept]
        numbers, one_of_each = number_distinct(line.view("V8"))
        on_pages, smallest = kernels.pages_of_each(
            frozen(numbers), frozen(page), frozen(read.number), len(one_of_each))
        yield _counts(line[one_of_each], read.part, np.asarray(smallest).astype(np.uint64),
                      np.asarray(on_pages))
        if everywhere:
            others = np.unique(lines.array("line")[~stays & may])
            yield _counts(others, read.part, np.full(len(others), NO_PAGE),
                          np.zeros(len(others), np.int64))


def _counts(line: NDArray, part: int, page: NDArray, pages: NDArray) -> Block:
    return Block({"line": line, "range": np.full(len(line), part, np.uint32), "page": page,
                  "pages": pages})


@gives(LINES)
def frequent(
    counted: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64], most: int,
) -> Block:
    """Counts of lines in parts -> the lines that are on more than `most` pages, a row for each part
    that has the line. It stays on the smallest page."""
    found = np.add.reduceat(counted.array("pages"), starts) > most
    first = np.repeat(np.minimum.reduceat(counted.array("page"), starts), sizes)
    kept = np.repeat(found, sizes)
    part_starts = np.zeros(len(counted), np.bool_)
    part_starts[counted.starts(("line", "range"))] = True
    kept &= part_starts
    line = counted.array("line")[kept]
    return _rows(counted.array("range")[kept], FREQUENT, np.full(len(line), NO_HOST), line,
                 first[kept])


@gives(columns(host=FINGERPRINT, line=FINGERPRINT, range=PART))
def lines_here(parts: Block, wanted: KeyFilter) -> Iterator[Block]:
    """The distinct lines of parts with their hosts, of those that may be wanted."""
    for read in numbered_rows(parts, ("host", "lines")):
        lines = lines_of(read.rows)
        lines = lines.take(wanted.may_hold(lines))
        _, one_of_each = number_distinct(keys_of(lines))
        yield lines.take(one_of_each).with_columns(
            range=np.full(len(one_of_each), read.part, np.uint32))


@gives(LINES)
def known_lines(here: Block | None, known: Block | None) -> Block | None:
    """The lines of parts that are template lines; a part may have one several times."""
    if here is None or known is None:
        return None
    low, high = match_ranges(here, known, ("host", "line"))
    return of_templates(here.take(high > low))


@gives(BY_URL)
def spans_of(matches: Block) -> Block:
    """Folded rows of `matched_chunks` -> the chunks that are not a page's own."""
    offsets, own = matches.lists("own").flat()
    kept = ~np.asarray(own)
    after = np.concatenate([[0], np.cumsum(kept)])[offsets]
    spans = Block({"url": matches["url"], **{
        name: Lists(after, np.asarray(matches.lists(name).used())[kept])
        for name in ("start", "end")}})
    return spans.take(np.diff(after) > 0)


@gives(columns(page=PAGE, start=lists(PART), end=lists(PART)))
def of_page(spans: Block) -> Block:
    """Spans under the number of their page."""
    return Block({"page": spans["url"], "start": spans["start"], "end": spans["end"]})


@gives(SPANS)
def with_place(spans: Block | None, places: Block | None) -> Block | None:
    """Spans with the part of their page."""
    if spans is None:
        return None
    assert places is not None, "a page that is in no part"
    found = lookup(spans, places, ("page",))
    return spans.with_columns(range=places.array("range")[found])


@dataclass(frozen=True)
class LinesOfPart:
    """The LINES of one part."""

    templates: NDArray
    frequent: NDArray
    first: NDArray[np.uint64]

    @staticmethod
    def of(rows: Block) -> "LinesOfPart":
        is_template = rows.array("reason") == BOILERPLATE
        others, keys = rows.take(~is_template), keys_of(rows.take(is_template))
        return LinesOfPart(keys[number_distinct(keys)[1]],
                           frozen(others.array("line")).view("V8"), others.array("first"))

    def reasons(
        self, host: NDArray[np.uint64], page: NDArray[np.uint64], line: NDArray[np.uint64],
    ) -> NDArray[np.int64]:
        """Why each line of a page goes, a number of STRIPS, or -1."""
        found = find_rows(self.frequent, frozen(line).view("V8"))
        goes = found >= 0
        goes[goes] = self.first[found[goes]] != page[goes]
        why = np.where(goes, FREQUENT, -1)
        keys = keys_of(Block({"host": host, "line": line}))
        why[find_rows(self.templates, keys) >= 0] = BOILERPLATE
        return why
