"""Which pages to keep: of pages that are alike the first by a rule, and none is dropped that
resembles nothing kept.

Members of sets and edges between sets are rows of the same columns (SETS): `set` is the first page
of a set, `row` what the row is, `page` a member of the set, or the first page of the other set of
an edge; `order` is small for pages that are kept first.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.schema import KIND, PAGE, UNSIGNED, columns, gives
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.union_find import first_kept
from beam_reuse.rows import Rows, Tagged

CLUSTERS, _ALONE = "clusters", "alone"
_MEMBER, _EDGE, _STAR = 0, 1, 2
SETS = columns(set=PAGE, row=KIND, page=PAGE, order=UNSIGNED)
CLUSTERED = columns(kind=KIND, page=PAGE, cluster=PAGE)
DECIDED = columns(page=PAGE, because=PAGE)


def member_rows(
    sets: NDArray[np.uint64], pages: NDArray[np.uint64], order: NDArray[np.uint64],
) -> Block:
    """The members of sets."""
    return Block({"set": sets, "row": np.full(len(sets), _MEMBER, np.uint8), "page": pages,
                  "order": order})


@gives(SETS)
def edge_rows(pairs: Block) -> Block:
    """Pairs of similar sets; if `star` is 1, page_a stands for page_b in all other pairs."""
    return Block({"set": pairs["page_a"], "row": pairs.array("star") + np.uint8(_EDGE),
                  "page": pairs["page_b"], "order": np.zeros(len(pairs), np.uint64)})


def clusters_and_kept(members: Rows, edges: Rows, components: Rows, kinds: int, kind: int,
                      ) -> tuple[Rows, Rows]:
    """Members of all sets; the edges of one `kind`; what edges of all `kinds` connect -> clusters,
    and what is decided for each page by the edges of this kind.

    The `cluster` of a page is the smallest that sets and edges connect it with; pages that nothing
    does are in none. `because` is the page that it is dropped for, or itself.

    Pages are taken by `order`, then number; one that is undecided is kept and drops its
    undecided neighbours: the members of its set, of those that one page stands for together with
    its own, and of all sets similar to these. The rule decides within a connected component, and
    a component must fit in memory.
    """
    found = (members + edges).join(components.map(_of_sets), "set", in_components, kinds, kind)
    decided = found.group("component", decide, order=("row", "set", "page"))
    return found.tagged(CLUSTERS), decided + found.tagged(_ALONE)


@gives(columns(set=PAGE, kind=KIND, root=PAGE))
def _of_sets(components: Block) -> Block:
    return Block({"set": components["page"], "kind": components["kind"],
                  "root": components["root"]})


@gives(columns(SETS, component=PAGE), {CLUSTERS: CLUSTERED, _ALONE: DECIDED})
def in_components(
    rows: Block | None, components: Block | None, kinds: int, kind: int,
) -> Iterator[Block | Tagged]:
    """Rows of pages that are connected, with their `component`; pages that nothing resembles are
    kept at once (_ALONE). Also CLUSTERS, of all kinds."""
    if rows is None:
        raise AssertionError("edges of pages that are not there")
    is_member = rows.array("row") == _MEMBER
    members = rows.take(is_member).select(("set", "page"))
    for each in range(kinds):
        root, connected = _roots(members, components, each)
        yield Tagged(CLUSTERS, Block({
            "kind": np.full(len(members), each, np.uint8), "cluster": root,
            "page": members["page"]}).take(connected))
    root, connected = _roots(rows, components, kind)
    alone = rows.array("page")[~connected]
    yield Tagged(_ALONE, Block({"page": alone, "because": alone}))
    yield rows.with_columns(component=root).take(connected)


def _roots(
    rows: Block, components: Block | None, kind: int,
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """The smallest page that is connected with each, and whether another one is."""
    starts = rows.starts(("set",))
    sizes = np.diff(np.append(starts, len(rows)))
    root, connected = rows.array("set"), np.repeat(sizes > 1, sizes)
    if components is not None:
        links = components.take(components.array("kind") == kind)
        at = lookup(rows, links, ("set",))
        root = root.copy()
        root[at >= 0] = links.array("root")[at[at >= 0]]
        connected |= at >= 0
    return root, connected


@gives(DECIDED)
def decide(rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Block:
    """Whole components -> which pages are kept, and what the others are dropped for.

    All pages of a set are decided at once, and all sets of a star, so they take their turn with
    their first page.
    """
    row = rows.array("row")
    members, edges, stars = (rows.take(row == each) for each in (_MEMBER, _EDGE, _STAR))
    members = members.with_columns(set=_leaders(members.array("set"), stars))
    by_turn = members.sort(("set", "order", "page"))
    best = by_turn.take(by_turn.starts(("set",)))
    sets = best.array("set")
    order = best.sort_order(("order", "page"))
    ends = [np.searchsorted(sets, edges.array(name)) for name in ("set", "page")]
    here, there = np.concatenate(ends), np.concatenate(ends[::-1])
    heads = np.zeros(len(sets) + 1, np.int64)
    np.cumsum(np.bincount(here, minlength=len(sets)), out=heads[1:])
    neighbours = there[np.argsort(here, kind="stable")]
    kept = first_kept(frozen(order), frozen(heads), frozen(neighbours))
    of_member = np.searchsorted(sets, members.array("set"))
    return Block({"page": members["page"], "because": best.array("page")[kept[of_member]]})


def _leaders(sets: NDArray[np.uint64], stars: Block) -> NDArray[np.uint64]:
    """The page that stands for each set: itself, or the first page of a star."""
    stars = stars.sort(("page",))
    followers = stars.array("page")
    if not len(followers):
        return sets
    at = np.minimum(np.searchsorted(followers, sets), len(followers) - 1)
    return np.where(followers[at] == sets, stars.array("set")[at], sets)
