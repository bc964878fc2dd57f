"""Which rows of one block match which rows of another: the inner step of a join."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.nested import concat_columns, same_type
from beam_reuse.columnar.sorting import order_words, ranks
from beam_reuse.kernels.compiled import kernel


def match_ranges(
    left: Block, right: Block, keys: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each row of `left`, the rows lo..hi-1 of `right` with equal keys (lo == hi: none).

    Both blocks are sorted by `keys`. Time: one pass over both.
    """
    left_words, right_words = _words(left, right, keys)
    lo, hi = _ranges(left_words, right_words)
    return lo, hi


def lookup(left: Block, right: Block, keys: Sequence[str]) -> NDArray[np.int64]:
    """For each row of `left`, the row of `right` with equal keys, or -1.

    Both blocks are sorted by `keys`, and no key occurs twice in `right`.
    """
    lo, hi = match_ranges(left, right, keys)
    if len(hi) and int((hi - lo).max()) > 1:
        raise ValueError(f"lookup by {list(keys)}: a key occurs more than once on the right")
    return np.where(hi > lo, lo, -1)


def pairs_of(
    lo: NDArray[np.int64], hi: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The matching (left row, right row) pairs that `match_ranges` describes, in order."""
    counts = hi - lo
    left = np.repeat(np.arange(len(lo)), counts)
    first = np.cumsum(counts) - counts
    return left, np.arange(len(left)) - np.repeat(first - lo, counts)


def _words(
    left: Block, right: Block, keys: Sequence[str]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The keys as rows of 64-bit words that compare as the keys do."""
    left_words: list[NDArray[np.uint64]] = []
    right_words: list[NDArray[np.uint64]] = []
    for key in keys:
        a, b = left[key], right[key]
        if not same_type(a, b):
            raise TypeError(f"key column {key!r} has different types on the two sides")
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            left_words += order_words(a)
            right_words += order_words(b)
        else:
            both = ranks(concat_columns([a, b]))
            left_words.append(both[: len(a)])
            right_words.append(both[len(a) :])
    return np.column_stack(left_words), np.column_stack(right_words)


@kernel
def _ranges(left, right):  # type: ignore[no-untyped-def]
    n, m, width = len(left), len(right), left.shape[1]
    lo, hi = np.empty(n, np.int64), np.empty(n, np.int64)
    start = end = 0
    for i in range(n):
        same = i > 0
        for w in range(width):
            if same and left[i, w] != left[i - 1, w]:
                same = False
        if not same:
            start = end
            while start < m and _compare(right, start, left, i) < 0:
                start += 1
            end = start
            while end < m and _compare(right, end, left, i) == 0:
                end += 1
        lo[i], hi[i] = start, end
    return lo, hi


@kernel
def _compare(a, i, b, j):  # type: ignore[no-untyped-def]
    for w in range(a.shape[1]):
        if a[i, w] != b[j, w]:
            return -1 if a[i, w] < b[j, w] else 1
    return 0
