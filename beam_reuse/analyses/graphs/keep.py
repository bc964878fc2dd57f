"""Which pages to keep: of pages that are alike the first by a rule, and none is dropped that
resembles nothing kept."""

from collections.abc import Iterator

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import AsSingleton
from apache_beam.typehints.decorators import no_annotations
from numpy.typing import NDArray

from beam_reuse.analyses.graphs.clusters import Forest
from beam_reuse.columnar import MAIN, Block, Fetch, GroupRows, MapBlocks, Shuffle
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.union_find import first_kept

_MEMBER, _EDGE, _STAR = 0, 1, 2


class KeepPages(beam.PTransform):
    """{'members': pieces of `representative`, `page` and `order`, of every page with tokens;
    'edges': pieces of `page_a`, `page_b` and `star`, similar representatives, of which, if `star`
    is 1, page_a stands for page_b too, which is in no other edge; 'forest': what edges and sets
    connect} -> `page` and `because`, the page it is dropped for, or itself (two PCollections).

    Pages are taken by `order`, then number; one that is undecided is kept and drops its
    undecided neighbours: the members of its set, of those that one page stands for together with
    its own, and of all sets similar to these. The rule decides within a connected component, and
    a component must fit in memory.
    """

    def __init__(self, shuffle: Shuffle, algorithm: int) -> None:
        super().__init__()
        self.shuffle, self.algorithm = shuffle, algorithm

    @no_annotations
    def expand(
        self, given: dict[str, beam.PCollection]
    ) -> tuple[beam.PCollection, beam.PCollection]:
        forest = AsSingleton(given["forest"])
        members = (
            given["members"]
            | "FetchMembers" >> Fetch(self.shuffle, forest)
            | "Members" >> MapBlocks(member_rows, self.algorithm, forest, outputs=("alone",))
        )
        edges = (
            given["edges"]
            | "FetchEdges" >> Fetch(self.shuffle, forest)
            | "Edges" >> MapBlocks(edge_rows, self.algorithm, forest)
        )
        decided = (members[MAIN], edges) | "Decide" >> GroupRows(
            self.shuffle, ("component",), decide, order=("kind", "first", "second"))
        return members["alone"], decided


def member_rows(members: Block, algorithm: int, forest: Forest) -> Iterator[Block | object]:
    """Members of components; pages that nothing resembles are kept at once (`alone`)."""
    component, found = _component(members.array("representative"), algorithm, forest)
    alone = members.array("page")[~found]
    yield beam.pvalue.TaggedOutput("alone", Block({"page": alone, "because": alone}))
    yield Block({
        "component": component, "kind": np.full(len(members), _MEMBER, np.uint8),
        "first": members["representative"], "second": members["page"],
        "order": members["order"],
    }).take(found)


def edge_rows(pairs: Block, algorithm: int, forest: Forest) -> Block:
    """Pairs of similar representatives with their component."""
    component, _ = _component(pairs.array("page_a"), algorithm, forest)
    return Block({
        "component": component, "kind": pairs.array("star") + np.uint8(_EDGE),
        "first": pairs["page_a"], "second": pairs["page_b"],
        "order": np.zeros(len(pairs), np.uint64),
    })


def _component(
    pages: NDArray[np.uint64], algorithm: int, forest: Forest
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """The component of each page, and whether it has one."""
    known, root = forest.members(algorithm)
    if not len(known):
        return pages, np.zeros(len(pages), np.bool_)
    at = np.minimum(np.searchsorted(known, pages), len(known) - 1)
    return root[at], known[at] == pages


def decide(rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Block:
    """Whole components -> which pages are kept, and what the others are dropped for.

    All pages of a set are decided at once, and all sets of a star, so they take their turn with
    their first page.
    """
    kind = rows.array("kind")
    members, edges, stars = (rows.take(kind == each) for each in (_MEMBER, _EDGE, _STAR))
    members = members.with_columns(first=_leaders(members.array("first"), stars))
    by_turn = members.sort(("first", "order", "second"))
    best = by_turn.take(by_turn.starts(("first",)))
    sets = best.array("first")
    order = best.sort_order(("order", "second"))
    ends = [np.searchsorted(sets, edges.array(name)) for name in ("first", "second")]
    here, there = np.concatenate(ends), np.concatenate(ends[::-1])
    heads = np.zeros(len(sets) + 1, np.int64)
    np.cumsum(np.bincount(here, minlength=len(sets)), out=heads[1:])
    neighbours = there[np.argsort(here, kind="stable")]
    kept = first_kept(frozen(order), frozen(heads), frozen(neighbours))
    of_member = np.searchsorted(sets, members.array("first"))
    return Block({
        "page": members.array("second"), "because": best.array("second")[kept[of_member]],
    })


def _leaders(sets: NDArray[np.uint64], stars: Block) -> NDArray[np.uint64]:
    """The page that stands for each set: itself, or the first page of a star."""
    stars = stars.sort(("second",))
    followers = stars.array("second")
    if not len(followers):
        return sets
    at = np.minimum(np.searchsorted(followers, sets), len(followers) - 1)
    return np.where(followers[at] == sets, stars.array("first")[at], sets)
