"""Running a round on a worker: a bundle's rows from where they are read to where they leave.

Memory: of all that waits to be written at most twice the shuffle's `flush_bytes` is held, however
many groups it is for; then the fullest buffer is written.

Small buckets are read together, as one: calls for each of hundreds that are nearly empty would cost
far more than their rows. Rows with equal keys are in one bucket, so a kernel sees more of them at
once, and no other difference. Buckets that are not chosen by a hash of keys are read one by one.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.bucket_keys import bucket_of, even_key
from beam_reuse.columnar.buffers import Buffer, joined
from beam_reuse.columnar.runs import sorted_slabs
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.splitting import hash_buckets, split_by_bucket
from beam_reuse.columnar.store import Piece
from beam_reuse.rows.declared import require_given
from beam_reuse.rows.nodes import MAIN
from beam_reuse.rows.results import Count, Tagged, results_of
from beam_reuse.rows.steps import (
    Apply,
    Entry,
    Out,
    Round,
    Taker,
    Target,
    ToGroup,
    ToLater,
    ToValue,
    ValueRef,
)
from beam_reuse.rows.values import Values, put_value

Emitted = tuple[str, Any]
Result = Block | Tagged | Count
ROWS, VALUES, COUNTS = "rows", "values", "counts"
# Sides of pieces that have no rows of a group, but parts of values, or what was counted.
_VALUE, _COUNTED = 254, 255
# Buckets are read together up to this part of what is sorted in memory.
_PART_OF_BUDGET = 8


def rows_out(name: str) -> str:
    """The tag of rows that leave the graph under a name."""
    return f"out-{name}"


@contextmanager
def named(name: str) -> Iterator[None]:
    """Add to an error in the block, which stays what it is, a line that says where it happened.
    Beam makes errors anew from their text, and of one without (MemoryError, those of the system)
    it would keep that line alone: such an error becomes one with a text."""
    try:
        yield
    except Exception as error:
        if error.args and isinstance(error.args[0], str):
            error.add_note(f"in {name!r}")
            raise
        text = f"{type(error).__name__}: {error}".removesuffix(": ")
        kind = MemoryError if isinstance(error, MemoryError) else RuntimeError
        raise kind(f"{text} in {name!r}") from error


def results_in(name: str, kernel: Callable[..., Any], *args: Any) -> Iterator[Result]:
    """What a kernel gives, one by one; its errors bear its name."""
    with named(name):
        yield from results_of(kernel(*args))


class _Small:
    """Small buckets of one group that are to be read together."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.pieces: list[Piece] = []
        self.nbytes = 0

    def add(self, pieces: Sequence[Piece]) -> None:
        self.pieces += pieces
        self.nbytes += sum(piece.nbytes for piece in pieces)


