"""Connected components."""

import numpy as np

from beam_reuse.kernels.compiled import kernel


@kernel
def _root(parents: np.ndarray, node: int) -> int:
    """The root of a node; the way there is halved."""
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


@kernel
def components(count: int, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """For each of `count` nodes the smallest node that edges connect it with; edge i joins
    left[i] and right[i]."""
    parents = np.arange(count)
    for i in range(len(left)):
        a, b = _root(parents, left[i]), _root(parents, right[i])
        if a < b:
            parents[b] = a
        else:
            parents[a] = b
    for node in range(count):
        parents[node] = parents[parents[node]]
    return parents


@kernel
def first_kept(order: np.ndarray, heads: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Nodes are taken in `order`; one that is undecided is kept, and drops its undecided
    neighbours. Node i has neighbours[heads[i]:heads[i + 1]]. Gives for each node the kept node
    that decided it: itself, if it is kept."""
    out = np.full(len(order), -1, np.int64)
    for node in order:
        if out[node] >= 0:
            continue
        out[node] = node
        for at in range(heads[node], heads[node + 1]):
            if out[neighbours[at]] < 0:
                out[neighbours[at]] = node
    return out
