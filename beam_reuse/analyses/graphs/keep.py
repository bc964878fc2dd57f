"""Which pages to keep: of pages that are alike the first by a rule, and none is dropped that
resembles nothing kept.

Members of sets, edges between sets, and what else is known of members are rows of the same columns
(SETS): `set` is the first page of a set, `row` what the row is, `page` a member of the set, or the
first page of the other set of an edge. `order` is small for members that are kept first; of an
edge it is how much of `set` is on `page`, where that is known; of rows about names it is a hash.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.graphs.plainest import NOT_DECLARED
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.schema import KIND, PAGE, SHARE, UNSIGNED, columns, gives
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.union_find import first_kept
from beam_reuse.pages.sides import Sides
from beam_reuse.rows import Rows, Tagged

CLUSTERS, _ALONE = "clusters", "alone"
MEMBER, EDGE, STAR, EQUAL, NAMED, DECLARES, SHORT = range(7)
"""What a row is: a member; an edge between sets; one of which `set` stands for `page` in all
others; one of sets whose signatures are equal; a member with a hash of its URL; one with a hash of
the URL that it declares canonical; the first page of a set that has few words."""
KEPT, IDENTITY, EQUAL_SIGNATURES, PAIR = range(4)
"""Why a page is dropped: its set, a set with equal signatures, or a similar set is kept."""

TURN = ("new", "order", "page")
"""In which order pages are taken."""
SETS = columns(set=PAGE, row=KIND, page=PAGE, order=UNSIGNED)
IN_COMPONENTS = columns(SETS, component=PAGE)
CLUSTERED = columns(kind=KIND, page=PAGE, cluster=PAGE)
DECIDED = columns(page=PAGE, because=PAGE, reason=KIND, share=SHARE)


def set_rows(
    sets: NDArray[np.uint64], row: int, pages: NDArray[np.uint64], order: NDArray[np.uint64],
) -> Block:
    """Rows of one sort."""
    return Block({"set": sets, "row": np.full(len(sets), row, np.uint8), "page": pages,
                  "order": order})


def clusters_and_connected(
    rows: Rows, components: Rows, kinds: int, kind: int,
) -> tuple[Rows, Rows, Rows]:
    """SETS, with edges of one `kind`; what edges of all kinds below `kinds` connect -> CLUSTERED;
    the rows of pages that edges of this kind or sets connect, with their `component`; what is
    DECIDED of all others: they are kept.

    The `cluster` of a page is the smallest that sets and edges connect it with; pages that nothing
    does are in none.
    """
    found = rows.join(components.map(_of_sets, kinds), "set", in_components, kinds, kind)
    return found.tagged(CLUSTERS), found, found.tagged(_ALONE)


def kept(connected: Rows, sides: Sides) -> Rows:
    """Rows with their `component` -> what is DECIDED of each page: `because` is the page that it is
    dropped for, or itself, and `share` how much of it is there.

    Pages are taken by `order`, then number; one that is undecided is kept and drops its
    undecided neighbours: the members of its set, of those that one page stands for together with
    its own, and of all sets similar to these. The rule decides within a connected component, and
    a component must fit in memory. Pages of a baseline come before all others, and one of them
    never drops another.
    """
    return connected.group("component", decide, sides, order=("row", "set", "page"))


@gives(columns(set=PAGE, kind=KIND, root=PAGE))
def _of_sets(components: Block, kinds: int) -> Block:
    return Block({"set": components["page"], "kind": components["kind"],
                  "root": components["root"]}).take(components.array("kind") < kinds)


@gives(IN_COMPONENTS, {CLUSTERS: CLUSTERED, _ALONE: DECIDED})
def in_components(
    rows: Block | None, components: Block | None, kinds: int, kind: int,
) -> Iterator[Block | Tagged]:
    """Rows of pages that are connected, with their `component`; pages that nothing resembles are
    kept at once (_ALONE). Also CLUSTERS, of all kinds."""
    if rows is None:
        raise AssertionError("edges of pages that are not there")
    rows = rows.with_columns(several=_has_several(rows))
    members = rows.take(rows.array("row") == MEMBER)
    for each in range(kinds):
        root, connected = _roots(members, components, each)
        yield Tagged(CLUSTERS, Block({
            "kind": np.full(len(members), each, np.uint8), "cluster": root,
            "page": members["page"]}).take(connected))
    _, connected = _roots(members, components, kind)
    alone = members.array("page")[~connected]
    yield Tagged(_ALONE, Block({
        "page": alone, "because": alone, "reason": np.full(len(alone), KEPT, np.uint8),
        "share": np.ones(len(alone))}))
    root, connected = _roots(rows, components, kind)
    yield rows.without("several").with_columns(component=root).take(connected)


def _has_several(rows: Block) -> NDArray[np.bool_]:
    """Whether the set of each row has several members."""
    starts = rows.starts(("set",))
    members = np.add.reduceat((rows.array("row") == MEMBER).astype(np.int64), starts)
    return np.repeat(members > 1, np.diff(np.append(starts, len(rows))))


def _roots(
    rows: Block, components: Block | None, kind: int,
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """The smallest page that is connected with each, and whether another one is."""
    root, connected = rows.array("set"), rows.array("several")
    if components is not None:
        links = components.take(components.array("kind") == kind)
        at = lookup(rows, links, ("set",))
        root = root.copy()
        root[at >= 0] = links.array("root")[at[at >= 0]]
        connected = connected | (at >= 0)
    return root, connected


def first_members(rows: Block, sides: Sides) -> Block:
    """The members of whole components: of each `set` the first by the rule, with `new`: 0 for
    pages of a baseline, which come first, else 1."""
    row = rows.array("row")
    members, named, declares = (rows.take(row == each) for each in (MEMBER, NAMED, DECLARES))
    name = ("component", "order")
    declared = named.array("page")[np.isin(named.hash_rows(name), declares.hash_rows(name))]
    first = np.isin(members.array("page"), declared)
    order = np.where(first, members.array("order") & ~NOT_DECLARED, members.array("order"))
    new = sides.new(members.array("page")).astype(np.uint8)
    by_turn = members.with_columns(order=order, new=new).sort(("set", *TURN))
    return by_turn.take(by_turn.starts(("set",)))


@gives(DECIDED)
def decide(
    rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64], sides: Sides,
) -> Block:
    """Whole components -> which pages are kept, and what the others are dropped for.

    All pages of a set are decided at once, and all sets of a star, so they take their turn with
    their first page.
    """
    row = rows.array("row")
    members, stars = rows.take(row == MEMBER), rows.take(row == STAR)
    edges = rows.take((row == EDGE) | (row == EQUAL))
    best = _first_of_stars(first_members(rows, sides), stars)
    leaders, own_set = best.array("leader"), best.array("set")
    ends = [np.searchsorted(leaders, edges.array(name)) for name in ("set", "page")]
    some = best.array("new")[ends[0]] | best.array("new")[ends[1]] > 0
    ends, edges = [each[some] for each in ends], edges.take(some)
    here, there, edge = (np.concatenate(each) for each in (
        ends, ends[::-1], [np.arange(len(edges))] * 2))
    by_end = np.lexsort((there, here))
    here, there, edge = here[by_end], there[by_end], edge[by_end]
    heads = np.searchsorted(here, np.arange(len(best) + 1))
    keeper = first_kept(frozen(best.sort_order(TURN)), frozen(heads), frozen(there))
    node = np.searchsorted(leaders, leaders_of(members.array("set"), stars))
    decider = keeper[node]
    similar = decider != node
    identical = ~similar & (own_set[node] == members.array("set"))
    reason = np.where(identical, np.uint8(IDENTITY), np.uint8(EQUAL_SIGNATURES))
    share = np.ones(len(members))
    span = np.int64(len(best))
    via = edge[np.searchsorted(here * span + there, (node * span + decider)[similar])]
    reason[similar] = np.where(edges.array("row")[via] == EQUAL, EQUAL_SIGNATURES, PAIR)
    share[similar] = edges.array("order")[via].view(np.float64)
    because = best.array("page")[decider]
    reason[because == members.array("page")] = KEPT
    return Block({"page": members["page"], "because": because, "reason": reason, "share": share})


def _first_of_stars(best: Block, stars: Block) -> Block:
    """Of the first members of sets those that are first where one set stands for several (its
    `leader`); sorted by it."""
    led = best.with_columns(leader=leaders_of(best.array("set"), stars))
    by_turn = led.sort(("leader", *TURN))
    return by_turn.take(by_turn.starts(("leader",)))


def leaders_of(sets: NDArray[np.uint64], stars: Block) -> NDArray[np.uint64]:
    """The page that stands for each set: itself, or the first page of a star."""
    stars = stars.sort(("page",))
    followers = stars.array("page")
    if not len(followers):
        return sets
    at = np.minimum(np.searchsorted(followers, sets), len(followers) - 1)
    return np.where(followers[at] == sets, stars.array("set")[at], sets)
