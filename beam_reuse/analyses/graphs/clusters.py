"""Clusters: connected components of pairs."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.runs import slices
from beam_reuse.columnar.schema import KIND, PAGE, columns, gives
from beam_reuse.kernels import union_find
from beam_reuse.kernels.compiled import frozen
from beam_reuse.rows import Rows
from beam_reuse.rows.nodes import MAIN, Group, Output, Side, by_number

_WAITING = 1 << 16
_OUTPUT_BYTES = 8 << 20
EDGES = columns(kind=KIND, page=PAGE, root=PAGE)
_NOTHING = Block({
    "kind": np.zeros(0, np.uint8), "page": np.zeros(0, np.uint64), "root": np.zeros(0, np.uint64)})


def components(edges: Rows) -> Rows:
    """Edges between `page` and `root`, of one or more kinds -> EDGES from each page that an edge of
    a kind connects with another to the smallest page of its component; a root is there, too, as its
    own.

    One round. Workers reduce edges to spanning forests before they go, then one connects each
    kind. Memory there: a row of 17 bytes per connected page, some four times that while it works.
    """
    side = Side(edges.map(_edge_columns).outputs, ("kind",), ("page",), spanning, spanning,
                by_number, ("kind",))
    group = Group("components", (side,), _read_components, gives={MAIN: EDGES})
    return Rows(edges.plan, (Output(group),))


@gives(EDGES)
def _edge_columns(edges: Block) -> Block:
    return edges.select(_NOTHING.names)


def _read_components(sides: Sequence[Iterator[Block]], args: Sequence[Any]) -> Iterator[Block]:
    """The components of a bucket, which has all edges of its kinds."""
    (edges,) = sides
    links = connected(edges)
    by_root = links.sort(("kind", "root"))
    roots = by_root.take(by_root.starts(("kind", "root")))
    yield from slices([links, roots.with_columns(page=roots["root"])], _OUTPUT_BYTES)


def connected(slabs: Iterator[Block]) -> Block:
    """The `spanning` edges of all slabs. They wait until they are worth a pass, so that each is
    looked at a few times, however many there are."""
    links, waiting = _NOTHING, list[Block]()
    for slab in slabs:
        waiting.append(slab)
        if sum(map(len, waiting)) > max(_WAITING, len(links)):
            links, waiting = spanning(Block.concat([links, *waiting])), []
    return spanning(Block.concat([links, *waiting]))


def spanning(edges: Block) -> Block:
    """What edges connect, with fewest edges: each page that is not the smallest of its component,
    with the one that is; sorted by kind and page."""
    kind = edges.array("kind")
    linked = (_linked(edges.take(kind == each)) for each in np.unique(kind))
    return Block.concat([_NOTHING, *linked])


def _linked(edges: Block) -> Block:
    """`spanning` of edges of one kind."""
    ends = np.concatenate([edges.array("page"), edges.array("root")])
    pages, which = np.unique(ends, return_inverse=True)
    left, right = np.split(which.astype(np.int64), 2)
    root = union_find.components(len(pages), frozen(left), frozen(right))
    at = np.flatnonzero(root != np.arange(len(pages)))
    return Block({"kind": np.full(len(at), edges.array("kind")[0]), "page": pages[at],
                  "root": pages[root[at]]})
