"""Which neighbours of a node are asked first."""

import numpy as np

from beam_reuse.kernels.compiled import kernel


@kernel
def _insert(top: np.ndarray, marks: np.ndarray, count: int, node: int, mark: int, rank: np.ndarray,
            ) -> int:
    """Put a node among the first by rank, of which there is room for len(top); gives their new
    number."""
    if count == len(top):
        if rank[node] > rank[top[count - 1]]:
            return count
        count -= 1
    at = count
    while at > 0 and rank[top[at - 1]] > rank[node]:
        top[at], marks[at] = top[at - 1], marks[at - 1]
        at -= 1
    top[at], marks[at] = node, mark
    return count + 1


@kernel
def first_neighbours(
    firsts: np.ndarray, nodes: np.ndarray, rank: np.ndarray, heads: np.ndarray,
    neighbours: np.ndarray, marks: np.ndarray, own_mark: int, most: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Nodes are in classes: class i has nodes[firsts[i]:firsts[i + 1]], in order of their ranks.
    All nodes of a class are neighbours, and those of neighbouring classes, which are
    neighbours[heads[i]:heads[i + 1]], each with a mark. Gives for each node the first `most` of
    its neighbours that have lower ranks: node, neighbour and mark (`own_mark` in one class); and
    how many nodes have more.

    Time: `most` steps per node and per pair of classes.
    """
    room = len(nodes) * most
    left, right, mark = (np.empty(room, np.int64), np.empty(room, np.int64),
                         np.empty(room, np.uint8))
    top, top_marks = np.empty(most + 1, np.int64), np.empty(most + 1, np.uint8)
    found, more = 0, 0
    for one in range(len(firsts) - 1):
        count = 0
        for at in range(heads[one] - 1, heads[one + 1]):
            other = one if at < heads[one] else neighbours[at]
            of_other = own_mark if at < heads[one] else marks[at]
            for i in range(firsts[other], min(firsts[other + 1], firsts[other] + most + 1)):
                count = _insert(top, top_marks, count, nodes[i], of_other, rank)
        for i in range(firsts[one], firsts[one + 1]):
            node = nodes[i]
            for at in range(count):
                if rank[top[at]] >= rank[node]:
                    break
                if at == most:
                    more += 1
                    break
                left[found], right[found], mark[found] = node, top[at], top_marks[at]
                found += 1
    return left[:found].copy(), right[:found].copy(), mark[:found].copy(), more
