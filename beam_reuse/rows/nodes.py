"""The plan of a graph: what is done to which rows, before any of it is a step of Beam.

A plan is a graph of nodes. `Source` has rows from outside, `Map` looks at block after block,
`Group` brings rows with equal keys together, `Fold` makes one value of all rows. Rows are read
from an `Output`: what a node gives under a tag.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block

MAIN = "main"
Collapse = Callable[[Block], Block]
Bucketer = Callable[..., NDArray]
Given = Mapping[str, pa.Schema | None]
"""The columns of what a node gives, by tag; None where they are not known."""


class Output(NamedTuple):
    """What `node` gives under `tag`."""

    node: "Node"
    tag: str = MAIN

    @property
    def columns(self) -> pa.Schema | None:
        """The columns of these rows, if they are known."""
        return None if self.node.gives is None else self.node.gives.get(self.tag)


@dataclass(frozen=True, eq=False)
class Node:
    """A place in the plan. `name` is for people, `gives` what is declared of its rows; nodes are
    equal only to themselves."""

    name: str
    gives: Given | None = field(default=None, kw_only=True)

    @property
    def inputs(self) -> tuple[Output, ...]:
        return ()

    @property
    def values(self) -> tuple["Fold", ...]:
        """The values it needs before it can begin."""
        return ()


@dataclass(frozen=True, eq=False)
class Source(Node):
    """Rows from outside: `pieces` is a PCollection of references to blocks, or a list of blocks
    that are known while the graph is built."""

    pieces: Any = ()


@dataclass(frozen=True, eq=False)
class Map(Node):
    """`fn(block, *args)` for each block; args that are Folds are read as their values."""

    source: Output
    fn: Callable[..., Any]
    args: tuple[Any, ...] = ()

    @property
    def inputs(self) -> tuple[Output, ...]:
        return (self.source,)

    @property
    def values(self) -> tuple["Fold", ...]:
        return folds_in(self.args)


class Reader(Protocol):
    """What a Group does to a bucket: the sorted slabs of each side, and the args, to results."""

    def __call__(self, sides: Sequence[Iterator[Block]], args: Sequence[Any]) -> Iterator[Any]: ...


@dataclass(frozen=True, eq=False)
class Side:
    """One of the inputs that meet in a Group. Rows go to buckets by the hash of `keys`, or as
    `bucketer(block, buckets, *args)` says; `collapse` may combine what is held before it goes,
    and again where a bucket is sorted: it then gives rows in order of the Group's sorting. Rows
    that go are counted under the name `counted`, if there is one."""

    sources: tuple[Output, ...]
    keys: tuple[str, ...]
    order: tuple[str, ...]
    collapse: Collapse | None = None
    merge: Collapse | None = None
    bucketer: Bucketer | None = None
    args: tuple[Any, ...] = ()
    counted: str = ""


@dataclass(frozen=True, eq=False)
class Group(Node):
    """Rows of all sides with equal keys meet in one of `buckets` (0: as many as the shuffle has),
    sorted by keys and order, and are read by `reader`."""

    sides: tuple[Side, ...]
    reader: Reader
    args: tuple[Any, ...] = ()
    buckets: int = 0

    @property
    def inputs(self) -> tuple[Output, ...]:
        return tuple(source for side in self.sides for source in side.sources)

    @property
    def values(self) -> tuple["Fold", ...]:
        return folds_in(self.args)


class Folding(Protocol):
    """How blocks become one value. Merging must not depend on the order or grouping of blocks.
    One that has `keys` reads these columns."""

    def start(self, *args: Any) -> Any: ...
    def add(self, held: Any, block: Block) -> Any: ...
    def merge(self, held: Any, other: Any) -> Any: ...
    def finish(self, held: Any) -> Any: ...


@dataclass(frozen=True, eq=False)
class Fold(Node):
    """One value of all rows, for everybody; it exists without any rows, too."""

    sources: tuple[Output, ...]
    folding: Folding
    args: tuple[Any, ...] = ()

    @property
    def inputs(self) -> tuple[Output, ...]:
        return self.sources

    @property
    def values(self) -> tuple["Fold", ...]:
        return folds_in(self.args)

    def nothing(self) -> Any:
        """The value of no rows."""
        return self.folding.finish(None)


def folds_in(args: Sequence[Any]) -> tuple[Fold, ...]:
    return tuple(each for each in args if isinstance(each, Fold))


@dataclass
class Rounds:
    """When each node runs. Round 0 reads what is given; a Group runs a round after its last rows
    are there, and a value is there a round after the last rows that it is of."""

    _of: dict[Node, int] = field(default_factory=dict)

    def of(self, node: Node) -> int:
        """The round in which the node's rows are made, or from which on its value is there."""
        if node not in self._of:
            self._of[node] = self._find(node)
        return self._of[node]

    def _find(self, node: Node) -> int:
        waits = max((self.of(value) for value in node.values), default=0)
        if isinstance(node, Map):
            return max(waits, self.of(node.source.node))
        if isinstance(node, Source):
            return 0
        return max(waits, 1 + max((self.of(each.node) for each in node.inputs), default=-1))


def by_number(block: Block, buckets: int, key: str) -> NDArray[np.int64]:
    """A bucketer that deals rows by the number in a column: neighbours never share a bucket."""
    return block.array(key).astype(np.int64) % buckets
