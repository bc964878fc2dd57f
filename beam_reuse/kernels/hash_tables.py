"""Distinct values and lookups by open addressing, where no order is needed.

Values are rows of eight bytes or more (hashes), or 64-bit integers. The integer, or the first
eight bytes, mixed, says where a value belongs; equality is that of the whole value.
"""

import numpy as np

from beam_reuse.kernels.byte_rows import compare_rows, word_at
from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.mixing import mix

_EMPTY = -1


@kernel
def slots_for(count: int) -> int:
    """Slots of a table for `count` values: a power of two, at most half full."""
    slots = 16
    while slots < 2 * count:
        slots *= 2
    return slots


@kernel
def place(values: np.ndarray, row: int, mask: int) -> np.int64:
    """Where a value is first looked for. Neighbouring integers lie far apart."""
    word = np.uint64(values[row]) if values.ndim == 1 else word_at(values, row, 0)
    return np.int64(mix(word) & np.uint64(mask))


@kernel
def _same(a: np.ndarray, i: int, b: np.ndarray, j: int) -> bool:
    if a.ndim == 1:
        return a[i] == b[j]
    return compare_rows(a, i, b, j, a.shape[1]) == 0


@kernel
def number_distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row the number of its value, counted in order of first appearance, and for each
    number the row where it appears first."""
    mask = slots_for(len(values)) - 1
    table = np.full(mask + 1, _EMPTY, np.int64)
    numbers = np.empty(len(values), np.int64)
    first = np.empty(len(values), np.int64)
    count = 0
    for row in range(len(values)):
        at = place(values, row, mask)
        while table[at] != _EMPTY and not _same(values, first[table[at]], values, row):
            at = (at + 1) & mask
        if table[at] == _EMPTY:
            table[at] = count
            first[count] = row
            count += 1
        numbers[row] = table[at]
    return numbers, first[:count].copy()


@kernel
def sums_by_number(numbers: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """For each number below `count` the sum of the values that are at it."""
    out = np.zeros(count, values.dtype)
    for i in range(len(numbers)):
        out[numbers[i]] += values[i]
    return out


@kernel
def find_rows(known: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """For each row of `asked` the row of `known` with the same bytes, or -1; no value occurs
    twice in `known`."""
    mask = slots_for(len(known)) - 1
    table = np.full(mask + 1, _EMPTY, np.int64)
    for row in range(len(known)):
        at = place(known, row, mask)
        while table[at] != _EMPTY:
            at = (at + 1) & mask
        table[at] = row
    out = np.full(len(asked), _EMPTY, np.int64)
    for row in range(len(asked)):
        at = place(asked, row, mask)
        while table[at] != _EMPTY:
            if _same(known, table[at], asked, row):
                out[row] = table[at]
                break
            at = (at + 1) & mask
    return out
