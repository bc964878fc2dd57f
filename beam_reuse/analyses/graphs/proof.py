"""Proof that what is dropped stays: a page is dropped for another only if enough of it is there.

Each set asks its neighbours that come before it by the rule, the first ten of them, how much of it
they have. Those that have enough are its neighbours in `keep`.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.graphs import keep
from beam_reuse.analyses.graphs.containment import PAIRS
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.schema import KIND, PAGE, columns, gives
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.first_neighbours import first_neighbours
from beam_reuse.pages.sides import Sides
from beam_reuse.rows import Count, Rows

MOST_ASKED = 10
MORE = "more-than-ten-neighbours"
ASKED = columns(PAIRS, component=PAGE, row=KIND)


def asked(connected: Rows, sides: Sides) -> Rows:
    """Rows with their `component` (see `keep`) -> pairs to be measured: of each set the first
    MOST_ASKED that are similar to it and come before it. `kind` is 1 if `page` has few words.
    Counts sets with more. A component must fit in memory."""
    return connected.group("component", first_before, sides, order=("row", "set", "page"))


def proven(connected: Rows, measured: Rows, least: float) -> Rows:
    """Rows with their `component`, and what of `page` is on `other` -> rows for `keep.kept`, with
    edges where that is `least` or more; a page without keys loses nothing."""
    return connected.map(_without_edges) + measured.map(_edges, least)


@gives(ASKED)
def first_before(
    rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64], sides: Sides,
) -> Iterator[Block | Count]:
    """The pairs of whole components, and how many sets have more neighbours before them. Sets that
    have a page of a baseline are kept, and do not ask."""
    row = rows.array("row")
    stars, short = rows.take(row == keep.STAR), rows.array("set")[row == keep.SHORT]
    edges = rows.take((row == keep.EDGE) | (row == keep.EQUAL))
    best = keep.first_members(rows, sides)
    sets = best.array("set")
    rank = np.empty(len(best), np.int64)
    rank[best.sort_order(keep.TURN)] = np.arange(len(best))
    leaders, of_node = np.unique(keep.leaders_of(sets, stars), return_inverse=True)
    by_class = np.lexsort((rank, of_node))
    firsts = np.searchsorted(of_node[by_class], np.arange(len(leaders) + 1))
    ends = [np.searchsorted(leaders, edges.array(name)) for name in ("set", "page")]
    here, there = np.concatenate(ends), np.concatenate(ends[::-1])
    by_end = np.argsort(here, kind="stable")
    heads = np.searchsorted(here[by_end], np.arange(len(leaders) + 1))
    marks = np.concatenate([edges.array("row")] * 2)[by_end]
    left, right, mark, more = first_neighbours(
        frozen(firsts), frozen(by_class), frozen(rank), frozen(heads), frozen(there[by_end]),
        frozen(marks), keep.EQUAL, MOST_ASKED)
    yield Count(MORE, more)
    asking = best.array("new")[left] > 0
    left, right, mark = left[asking], right[asking], mark[asking]
    yield Block({
        "kind": np.isin(sets[left], short).astype(np.uint8), "page": sets[left],
        "other": sets[right], "component": best.array("component")[left], "row": mark})


@gives(keep.IN_COMPONENTS)
def _without_edges(rows: Block) -> Block:
    row = rows.array("row")
    return rows.take((row != keep.EDGE) & (row != keep.EQUAL) & (row != keep.STAR))


@gives(keep.IN_COMPONENTS)
def _edges(measured: Block, least: float) -> Block:
    own, found = measured.array("own"), measured.array("found")
    share = np.where(own > 0, found / np.maximum(own, 1), 1.0)
    return Block({"set": measured["page"], "row": measured["row"], "page": measured["other"],
                  "order": share.view(np.uint64), "component": measured["component"],
                  }).take(share >= least)
