"""What is done in one round, as a tree that travels to the workers. No Beam.

A round begins where a bucket or a parked piece is read (`Entry`); what is read goes to takers,
which hand on to other takers until rows leave the round: to a group, into a value, parked for a
later round, or out of the graph.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from beam_reuse.columnar.schema import Types
from beam_reuse.rows.nodes import Folding, Reader, Side

Gives = Mapping[str, Types | None]
"""The columns that are declared of what a kernel gives, by tag; None where they are not."""


@dataclass(frozen=True)
class ValueRef:
    """The place of a value among the args of a kernel: it is there from `round` on, and `folding`
    makes the value of no rows."""

    round: int
    number: int
    folding: Folding


@dataclass(frozen=True)
class Target:
    """Where references go: the keys `first` to `first + buckets - 1` of a round's shuffle."""

    round: int
    first: int
    buckets: int


@dataclass(frozen=True)
class Apply:
    """`fn(block, *args)`; its results go on by their tags."""

    name: str
    fn: Any
    args: tuple[Any, ...]
    next: Mapping[str, tuple["Taker", ...]]
    gives: Gives | None


@dataclass(frozen=True)
class ToGroup:
    """Rows that are split by bucket and written; `slot` is shared by all that go the same way."""

    slot: int
    target: Target
    number: int
    side: Side
    args: tuple[Any, ...]
    name: str = ""


@dataclass(frozen=True)
class ToValue:
    """Rows that are folded into a value."""

    slot: int
    ref: ValueRef
    args: tuple[Any, ...]


@dataclass(frozen=True)
class ToLater:
    """Rows that are written as they are and read again in later rounds."""

    slot: int
    targets: tuple[Target, ...]


@dataclass(frozen=True)
class Out:
    """Rows that leave the graph under a name: as blocks, or with a `slot` as references."""

    name: str
    slot: int | None = None


Taker = Apply | ToGroup | ToValue | ToLater | Out


@dataclass(frozen=True)
class Entry:
    """Where a round begins: parked pieces are read one by one; with a `reader`, whole buckets."""

    name: str
    target: Target
    next: Mapping[str, tuple[Taker, ...]]
    gives: Gives | None = None
    reader: Reader | None = None
    sides: tuple[Side, ...] = ()
    args: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Round:
    """All entries of a round; `keys` is how many keys they have, `following` the number of the
    next round, None after the last."""

    number: int
    entries: tuple[Entry, ...]
    keys: int
    following: int | None = None

    def takers(self) -> Iterator[Taker]:
        """All that rows are handed to in this round."""
        waiting = [taker for entry in self.entries for takers in entry.next.values()
                   for taker in takers]
        while waiting:
            taker = waiting.pop()
            yield taker
            if isinstance(taker, Apply):
                waiting += [each for takers in taker.next.values() for each in takers]

    def names(self) -> tuple[str, ...]:
        """What is done in this round, for people."""
        applied = (taker.name for taker in self.takers() if isinstance(taker, Apply))
        names = {*(entry.name for entry in self.entries), *applied}
        return tuple(sorted(name for name in names if not name.startswith("read ")))
