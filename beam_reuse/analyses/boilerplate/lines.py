"""Which lines are templates: from the lines of pages to those of their hosts. No Beam.

Hosts are known by 64-bit hashes of their names.
"""

from collections.abc import Hashable, Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.boilerplate.definition import is_template
from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import HeavyKeys
from beam_reuse.columnar.distinct import number_distinct
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.group import whole_groups
from beam_reuse.columnar.schema import (
    FINGERPRINT,
    FLAG,
    KIND,
    NUMBER,
    PAGE,
    PART,
    SHARE,
    columns,
    gives,
)
from beam_reuse.io.part_columns import PageRows
from beam_reuse.kernels import lines as kernels
from beam_reuse.kernels.compiled import frozen
from beam_reuse.pages.pages import Pages
from beam_reuse.pages.rows import NumberedRows, numbered_rows
from beam_reuse.pages.sides import ONE_SIDE, Sides
from beam_reuse.rows import Plan, Rows
from beam_reuse.rows.folds import FindFrequent

KEY = ("host", "line")
LINES = columns(host=FINGERPRINT, line=FINGERPRINT)
_HOST, _LINE = 0, 1
"""Kinds of counts: of pages with lines of a host, which come first, and of pages with a line."""
_COUNTS = columns(host=FINGERPRINT, kind=KIND, line=FINGERPRINT, range=PART, page=PAGE,
                  pages=NUMBER)
TEMPLATES = columns(LINES, range=PART, pages=NUMBER, share=SHARE, first=PAGE, shown=FLAG)


def template_lines(
    pages: Pages, settings: BoilerplateSettings, every_host: bool = False,
) -> Rows:
    """TEMPLATES: the template lines of every host, a row for each part of pages that has the line,
    so that `Pages.with_parts` brings them to their pages, where `TemplateLines` finds them.
    `distinct(("host", "line"))` has each once. `first` is the smallest page that has the line, and
    `shown` true in the row of its part. Where there is a baseline, of hosts that have a new page,
    unless `every_host` is asked for.

    Made once in a plan for all analyses that ask for it (which name themselves in `needed_by` of
    the About). Exact. Cost: lines and hosts of all pages are read twice; a row of 37 bytes for
    each part and line that is on `min_pages` pages of its host. Holds a slab.
    """
    return pages.once(_template_lines, settings, every_host and pages.sides.are_two)


def no_template_lines(plan: Plan, settings: BoilerplateSettings) -> dict[Hashable, Rows]:
    """What `Pages.once` is to know of pages that have no template lines any more."""
    nothing = plan.rows([], "no template lines", TEMPLATES)
    return {(_template_lines, (settings, False)): nothing}


def _template_lines(pages: Pages, settings: BoilerplateSettings, every_host: bool) -> Rows:
    hosts, sides = None, ONE_SIDE
    if pages.sides.are_two and not every_host:
        hosts, sides = pages.new.rows(host_rows).keys("host"), pages.sides
    frequent = pages.rows(line_rows, hosts).fold(FindFrequent(
        KEY, pages.plan.shuffle.counter_bits(2, 26), settings.min_pages))
    return pages.rows(page_counts, frequent, hosts, sides).stream(
        "host", templates, settings, order=("kind", "line", "range", "page"))


@gives(columns(host=FINGERPRINT))
def host_rows(parts: Block) -> Iterator[Block]:
    """The hosts of pages."""
    for pages in numbered_rows(parts, ("host",)):
        yield Block({"host": np.unique(pages.rows.strings("host").hash64())})


def _on_hosts(
    parts: Block, columns: tuple[str, ...], hosts: KeyFilter | None,
) -> Iterator[NumberedRows]:
    """Pages on some hosts, and few others."""
    for pages in numbered_rows(parts, columns):
        if hosts is not None:
            names = Block({"host": pages.rows.strings("host").hash64()})
            pages = pages.take(np.flatnonzero(hosts.may_hold(names)))
        if len(pages):
            yield pages


