"""Coarse counting: hashed counters that say which keys can be heavy, in one cheap pass."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.kernels.compiled import frozen, kernel

_HALF = 15  # what half a byte holds
_AT_ONCE = 1 << 20


class Counters:
    """How often keys occur, hashed into 2**n counters that stop at `cap`.

    A key's counter is never below its number of occurrences or `cap`, whichever is less. Two
    counters share a byte if `cap` is 15 or less; else each has the narrowest type that holds it.
    """

    def __init__(self, keys: Sequence[str], cap: int, counts: np.ndarray) -> None:
        self.keys, self.cap, self.counts = tuple(keys), cap, counts

    @staticmethod
    def sized(keys: Sequence[str], bits: int, cap: int) -> "Counters":
        """2**`bits` counters."""
        if not 3 <= bits <= 32 or not 1 <= cap < 1 << 32:
            raise ValueError(f"bits: {bits}, cap: {cap}; they must be 3 to 32 and 1 to 2**32 - 1")
        counts = (np.zeros(1 << (bits - 1), np.uint8) if cap <= _HALF
                  else np.zeros(1 << bits, np.min_scalar_type(cap)))
        return Counters(keys, cap, counts)

    @property
    def _are_halves(self) -> bool:
        return self.cap <= _HALF

    def add(self, block: Block) -> None:
        """Count the rows of `block`."""
        count = _count_halves if self._are_halves else _count
        count(self.counts, frozen(block.hash_rows(self.keys)), np.uint64(self.cap))

    def merge(self, other: "Counters") -> None:
        if self._are_halves:
            _merge_halves(self.counts, other.counts, self.cap)
            return
        cap = self.counts.dtype.type(self.cap)
        self.counts = self.counts + np.minimum(other.counts, cap - self.counts)

    def heavy(self) -> "HeavyKeys":
        """A filter of the keys that may occur `cap` times or more."""
        bitmaps = [np.packbits(self._numbers(start) == self.cap, bitorder="little")
                   for start in range(0, len(self.counts), _AT_ONCE)]
        return HeavyKeys(self.keys, np.concatenate(bitmaps))

    def _numbers(self, start: int) -> NDArray:
        """The counters in some of `counts`, from `start` on."""
        some = self.counts[start:start + _AT_ONCE]
        return np.stack([some & _HALF, some >> 4], 1).ravel() if self._are_halves else some


@kernel
def _count(counts, hashes, cap):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(counts) - 1)
    for i in range(len(hashes)):
        at = hashes[i] & mask
        if counts[at] < cap:
            counts[at] += 1


@kernel
def _count_halves(counts, hashes, cap):  # type: ignore[no-untyped-def]
    mask = np.uint64(2 * len(counts) - 1)
    for i in range(len(hashes)):
        place = (hashes[i] & mask) >> np.uint64(1)
        shift = np.uint64(4) * (hashes[i] & np.uint64(1))
        if np.uint64(counts[place]) >> shift & np.uint64(_HALF) < cap:
            counts[place] += np.uint8(np.uint64(1) << shift)


@kernel
def _merge_halves(counts, others, cap):  # type: ignore[no-untyped-def]
    for i in range(len(counts)):
        low = min((counts[i] & 15) + (others[i] & 15), cap)
        high = min((counts[i] >> 4) + (others[i] >> 4), cap)
        counts[i] = np.uint8(low) | np.uint8(high) << np.uint8(4)


class HeavyKeys:
    """A bitmap of heavy counters; never rules out a key that occurred so often."""

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
