"""What follows from copies and overlapping pages: copies of each page, and what a crawler can
save. No Beam."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.graphs.plainest import page_of
from beam_reuse.analyses.overlap.pairs import chunking_names
from beam_reuse.analyses.overlap.reading import sums
from beam_reuse.analyses.overlap.schemas import CRAWL_SAVINGS, REPLICAS, SKIPPABLE
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.group import whole_groups
from beam_reuse.columnar.matching import lookup, match_ranges, pairs_of
from beam_reuse.columnar.schema import KIND, NUMBER, PAGE, SHARE, columns, gives
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.overlap import drop_in_order
from beam_reuse.rows import Rows, Tagged

SAVINGS = "savings"
SAVED = ("pages", "bytes", "redundant_pages", "redundant_bytes")
COPIES = columns(chunking=KIND, copies=NUMBER, pages=NUMBER)
MOST_OF_IT = 0.5
"""A page goes only for one that has this share of all its lines, its host's template included."""


def replicas(centres: Rows, pairs: Rows, settings: OverlapSettings) -> Rows:
    """Rows of that table, of new pages. A page has as many copies as its exact set and the sets of
    directly overlapping centres have pages. So the pages of a set have equally many, and are
    counted with their centre: first as if it overlapped with nothing."""
    near = pairs.map(_both_ways).reduce(
        ("chunking", "page"), {"copies": "sum", "own": "max", "new": "max"})
    pages = near.map(_near_copies) + centres.map(_own_copies, len(settings.chunkings))
    return pages.reduce(("chunking", "copies"), {"pages": "sum"}).map(_replica_table, settings)


@gives(columns(chunking=KIND, page=PAGE, own=NUMBER, new=NUMBER, copies=NUMBER))
def _both_ways(pairs: Block) -> Iterator[Block]:
    for page, own, near in (("unit", "a", "b"), ("other", "b", "a")):
        yield Block({"chunking": pairs.array("tag") // 2, "page": pairs[page],
                     "own": pairs[f"members_{own}"], "new": pairs[f"new_{own}"],
                     "copies": pairs[f"members_{near}"]})


@gives(COPIES)
def _own_copies(centres: Block, chunkings: int) -> Iterator[Block]:
    copies, which = np.unique(centres.array("members"), return_inverse=True)
    pages = sums(which, centres.array("new"), len(copies))
    for number in range(chunkings):
        yield Block({"chunking": np.full(len(copies), number, np.uint8), "copies": copies,
                     "pages": pages})


@gives(COPIES)
def _near_copies(centres: Block) -> Iterator[Block]:
    """Pages of sets that overlap with others: they have more copies than their set has."""
    own, new = centres.array("own"), centres.array("new")
    yield Block({"chunking": centres["chunking"], "copies": own, "pages": -new})
    yield Block({"chunking": centres["chunking"], "copies": own + centres.array("copies"),
                 "pages": new})


@gives(REPLICAS.rows)
def _replica_table(rows: Block, settings: OverlapSettings) -> Block:
    some = rows.take(rows.array("pages") > 0)
    return some.with_columns(chunking=chunking_names(some.array("chunking"), settings))


@gives(columns(chunking=KIND, page=PAGE, near=PAGE, share=SHARE))
def neighbours(pairs: Block, least: float) -> Iterator[Block]:
    """Overlapping centres, as `with_own_lines` gives them: each `page` with a smaller one (`near`)
    that has the share `least` of its own lines, or more, and MOST_OF_IT of all its lines, unless
    less is asked for; `share` is that of all lines. What is in a baseline stays, so it is no
    `page`, and `near` to smaller ones, too."""
    old, other_old = (pairs.array(name) > 0 for name in ("old", "other_old"))
    for page, near, prefix, some in (
            ("other", "page", "other_", ~other_old), ("page", "other", "", ~old & other_old)):
        own = pairs.array(f"{prefix}found") / pairs.array(f"{prefix}own")
        share = pairs.array("common") / pairs.array(f"{prefix}size")
        yield Block({
            "chunking": pairs["chunking"], "page": pairs[page], "near": pairs[near],
            "share": share,
        }).take((own >= least) & (share >= min(least, MOST_OF_IT)) & some)


