"""Crowds: so many pages share one key that not every two of them are compared. Each is compared
with the first, and with the NEXT after it."""

import numpy as np
from numpy.typing import NDArray

NEXT = 10


def not_compared(pages: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many pairs of crowds of so many pages are left out."""
    return pages * (pages - 1) // 2 - compared(pages)


def compared(pages: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many pairs of crowds of so many pages are compared."""
    few = np.minimum(pages, NEXT + 1)
    return few * (few - 1) // 2 + (NEXT + 1) * (pages - few)
