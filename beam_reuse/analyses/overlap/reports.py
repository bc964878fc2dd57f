"""What follows from copies and overlapping pages: copies of each page, and what a crawler can
save. No Beam."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.graphs.clusters import EDGES, components
from beam_reuse.analyses.overlap.pairs import chunking_names
from beam_reuse.analyses.overlap.reading import sums
from beam_reuse.analyses.overlap.schemas import CRAWL_SAVINGS, REPLICAS, SKIPPABLE
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.matching import lookup, match_ranges, pairs_of
from beam_reuse.columnar.schema import KIND, NUMBER, PAGE, columns, gives
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.union_find import first_kept
from beam_reuse.rows import Rows, Tagged

SAVINGS = "savings"
SAVED = ("pages", "bytes", "redundant_pages", "redundant_bytes")
COPIES = columns(chunking=KIND, copies=NUMBER, pages=NUMBER)


def replicas(centres: Rows, pairs: Rows, settings: OverlapSettings) -> Rows:
    """Rows of that table. A page has as many copies as its exact set and the sets of directly
    overlapping centres have pages. So the pages of a set have equally many, and are counted with
    their centre: first as if it overlapped with nothing."""
    near = pairs.map(_both_ways).reduce(("chunking", "page"), {"copies": "sum", "own": "max"})
    pages = near.map(_near_copies) + centres.map(_own_copies, len(settings.chunkings))
    return pages.reduce(("chunking", "copies"), {"pages": "sum"}).map(_replica_table, settings)


@gives(columns(chunking=KIND, page=PAGE, own=NUMBER, copies=NUMBER))
def _both_ways(pairs: Block) -> Iterator[Block]:
    for page, own, near in (("unit", "a", "b"), ("other", "b", "a")):
        yield Block({"chunking": pairs.array("tag") // 2, "page": pairs[page],
                     "own": pairs[f"members_{own}"], "copies": pairs[f"members_{near}"]})


@gives(COPIES)
def _own_copies(centres: Block, chunkings: int) -> Iterator[Block]:
    copies, sets = np.unique(centres.array("members"), return_counts=True)
    for number in range(chunkings):
        yield Block({"chunking": np.full(len(sets), number, np.uint8), "copies": copies,
                     "pages": copies * sets})


@gives(COPIES)
def _near_copies(centres: Block) -> Iterator[Block]:
    """Pages of sets that overlap with others: they have more copies than their set has."""
    own = centres.array("own")
    yield Block({"chunking": centres["chunking"], "copies": own, "pages": -own})
    yield Block({"chunking": centres["chunking"], "copies": own + centres.array("copies"),
                 "pages": own})


@gives(REPLICAS.rows)
def _replica_table(rows: Block, settings: OverlapSettings) -> Block:
    some = rows.take(rows.array("pages") > 0)
    return some.with_columns(chunking=chunking_names(some.array("chunking"), settings))


def dropped(pairs: Rows) -> Rows:
    """Pairs of overlapping centres -> `kind` (the chunking) and `centre` of those that are
    dropped, and `because`, the smallest kept one it overlaps: centres are taken in order of their
    URLs; one that is undecided is kept and drops its undecided neighbours. A connected component
    must fit in memory."""
    edges = pairs.map(_edges)
    return edges.join(components(edges), ("kind", "page"), _with_component).group(
        ("kind", "component"), decide)


@gives(EDGES)
def _edges(pairs: Block) -> Block:
    return Block({"kind": pairs.array("tag") // 2, "page": pairs["unit"], "root": pairs["other"]})


@gives(columns(EDGES, component=PAGE))
def _with_component(edges: Block | None, roots: Block | None) -> Block | None:
    if edges is None or roots is None:
        return None
    return edges.with_columns(
        component=roots.array("root")[lookup(edges, roots, ("kind", "page"))])


@gives(columns(kind=KIND, centre=PAGE, because=PAGE))
def decide(edges: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Block:
    """Edges of whole components -> the pages that are dropped, and which are kept for them."""
    both = Block.concat([
        Block({"kind": edges["kind"], "page": edges[name]}) for name in ("root", "page")])
    order = both.sort_order(("kind", "page"))
    ordered = both.take(order)
    first = ordered.starts(("kind", "page"))
    node = np.empty(len(both), np.int64)
    node[order] = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(both))))
    there = np.roll(node, len(edges))
    heads = np.zeros(len(first) + 1, np.int64)
    np.cumsum(np.bincount(node, minlength=len(first)), out=heads[1:])
    neighbours = there[np.argsort(node, kind="stable")]
    kept = first_kept(frozen(np.arange(len(first))), frozen(heads), frozen(neighbours))
    gone = np.flatnonzero(kept != np.arange(len(first)))
    nodes = ordered.take(first)
    return Block({"kind": nodes.array("kind")[gone], "centre": nodes.array("page")[gone],
                  "because": nodes.array("page")[kept[gone]]})


@gives(SKIPPABLE.rows, {SAVINGS: CRAWL_SAVINGS.rows})
def skippable(
    members: Block | None, dropped: Block | None, settings: OverlapSettings,
) -> Iterator[Block | Tagged]:
    """Rows of that table: the page that stays for a page is the one that stays for its centre, and
    where that is another one, the page can be skipped. SAVINGS: what hosts have and can save."""
    if members is None:
        return
    count = len(settings.chunkings)
    stays = np.repeat(members.array("centre"), count).reshape(len(members), count)
    if dropped is not None:
        row, at = pairs_of(*match_ranges(members, dropped, ("centre",)))
        stays[row, dropped.array("kind")[at]] = dropped.array("because")[at]
    skipped = stays != members.array("page")[:, np.newaxis]
    row, chunking = np.nonzero(skipped)
    yield Block({
        "url": members.array("page")[row], "chunking": chunking_names(chunking, settings),
        "because_of": stays[skipped], "host": members.strings("name").take(row),
        "bytes": members.array("bytes")[row],
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
