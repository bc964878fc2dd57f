"""Sizes that follow from the bytes of the input and the memory of a worker; they change no value."""

from beam_reuse.columnar.shuffle import Shuffle, buckets_for, budget_for
from beam_reuse.columnar.store import Store
from beam_reuse.io.files import join

# Memory of a worker with which more makes nothing faster.
AMPLE = 1 << 30


def shuffle_for(size: int, spill: str, memory: int = AMPLE) -> Shuffle:
    """A shuffle below `spill`, its buckets sized for `size` bytes of input and for the memory of a
    worker. Rows of all analyses are taken to be four times the compressed input."""
    budget = budget_for(memory)
    return Shuffle(Store("files", join(spill, "blocks")), buckets_for(4 * size, budget),
                   flush_bytes=budget // 4, bucket_budget=budget)
