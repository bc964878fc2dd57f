"""URLs, and what else is known of pages, for the rows of several tables at once.

All travel as rows of two page numbers and two others, so that pages are joined twice in all. A
page is read again for it, if anybody asks.
"""

from collections.abc import Iterator

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import AsSingleton, TaggedOutput
from apache_beam.typehints.decorators import no_annotations
from numpy.typing import NDArray

from beam_reuse.analyses.overlap.reading import facts, prefix_rows, size_of
from beam_reuse.analyses.overlap.reports import SKIPPED, chunking_names
from beam_reuse.analyses.overlap.servers import CAUSES
from beam_reuse.columnar import MAIN, Block, BuildKeyFilter, Fetch, JoinRows, MapBlocks
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.shuffle import ForLater
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.core.overlap import containment
from beam_reuse.core.settings import OverlapSettings
from beam_reuse.pages.read_pages import Analysis, Pages

PAIRS, COPIES, COPIED = "page_overlap", "exact_copies", "copied"
ROWS = (PAIRS, COPIES, SKIPPED, COPIED)
SKIPPABLE = "skippable"
KNOWN = ("url", "host", "bytes", "sizes")


class NamePages(Analysis):
    """({'page_overlap': pairs of pages, 'exact_copies': copies with their cause, 'skipped': with
    these rows of `skipped_rows`, 'copied': rows of `copied_rows`}, pages) -> the tables
    `page_overlap`, `exact_copies` and `skippable`, and `copied` with the directories of the
    centre."""

    def __init__(self, settings: OverlapSettings) -> None:
        super().__init__()
        self.settings = settings

    @no_annotations
    def expand(
        self, inputs: tuple[dict[str, beam.PCollection], Pages]
    ) -> dict[str, beam.PCollection]:
        found, pages = inputs
        shuffle, settings = pages.shuffle, self.settings
        folds = zip(ROWS, (fold_pairs, fold_copies, fold_skipped, fold_copied), strict=True)
        rows = tuple(found[name] | f"Fold {name}" >> MapBlocks(fold) for name, fold in folds)
        pages_of = tuple(each | f"Asked {n}" >> MapBlocks(_both_pages)
                         for n, each in enumerate(rows))
        asked = AsSingleton(
            pages_of | "PagesAsked" >> BuildKeyFilter(shuffle, ("page",)))
        known = (pages.parts | "Later" >> ForLater() | "FetchParts" >> Fetch(shuffle, asked)
                 | "Facts" >> MapBlocks(facts, settings, asked))
        first = {"left": rows, "right": known} | "First" >> JoinRows(
            shuffle, ("page",), with_first, outputs=(COPIED,))
        second = {"left": first[MAIN], "right": known} | "Second" >> JoinRows(
            shuffle, ("page",), with_second, settings, outputs=(PAIRS, COPIES, SKIPPABLE))
        return {COPIED: first[COPIED],
                **{name: second[name] for name in (PAIRS, COPIES, SKIPPABLE)}}


def _folded(table: str, page: NDArray, other: NDArray, one: NDArray, two: NDArray) -> Block:
    return Block({
        "table": np.full(len(page), ROWS.index(table), np.uint8), "page": page, "other": other,
        "one": one.astype(np.uint64), "two": two.astype(np.uint64),
    })


def fold_pairs(pairs: Block) -> Block:
    return _folded(PAIRS, pairs.array("page_a"), pairs.array("page_b"), pairs.array("chunking"),
                   pairs.array("shared"))


def fold_copies(copies: Block) -> Iterator[Block]:
    """A row for each copy, and one for each centre."""
    yield _folded(COPIES, copies.array("centre"), copies.array("page"), copies.array("cause"),
                  copies.array("moved"))
    centre = copies.array("centre")[copies.array("second")]
    nothing = np.zeros(len(centre))
    yield _folded(COPIES, centre, centre, nothing, nothing)


