"""Running a round on a worker: a bundle's rows from where they are read to where they leave.

Memory: of all that waits to be written at most twice the shuffle's `flush_bytes` is held, however
many groups it is for; then the fullest buffer is written.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.bucket_keys import buckets_by_key, even_keys
from beam_reuse.columnar.buffers import Buffer, joined
from beam_reuse.columnar.runs import sorted_slabs
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.splitting import hash_buckets, split_by_bucket
from beam_reuse.columnar.store import Piece
from beam_reuse.rows.nodes import MAIN
from beam_reuse.rows.results import Count, Tagged, results_of
from beam_reuse.rows.steps import Apply, Entry, Out, Round, Taker, ToGroup, ToLater, ToValue, ValueRef
from beam_reuse.rows.values import Values, put_value

Emitted = tuple[str, Any]
COUNTS = "counts"


def rows_to(round_number: int) -> str:
    """The tag of references that go to a round."""
    return f"round{round_number}"


def values_for(round_number: int) -> str:
    """The tag of parts of values that a round reads."""
    return f"values{round_number}"


class Work:
    """One bundle of a round. What it emits are pairs of a tag and an element."""

    def __init__(self, plan: Round, totals: Mapping[int, int], shuffle: Shuffle) -> None:
        self.plan, self.totals, self.shuffle = plan, totals, shuffle
        self.values = Values(shuffle.store, ())
        self._waiting: dict[int, tuple[ToGroup | ToLater, Buffer]] = {}
        self._held: dict[int, tuple[ToValue, Any]] = {}
        self._counts: dict[str, int] = {}
        self._emitted: list[Emitted] = []

    def read(self, key: int, pieces: Iterable[Piece], values: Values) -> Iterator[Emitted]:
        """All of one key."""
        self.values = values
        place = buckets_by_key(self.plan.keys)[key]
        entry = next(each for each in self.plan.entries
                     if each.target.first <= place < each.target.first + each.target.buckets)
        for result in self._results(entry, pieces):
            self._hand_on(result, entry.next)
            yield from self._drained()

    def finish(self) -> Iterator[Emitted]:
        """What is left at the end of the bundle."""
        for slot in list(self._waiting):
            self._write(slot)
            yield from self._drained()
        for taker, held in self._held.values():
            ref = taker.ref
            yield values_for(ref.round), (ref.number, put_value(held, self.shuffle.store))
        yield from ((COUNTS, each) for each in self._counts.items())
        self._held, self._counts = {}, {}

    def _drained(self) -> list[Emitted]:
        emitted, self._emitted = self._emitted, []
        return emitted

    def _results(self, entry: Entry, pieces: Iterable[Piece]) -> Iterator[Any]:
        store = self.shuffle.store
        if entry.reader is None:
            return (store.get_block(piece) for piece in pieces)
        by_side: list[list[Piece]] = [[] for _ in entry.sides]
        for piece in pieces:
            by_side[piece.side].append(piece)
        budget = max(1, self.shuffle.bucket_budget // len(by_side))
        slabs = [
            sorted_slabs(map(store.get_block, mine), (*side.keys, *side.order), budget,
                         self.shuffle.run_folder(), side.merge)
            for mine, side in zip(by_side, entry.sides, strict=True)]
        return results_of(entry.reader(slabs, self._args(entry.args)))

    def _args(self, args: Sequence[Any]) -> list[Any]:
        return [self.values.get(each) if isinstance(each, ValueRef) else each for each in args]

    def _hand_on(self, result: Block | Tagged | Count,
                 takers: Mapping[str, tuple[Taker, ...]]) -> None:
        if isinstance(result, Count):
            self._count(result.name, result.number)
        elif isinstance(result, Tagged):
            for taker in takers.get(result.tag, ()):
                self._give(taker, result.rows)
        else:
            for taker in takers.get(MAIN, ()):
                self._give(taker, result)

    def _count(self, name: str, number: int) -> None:
        self._counts[name] = self._counts.get(name, 0) + number

    def _give(self, taker: Taker, block: Block) -> None:
        if isinstance(taker, Apply):
            for result in results_of(taker.fn(block, *self._args(taker.args))):
                self._hand_on(result, taker.next)
        elif isinstance(taker, ToValue):
            _, held = self._held.get(taker.slot, (taker, None))
            if held is None:
                held = taker.ref.folding.start(*self._args(taker.args))
            self._held[taker.slot] = taker, taker.ref.folding.add(held, block)
        elif isinstance(taker, Out):
            self._emitted.append((taker.name, block))
        else:
            self._wait(taker, block)

    def _wait(self, taker: ToGroup | ToLater, block: Block) -> None:
        """Take rows that are to be written, and write when there are too many."""
        if taker.slot not in self._waiting:
            self._waiting[taker.slot] = taker, Buffer(self.shuffle.flush_bytes)
        _, buffer = self._waiting[taker.slot]
        if buffer.add(block):
            self._collapse(taker, buffer)
            if buffer.nbytes > self.shuffle.flush_bytes // 2:
                self._write(taker.slot)
        elif sum(each.nbytes for _, each in self._waiting.values()) > 2 * self.shuffle.flush_bytes:
            self._write(max(self._waiting, key=lambda slot: self._waiting[slot][1].nbytes))

    def _collapse(self, taker: ToGroup | ToLater, buffer: Buffer) -> None:
        if isinstance(taker, ToGroup) and taker.side.collapse and buffer.blocks:
            buffer.add(taker.side.collapse(Block.concat(buffer.drain())))

    def _write(self, slot: int) -> None:
        """Write what waits in a slot, as one file, and emit the references."""
        taker, buffer = self._waiting.pop(slot)
        if isinstance(taker, ToLater):
            some = self.shuffle.put(joined(buffer.drain(), self.shuffle.flush_bytes // 8))
            for piece in some:
                for target in taker.targets:
                    bucket = piece.spread(target.buckets)
                    self._emit(target.round, target.first + bucket, piece)
            return
        self._collapse(taker, buffer)
        blocks = buffer.drain()
        if taker.side.counted:
            self._count(taker.side.counted, sum(map(len, blocks)))
        parts = split_by_bucket(
            blocks, [self._buckets(taker, block) for block in blocks], taker.target.buckets)
        del blocks
        for (bucket, _), piece in zip(
                parts, self.shuffle.put(part for _, part in parts), strict=True):
            self._emit(taker.target.round, taker.target.first + bucket, piece.on(taker.number))

    def _buckets(self, taker: ToGroup, block: Block) -> Any:
        count = taker.target.buckets
        if taker.side.bucketer is not None:
            return taker.side.bucketer(block, count, *self._args(taker.args))
        return hash_buckets(block, taker.side.keys, count)

    def _emit(self, to: int, place: int, piece: Piece) -> None:
        self._emitted.append((rows_to(to), (even_keys(self.totals[to])[place], piece)))
