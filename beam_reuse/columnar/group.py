"""Rows of a bucket in order of their keys, and kernels over runs of equal keys."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.typehints.decorators import no_annotations
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.bucket_keys import buckets_by_key
from beam_reuse.columnar.runs import row_key, sorted_slabs
from beam_reuse.columnar.scatter import Bucketer, SplitByBucket
from beam_reuse.columnar.shuffle import Outputs, Several, Shuffle, elements, par_do
from beam_reuse.columnar.store import Piece

Groups = tuple[Block, NDArray[np.int64], NDArray[np.int64]]


class ProcessBuckets(beam.PTransform):
    """Block -> what `fn(bucket, slabs, *side)` yields, once per bucket that has rows.

    `slabs` is an iterator of Blocks: the bucket's rows in order of `keys` + `order`, rows
    with equal `keys` in one bucket (by hash, or as `bucketer(block, buckets, *bucketer_side)`
    says). Memory: two to three times `bucket_budget`, for buckets of any size. With `outputs` the
    result is a dict of PCollections: MAIN and one per tag.
    """

    def __init__(
        self,
        shuffle: Shuffle,
        keys: Sequence[str],
        fn: Callable[..., Any],
        *side: Any,
        order: Sequence[str] = (),
        bucketer: Bucketer | None = None,
        bucketer_side: Sequence[Any] = (),
        outputs: Outputs = (),
        output_type: Any = Block,
    ) -> None:
        super().__init__()
        self.split = SplitByBucket(shuffle, keys, bucketer, bucketer_side)
        self.process = _ProcessBucket(shuffle, (*keys, *order), fn)
        self.side, self.outputs, self.output_type = side, outputs, output_type

    @no_annotations
    def expand(self, blocks: Several) -> Any:
        grouped = blocks | "Split" >> self.split | "Group" >> beam.GroupByKey()
        return par_do(grouped, self.process, self.side, self.outputs, self.output_type)


class _ProcessBucket(beam.DoFn):
    def __init__(self, shuffle: Shuffle, keys: tuple[str, ...], fn: Callable[..., Any]) -> None:
        self.shuffle, self.keys, self.fn = shuffle, keys, fn

    @no_annotations
    def process(self, keyed: tuple[int, Iterable[Piece]], *side: Any) -> Iterator[Any]:
        key, pieces = keyed
        bucket = buckets_by_key(self.shuffle.buckets)[key]
        slabs = bucket_slabs(self.shuffle, pieces, self.keys)
        return elements(self.fn(bucket, slabs, *side))


def bucket_slabs(
    shuffle: Shuffle,
    pieces: Iterable[Piece],
    keys: Sequence[str],
    collapse: Callable[[Block], Block] | None = None,
    share: int = 1,
) -> Iterator[Block]:
    """The rows of `pieces` in order of `keys`, within 1/`share` of the bucket's budget."""
    blocks = (shuffle.store.get_block(piece) for piece in pieces)
    budget = max(1, shuffle.bucket_budget // share)
    return sorted_slabs(blocks, keys, budget, shuffle.run_folder(), collapse)


class GroupRows(beam.PTransform):
    """Block -> what `kernel(block, starts, sizes, *side)` gives: a Block, an iterable of
    Blocks and TaggedOutputs, or None.

    `block` is sorted by `keys` + `order` and holds many groups, each whole; `starts` are the
    rows where groups begin, `sizes` the numbers of their rows. With `limit` only the first
    `limit` rows of a group are in the block, while `sizes` still tells how many there are, so
    a hot key costs disk but no memory. Without it a group must fit in memory.
    """

    def __init__(
        self,
        shuffle: Shuffle,
        keys: Sequence[str],
        kernel: Callable[..., Any],
        *side: Any,
        order: Sequence[str] = (),
        limit: int | None = None,
        outputs: Outputs = (),
        output_type: Any = Block,
    ) -> None:
        super().__init__()
        if limit is not None and limit < 1:
            raise ValueError(f"limit: {limit} is not allowed; it must be 1 or more, or None")
        self.transform = ProcessBuckets(
            shuffle,
            keys,
            _GroupKernel(tuple(keys), kernel, limit),
            *side,
            order=order,
            outputs=outputs,
            output_type=output_type,
        )

    @no_annotations
    def expand(self, blocks: Several) -> Any:
        return blocks | "Groups" >> self.transform


class _GroupKernel:
    def __init__(
        self, keys: tuple[str, ...], kernel: Callable[..., Any], limit: int | None
    ) -> None:
        self.keys, self.kernel, self.limit = keys, kernel, limit

    def __call__(self, bucket: int, slabs: Iterator[Block], *side: Any) -> Iterator[Any]:
        for block, starts, sizes in whole_groups(slabs, self.keys, self.limit):
            yield from elements(self.kernel(block, starts, sizes, *side))


def whole_groups(
    slabs: Iterable[Block], keys: Sequence[str], limit: int | None = None
) -> Iterator[Groups]:
    """Cut a sorted stream between groups: (block, starts, sizes), every group in one of them.

    `sizes` are the groups' true sizes; the block holds at most `limit` rows of each.
    """
    open_group = _OpenGroup(keys, limit)
    for slab in slabs:
        starts = slab.starts(keys)
        ends = np.append(starts[1:], len(slab))
        first = 0
        if open_group.continues(slab):
            open_group.add(slab.slice(0, int(ends[0])))
            if len(starts) == 1:
                continue
            first = 1
        if len(starts) - 1 > first or open_group.size:
            middle = slab.slice(int(starts[first]), int(starts[-1]))
            yield _joined(open_group, middle, starts[first:-1] - starts[first], limit)
        open_group = _OpenGroup(keys, limit)
        open_group.add(slab.slice(int(starts[-1]), len(slab)))
    if open_group.size:
        rows = Block.concat(open_group.rows)
        yield rows, np.zeros(1, np.int64), np.array([open_group.size])


class _OpenGroup:
    """The last group of a stream so far: its first rows, up to the limit, and its size."""

    def __init__(self, keys: Sequence[str], limit: int | None) -> None:
        self.keys, self.limit = keys, limit
        self.rows: list[Block] = []
        self.held = self.size = 0

    def continues(self, slab: Block) -> bool:
        return bool(self.rows) and row_key(self.rows[0], 0, self.keys) == row_key(
            slab, 0, self.keys
        )

    def add(self, rows: Block) -> None:
        self.size += len(rows)
        if self.limit is not None:
            rows = rows.slice(0, min(len(rows), self.limit - self.held))
        if len(rows):
            self.rows.append(rows)
            self.held += len(rows)


def _joined(
    open_group: _OpenGroup, middle: Block, starts: NDArray[np.int64], limit: int | None
) -> Groups:
    sizes = np.diff(np.append(starts, len(middle)))
    if limit is not None and len(sizes) and int(sizes.max()) > limit:
        place = np.arange(len(middle)) - np.repeat(starts, sizes)
        middle = middle.take(place < limit)
        kept = np.minimum(sizes, limit)
        starts = np.cumsum(kept) - kept
    if not open_group.size:
        return middle, starts, sizes
    block = Block.concat([*open_group.rows, middle])
    starts = np.concatenate([[0], starts + open_group.held])
    return block, starts, np.concatenate([[open_group.size], sizes])


def with_leaders(
    slabs: Iterable[Block], keys: tuple[str, ...]
) -> Iterator[tuple[Block, Block, NDArray[np.int64]]]:
    """A stream sorted by `keys` and page: each slab, for each of its rows the first row with the
    same keys, and the place of each row in its group, from 0. Holds a slab, whatever the groups."""
    leader: Block | None = None
    before = 0
    for slab in slabs:
        held = 0 if leader is None else 1
        rows = slab if leader is None else Block.concat([leader, slab])
        starts = rows.starts(keys)
        group = np.repeat(starts, np.diff(np.append(starts, len(rows))))
        place = np.arange(len(rows)) - group
        if held:
            place[group == 0] += before - 1
        yield slab, rows.take(group[held:]), place[held:]
        before = int(place[-1]) + 1
        leader = rows.slice(int(starts[-1]), int(starts[-1]) + 1)
