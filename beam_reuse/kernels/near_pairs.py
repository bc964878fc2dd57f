"""Keys of signatures, and the comparison of pages that share one.

A row of `b` has the supershingles of a page (all zero: it has none), a row of `c` the signs of
its projections. Rows are in the order of page numbers within a group.
"""

import numpy as np

from beam_reuse.kernels.bits import ones
from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.mixing import chain, mix

_B_KEY = np.uint64(0x3F84D5B5B5470917)
_C_KEY = np.uint64(0x9216D5D98979FB1B)
_EVEN, _ODD = ~np.uint64(1), np.uint64(1)


@kernel
def b_keys(b: np.ndarray, count: int) -> np.ndarray:
    """The first `count` supershingles of each row, mixed with their numbers; even."""
    out = np.empty((len(b), count), np.uint64)
    for row in range(len(b)):
        for number in range(count):
            out[row, number] = mix(chain(_B_KEY + np.uint64(number), b[row, number])) & _EVEN
    return out


@kernel
def c_keys(c: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """The bits of each mask in each row, mixed with the number of the mask; odd."""
    out = np.empty((len(c), len(masks)), np.uint64)
    for row in range(len(c)):
        for number in range(len(masks)):
            state = _C_KEY + np.uint64(number)
            for word in range(c.shape[1]):
                state = chain(state, c[row, word] & masks[number, word])
            out[row, number] = mix(state) | _ODD
    return out


@kernel
def b_similarity(b: np.ndarray, i: int, other: np.ndarray, j: int) -> int:
    """How many supershingles agree; none do of pages that have none."""
    same, any_bit = 0, np.uint64(0)
    for k in range(b.shape[1]):
        same += b[i, k] == other[j, k]
        any_bit |= b[i, k]
    return same if any_bit != 0 else 0


@kernel
def c_distance(c: np.ndarray, i: int, other: np.ndarray, j: int) -> np.int64:
    """How many bits differ."""
    differing = np.uint64(0)
    for word in range(c.shape[1]):
        differing += ones(c[i, word] ^ other[j, word])
    return np.int64(differing)


@kernel
def similarities(
    b: np.ndarray, c: np.ndarray, other_b: np.ndarray, other_c: np.ndarray, bits: int
) -> tuple[np.ndarray, np.ndarray]:
    """Both similarities of each row with the same row of the others."""
    same_b, same_c = np.empty(len(b), np.uint8), np.empty(len(b), np.uint16)
    for i in range(len(b)):
        same_b[i] = b_similarity(b, i, other_b, i)
        same_c[i] = bits - c_distance(c, i, other_c, i)
    return same_b, same_c


@kernel
def _same_under(c: np.ndarray, i: int, j: int, mask: np.ndarray) -> bool:
    """Whether two rows have the same bits under a mask."""
    other = np.uint64(0)
    for word in range(c.shape[1]):
        other |= (c[i, word] ^ c[j, word]) & mask[word]
    return bool(other == 0)


@kernel
def _is_told_before(
    b: np.ndarray, c: np.ndarray, masks: np.ndarray, key: np.uint64, number: int,
    small: np.uint64, i: int, j: int,
) -> bool:
    """Whether two rows that share the key of this number also share an earlier one, of the same
    algorithm, whose group is small: there all pairs are compared. Bit n of `small` says so
    of key n."""
    for earlier in range(min(number, 64)):
        if (small >> np.uint64(earlier)) & np.uint64(1):
            if key & _ODD:
                shared = _same_under(c, i, j, masks[earlier])
            else:
                shared = b[i, earlier] == b[j, earlier]
            if shared:
                return True
    return False


@kernel
def compare_groups(
    b: np.ndarray, c: np.ndarray, masks: np.ndarray, key: np.ndarray, number: np.ndarray,
    small: np.ndarray, starts: np.ndarray, ends: np.ndarray, fresh: np.ndarray,
    crowds: np.ndarray, following: int, bits: int, least_b: int, least_c: int,
    cursor: np.ndarray, left: np.ndarray, right: np.ndarray, same_b: np.ndarray,
    same_c: np.ndarray,
) -> int:
    """Similar pairs of rows within groups: `left` and `right` are rows, left < right. Pairs that
    another small group is sure to give are left out.

    Group g is rows starts[g] to ends[g] - 1; its rows before fresh[g] have been compared with
    each other. In a crowd a row is compared with the first row of the group and with the
    `following` rows before it, else with all. Goes on at group cursor[0], row cursor[1], and
    stops when the next row might not fit into the output; returns how many pairs there are.
    """
    found, g, row = 0, cursor[0], cursor[1]
    while g < len(starts):
        row = max(row, fresh[g])
        while row < ends[g]:
            first = low = starts[g]
            if crowds[g]:
                low = max(low, row - following)
            if found + row - low + 1 > len(left):
                cursor[0], cursor[1] = g, row
                return found
            for step in range(-1 if low > first else 0, row - low):
                other = first if step < 0 else low + step
                alike = b_similarity(b, other, b, row)
                agreeing = bits - c_distance(c, other, c, row)
                if (alike >= least_b or agreeing >= least_c) and not _is_told_before(
                        b, c, masks, key[row], number[row], small[row], other, row):
                    left[found], right[found] = other, row
                    same_b[found], same_c[found] = alike, agreeing
                    found += 1
            row += 1
        g += 1
        row = 0
    cursor[0], cursor[1] = g, 0
    return found


@kernel
def _within(c: np.ndarray, i: int, j: int, most: int) -> bool:
    """Whether at most `most` bits differ; ends as soon as it is certain."""
    differing = np.int64(0)
    for word in range(c.shape[1]):
        differing += np.int64(ones(c[i, word] ^ c[j, word]))
        if differing > most:
            return False
    return True


@kernel
def _in_one_crowd(
    c: np.ndarray, crowds: np.ndarray, masks: np.ndarray, i: int, j: int
) -> bool:
    """Whether two rows are in the same crowd: bit k of `crowds` says that the row is in a crowd
    of those with the same bits under mask k."""
    both = crowds[i] & crowds[j]
    for number in range(len(masks)):
        if (both >> np.uint64(number)) & np.uint64(1) and _same_under(c, i, j, masks[number]):
            return True
    return False


@kernel
def compare_tile(
    c: np.ndarray, crowds: np.ndarray, masks: np.ndarray, start: int, middle: int, end: int,
    most: int, cursor: np.ndarray, left: np.ndarray, right: np.ndarray,
) -> int:
    """Pairs of rows at most `most` bits apart: one of start..middle-1 and one of middle..end-1,
    or, if middle == end, two of start..end-1. Pairs in one crowd are left out. Goes on at row
    cursor[0] and stops when the next row might not fit; returns how many pairs there are.
    """
    found, row = 0, max(cursor[0], start)
    while row < middle:
        low = row + 1 if middle == end else middle
        if found + end - low > len(left):
            cursor[0] = row
            return found
        for other in range(low, end):
            if _within(c, row, other, most) and (
                    crowds[row] & crowds[other] == 0
                    or not _in_one_crowd(c, crowds, masks, row, other)):
                left[found], right[found] = row, other
                found += 1
        row += 1
    cursor[0] = end
    return found
