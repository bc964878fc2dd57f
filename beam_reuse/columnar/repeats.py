"""Which keys stand on two rows or more, in one cheap pass: the others need not travel."""

from collections.abc import Iterable, Sequence

import apache_beam as beam
import numpy as np
from apache_beam.coders import registry
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import HeavyKeys
from beam_reuse.columnar.coders import OwnCoder, pack_array, unpack_array
from beam_reuse.columnar.combine import CombineBlocks
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.kernels.compiled import frozen, kernel


class Repeats:
    """Which keys stand once, and which twice or more, hashed into two bitmaps of 2**n bits.

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
        """A filter of the keys that may stand twice or more."""
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


class FindRepeats(beam.PTransform):
    """Block -> one HeavyKeys: a filter of the `keys` that may stand twice or more. The first pass
    where only those matter."""

    def __init__(self, shuffle: Shuffle, keys: Sequence[str], bits: int) -> None:
        super().__init__()
        self.shuffle = shuffle
        self.combine = _AddRepeats(tuple(keys), bits)

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        return blocks | "Count" >> CombineBlocks(
            self.combine, Repeats, HeavyKeys, self.shuffle)


class _AddRepeats(beam.CombineFn):
    def __init__(self, keys: Sequence[str], bits: int) -> None:
        self.keys, self.bits = keys, bits
        Repeats.sized(keys, bits)

    def create_accumulator(self) -> Repeats:
        return Repeats.sized(self.keys, self.bits)

    def add_input(self, held: Repeats, block: Block) -> Repeats:
        held.add(block)
        return held

    def merge_accumulators(self, accumulators: Iterable[Repeats]) -> Repeats:
        out = self.create_accumulator()
        for held in accumulators:
            out.merge(held)
        return out

    def extract_output(self, held: Repeats) -> HeavyKeys:
        return held.heavy()


class RepeatsCoder(OwnCoder):
    """Repeats as column names and both bitmaps, compressed."""

    kind = Repeats

    def encode(self, value: Repeats) -> bytes:
        return pack_array(value.keys, value.bitmaps.ravel())

    def decode(self, encoded: bytes) -> Repeats:
        keys, bits = unpack_array(encoded)
        return Repeats(keys, bits.reshape(2, -1))


registry.register_coder(Repeats, RepeatsCoder)