@gives(columns(chunking=KIND, centre=PAGE, because=PAGE, share=SHARE))
def dropped(slabs: Iterator[Block]) -> Iterator[Block]:
    """Neighbours, all of a chunking, sorted by it, page and neighbour -> the centres that are
    dropped, and `because`, that one of those that are kept and drop them which has most of their
    lines (`share`), of several the smallest: centres are taken in the order of their URLs; one that
    is undecided is kept and drops its undecided neighbours. Holds a slab, and a bit for each page.
    """
    chunking, gone = -1, np.zeros(1, np.uint8)
    for rows, starts, sizes in whole_groups(slabs, ("chunking", "page")):
        of_chunking = rows.array("chunking")[starts]
        for each in np.unique(of_chunking).tolist():
            if each != chunking:
                chunking, gone = each, np.zeros(1, np.uint8)
            at = np.flatnonzero(of_chunking == each)
            pages, near = rows.array("page")[starts[at]], rows.array("near")
            # Pages of a baseline may be greater than those that go for them.
            room = int(max(pages[-1], near.max())) // 8 + 1
            if room > len(gone):
                gone = np.append(gone, np.zeros(max(room, 2 * len(gone)) - len(gone), np.uint8))
            share = rows.array("share")
            best = drop_in_order(frozen(pages), frozen(starts[at]), frozen(sizes[at]),
                                 frozen(near), frozen(share), gone)
            found = best >= 0
            yield Block({"chunking": of_chunking[at][found], "centre": pages[found],
                         "because": near[best[found]], "share": share[best[found]]})


@gives(SKIPPABLE.rows, {SAVINGS: CRAWL_SAVINGS.rows})
def skippable(
    members: Block | None, dropped: Block | None, firsts: Block | None, settings: OverlapSettings,
) -> Iterator[Block | Tagged]:
    """Rows of that table: for a page the first of its set stays, or the page that its centre is
    dropped for; where that is another one, the page can be skipped. `containment` is the share of
    all its lines that are there. SAVINGS: what hosts have and
    can save."""
    if members is None:
        return
    count = len(settings.chunkings)
    first = members.array("centre")
    if firsts is not None:
        at = lookup(members, firsts, ("centre",))
        first = np.where(at >= 0, page_of(firsts.array("first")[at]), first)
    stays = np.repeat(first, count).reshape(len(members), count)
    share = np.ones(stays.shape)
    if dropped is not None:
        row, at = pairs_of(*match_ranges(members, dropped, ("centre",)))
        stays[row, dropped.array("chunking")[at]] = dropped.array("because")[at]
        share[row, dropped.array("chunking")[at]] = dropped.array("share")[at]
    skipped = stays != members.array("page")[:, np.newaxis]
    row, chunking = np.nonzero(skipped)
    yield Block({
        "url": members.array("page")[row], "chunking": chunking_names(chunking, settings),
        "because_of": stays[skipped], "host": members.strings("name").take(row),
        "bytes": members.array("bytes")[row], "containment": share[skipped],
    })
    yield from (Tagged(SAVINGS, each) for each in _savings(members, skipped, settings))


def _savings(
    members: Block, skipped: NDArray[np.bool_], settings: OverlapSettings,
) -> Iterator[Block]:
    """Rows of `crawl_savings`, to be summed."""
    names, size = members.strings("name"), members.array("bytes")[:, np.newaxis]
    host, first, which = np.unique(names.hash64(), return_index=True, return_inverse=True)
    pages, bytes_, redundant_pages, redundant_bytes = (
        sums(which, np.broadcast_to(each, skipped.shape), len(host))
        for each in (1, size, skipped, size * skipped))
    for number in range(len(settings.chunkings)):
        yield Block({
            "chunking": chunking_names(np.full(len(host), number), settings),
            "host": names.take(first), "pages": pages[:, number], "bytes": bytes_[:, number],
            "redundant_pages": redundant_pages[:, number],
            "redundant_bytes": redundant_bytes[:, number]})
