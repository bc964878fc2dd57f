"""From a plan to a Beam graph: a chain of rounds, each of them one shuffle and one step.

    pieces ─ GroupByKey ─ Round 0 ─ GroupByKey ─ Round 1 ─ ... ─ counts
                             └─ parts of values ─ GroupByKey ─ Merge ─ side inputs ─┘

Everything that can be done at the same time shares a shuffle, whatever analysis it belongs to:
a step costs time even where it has nothing to do, and on an engine buffers, too. References to
what later rounds read pass through the rounds between, for an edge from every round to every later
one would cost an engine far more.
"""

import pickle
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import apache_beam as beam
from apache_beam.internal import pickler
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints.decorators import no_annotations
from apache_beam.typehints.native_type_compatibility import convert_to_beam_type

from beam_reuse.columnar import coders as _registered  # noqa: F401
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.bucket_keys import even_key
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Piece, Store
from beam_reuse.rows.language import Plan, Rows, Value
from beam_reuse.rows.nodes import MAIN, Fold, Folding, Group, Map, Node, Output, Rounds, Source
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
from beam_reuse.rows.values import Numbered, Values, merged
from beam_reuse.rows.working import COUNTS, ROWS, VALUES, Emitted, Work, rows_out

Keyed = tuple[int, Piece]
_PLAIN = b"\x80"  # how plain pickles begin
# Parked pieces are read one by one; so many keys spread them over the workers.
PARKED_KEYS = 120


@dataclass(frozen=True)
class Built:
    """What a graph gives: `rows` by name, PCollections of blocks; `counts`, pairs of a name and a
    number; `values`, pairs of a name and a value; `rounds`, for people."""

    rows: Mapping[str, beam.PCollection]
    counts: beam.PCollection
    values: beam.PCollection
    rounds: tuple[Round, ...]


def build(
    pipeline: beam.Pipeline, plan: Plan, rows: Mapping[str, Rows],
    values: Mapping[str, Value | int] | None = None, put: Collection[str] = (),
) -> Built:
    """Add to `pipeline` the graph that gives these rows and values, of which some may be known;
    rows that are `put` away come as references."""
    return _Builder(plan.shuffle, rows, values or {}, put).build(pipeline)


