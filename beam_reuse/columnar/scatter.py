"""Splitting blocks by bucket: what stands before every grouping."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints.decorators import no_annotations
from numpy.typing import NDArray

from beam_reuse.columnar.arrange import arranged
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.bucket_keys import even_keys
from beam_reuse.columnar.shuffle import Buffer, Several, Shuffle, of_each
from beam_reuse.columnar.store import Piece
from beam_reuse.kernels.compiled import frozen, kernel

Bucketer = Callable[..., NDArray]
Keyed = tuple[int, Piece]


class SplitByBucket(beam.PTransform):
    """Block -> (key of a bucket, Piece): every row once, rows with equal `keys` in the same bucket,
    whose key is one of `even_keys`.

    Buckets come from the hash of `keys`, or from `bucketer(block, buckets, *side)`, an int
    per row. Rows are held up to `flush_bytes`, then written as one file, so a bundle of any
    size needs the same memory. `collapse(block)`, if given, may shrink what is held (rows
    that can be combined already) before it is split.
    """

    def __init__(
        self,
        shuffle: Shuffle,
        keys: Sequence[str],
        bucketer: Bucketer | None = None,
        side: Sequence[Any] = (),
        collapse: Callable[[Block], Block] | None = None,
    ) -> None:
        super().__init__()
        self.split = _SplitEvenly(shuffle, tuple(keys), bucketer, collapse)
        self.side = side

    @no_annotations
    def expand(self, blocks: Several) -> beam.PCollection:
        split = beam.ParDo(self.split, *self.side).with_output_types(Keyed)
        return of_each(blocks, split)


class Split(beam.DoFn):
    """What `SplitByBucket` does to the blocks of a bundle, with the bucket itself as the key."""

    def __init__(
        self,
        shuffle: Shuffle,
        keys: tuple[str, ...],
        bucketer: Bucketer | None,
        collapse: Callable[[Block], Block] | None,
    ) -> None:
        self.shuffle, self.keys = shuffle, keys
        self.bucketer, self.collapse = bucketer, collapse

    def start_bundle(self) -> None:
        self.buffer = Buffer(self.shuffle.flush_bytes)
        self.side: tuple[Any, ...] = ()

    @no_annotations
    def process(self, block: Block, *side: Any) -> Iterator[Keyed]:
        self.side = side
        if self.buffer.add(block):
            self._collapse()
            if self.buffer.nbytes > self.shuffle.flush_bytes // 2:
                yield from self._flush()

    def finish_bundle(self) -> Iterator[Any]:
        if self.buffer.blocks:
            self._collapse()
            for keyed in self._flush():
                yield GlobalWindows.windowed_value(keyed)

    def _collapse(self) -> None:
        if self.collapse:
            self.buffer.add(self.collapse(Block.concat(self.buffer.drain())))

    def _flush(self) -> Iterator[Keyed]:
        blocks = self.buffer.drain()
        parts = split_by_bucket(blocks, [self._buckets(b) for b in blocks], self.shuffle.buckets)
        del blocks
        pieces = self.shuffle.put(part for _, part in parts)
        return zip((bucket for bucket, _ in parts), pieces, strict=True)

    def _buckets(self, block: Block) -> NDArray:
        if self.bucketer:
            return self.bucketer(block, self.shuffle.buckets, *self.side)
        return hash_buckets(block, self.keys, self.shuffle.buckets)


class _SplitEvenly(Split):
    def _flush(self) -> Iterator[Keyed]:
        keys = even_keys(self.shuffle.buckets)
        return ((keys[bucket], piece) for bucket, piece in super()._flush())


def hash_buckets(block: Block, keys: Sequence[str], count: int) -> NDArray[np.int64]:
    """Each row's bucket, 0..count-1, by the top bits of the hash of its keys."""
    top = block.hash_rows(keys) >> np.uint64(32)
    return ((top * np.uint64(count)) >> np.uint64(32)).astype(np.int64)


def split_by_bucket(
    blocks: Sequence[Block], buckets: Sequence[NDArray], count: int
) -> list[tuple[int, Block]]:
    """The rows of each bucket that has any, in the order they stand in the blocks; `buckets`
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
