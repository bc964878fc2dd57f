"""What is a page's own: its lines that are not its host's template. No Beam."""

from collections.abc import Iterator

import numpy as np

from beam_reuse.analyses.boilerplate.described import template_lines_of
from beam_reuse.analyses.boilerplate.lines import template_lines
from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings
from beam_reuse.analyses.graphs.containment import (
    LISTS,
    PAIRS,
    PagesOfKind,
    contained,
    paired_pages,
)
from beam_reuse.analyses.overlap.pairs import chunking_of
from beam_reuse.analyses.overlap.reading import distinct
from beam_reuse.columnar.block import Block, Lists
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.schema import KIND, columns, gives
from beam_reuse.pages.analysis import Pages
from beam_reuse.pages.rows import chosen_rows
from beam_reuse.rows import Rows

CHUNKED_PAIRS = columns(PAIRS, chunking=KIND, old=KIND, other_old=KIND)


def with_own_lines(pairs: Rows, pages: Pages, settings: BoilerplateSettings) -> Rows:
    """Overlapping pages -> CHUNKED_PAIRS with `other_own`: how many own lines the greater page has,
    and `other_found`: how many of these are on the smaller one; `own` and `found` for the other
    direction; how many lines, own or not, each has (`size`, `other_size`) and both (`common`).
    `old` and `other_old` are 1 for pages whose sets have a page of a baseline, which pairs say if
    there is one. A page without own lines has all of its lines for its own: nothing of it is lost
    that is not on many pages of its host."""
    chunked = pairs.map(_chunked)
    lists = pages.with_parts(
        template_lines(pages, settings), own_lines, paired_pages(chunked))
    return contained(chunked, lists)


@gives(CHUNKED_PAIRS)
def _chunked(pairs: Block) -> Block:
    """Pairs by the names of `containment`. Lines are of one kind, whatever the chunking."""
    old, other_old = (
        (pairs.array(f"members_{turn}") > pairs.array(f"new_{turn}")).astype(np.uint8)
        if f"new_{turn}" in pairs else np.zeros(len(pairs), np.uint8) for turn in "ab")
    return Block({"kind": np.zeros(len(pairs), np.uint8), "page": pairs["unit"],
                  "other": pairs["other"], "chunking": chunking_of(pairs).astype(np.uint8),
                  "old": old, "other_old": other_old})


@gives(LISTS)
def own_lines(
    templates: Block | None, parts: Block | None, wanted: KeyFilter,
) -> Iterator[Block]:
    """The distinct lines of all pages that are `wanted`, its own before those of its template; only
    row groups with one are read."""
    for mine, part in template_lines_of(templates, parts):
        for pages in chosen_rows(part, ("host", "lines"), PagesOfKind(wanted)):
            number = pages.number.astype(np.uint64)
            kind = np.zeros(len(pages), np.uint8)
            offsets, lines = pages.rows.lists("lines").flat()
            some = np.diff(offsets) > 0
            page = np.repeat(np.arange(len(pages)), np.diff(offsets))
            in_template = mine.find(pages.rows) >= 0
            rows = distinct(Block({
                "page": page, "template": in_template.astype(np.uint8), "line": lines,
            }), ("page", "template", "line"))
            own = np.bincount(rows.array("page")[rows.array("template") == 0],
                              minlength=len(pages))
            every = np.bincount(rows.array("page"), minlength=len(pages))
            yield Block({
                "kind": kind[some], "page": number[some],
                "own": np.where(own > 0, own, every)[some],
                "keys": Lists.from_lengths(every[some], rows.array("line"))})