class _Builder:
    def __init__(
        self, shuffle: Shuffle, rows: Mapping[str, Rows], values: Mapping[str, Value | int],
        put: Collection[str],
    ) -> None:
        self.shuffle, self.rows, self.wanted, self.put = shuffle, rows, values, put
        self.rounds = Rounds()
        self.nodes = _reachable(chain(
            (each.node for given in rows.values() for each in given.outputs),
            (each for each in values.values() if isinstance(each, Fold))))
        self.readers: dict[Output, list[Node]] = defaultdict(list)
        for node in self.nodes:
            for each in dict.fromkeys(node.inputs):
                self.readers[each].append(node)
        self.folds = [node for node in self.nodes if isinstance(node, Fold)]
        self.refs = {
            fold: ValueRef(self.rounds.of(fold), number, fold.folding)
            for number, fold in enumerate(self.folds)}
        self.merged: dict[int, beam.PCollection] = {}
        self.slots: dict[Any, int] = {}
        self.keys: dict[int, int] = defaultdict(int)
        self.targets: dict[Any, Target] = {}
        for node in self.nodes:
            if isinstance(node, Group):
                self._reserve(node, self.rounds.of(node), node.buckets or shuffle.buckets)

    def _reserve(self, what: Any, number: int, buckets: int) -> Target:
        """Keys of a round's shuffle for one that reads from it."""
        place = what, number
        if place not in self.targets:
            self.targets[place] = Target(number, self.keys[number], buckets)
            self.keys[number] += buckets
        return self.targets[place]

    def _slot(self, *what: Any) -> int:
        return self.slots.setdefault(what, len(self.slots))

    def _args(self, args: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(self.refs[each] if isinstance(each, Fold) else each for each in args)

    # What happens to the rows of an output in the round in which they are there.

    def _takers(self, output: Output, here: int) -> tuple[Taker, ...]:
        found: list[Taker] = []
        later: dict[int, None] = {}
        for node in self.readers[output]:
            if isinstance(node, Map):
                number = self.rounds.of(node)
                if number == here:
                    found.append(self._apply(node, here))
                elif not isinstance(output.node, Source):
                    later[number] = None
            elif isinstance(node, Group):
                found += self._to_group(node, output)
            elif isinstance(node, Fold):
                found += node.sources.count(output) * [
                    ToValue(self._slot(node), self.refs[node], self._args(node.args))]
        if later and here == self.rounds.of(output.node):
            targets = [self._reserve(output, number, PARKED_KEYS) for number in sorted(later)]
            found.append(ToLater(self._slot(output), tuple(targets)))
        found += [Out(name, self._slot(name) if name in self.put else None)
                  for name, rows in self.rows.items() for _ in range(rows.outputs.count(output))]
        return tuple(found)

    def _apply(self, node: Map, here: int) -> Apply:
        return Apply(node.name, node.fn, self._args(node.args), self._next(node, here))

    def _next(self, node: Node, here: int) -> dict[str, tuple[Taker, ...]]:
        return {output.tag: takers for output in self._outputs(node)
                if (takers := self._takers(output, here))}

    def _outputs(self, node: Node) -> Iterator[Output]:
        named = (each for rows in self.rows.values() for each in rows.outputs)
        return iter(dict.fromkeys(
            each for each in chain(self.readers, named) if each.node is node))

    def _to_group(self, node: Group, output: Output) -> Iterator[ToGroup]:
        target = self.targets[node, self.rounds.of(node)]
        for number, side in enumerate(node.sides):
            for _ in range(side.sources.count(output)):
                yield ToGroup(self._slot(node, number), target, number, side,
                              self._args(side.args))

    # Where rounds begin.

    def _entries(self) -> dict[int, list[Entry]]:
        entries: dict[int, list[Entry]] = defaultdict(list)
        for node in self.nodes:
            here = self.rounds.of(node)
            if isinstance(node, Group):
                entries[here].append(Entry(
                    node.name, self.targets[node, here], self._next(node, here), node.reader,
                    node.sides, self._args(node.args)))
            elif isinstance(node, Source):
                output = Output(node)
                readers = self.readers[output]
                numbers = {self.rounds.of(each) if isinstance(each, Map) else 0
                           for each in readers} | {
                    0 for rows in self.rows.values() if output in rows.outputs}
                for number in sorted(numbers):
                    entries[number].append(self._parked(output, number, number == 0))
        for output in list(self.readers):
            later = {self.rounds.of(each) for each in self.readers[output]
                     if isinstance(each, Map)} - {self.rounds.of(output.node)}
            if not isinstance(output.node, Source):
                for number in sorted(later):
                    entries[number].append(self._parked(output, number, False))
        return entries

    def _parked(self, output: Output, number: int, everybody: bool) -> Entry:
        """Rows of an output that are read in a round; all who read them in it take them, and, in
        the round in which they come from outside, groups, values and the outside, too."""
        target = self._reserve(output, number, PARKED_KEYS)
        takers = self._takers(output, number) if everybody else tuple(
            self._apply(node, number) for node in self.readers[output]
            if isinstance(node, Map) and self.rounds.of(node) == number)
        return Entry(f"read {output.node.name}", target, {MAIN: takers})

    # The graph.

    def build(self, pipeline: beam.Pipeline) -> Built:
        entries = self._entries()
        numbers = sorted(entries)
        rounds = tuple(
            Round(number, tuple(entries[number]), self.keys[number], following)
            for number, following in zip(numbers, [*numbers[1:], None], strict=False))
        pieces = self._from_outside(pipeline)
        counts: list[beam.PCollection] = []
        out: dict[str, list[beam.PCollection]] = defaultdict(list)
        for each in rounds:
            done = self._round(each, pieces)
            if VALUES in done:
                self.merged[each.number] = self._merge(each.number, done.pop(VALUES))
            pieces = done.pop(ROWS, None)
            counts += [done.pop(COUNTS)] if COUNTS in done else []
            for tag, rows in done.items():
                out[tag].append(rows)
        return Built(
            {name: _together(pipeline, out[rows_out(name)], f"All {name}",
                             Piece if name in self.put else Block) for name in self.rows},
            _together(pipeline, counts, "Counts", tuple[str, int]),
            self._values(pipeline), rounds)

    def _round(self, plan: Round, pieces: beam.PCollection) -> dict[str, beam.PCollection]:
        """What a round gives, by tag."""
        kinds = self._kinds(plan)
        done = (
            pieces | f"Shuffle {plan.number}" >> beam.GroupByKey()
            | f"Round {plan.number}" >> beam.ParDo(
                _RunRound(plan, self.shuffle), *self._sides(_refs(plan))).with_outputs(*kinds))
        for tag, kind in kinds.items():
            done[tag].element_type = convert_to_beam_type(kind)
        return {tag: done[tag] for tag in kinds}

    def _kinds(self, plan: Round) -> dict[str, Any]:
        """The tags of what leaves a round, with types."""
        kinds: dict[str, Any] = {
            rows_out(taker.name): Block if taker.slot is None else Piece
            for taker in plan.takers() if isinstance(taker, Out)}
        last = plan.following is None
        if any(plan.number < ref.round and (plan.following is None or ref.round <= plan.following)
               for ref in self.refs.values()):
            kinds[VALUES] = Numbered
        kinds |= {COUNTS: tuple[str, int]} if last else {ROWS: Keyed}
        return dict(sorted(kinds.items()))

    def _sides(self, refs: Iterable[ValueRef]) -> list[beam.pvalue.AsIter]:
        """Where these values are to be had: merged after the last round before they are there."""
        after = {max((number for number in self.merged if number < ref.round), default=None)
                 for ref in refs}
        return [beam.pvalue.AsIter(self.merged[number])
                for number in sorted(each for each in after if each is not None)]

    def _values(self, pipeline: beam.Pipeline) -> beam.PCollection:
        """The values that are wanted outside, by name."""
        refs = dict(zip(self.wanted, self._args(tuple(self.wanted.values())), strict=True))
        sides = self._sides(ref for ref in refs.values() if isinstance(ref, ValueRef))
        return pipeline | "Once" >> beam.Impulse() | "Wanted values" >> beam.FlatMap(
            _wanted, refs, self.shuffle.store, *sides).with_output_types(tuple[str, Any])

    def _from_outside(self, pipeline: beam.Pipeline) -> beam.PCollection:
        """References to all that is given, for the rounds that read it."""
        known: list[tuple[tuple[Block, ...], tuple[Target, ...]]] = []
        given = []
        for number, node in enumerate(self.nodes):
            if not isinstance(node, Source):
                continue
            targets = tuple(target for (what, _), target in self.targets.items()
                            if what == Output(node))
            if isinstance(node.pieces, tuple):
                known.append((node.pieces, targets))
            else:
                given.append(node.pieces | f"Send {node.name} {number}" >> beam.ParDo(
                    _Send(targets, self.shuffle)).with_output_types(Keyed))
        if known:
            given.append(pipeline | beam.Impulse() | "Begin" >> beam.ParDo(
                _Begin(known)).with_output_types(Keyed))
        return _together(pipeline, given, "Given", Keyed)

    def _merge(self, number: int, parts: beam.PCollection) -> beam.PCollection:
        """The values that are there after a round."""
        folds = {ref.number: fold.folding for fold, ref in self.refs.items() if ref.round > number}
        return (
            parts
            | f"Gather values {number}" >> beam.GroupByKey()
            | f"Values {number}" >> beam.Map(_merge_value, folds, self.shuffle.store)
            .with_output_types(Numbered)
        )


def _reachable(ends: Iterable[Node]) -> list[Node]:
    """All nodes that these need, in an order in which each comes after those it needs."""
    found: dict[Node, None] = {}

    def visit(node: Node) -> None:
        if node not in found:
            for each in node.inputs:
                visit(each.node)
            for value in node.values:
                visit(value)
            if isinstance(node, Group):
                for side in node.sides:
                    for arg in side.args:
                        if isinstance(arg, Fold):
                            visit(arg)
            found[node] = None

    for node in ends:
        visit(node)
    return list(found)


def _refs(round_: Round) -> Iterator[ValueRef]:
    """The values that a round reads."""
    args = chain(
        (arg for entry in round_.entries for arg in entry.args),
        (arg for taker in round_.takers() if not isinstance(taker, ToLater | Out)
         for arg in taker.args))
    return (arg for arg in args if isinstance(arg, ValueRef))


def _together(
    pipeline: beam.Pipeline, some: Sequence[beam.PCollection], label: str, kind: Any,
) -> beam.PCollection:
    """All of these PCollections, of which there may be none, as one of elements of type `kind`."""
    if not some:
        return pipeline | label >> beam.Create([]).with_output_types(kind)
    return some[0] if len(some) == 1 else tuple(some) | label >> beam.Flatten()


def packed(plan: Round) -> bytes:
    """A round as bytes: Beam pickles a step several times while a graph is built and run, and
    a round has hundreds of kernels. Those that only Beam's own pickler knows are left to it."""
    try:
        return pickle.dumps(plan, 5)
    except (pickle.PicklingError, AttributeError, TypeError):
        return bytes(pickler.dumps(plan))


@lru_cache(maxsize=64)
def unpacked(plan: bytes) -> Round:
    """What was packed, once for each process."""
    return pickle.loads(plan) if plan[:1] == _PLAIN else pickler.loads(plan)


class _RunRound(beam.DoFn):
    """(key, references) -> what `Work` emits, by tag."""

    def __init__(self, plan: Round, shuffle: Shuffle) -> None:
        self.plan, self.shuffle = packed(plan), shuffle

    def start_bundle(self) -> None:
        self.work = Work(unpacked(self.plan), self.shuffle)
        self.values: Values | None = None

    @no_annotations
    def process(self, keyed: tuple[int, Iterable[Piece]], *sides: Any) -> Iterator[Any]:
        if self.values is None:
            self.values = Values(self.shuffle.store, chain(*sides))
        for tag, element in self.work.read(*keyed, self.values):
            yield beam.pvalue.TaggedOutput(tag, element)

    def finish_bundle(self) -> Iterator[Any]:
        for tag, element in self.work.finish():
            yield beam.pvalue.TaggedOutput(tag, GlobalWindows.windowed_value(element))


class _Begin(beam.DoFn):
    """Impulse -> references to blocks that were known when the graph was built."""

    def __init__(self, known: Sequence[tuple[tuple[Block, ...], tuple[Target, ...]]]) -> None:
        self.known = known

    def process(self, _: bytes) -> Iterator[Any]:
        for blocks, targets in self.known:
            for number, block in enumerate(blocks):
                piece = Piece.holding(block)
                for target in targets:
                    place = target.first + number % target.buckets
                    yield even_key(place), piece.to(target.round)


class _Send(beam.DoFn):
    """Blocks, or references to them, from another graph -> the rounds that read them."""

    def __init__(self, targets: Sequence[Target], shuffle: Shuffle) -> None:
        self.targets, self.shuffle = targets, shuffle

    @no_annotations
    def process(self, given: Block | Piece) -> Iterator[Any]:
        for piece in self.shuffle.put([given]) if isinstance(given, Block) else [given]:
            for target in self.targets:
                place = target.first + piece.spread(target.buckets)
                yield even_key(place), piece.to(target.round)


@no_annotations
def _merge_value(
    keyed: tuple[int, Iterable[Piece]], folds: Mapping[int, Folding], store: Store,
) -> Numbered:
    number, pieces = keyed
    return merged(number, pieces, folds[number], store)


@no_annotations
def _wanted(
    _: bytes, refs: Mapping[str, ValueRef | int], store: Store, *sides: Any,
) -> Iterator[tuple[str, Any]]:
    values = Values(store, chain(*sides))
    return ((name, values.get(ref) if isinstance(ref, ValueRef) else ref)
            for name, ref in refs.items())


__all__ = ["Built", "Emitted", "build"]
