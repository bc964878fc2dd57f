"""The nearest of many 256-bit digests: the fewest differing bits, then the smallest row.

A digest is four 64-bit words. A *piece* is a stretch of its bits; digests that agree in a
piece lie in one bucket of that piece.
"""

import numpy as np

from beam_reuse.kernels.bits import ones
from beam_reuse.kernels.compiled import kernel

NONE = -1

_BLOCK = 256
_TOO_FAR = 257
_WORD_BITS = np.uint64(64)


@kernel
def _distance(a: np.ndarray, i: int, b: np.ndarray, j: int) -> np.int64:
    return np.int64(ones(a[i, 0] ^ b[j, 0]) + ones(a[i, 1] ^ b[j, 1])
                    + ones(a[i, 2] ^ b[j, 2]) + ones(a[i, 3] ^ b[j, 3]))


@kernel
def _piece(digests: np.ndarray, row: int, start: int, bits: int) -> np.int64:
    """`bits` bits (at most 32) of a digest from bit `start` on, as a number."""
    shift = np.uint64(start % 64)
    value = digests[row, start // 64] >> shift
    if start % 64 + bits > 64:
        value |= digests[row, start // 64 + 1] << (_WORD_BITS - shift)
    return np.int64(value & np.uint64((1 << bits) - 1))


@kernel
def bucket(labels: np.ndarray, starts: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """For each piece (`bits` bits from `starts[i]` on) the labels sorted into its buckets.

    Returns `heads` and `members`: bucket b of piece i is `members[i, heads[i, b]:heads[i, b + 1]]`,
    positions in `labels` in order. Linear in labels and buckets.
    """
    heads = np.zeros((len(starts), (1 << bits) + 1), np.int32)
    members = np.empty((len(starts), len(labels)), np.int32)
    for i in range(len(starts)):
        for row in range(len(labels)):
            heads[i, _piece(labels, row, starts[i], bits) + 1] += 1
        for number in range(1 << bits):
            heads[i, number + 1] += heads[i, number]
        used = heads[i, :-1].copy()
        for row in range(len(labels)):
            slot = _piece(labels, row, starts[i], bits)
            members[i, used[slot]] = row
            used[slot] += 1
    return heads, members


@kernel
def nearest_by_pieces(
    queries: np.ndarray, labels: np.ndarray, rows: np.ndarray,
    heads: np.ndarray, members: np.ndarray, starts: np.ndarray, bits: int,
    flips: np.ndarray, probes: np.ndarray, found_within: np.ndarray, budget: int,
    nearest: np.ndarray, distance: np.ndarray,
) -> np.ndarray:
    """The nearest label of each query, looked for in the buckets of its pieces.

    In piece i these buckets are looked at: the query's own number, changed by each of the first
    `probes[i]` patterns of `flips`. After piece i every label at most `found_within[i]`
    away has been seen, so a query is done once its nearest label is no further. On entry
    `distance` holds the first distance that is too far and `nearest` NONE; on return the
    smallest distance and the smallest of the `rows` of labels at it. Queries that would have
    to be compared with more than `budget` labels are left as they were; returns their numbers.
    """
    unfinished = np.empty(len(queries), np.int64)
    left = 0
    for query in range(len(queries)):
        best, row, spent = distance[query], nearest[query], 0
        for i in range(len(starts)):
            key = _piece(queries, query, starts[i], bits)
            for j in range(probes[i]):
                slot = key ^ flips[j]
                low, high = heads[i, slot], heads[i, slot + 1]
                spent += high - low
                if spent > budget:
                    break
                for member in range(low, high):
                    label = members[i, member]
                    off = _distance(queries, query, labels, label)
                    if off < best or (off == best and rows[label] < row):
                        best, row = off, rows[label]
            if spent > budget or best <= found_within[i]:
                break
        if spent > budget:
            unfinished[left] = query
            left += 1
        else:
            distance[query], nearest[query] = best, row
    return unfinished[:left].copy()


@kernel
def _nearest_in_block(
    queries: np.ndarray, query: int,
    first: np.ndarray, second: np.ndarray, third: np.ndarray, fourth: np.ndarray,
) -> np.int64:
    """Smallest distance of a query to the labels with these words; LLVM makes vectors of it."""
    a, b, c, d = queries[query, 0], queries[query, 1], queries[query, 2], queries[query, 3]
    smallest = np.uint64(_TOO_FAR)
    for at in range(len(first)):
        smallest = min(smallest, ones(a ^ first[at]) + ones(b ^ second[at])
                       + ones(c ^ third[at]) + ones(d ^ fourth[at]))
    return np.int64(smallest)


@kernel
def nearest_of_all(
    queries: np.ndarray, which: np.ndarray, labels: np.ndarray, columns: np.ndarray,
    rows: np.ndarray, nearest: np.ndarray, distance: np.ndarray,
) -> None:
    """The nearest label of the queries numbered `which`, each compared with all labels.

    `columns` are the labels once more, one row per word; a block of them stays in the cache
    while all queries pass. The rest is as above.
    """
    for start in range(0, len(labels), _BLOCK):
        end = min(start + _BLOCK, len(labels))
        for query in which:
            smallest = _nearest_in_block(queries, query, columns[0, start:end],
                                         columns[1, start:end], columns[2, start:end],
                                         columns[3, start:end])
            if smallest > distance[query]:
                continue
            for at in range(start, end):
                off = _distance(queries, query, labels, at)
                if off < distance[query] or (off == distance[query] and rows[at] < nearest[query]):
                    distance[query], nearest[query] = off, rows[at]
