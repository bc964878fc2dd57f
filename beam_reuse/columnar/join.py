"""Sorted streams cut at common keys, so that their rows can be brought together."""

from collections.abc import Iterator, Sequence

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.runs import Key, row_key, rows_below

Sides = tuple[Block | None, ...]


def aligned(streams: Sequence[Iterator[Block]], keys: Sequence[str]) -> Iterator[Sides]:
    """Cut sorted streams at common keys: every key's rows, of all streams, at once.

    Holds a slab of each stream, and more only while one key goes on.
    """
    sides = [_Stream(slabs, keys) for slabs in streams]
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


class _Stream:
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