@gives(LINES)
def line_rows(parts: Block, hosts: KeyFilter | None) -> Iterator[Block]:
    """A row for each line of each page of these hosts (None: all); a line that a page repeats is
    there as often."""
    for pages in _on_hosts(parts, ("host", "lines"), hosts):
        yield lines_of(pages.rows)


def lines_of(pages: PageRows) -> Block:
    """Host and fingerprint of each line of the pages, page after page."""
    offsets, lines = pages.lists("lines").flat()
    hosts = pages.strings("host").hash64()
    return Block({"host": np.repeat(hosts, np.diff(offsets)), "line": lines})


def keys_of(lines: Block) -> NDArray:
    """Host and line of each row as one value of 64 bits, mixed: many lines have the same host, and
    many hosts the same line."""
    return lines.hash_rows(KEY).view("V8")


@gives(_COUNTS)
def page_counts(
    parts: Block, frequent: HeavyKeys, hosts: KeyFilter | None, sides: Sides,
) -> Iterator[Block]:
    """On how many `pages` of a part (or of what is read of it at once) each line is that may be
    frequent, and the smallest `page` of them; and how many pages with lines each host has, of
    which `page` is 1 if they are new."""
    for pages in _on_hosts(parts, ("host", "lines"), hosts):
        lines, counts = lines_of(pages.rows), pages.rows.lists("lines").lengths()
        page = np.repeat(np.arange(len(pages)), counts)
        kept = np.flatnonzero(frequent.may_hold(lines))
        lines, page = lines.take(kept), page[kept]
        numbers, first = number_distinct(keys_of(lines))
        on_pages, smallest = kernels.pages_of_each(
            frozen(numbers), frozen(page), frozen(pages.number), len(first))
        yield _counts(_LINE, lines.array("host")[first], lines.array("line")[first], pages.part,
                      smallest, on_pages)
        names, with_lines = np.unique(
            pages.rows.strings("host").hash64()[counts > 0], return_counts=True)
        nothing = np.zeros_like(names)
        new = nothing + np.uint64(sides.is_new_part(pages.part))
        yield _counts(_HOST, names, nothing, 0, new, with_lines)


def _counts(
    kind: int, host: NDArray, line: NDArray, part: int, page: NDArray, pages: NDArray,
) -> Block:
    return Block({
        "host": host, "kind": np.full(len(host), kind, np.uint8), "line": line,
        "range": np.full(len(host), part, np.uint32), "page": page.astype(np.uint64),
        "pages": pages.astype(np.int64)})


@gives(TEMPLATES)
def templates(slabs: Iterator[Block], settings: BoilerplateSettings) -> Iterator[Block]:
    """Counts sorted by host, kind, line, part and page -> template lines of hosts with new pages.
    Holds a slab, and the rows of one line: one for each part."""
    of_host, is_new = 0, np.uint64(0)
    for rows, starts, sizes in whole_groups(slabs, ("host", "kind", "line")):
        pages = np.add.reduceat(rows.array("pages"), starts)
        is_line = rows.array("kind")[starts] == _LINE
        known = np.concatenate([[of_host], pages[~is_line]])
        totals = known[np.cumsum(~is_line)]
        of_host = known[-1]
        newest = np.maximum.reduceat(rows.array("page"), starts)
        of_hosts = np.append(is_new, newest[~is_line])
        new, is_new = of_hosts[np.cumsum(~is_line)], of_hosts[-1]
        found = is_line & is_template(pages, totals, settings) & (new > 0)
        smallest = np.minimum.reduceat(rows.array("page"), starts)
        group = np.repeat(np.arange(len(starts)), sizes)
        kept = _first_of_parts(rows) & found[group]
        group = group[kept]
        some = rows.select(("host", "line", "range", "page")).take(kept)
        yield some.without("page").with_columns(
            pages=pages[group], share=pages[group] / totals[group], first=smallest[group],
            shown=some.array("page") == smallest[group])


def _first_of_parts(rows: Block) -> NDArray[np.bool_]:
    """Which rows are the first of a line in a part."""
    first = np.zeros(len(rows), np.bool_)
    first[rows.starts(("host", "kind", "line", "range"))] = True
    return first
