"""Sorted streams of blocks in bounded memory: sort what fits, merge runs of what does not."""

import os
import tempfile
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from beam_reuse.columnar.arrange import arranged
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.nested import Lists, Maybe, Values
from beam_reuse.columnar.sorting import order_words
from beam_reuse.columnar.store import full_disk_told, make_shared
from beam_reuse.columnar.varbytes import VarBytes

FAN_IN = 16
SLABS_PER_BUDGET = 2 * FAN_IN

Key = tuple[Any, ...]


def sorted_slabs(
    blocks: Iterable[Block],
    keys: Sequence[str],
    budget: int,
    folder: str | None = None,
    collapse: Callable[[Block], Block] | None = None,
) -> Iterator[Block]:
    """All rows of `blocks` in order of `keys`, as slabs of at most about budget / 32 bytes.

    Memory: two to three times `budget`. Up to `budget` bytes are sorted in memory; beyond, sorted
    runs go to a nameless temporary file in `folder` and are merged, 16 at a time. Rows with
    equal keys may be cut between two slabs. `collapse` gives the rows of a block in order of
    `keys` and may combine those with equal keys, in columns of the same types, to shrink what
    is held; equal keys may still come twice.
    """
    slab = max(1, budget // SLABS_PER_BUDGET)

    def in_order() -> list[Block]:
        if collapse and held:
            return [collapse(Block.concat(held))]
        return [sort_blocks(held, keys)] if held else []

    held: list[Block] = []
    size = 0
    runs = _RunFile(folder)
    try:
        for block in blocks:
            held.append(block)
            size += block.nbytes
            if size > budget:
                held = in_order()
                size = held[0].nbytes
                if size > budget // 2:
                    runs.write(slices(held, slab))
                    held, size = [], 0
        last = slices(in_order(), slab)
        held = []
        while len(runs) >= FAN_IN:
            runs = runs.merged(keys, slab)
        if len(runs):
            yield from slices(merge_runs([*runs.read(), last], keys), slab)
        else:
            yield from last
    finally:
        runs.close()


def sort_blocks(blocks: Sequence[Block], keys: Sequence[str]) -> Block:
    """All rows of the blocks, sorted by `keys`; equal keys keep their order."""
    return arranged(blocks, Block.concat([b.select(keys) for b in blocks]).sort_order(keys))


def slices(blocks: Iterable[Block], nbytes: int) -> Iterator[Block]:
    """The same rows in the same order, in blocks of about `nbytes` or less."""
    for block in blocks:
        step = max(1, len(block) * nbytes // max(1, block.nbytes))
        for start in range(0, len(block), step):
            yield block.slice(start, start + step)


def merge_runs(runs: Sequence[Iterator[Block]], keys: Sequence[str]) -> Iterator[Block]:
    """Merge sorted runs; holds one slab of each.

    Each round takes from every run the rows up to the smallest last key at hand, at least
    one whole slab, and sorts them together: vectorised, no row is looked at alone.
    """
    heads = [(head, run) for run in runs for head in [next(run, None)] if head is not None]
    while heads:
        cutoff = min(row_key(head, len(head) - 1, keys) for head, _ in heads)
        ready, left = [], []
        for head, run in heads:
            rows = rows_up_to(head, cutoff, keys)
            if rows:
                ready.append(head.slice(0, rows))
            rest = head.slice(rows, len(head)) if rows < len(head) else next(run, None)
            if rest is not None:
                left.append((rest, run))
        heads = left
        yield ready[0] if len(ready) == 1 else sort_blocks(ready, keys)


def row_key(block: Block, row: int, keys: Sequence[str]) -> Key:
    """The keys of one row as a tuple that compares as the rows sort."""
    return tuple(_key(block[key], row) for key in keys)


def _key(column: Values, row: int) -> Any:
    if isinstance(column, VarBytes):
        return column[row]
    if isinstance(column, Maybe):
        return (_key(column.values, row),) if column.valid[row] else ()
    if isinstance(column, Lists):
        values = column[row]
        return tuple(_key(values, at) for at in range(len(values)))
    if isinstance(column, Block):
        return row_key(column, row, column.names)
    if column.dtype.kind == "V":
        return column[row].tobytes()
    if column.dtype.kind == "f":
        return int(next(order_words(column[row : row + 1]))[0])
    return int(column[row])


def rows_up_to(block: Block, key: Key, keys: Sequence[str]) -> int:
    """How many rows of the sorted block have keys <= `key`."""
    return bisect_right(range(len(block)), key, key=lambda row: row_key(block, row, keys))


def rows_below(block: Block, key: Key, keys: Sequence[str]) -> int:
    """How many rows of the sorted block have keys < `key`."""
    return bisect_left(range(len(block)), key, key=lambda row: row_key(block, row, keys))


class _RunFile:
    """Sorted runs in one nameless local file, which the kernel frees with the process."""

    def __init__(self, folder: str | None) -> None:
        if folder:
            make_shared(folder)
        self.folder = folder
        self.file: Any = None
        self.runs: list[list[tuple[int, int]]] = []
        self.end = 0

    def __len__(self) -> int:
        return len(self.runs)

    def write(self, slabs: Iterable[Block]) -> None:
        with full_disk_told(self.folder or tempfile.gettempdir()):
            if self.file is None:
                self.file = tempfile.TemporaryFile(dir=self.folder, buffering=0)  # noqa: SIM115
            run = []
            for slab in slabs:
                data = memoryview(slab.to_bytes())
                run.append((self.end, len(data)))
                self.end += len(data)
                while data:
                    data = data[self.file.write(data) :]
            self.runs.append(run)

    def read(self) -> list[Iterator[Block]]:
        """One stream of slabs per run."""
        return [self._slabs(run) for run in self.runs]

    def _slabs(self, run: list[tuple[int, int]]) -> Iterator[Block]:
        for offset, length in run:
            data = os.pread(self.file.fileno(), length, offset)
            if len(data) != length:
                raise OSError(f"a sorted run was cut short in {self.folder or 'the temp folder'}")
            yield Block.from_bytes(data)

    def merged(self, keys: Sequence[str], slab: int) -> "_RunFile":
        """A new file in which each 16 runs have become one; this one is closed."""
        out = _RunFile(self.folder)
        runs = self.read()
        for start in range(0, len(runs), FAN_IN):
            out.write(slices(merge_runs(runs[start : start + FAN_IN], keys), slab))
        self.close()
        return out

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
