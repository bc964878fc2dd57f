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
from typing import Any, Union

import apache_beam as beam
from apache_beam import typehints
from apache_beam.internal import pickler
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints.decorators import IOTypeHints
from apache_beam.typehints.native_type_compatibility import convert_to_beam_type

from beam_reuse.columnar import coders as _registered  # noqa: F401
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.bucket_keys import even_key
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Piece, Store
from beam_reuse.rows.language import Plan, Rows, Value
from beam_reuse.rows.nodes import Folding
from beam_reuse.rows.scheduling import Schedule
from beam_reuse.rows.steps import Out, Round, Target, ToLater, ValueRef
from beam_reuse.rows.values import Numbered, Values, merged
from beam_reuse.rows.working import COUNTS, ROWS, VALUES, Work, rows_out

Keyed = tuple[int, Piece]
_NUMBER = Union[int, float]  # noqa: UP007 (Beam 2.62 checks no int | float)
_PLAIN = b"\x80"  # how plain pickles begin


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
    kind: Any = _NUMBER,
) -> Built:
    """Add to `pipeline` the graph that gives these rows and values, of which some may be known, and
    which are of type `kind`; rows that are `put` away come as references."""
    wanted = values or {}
    folds = (each for each in wanted.values() if isinstance(each, Value))
    schedule = Schedule(plan.shuffle, rows, folds, put)
    return _Builder(plan.shuffle, schedule, wanted, kind).build(pipeline)


class _Builder:
    def __init__(
        self, shuffle: Shuffle, schedule: Schedule, wanted: Mapping[str, Value | int], kind: Any,
    ) -> None:
        self.shuffle, self.schedule, self.wanted, self.kind = shuffle, schedule, wanted, kind
        self.merged: dict[int, beam.PCollection] = {}

    def build(self, pipeline: beam.Pipeline) -> Built:
        pieces = self._from_outside(pipeline)
        counts: list[beam.PCollection] = []
        out: dict[str, list[beam.PCollection]] = defaultdict(list)
        for each in self.schedule.rounds:
            done = self._round(each, pieces)
            if VALUES in done:
                self.merged[each.number] = self._merge(each.number, done.pop(VALUES))
            pieces = done.pop(ROWS, None)
            counts += [done.pop(COUNTS)] if COUNTS in done else []
            for tag, rows in done.items():
                out[tag].append(rows)
        return Built(
            {name: _together(pipeline, out[rows_out(name)], f"All {name}",
                             Piece if name in self.schedule.put else Block)
             for name in self.schedule.rows},
            _together(pipeline, counts, "Counts", tuple[str, int]),
            self._values(pipeline), self.schedule.rounds)

    def _round(self, plan: Round, pieces: beam.PCollection) -> dict[str, beam.PCollection]:
        """What a round gives, by tag."""
        kinds = self._kinds(plan)
        main = COUNTS if plan.following is None else ROWS
        done = (
            pieces | f"Shuffle {plan.number}" >> beam.GroupByKey()
            | f"Round {plan.number}" >> beam.ParDo(
                _RunRound(plan, self.shuffle, main), *self._sides(_refs(plan))).with_outputs(
                    *(tag for tag in kinds if tag != main), main=main))
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
               for ref in self.schedule.refs.values()):
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
        refs = dict(zip(self.wanted, self.schedule.args(tuple(self.wanted.values())), strict=True))
        sides = self._sides(ref for ref in refs.values() if isinstance(ref, ValueRef))
        return pipeline | "Once" >> beam.Impulse() | "Wanted values" >> beam.ParDo(
            _Wanted(refs, self.shuffle.store), *sides).with_output_types(
                typehints.Tuple[str, self.kind])

    def _from_outside(self, pipeline: beam.Pipeline) -> beam.PCollection:
        """References to all that is given, for the rounds that read it."""
        known: list[tuple[tuple[Block, ...], tuple[Target, ...]]] = []
        given = []
        for number, (node, targets) in enumerate(self.schedule.sources()):
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
        folds = {ref.number: ref.folding for ref in self.schedule.refs.values()
                 if ref.round > number}
        return (
            parts
            | f"Gather values {number}" >> beam.GroupByKey()
            | f"Values {number}" >> beam.ParDo(_MergeValue(folds, self.shuffle.store))
            .with_output_types(Numbered)
        )


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


class _Declared(beam.DoFn):
    """A step whose output types are declared where it is applied. Its input has none: of side
    inputs that may be anything Beam 2.62 makes a tuple."""

    def default_type_hints(self) -> IOTypeHints:
        return IOTypeHints.empty()

    def infer_output_type(self, _: Any) -> Any:
        """Anything; else Beam would interpret the bytecode of `process` to find out."""
        return typehints.Any


class _RunRound(_Declared):
    """(key, references) -> what `Work` emits, by tag; without one what it emits as `main`."""

    def __init__(self, plan: Round, shuffle: Shuffle, main: str) -> None:
        self.plan, self.shuffle, self.main = packed(plan), shuffle, main

    def start_bundle(self) -> None:
        self.work = Work(unpacked(self.plan), self.shuffle)
        self.values: Values | None = None

    def process(self, keyed: tuple[int, Iterable[Piece]], *sides: Any) -> Iterator[Any]:
        if self.values is None:
            self.values = Values(self.shuffle.store, chain(*sides))
            self.values.let_go_of_others(_refs(self.work.plan))
        for tag, element in self.work.read(*keyed, self.values):
            yield self._tagged(tag, element)

    def finish_bundle(self) -> Iterator[Any]:
        for tag, element in self.work.finish():
            yield self._tagged(tag, GlobalWindows.windowed_value(element))
        del self.work, self.values  # Beam keeps this transform for later bundles

    def _tagged(self, tag: str, element: Any) -> Any:
        return element if tag == self.main else beam.pvalue.TaggedOutput(tag, element)


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

    def process(self, given: Block | Piece) -> Iterator[Any]:
        for piece in self.shuffle.put([given]) if isinstance(given, Block) else [given]:
            for target in self.targets:
                place = target.first + piece.spread(target.buckets)
                yield even_key(place), piece.to(target.round)


class _MergeValue(_Declared):
    """(number of a value, references to its pieces) -> the value."""

    def __init__(self, folds: Mapping[int, Folding], store: Store) -> None:
        self.folds, self.store = folds, store

    def process(self, keyed: tuple[int, Iterable[Piece]]) -> Iterator[Numbered]:
        number, pieces = keyed
        yield merged(number, pieces, self.folds[number], self.store)


class _Wanted(_Declared):
    """Impulse, and merged values beside it -> the values that are wanted outside, by name."""

    def __init__(self, refs: Mapping[str, ValueRef | int], store: Store) -> None:
        self.refs, self.store = refs, store

    def process(self, _: bytes, *sides: Any) -> Iterator[tuple[str, Any]]:
        values = Values(self.store, chain(*sides))
        for name, ref in self.refs.items():
            yield name, values.get(ref) if isinstance(ref, ValueRef) else ref
