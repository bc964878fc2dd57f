"""Seeded random numbers: the same wherever and whenever they are drawn.

NumPy keeps the raw bits of a bit generator the same from version to version, but not what
its distributions make of them; so the distributions are made here.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from beam_reuse.experiments.vectors import Ints

_HALF = np.uint64(32)


class Draws:
    """A stream of random bits that `names` decide: other names, another stream."""

    def __init__(self, *names: object) -> None:
        digest = hashlib.sha256("\n".join(map(str, names)).encode()).digest()
        self._bits = np.random.PCG64(int.from_bytes(digest[:16], "big"))

    def words(self, n: int) -> NDArray[np.uint64]:
        """`n` words of 64 random bits."""
        return np.asarray(self._bits.random_raw(n), np.uint64).reshape(n)

    def below(self, limits: Ints, draws: int) -> Ints:
        """`draws` numbers below each limit, as an array of limits x draws.

        Limits are 1 or more and below 2**31; none is off even odds by more than 2**-32.
        """
        words = self.words(len(limits) * draws).reshape(len(limits), draws) >> _HALF
        return ((words * limits.astype(np.uint64)[:, None]) >> _HALF).astype(np.int64)

    def orders(self, offsets: Ints) -> Ints:
        """Each stretch offsets[i]:offsets[i + 1] in random order: the rank of each item."""
        sizes = np.diff(offsets)
        stretch = np.repeat(np.arange(len(sizes)), sizes)
        order = np.lexsort((self.words(int(offsets[-1])), stretch))
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order)) - np.repeat(offsets[:-1], sizes)
        return ranks
