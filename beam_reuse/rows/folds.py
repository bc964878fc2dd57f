"""Ways to make one value of all rows; each is a `nodes.Folding`. No Beam."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import Counters, HeavyKeys
from beam_reuse.columnar.filters import KeyFilter, KeysSeen
from beam_reuse.columnar.gather import gathered
from beam_reuse.columnar.repeats import Repeats
from beam_reuse.columnar.sums import exact_sum


@dataclass(frozen=True)
class SumColumns:
    """{column: sum}; bool and integer columns, exact at any size."""

    columns: tuple[str, ...]

    def start(self) -> dict[str, int]:
        return dict.fromkeys(self.columns, 0)

    def add(self, held: dict[str, int], block: Block) -> dict[str, int]:
        return {name: held[name] + exact_sum(block.array(name)) for name in self.columns}

    def merge(self, held: dict[str, int], other: dict[str, int]) -> dict[str, int]:
        return {name: held[name] + other[name] for name in self.columns}

    def finish(self, held: dict[str, int] | None) -> dict[str, int]:
        return held or self.start()


@dataclass(frozen=True)
class UnionKeys:
    """A KeyFilter of all keys, with room for `expected` of them at most."""

    keys: tuple[str, ...]
    expected: int

    def start(self) -> KeysSeen:
        return KeysSeen(self.keys, self.expected)

    def add(self, held: KeysSeen, block: Block) -> KeysSeen:
        held.add(block)
        return held

    def merge(self, held: KeysSeen, other: KeysSeen) -> KeysSeen:
        held.merge(other)
        return held

    def finish(self, held: KeysSeen | None) -> KeyFilter:
        return (held or self.start()).filter()


@dataclass(frozen=True)
class FindRepeats:
    """A filter of the keys that may occur on two rows or more."""

    keys: tuple[str, ...]
    bits: int

    def start(self) -> Repeats:
        return Repeats.sized(self.keys, self.bits)

    def add(self, held: Repeats, block: Block) -> Repeats:
        held.add(block)
        return held

    def merge(self, held: Repeats, other: Repeats) -> Repeats:
        held.merge(other)
        return held

    def finish(self, held: Repeats | None) -> Any:
        return (held or Repeats.sized(self.keys, 3)).heavy()


@dataclass(frozen=True)
class FindKeys:
    """A filter of all keys, hashed into a bitmap of 2**`bits`: for more keys than `UnionKeys` has
    room for."""

    keys: tuple[str, ...]
    bits: int

    def start(self) -> HeavyKeys:
        return HeavyKeys.sized(self.keys, self.bits)

    def add(self, held: HeavyKeys, block: Block) -> HeavyKeys:
        held.add(block)
        return held

    def merge(self, held: HeavyKeys, other: HeavyKeys) -> HeavyKeys:
        return HeavyKeys(self.keys, held.bitmap | other.bitmap)

    def finish(self, held: HeavyKeys | None) -> HeavyKeys:
        return held or self.start()


@dataclass(frozen=True)
class FindFrequent:
    """A filter of the keys that may occur on `least` rows or more, counted in 2**`bits` places."""

    keys: tuple[str, ...]
    bits: int
    least: int

    def start(self) -> Counters:
        return Counters.sized(self.keys, self.bits, self.least)

    def add(self, held: Counters, block: Block) -> Counters:
        held.add(block)
        return held

    def merge(self, held: Counters, other: Counters) -> Counters:
        held.merge(other)
        return held

    def finish(self, held: Counters | None) -> HeavyKeys:
        return (held or Counters.sized(self.keys, 3, self.least)).heavy()


@dataclass(frozen=True)
class GatherRows:
    """One block of all distinct rows by `order`; one without columns where there are none."""

    order: Sequence[str]

    def start(self) -> Block:
        return Block({})

    def add(self, held: Block, block: Block) -> Block:
        return gathered([held, block], self.order)

    def merge(self, held: Block, other: Block) -> Block:
        return gathered([held, other], self.order)

    def finish(self, held: Block | None) -> Block:
        return Block({}) if held is None else held
