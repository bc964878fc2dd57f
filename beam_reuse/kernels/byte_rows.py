"""Rows of bytes (hashes above all): words of them, and their order."""

import numpy as np
from numpy.typing import NDArray

from beam_reuse.kernels.compiled import frozen, kernel


def byte_rows(values: NDArray) -> NDArray[np.uint8]:
    """Fixed-width values ('V20', or records) as rows of bytes, in the form kernels take."""
    dense = np.ascontiguousarray(values)
    return frozen(dense.view(np.uint8).reshape(len(dense), dense.dtype.itemsize))


@kernel
def word_at(rows: np.ndarray, row: int, at: int) -> np.uint64:
    """Eight bytes of a row from `at`, the first byte highest."""
    value = np.uint64(0)
    for i in range(8):
        value = value << np.uint64(8) | np.uint64(rows[row, at + i])
    return value


@kernel
def compare_rows(
    rows: np.ndarray, row: np.int64 | int, others: np.ndarray, other: np.int64 | int, width: int
) -> int:
    """-1, 0 or 1 as the first `width` bytes of one row are below, equal to or above another's."""
    for i in range(width):
        if rows[row, i] != others[other, i]:
            return -1 if rows[row, i] < others[other, i] else 1
    return 0
