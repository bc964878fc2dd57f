"""Distinct values of a column."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.kernels import hash_tables
from beam_reuse.kernels.byte_rows import byte_rows
from beam_reuse.kernels.compiled import frozen


def number_distinct(values: NDArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each value (a hash, 'V20', or a 64-bit integer) its number in order of first appearance,
    and for each number the place where it appears first. Nothing is sorted: some 50 ns each."""
    of_words = values.dtype.kind in "iu"
    numbers, first = hash_tables.number_distinct(
        frozen(values) if of_words else byte_rows(values))
    return np.asarray(numbers), np.asarray(first)


def sums_by_number(
    numbers: NDArray[np.int64], values: NDArray[np.int64], count: int
) -> NDArray[np.int64]:
    """For each number below `count` the sum of the values with that number, exact."""
    return np.asarray(hash_tables.sums_by_number(frozen(numbers), frozen(values), count))


def count_distinct(hashes: NDArray, counts: Sequence[NDArray]) -> tuple[NDArray, list[NDArray]]:
    """The distinct hashes ('V20'), in order of first appearance, and for each of them the sums
    of its `counts` (64-bit integers)."""
    numbers, first = number_distinct(hashes)
    return hashes[first], [sums_by_number(numbers, each, len(first)) for each in counts]


def find_rows(known: NDArray, asked: NDArray) -> NDArray[np.int64]:
    """For each hash of `asked` its place in `known`, whose hashes are distinct, or -1."""
    return np.asarray(hash_tables.find_rows(byte_rows(known), byte_rows(asked)))


def distinct_strings(values: VarBytes) -> tuple[VarBytes, NDArray[np.int64]]:
    """The distinct values in order, and for each value its number among them."""
    order = Block({"value": values}).sort_order(("value",))
    ordered = values.take(order)
    new = np.concatenate([np.ones(min(len(values), 1), np.bool_), ordered.differs()])
    which = np.empty(len(values), np.int64)
    which[order] = np.cumsum(new) - 1
    return ordered.take(new), which
