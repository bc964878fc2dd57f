"""When everything in a plan happens: which rounds there are, and what is done in each. No Beam."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from beam_reuse.columnar.schema import types_of
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.rows.language import Rows, Value
from beam_reuse.rows.nodes import MAIN, Fold, Group, Map, Node, Output, Rounds, Source
from beam_reuse.rows.steps import (
    Apply,
    Entry,
    Gives,
    Out,
    Round,
    Taker,
    Target,
    ToGroup,
    ToLater,
    ToValue,
    ValueRef,
)

# Parked pieces are read one by one; so many keys spread them over the workers.
PARKED_KEYS = 120


class Schedule:
    """The rounds that give these rows and values; rows that are `put` leave as references.

    `refs` are the places of all values, `rounds` what is done in each round."""

    def __init__(
        self, shuffle: Shuffle, rows: Mapping[str, Rows], values: Iterable[Value],
        put: Collection[str],
    ) -> None:
        self.rows, self.put = rows, put
        self._rounds = Rounds()
        self._nodes = reachable(chain(
            (each.node for given in rows.values() for each in given.outputs), values))
        self._readers: dict[Output, list[Node]] = defaultdict(list)
        for node in self._nodes:
            for each in dict.fromkeys(node.inputs):
                self._readers[each].append(node)
        folds = [node for node in self._nodes if isinstance(node, Fold)]
        self.refs = {
            fold: ValueRef(self._rounds.of(fold), number, fold.folding)
            for number, fold in enumerate(folds)}
        self._slots: dict[Any, int] = {}
        self._keys: dict[int, int] = defaultdict(int)
        self._targets: dict[Any, Target] = {}
        for node in self._nodes:
            if isinstance(node, Group):
                self._reserve(node, self._rounds.of(node), node.buckets or shuffle.buckets)
        entries = self._entries()
        numbers = sorted(entries)
        self.rounds = tuple(
            Round(number, tuple(entries[number]), self._keys[number], following)
            for number, following in zip(numbers, [*numbers[1:], None], strict=False))

    def sources(self) -> Iterator[tuple[Source, tuple[Target, ...]]]:
        """What comes from outside, and where each is read."""
        for node in self._nodes:
            if isinstance(node, Source):
                yield node, tuple(target for (what, _), target in self._targets.items()
                                  if what == Output(node))

    def args(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """Args as they travel: values by their places."""
        return tuple(self.refs[each] if isinstance(each, Fold) else each for each in args)

    def _reserve(self, what: Any, number: int, buckets: int) -> Target:
        """Keys of a round's shuffle for one that reads from it."""
        place = what, number
        if place not in self._targets:
            self._targets[place] = Target(number, self._keys[number], buckets)
            self._keys[number] += buckets
        return self._targets[place]

    def _slot(self, *what: Any) -> int:
        return self._slots.setdefault(what, len(self._slots))

    # What happens to the rows of an output in the round in which they are there.

    def _takers(self, output: Output, here: int) -> tuple[Taker, ...]:
        found: list[Taker] = []
        later: dict[int, None] = {}
        for node in self._readers[output]:
            if isinstance(node, Map):
                number = self._rounds.of(node)
                if number == here:
                    found.append(self._apply(node, here))
                elif not isinstance(output.node, Source):
                    later[number] = None
            elif isinstance(node, Group):
                found += self._to_group(node, output)
            elif isinstance(node, Fold):
                found += node.sources.count(output) * [
                    ToValue(self._slot(node), self.refs[node], self.args(node.args))]
        if later and here == self._rounds.of(output.node):
            targets = [self._reserve(output, number, PARKED_KEYS) for number in sorted(later)]
            found.append(ToLater(self._slot(output), tuple(targets)))
        found += [Out(name, self._slot(name) if name in self.put else None)
                  for name, rows in self.rows.items() for _ in range(rows.outputs.count(output))]
        return tuple(found)

    def _apply(self, node: Map, here: int) -> Apply:
        return Apply(node.name, node.fn, self.args(node.args), self._next(node, here),
                     _declared(node))

    def _next(self, node: Node, here: int) -> dict[str, tuple[Taker, ...]]:
        return {output.tag: takers for output in self._outputs(node)
                if (takers := self._takers(output, here))}

    def _outputs(self, node: Node) -> Iterator[Output]:
        named = (each for rows in self.rows.values() for each in rows.outputs)
        return iter(dict.fromkeys(
            each for each in chain(self._readers, named) if each.node is node))

    def _to_group(self, node: Group, output: Output) -> Iterator[ToGroup]:
        target = self._targets[node, self._rounds.of(node)]
        for number, side in enumerate(node.sides):
            for _ in range(side.sources.count(output)):
                yield ToGroup(self._slot(node, number), target, number, side,
                              self.args(side.args), node.name)

    # Where rounds begin.

    def _entries(self) -> dict[int, list[Entry]]:
        entries: dict[int, list[Entry]] = defaultdict(list)
        for node in self._nodes:
            here = self._rounds.of(node)
            if isinstance(node, Group):
                entries[here].append(Entry(
                    node.name, self._targets[node, here], self._next(node, here),
                    _declared(node), node.reader, node.sides, self.args(node.args)))
            elif isinstance(node, Source):
                output = Output(node)
                readers = self._readers[output]
                numbers = {self._rounds.of(each) if isinstance(each, Map) else 0
                           for each in readers} | {
                    0 for rows in self.rows.values() if output in rows.outputs}
                for number in sorted(numbers):
                    entries[number].append(self._parked(output, number, number == 0))
        for output in list(self._readers):
            later = {self._rounds.of(each) for each in self._readers[output]
                     if isinstance(each, Map)} - {self._rounds.of(output.node)}
            if not isinstance(output.node, Source):
                for number in sorted(later):
                    entries[number].append(self._parked(output, number, False))
        return entries

    def _parked(self, output: Output, number: int, everybody: bool) -> Entry:
        """Rows of an output that are read in a round; all who read them in it take them, and, in
        the round in which they come from outside, groups, values and the outside, too."""
        target = self._reserve(output, number, PARKED_KEYS)
        takers = self._takers(output, number) if everybody else tuple(
            self._apply(node, number) for node in self._readers[output]
            if isinstance(node, Map) and self._rounds.of(node) == number)
        declared = None if output.columns is None else {MAIN: types_of(output.columns)}
        return Entry(f"read {output.node.name}", target, {MAIN: takers}, declared)


def _declared(node: Node) -> Gives | None:
    """What a node gives, as workers compare it."""
    return None if node.gives is None else {
        tag: None if columns is None else types_of(columns) for tag, columns in node.gives.items()}


def reachable(ends: Iterable[Node]) -> list[Node]:
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
