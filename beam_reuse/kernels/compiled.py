"""How every kernel is compiled: once, kept on disk, and without the interpreter lock."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile `function` at its first call, once for all processes of a user (`kept_code`).

    Callers pass arrays of one type each, so that there is one variant of each kernel.
    """
    import numba  # half a second and 100 MB, for those who have kernels

    from beam_reuse.kernels.kept_code import KeptCode

    compiled: F = numba.njit(nogil=True)(function)
    compiled._cache = KeptCode(function)  # type: ignore[attr-defined]
    return compiled


def frozen(array: NDArray) -> NDArray:
    """`array` contiguous and read-only: the one form kernels are compiled for."""
    out = np.ascontiguousarray(array)
    if out.flags.writeable:
        out = out.view()
        out.flags.writeable = False
    return out
