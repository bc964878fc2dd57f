"""Exact sums over all rows."""


import numpy as np

_LOW = np.uint64(0xFFFFFFFF)


def exact_sum(column: np.ndarray) -> int:
    """The sum of an integer column without overflow: its halves are summed apart."""
    if column.dtype.kind not in "bui":
        raise TypeError(f"only integers are summed exactly, not {column.dtype}")
    if column.dtype.itemsize < 8:
        return int(column.sum(dtype=np.int64))
    low = column.view(np.uint64) & _LOW
    high = column >> np.array(32, column.dtype)
    return int(low.sum(dtype=np.uint64)) + (int(high.sum()) << 32)
