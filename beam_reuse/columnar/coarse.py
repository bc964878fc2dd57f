"""Coarse counting: hashed counters that say which keys can be heavy, in one cheap pass."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.kernels.compiled import frozen, kernel


class Counters:
    """How often keys occur, hashed into 2**n counters that stop at `cap`.

    A key's counter is never below its number of occurrences or `cap`, whichever is less.
    """

    def __init__(self, keys: Sequence[str], cap: int, counts: np.ndarray) -> None:
        self.keys, self.cap, self.counts = tuple(keys), cap, counts

    @staticmethod
    def sized(keys: Sequence[str], bits: int, cap: int) -> "Counters":
        """2**`bits` counters of the narrowest type that holds `cap`."""
        if not 3 <= bits <= 32 or not 1 <= cap < 1 << 32:
            raise ValueError(f"bits: {bits}, cap: {cap}; they must be 3 to 32 and 1 to 2**32 - 1")
        return Counters(keys, cap, np.zeros(1 << bits, np.min_scalar_type(cap)))

    def add(self, block: Block, weight: str | None = None) -> None:
        """Count the rows of `block`, each as 1 or as the unsigned column `weight` says."""
        hashes = frozen(block.hash_rows(self.keys))
        weights = np.ones(1, np.uint64) if weight is None else block.array(weight)
        _count(self.counts, hashes, frozen(weights.astype(np.uint64)), np.uint64(self.cap))

    def merge(self, other: "Counters") -> None:
        cap = self.counts.dtype.type(self.cap)
        self.counts = self.counts + np.minimum(other.counts, cap - self.counts)

    def heavy(self, threshold: int) -> "HeavyKeys":
        """A filter of the keys that may occur `threshold` times or more."""
        if not 1 <= threshold <= self.cap:
            raise ValueError(f"threshold: {threshold} is not allowed; counters end at {self.cap}")
        return HeavyKeys(self.keys, np.packbits(self.counts >= threshold, bitorder="little"))


@kernel
def _count(counts, hashes, weights, cap):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(counts) - 1)
    single = len(weights) == 1
    for i in range(len(hashes)):
        at = hashes[i] & mask
        weight = weights[0] if single else weights[i]
        count = np.uint64(counts[at])
        counts[at] = count + weight if weight < cap - count else cap


class HeavyKeys:
    """A bitmap of heavy counters; never rules out a key that reached the threshold."""

    def __init__(self, keys: Sequence[str], bitmap: NDArray[np.uint8]) -> None:
        self.keys, self.bitmap = tuple(keys), bitmap

    @staticmethod
    def sized(keys: Sequence[str], bits: int) -> "HeavyKeys":
        """2**`bits` counters that are all light."""
        return HeavyKeys(keys, np.zeros(1 << (bits - 3), np.uint8))

    def add(self, block: Block) -> None:
        """Let the keys of the rows be heavy."""
        _set(self.bitmap, frozen(block.hash_rows(self.keys)))

    def may_hold(self, block: Block) -> NDArray[np.bool_]:
        out: NDArray[np.bool_] = _is_set(
            frozen(self.bitmap), frozen(block.hash_rows(self.keys)))
        return out


@kernel
def _set(bitmap, hashes):  # type: ignore[no-untyped-def]
    mask = np.uint64(8 * len(bitmap) - 1)
    for i in range(len(hashes)):
        at = hashes[i] & mask
        bitmap[at >> np.uint64(3)] |= np.uint8(1) << np.uint8(at & np.uint64(7))


@kernel
def _is_set(bitmap, hashes):  # type: ignore[no-untyped-def]
    mask = np.uint64(8 * len(bitmap) - 1)
    out = np.empty(len(hashes), np.bool_)
    for i in range(len(hashes)):
        at = hashes[i] & mask
        out[i] = bitmap[at >> np.uint64(3)] >> np.uint8(at & np.uint64(7)) & np.uint8(1)
    return out
