"""Which bucket rows belong to, and the rows of each bucket."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.arrange import arranged
from beam_reuse.columnar.block import Block
from beam_reuse.kernels.compiled import frozen, kernel


def hash_buckets(block: Block, keys: Sequence[str], count: int) -> NDArray[np.int64]:
    """Each row's bucket, 0..count-1, by the top bits of the hash of its keys."""
    top = block.hash_rows(keys) >> np.uint64(32)
    return ((top * np.uint64(count)) >> np.uint64(32)).astype(np.int64)


def split_by_bucket(
    blocks: Sequence[Block], buckets: Sequence[NDArray], count: int
) -> list[tuple[int, Block]]:
    """The rows of each bucket that has any, in the order of the blocks; `buckets`
    holds an array for each block."""
    of_row = np.concatenate(buckets).astype(np.int64, copy=False)
    if len(of_row) and not 0 <= int(of_row.min()) <= int(of_row.max()) < count:
        raise ValueError(f"buckets {of_row.min()}..{of_row.max()} of {count}")
    order, ends = _counting_sort(frozen(of_row), count)
    rows = arranged(blocks, order)
    starts = np.concatenate([[0], ends[:-1]])
    filled = np.flatnonzero(ends > starts).tolist()
    return [(b, rows.slice(int(starts[b]), int(ends[b]))) for b in filled]


@kernel
def _counting_sort(buckets, count):  # type: ignore[no-untyped-def]
    """Row numbers by bucket, stable, and where each bucket ends."""
    ends = np.zeros(count, np.int64)
    for bucket in buckets:
        ends[bucket] += 1
    total = 0
    for bucket in range(count):
        size = ends[bucket]
        ends[bucket] = total
        total += size
    order = np.empty(len(buckets), np.int64)
    for row in range(len(buckets)):
        bucket = buckets[row]
        order[ends[bucket]] = row
        ends[bucket] += 1
    return order, ends
