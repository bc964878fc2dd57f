"""How every kernel is compiled: once, kept on disk, and without the interpreter lock."""

from collections.abc import Callable
from typing import TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile `function` at its first call; machine code is kept beside the source.

    Where no folder can be written (a worker with a read-only disk) it is compiled in every
    process instead of failing. Callers pass arrays of one type each, so that there is one
    variant of each kernel. Kept code is renewed when its own source file changes: after an
    edit to a kernel that kernels of other files call, delete `__pycache__`.
    """
    try:
        compiled: F = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:
        compiled = numba.njit(nogil=True)(function)
    return compiled


def frozen(array: NDArray) -> NDArray:
    """`array` contiguous and read-only: the one form kernels are compiled for."""
    out = np.ascontiguousarray(array)
    if out.flags.writeable:
        out = out.view()
        out.flags.writeable = False
    return out
