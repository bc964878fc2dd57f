"""Which keys occur on two rows or more, in one cheap pass: the others need not travel."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import HeavyKeys
from beam_reuse.kernels.compiled import frozen, kernel


class Repeats:
    """Which keys occur once, and which twice or more, hashed into two bitmaps of 2**n bits.

    As Counters with a cap of 2, in a quarter of the memory.
    """

    def __init__(self, keys: Sequence[str], bitmaps: NDArray[np.uint8]) -> None:
        self.keys, self.bitmaps = tuple(keys), bitmaps

    @staticmethod
    def sized(keys: Sequence[str], bits: int) -> "Repeats":
        """Bitmaps of 2**`bits` bits."""
        if not 3 <= bits <= 32:
            raise ValueError(f"bits: {bits}; they must be 3 to 32")
        return Repeats(keys, np.zeros((2, 1 << (bits - 3)), np.uint8))

    def add(self, block: Block) -> None:
        """Count the rows of `block`."""
        once, twice = self.bitmaps
        _count_twice(once, twice, frozen(block.hash_rows(self.keys)))

    def merge(self, other: "Repeats") -> None:
        once, twice = self.bitmaps
        twice |= other.bitmaps[1] | (once & other.bitmaps[0])
        once |= other.bitmaps[0]

    def heavy(self) -> HeavyKeys:
        """A filter of the keys that may occur twice or more."""
        return HeavyKeys(self.keys, self.bitmaps[1])


@kernel
def _count_twice(once, twice, hashes):  # type: ignore[no-untyped-def]
    mask = np.uint64(8 * len(once) - 1)
    for i in range(len(hashes)):
        at = hashes[i] & mask
        place, bit = at >> np.uint64(3), np.uint8(1) << np.uint8(at & np.uint64(7))
        if once[place] & bit:
            twice[place] |= bit
        else:
            once[place] |= bit
