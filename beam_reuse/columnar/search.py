"""Where values fall among sorted splitters."""

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.columns import Column
from beam_reuse.columnar.sorting import order_words
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.kernels.byte_strings import compare_strings
from beam_reuse.kernels.compiled import frozen, kernel


def splitters_up_to(column: Column, splitters: Column) -> NDArray[np.int64]:
    """For each value, how many of the sorted `splitters` are not above it.

    Equal values get equal numbers, and larger values no smaller ones.
    """
    if isinstance(column, VarBytes) and isinstance(splitters, VarBytes):
        both = VarBytes.concat([splitters, column])
        out: NDArray[np.int64] = _search_bytes(both.offsets, both.data, len(splitters))
        return out
    if not (isinstance(column, np.ndarray) and isinstance(splitters, np.ndarray)):
        raise TypeError("values and splitters must be of one type, without lists and null")
    words = np.column_stack(list(order_words(column)))
    out = _search_words(frozen(words), frozen(np.column_stack(list(order_words(splitters)))))
    return out


@kernel
def _search_bytes(offsets, data, count):  # type: ignore[no-untyped-def]
    out = np.empty(len(offsets) - 1 - count, np.int64)
    for i in range(len(out)):
        lo, hi = 0, count
        while lo < hi:
            mid = (lo + hi) // 2
            if compare_strings(offsets, data, mid, i + count, 0) <= 0:
                lo = mid + 1
            else:
                hi = mid
        out[i] = lo
    return out


@kernel
def _search_words(words, splitters):  # type: ignore[no-untyped-def]
    out = np.empty(len(words), np.int64)
    for i in range(len(words)):
        lo, hi = 0, len(splitters)
        while lo < hi:
            mid = (lo + hi) // 2
            above = False
            for w in range(words.shape[1]):
                if splitters[mid, w] != words[i, w]:
                    above = splitters[mid, w] > words[i, w]
                    break
            if above:
                hi = mid
            else:
                lo = mid + 1
        out[i] = lo
    return out