def fold_skipped(skipped: Block) -> Block:
    return _folded(SKIPPED, skipped.array("because"), skipped.array("page"),
                   skipped.array("chunking"), np.zeros(len(skipped)))


def fold_copied(copied: Block) -> Block:
    return _folded(COPIED, copied.array("centre"), copied.array("first"), copied.array("host"),
                   copied.array("own"))


def _both_pages(rows: Block) -> Iterator[Block]:
    """All pages of which something is asked."""
    yield rows.select(("page",))
    second = rows.array("table") != ROWS.index(COPIED)
    yield Block({"page": rows.array("other")[second]})


def _known_of(rows: Block, known: Block | None) -> Block:
    if known is None or (found := lookup(rows, known, ("page",))).min(initial=0) < 0:
        raise AssertionError("a page number without a page")
    return known.select(KNOWN).take(found)


def with_first(rows: Block | None, known: Block | None) -> Iterator[Block | TaggedOutput]:
    """Rows with what is known of their first page, ready for the second; those that need only
    one are done."""
    if rows is None:
        return
    pages, table = _known_of(rows, known), rows.array("table")
    yield rows.with_columns(
        page=rows["other"], first=pages["url"], first_sizes=pages["sizes"],
    ).without("other").take(table != ROWS.index(COPIED))
    at = np.flatnonzero(table == ROWS.index(COPIED))
    yield TaggedOutput(COPIED, _directories(rows.take(at), pages.strings("url").take(at)))


def _directories(rows: Block, urls: VarBytes) -> Block:
    page, prefixes = prefix_rows(urls)
    return prefixes.with_columns(
        host=rows.array("one")[page], own=rows.array("two")[page],
        first=rows.array("other")[page], centres=np.ones(len(page), np.int64))


def with_second(
    rows: Block | None, known: Block | None, settings: OverlapSettings
) -> Iterator[TaggedOutput]:
    """Rows of `page_overlap`, `exact_copies` and `skippable`."""
    if rows is None:
        return
    pages, table = _known_of(rows, known), rows.array("table")
    at = np.flatnonzero(table == ROWS.index(PAIRS))
    chunking = rows.array("one")[at].astype(np.int64)
    shared = rows.array("two")[at].astype(np.int64)
    sizes = [size_of(each.array(name)[at], chunking)
             for each, name in ((rows, "first_sizes"), (pages, "sizes"))]
    yield TaggedOutput(PAIRS, Block({
        "chunking": chunking_names(chunking, settings), "url_a": rows.strings("first").take(at),
        "url_b": pages.strings("url").take(at), "shared": shared,
        "containment_a": containment(shared, sizes[0]),
        "containment_b": containment(shared, sizes[1]),
    }))
    at = np.flatnonzero(table == ROWS.index(COPIES))
    yield TaggedOutput(COPIES, Block({
        "centre": rows.strings("first").take(at), "url": pages.strings("url").take(at),
        "cause": VarBytes.from_list(CAUSES[rows.array("one")[at].astype(np.int64)].tolist()),
    }))
    cause, moved = rows.array("one"), rows.array("two") > 0
    at = at[(cause[at] > 0) & ~moved[at]]
    for number in range(len(settings.chunkings)):
        yield _skippable(rows, pages, at, np.full(len(at), number), settings)
    at = np.flatnonzero(table == ROWS.index(SKIPPED))
    yield _skippable(rows, pages, at, rows.array("one")[at].astype(np.int64), settings)


def _skippable(
    rows: Block, pages: Block, at: NDArray[np.int64], chunking: NDArray, settings: OverlapSettings,
) -> TaggedOutput:
    """The rows `at` as those of `skippable`; their first page is the one that stays."""
    skipped = pages.select(("url", "host", "bytes")).take(at)
    return TaggedOutput(SKIPPABLE, skipped.with_columns(
        chunking=chunking_names(chunking, settings), because_of=rows.strings("first").take(at)))
