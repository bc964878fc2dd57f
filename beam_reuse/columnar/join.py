"""Two sides brought together by key."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.group import bucket_slabs
from beam_reuse.columnar.runs import Key, row_key, rows_below
from beam_reuse.columnar.scatter import SplitByBucket
from beam_reuse.columnar.shuffle import Outputs, Shuffle, elements, par_do
from beam_reuse.columnar.store import Piece

Sides = tuple[Block | None, ...]


class JoinRows(beam.PTransform):
    """{'left': Blocks, 'right': Blocks} -> what `kernel(left, right, *side)` gives: a Block, an
    iterable of Blocks and TaggedOutputs, or None.

    `keys` are columns of both sides, of the same types. Each call has a range of keys: all
    rows of both sides that fall in it, sorted by the keys; a side without any is None. Memory:
    two to three times `bucket_budget`, plus all rows of the largest key. See `matching`.
    """

    def __init__(
        self,
        shuffle: Shuffle,
        keys: Sequence[str],
        kernel: Callable[..., Any],
        *side: Any,
        outputs: Outputs = (),
        output_type: Any = Block,
    ) -> None:
        super().__init__()
        self.shuffle, self.keys = shuffle, tuple(keys)
        self.kernel, self.side = kernel, side
        self.outputs, self.output_type = outputs, output_type

    def expand(self, sides: Any) -> Any:
        split = {
            name: sides[name] | f"Split {name}" >> SplitByBucket(self.shuffle, self.keys)
            for name in ("left", "right")
        }
        joined = split | "Join" >> beam.CoGroupByKey()
        do_fn = _JoinBucket(self.shuffle, self.keys, self.kernel)
        return par_do(joined, do_fn, self.side, self.outputs, self.output_type)


class _JoinBucket(beam.DoFn):
    def __init__(
        self, shuffle: Shuffle, keys: tuple[str, ...], kernel: Callable[..., Any]
    ) -> None:
        self.shuffle, self.keys, self.kernel = shuffle, keys, kernel

    @no_annotations
    def process(
        self, keyed: tuple[int, Mapping[str, Iterable[Piece]]], *side: Any
    ) -> Iterator[Any]:
        left, right = (
            bucket_slabs(self.shuffle, keyed[1][name], self.keys, share=2)
            for name in ("left", "right")
        )
        for sides in aligned(left, right, self.keys):
            yield from elements(self.kernel(*sides, *side))


def aligned(
    left: Iterator[Block], right: Iterator[Block], keys: Sequence[str]
) -> Iterator[Sides]:
    """`all_aligned` of two streams."""
    return all_aligned((left, right), keys)


def all_aligned(streams: Sequence[Iterator[Block]], keys: Sequence[str]) -> Iterator[Sides]:
    """Cut sorted streams at common keys: every key's rows, of all streams, at once.

    Holds a slab of each stream, and more only while one key goes on.
    """
    sides = [_Side(slabs, keys) for slabs in streams]
    while any(side.rows for side in sides):
        open_sides = [side for side in sides if side.more is not None]
        if not open_sides:
            yield tuple(side.take_all() for side in sides)
            return
        slowest = min(open_sides, key=lambda side: side.last)
        rows = tuple(side.take_below(slowest.last) for side in sides)
        if any(each is not None for each in rows):
            yield rows
        slowest.load()


class _Side:
    """The rows of one stream at hand, and the next slab if there is one."""

    def __init__(self, slabs: Iterator[Block], keys: Sequence[str]) -> None:
        self.slabs, self.keys = slabs, keys
        self.rows: list[Block] = []
        self.last: Key = ()
        self.more = next(slabs, None)
        self.load()

    def load(self) -> None:
        if self.more is not None:
            self.rows.append(self.more)
            self.last = row_key(self.more, len(self.more) - 1, self.keys)
            self.more = next(self.slabs, None)

    def take_all(self) -> Block | None:
        rows, self.rows = self.rows, []
        return Block.concat(rows) if rows else None

    def take_below(self, key: Key) -> Block | None:
        """The rows with keys below `key`; the others stay."""
        ready, left = [], []
        for rows in self.rows:
            count = rows_below(rows, key, self.keys)
            if count:
                ready.append(rows.slice(0, count))
            if count < len(rows):
                left.append(rows.slice(count, len(rows)))
        self.rows = left
        return Block.concat(ready) if ready else None