class Work:
    """One bundle of a round. What it emits are pairs of a tag and an element."""

    def __init__(self, plan: Round, shuffle: Shuffle) -> None:
        self.plan, self.shuffle = plan, shuffle
        self.values = Values(shuffle.store, ())
        self._small: dict[int, _Small] = {}
        self._waiting: dict[int, tuple[ToGroup | ToLater | Out, Buffer]] = {}
        self._held: dict[int, tuple[ToValue, Any]] = {}
        self._counts: dict[str, int] = {}

    def read(self, key: int, pieces: Iterable[Piece], values: Values) -> Iterator[Emitted]:
        """All of one key. What is for later rounds goes on."""
        self.values = values
        mine = []
        for piece in pieces:
            if piece.side == _COUNTED:
                for name, number in pickle.loads(piece.data):
                    self._count(name, number)
            elif piece.side == _VALUE:
                yield self._value(piece)
            elif piece.round == self.plan.number:
                mine.append(piece)
            else:
                yield ROWS, (key, piece)
        if mine:
            place = bucket_of(key, self.plan.keys)
            entry = next(each for each in self.plan.entries
                         if each.target.first <= place < each.target.first + each.target.buckets)
            yield from self._read_bucket(entry, mine)

    def finish(self) -> Iterator[Emitted]:
        """What is left at the end of the bundle."""
        for small in self._small.values():
            yield from self._process(small.entry, small.pieces)
        self._small = {}
        for slot in list(self._waiting):
            yield from self._write(slot)
        for taker, held in self._held.values():
            ref = taker.ref
            yield self._value(put_value(held, self.shuffle.store).to(
                ref.round, _VALUE, ref.number))
        if self.plan.following is None:
            yield from ((COUNTS, each) for each in self._counts.items())
        elif self._counts:
            data = pickle.dumps(list(self._counts.items()), 5)
            yield ROWS, (even_key(0), Piece(0, len(data), data, side=_COUNTED))
        self._held, self._counts = {}, {}

    def _read_bucket(self, entry: Entry, pieces: list[Piece]) -> Iterator[Emitted]:
        """Process the rows of a bucket, or let a small one wait for others of its group."""
        if entry.reader is None or any(side.bucketer is not None for side in entry.sides):
            yield from self._process(entry, pieces)
            return
        small = self._small.setdefault(entry.target.first, _Small(entry))
        small.add(pieces)
        if small.nbytes > self.shuffle.bucket_budget // _PART_OF_BUDGET:
            del self._small[entry.target.first]
            yield from self._process(entry, small.pieces)

    def _process(self, entry: Entry, pieces: Iterable[Piece]) -> Iterator[Emitted]:
        for result in self._results(entry, pieces):
            yield from self._hand_on(result, entry)

    def _value(self, piece: Piece) -> Emitted:
        """A part of a value: to be merged before the next round, or later."""
        following = self.plan.following
        if following is None or piece.round <= following:
            return VALUES, (piece.number, piece.to(piece.round))
        return ROWS, (even_key(piece.number), piece)

    def _results(self, entry: Entry, pieces: Iterable[Piece]) -> Iterator[Any]:
        store = self.shuffle.store
        if entry.reader is None:
            return (store.get_block(piece) for piece in pieces if piece.rows)
        by_side: list[list[Piece]] = [[] for _ in entry.sides]
        for piece in pieces:
            by_side[piece.side].append(piece)
        budget = max(1, self.shuffle.bucket_budget // len(by_side))
        slabs = [
            sorted_slabs(map(store.get_block, mine), (*side.keys, *side.order), budget,
                         self.shuffle.run_folder(), side.merge)
            for mine, side in zip(by_side, entry.sides, strict=True)]
        return results_in(entry.name, entry.reader, slabs, self._args(entry.args))

    def _args(self, args: Sequence[Any]) -> list[Any]:
        return [self.values.get(each) if isinstance(each, ValueRef) else each for each in args]

    def _hand_on(self, result: Result, step: Entry | Apply) -> Iterator[Emitted]:
        if isinstance(result, Count):
            self._count(result.name, result.number)
            return
        tag, block = result if isinstance(result, Tagged) else (MAIN, result)
        if step.gives is not None:
            require_given(step.name, step.gives, tag, block)
        for taker in step.next.get(tag, ()):
            yield from self._give(taker, block)

    def _count(self, name: str, number: int) -> None:
        self._counts[name] = self._counts.get(name, 0) + number

    def _give(self, taker: Taker, block: Block) -> Iterator[Emitted]:
        if isinstance(taker, Apply):
            for result in results_in(taker.name, taker.fn, block, *self._args(taker.args)):
                yield from self._hand_on(result, taker)
        elif isinstance(taker, ToValue):
            _, held = self._held.get(taker.slot, (taker, None))
            folding = taker.ref.folding
            with named(type(folding).__name__):
                if held is None:
                    held = folding.start(*self._args(taker.args))
                self._held[taker.slot] = taker, folding.add(held, block)
        elif isinstance(taker, Out) and taker.slot is None:
            yield rows_out(taker.name), block
        else:
            yield from self._wait(taker, block)

    def _wait(self, taker: ToGroup | ToLater | Out, block: Block) -> Iterator[Emitted]:
        """Take rows that are to be written, and write when there are too many."""
        assert taker.slot is not None
        if taker.slot not in self._waiting:
            self._waiting[taker.slot] = taker, Buffer(self.shuffle.flush_bytes)
        _, buffer = self._waiting[taker.slot]
        if buffer.add(block):
            self._collapse(taker, buffer)
            if buffer.nbytes > self.shuffle.flush_bytes // 2:
                yield from self._write(taker.slot)
        elif sum(each.nbytes for _, each in self._waiting.values()) > 2 * self.shuffle.flush_bytes:
            fullest = max(self._waiting, key=lambda slot: self._waiting[slot][1].nbytes)
            yield from self._write(fullest)

    def _collapse(self, taker: ToGroup | ToLater | Out, buffer: Buffer) -> None:
        if isinstance(taker, ToGroup) and taker.side.collapse and buffer.blocks:
            buffer.add(taker.side.collapse(Block.concat(buffer.drain())))

    def _write(self, slot: int) -> Iterator[Emitted]:
        """Write what waits in a slot, as one file, and emit the references."""
        taker, buffer = self._waiting.pop(slot)
        if not isinstance(taker, ToGroup):
            for piece in self.shuffle.put(joined(buffer.drain(), self.shuffle.flush_bytes // 8)):
                yield from self._sent(taker, piece)
            return
        self._collapse(taker, buffer)
        blocks = buffer.drain()
        if not blocks:  # what is merged may leave nothing
            return
        if taker.side.counted:
            self._count(taker.side.counted, sum(map(len, blocks)))
        parts = split_by_bucket(
            blocks, [self._buckets(taker, block) for block in blocks], taker.target.buckets)
        del blocks
        for (bucket, _), piece in zip(
                parts, self.shuffle.put(part for _, part in parts), strict=True):
            self._measure(taker.name, piece)
            yield self._keyed(taker.target, bucket, piece.to(taker.target.round, taker.number))

    def _measure(self, name: str, piece: Piece) -> None:
        """Count what is shuffled, for `run.json` and for estimates."""
        for what, number in (("rows", piece.rows), ("bytes", piece.nbytes), ("pieces", 1)):
            self._count(f"measured/{what}/{name}", number)

    def _sent(self, taker: ToLater | Out, piece: Piece) -> Iterator[Emitted]:
        if isinstance(taker, Out):
            yield rows_out(taker.name), piece
            return
        for target in taker.targets:
            yield self._keyed(target, piece.spread(target.buckets), piece.to(target.round))

    def _buckets(self, taker: ToGroup, block: Block) -> Any:
        count = taker.target.buckets
        if taker.side.bucketer is not None:
            return taker.side.bucketer(block, count, *self._args(taker.args))
        return hash_buckets(block, taker.side.keys, count)

    def _keyed(self, target: Target, bucket: int, piece: Piece) -> Emitted:
        return ROWS, (even_key(target.first + bucket), piece)
