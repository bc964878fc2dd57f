"""Columns of fixed-width values: which types they may have."""

import numpy as np
from numpy.typing import NDArray

from beam_reuse.kernels.compiled import frozen

FIXED = ("bool", "uint8", "uint16", "uint32", "uint64", "int32", "int64", "float64")
# By type, not by its name, which NumPy makes anew for whoever asks: 2 µs for each column.
FIXED_TYPES = {np.dtype(name): name for name in FIXED}


def fixed(name: str, column: object) -> NDArray:
    """`column` read-only, if it is a flat array of one of the types in FIXED or of 'V<n>'; `name`
    is for messages."""
    if not isinstance(column, np.ndarray) or column.ndim != 1:
        raise TypeError(f"column {name!r} must be a flat array, VarBytes, Lists or Maybe")
    dtype = column.dtype
    if dtype in FIXED_TYPES or (dtype.kind == "V" and dtype.itemsize and not dtype.names):
        return frozen(column)
    native = dtype.newbyteorder("=")
    if native not in FIXED_TYPES:
        raise TypeError(f"column {name!r} is {dtype}; it must be one of {', '.join(FIXED)}, V<n>")
    return frozen(column.astype(native))


def raw_bytes(column: np.ndarray) -> NDArray[np.uint8]:
    """The bytes of a fixed-width column, as they lie in memory."""
    return np.ascontiguousarray(column).view(np.uint8)
