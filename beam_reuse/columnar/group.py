"""Groups of rows with equal keys, cut from a sorted stream."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.runs import row_key

Groups = tuple[Block, NDArray[np.int64], NDArray[np.int64]]


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
