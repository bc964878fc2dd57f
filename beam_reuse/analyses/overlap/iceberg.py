"""Which pairs share enough: iceberg counting, and counting all of them. No Beam.

Most pairs of units that share a fingerprint share few. So pairs are hashed into counters first,
twice over; only pairs on two heavy counters are counted exactly. No pair above the threshold is
lost, since its counters have been raised as often as it occurs. Those of pairs that a crowd
compares are heavy at once: of these, too, is counted exactly what they share beside crowds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.graphs.crowds import NEXT
from beam_reuse.analyses.overlap.postings import CROWD, PASSED, list_starts
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.reduce import Reduction
from beam_reuse.columnar.schema import FINGERPRINT, KIND, UNSIGNED, columns, gives
from beam_reuse.kernels import overlap as kernels
from beam_reuse.kernels.compiled import frozen
from beam_reuse.pages.sides import ONE_SIDE, Sides
from beam_reuse.rows import Rows

Thresholds = tuple[int, ...]
"""For each tag how many shared fingerprints are enough."""

PAIR = ("tag", "unit", "other")
COUNTED_PAIRS = columns(tag=KIND, unit=FINGERPRINT, other=FINGERPRINT, shared=UNSIGNED)
_PAIR_TYPES = (("tag", np.uint8), *((name, np.uint64) for name in ("unit", "other", "shared")))
SAMPLED = 16
"""Of so many units one is in the pilot sample, and so of 256 pairs one."""
LEAST_BITS, MOST_BITS = 12, 27
_LOAD = 4
_ROWS_AT_ONCE, _SAMPLE_ROWS = 1 << 20, 1 << 16


def counted_pairs(
    lists: Rows, thresholds: Thresholds, iceberg: bool, sides: Sides = ONE_SIDE,
) -> Rows:
    """Postings -> pairs, `unit` < `other`, in parts that are to be summed: of all pairs that share
    `thresholds[tag]` fingerprints or more, of all that crowds compare, and of some others; of all,
    if not by `iceberg`. In `shared` each crowd counts as `kernels.IN_CROWD`. Where units are pages
    of two `sides`, no pairs of two old ones.

    Memory: two rows of at most 2**27 counters a worker, sized by a pilot sample.
    """
    if not iceberg or max(thresholds) == 1:
        return lists.map(heavy_pairs, HeavyPairs.all(len(thresholds)), sides)
    bits = lists.map(sampled_pairs, sides).fold(EstimateBits(thresholds))
    return lists.map(heavy_pairs, lists.fold(CountPairs(thresholds, sides), bits), sides)


@gives(COUNTED_PAIRS)
def sampled_pairs(lists: Block, sides: Sides = ONE_SIDE) -> Iterator[Block]:
    """All pairs of sampled units."""
    starts = list_starts(lists)
    of_list = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    first = lists.array("role")[starts[:-1]]
    sampled = lists.hash_rows(("unit",)) % np.uint64(SAMPLED) == 0
    kept = np.flatnonzero(sampled | (first == CROWD)[of_list])
    of_list, role = of_list[kept], lists.array("role")[kept]
    head = np.ones(len(kept), np.bool_)
    head[1:] = of_list[1:] != of_list[:-1]
    role[head] = first[of_list[head]]
    tags = int(lists.array("tag").max(initial=0)) + 1
    return pair_rows(lists.take(kept).with_columns(role=role), HeavyPairs.all(tags),
                     sides, silent=~sampled[kept])


@dataclass(frozen=True)
class PairSample:
    """Pairs with how often they occur, one in 2**`level` by their hashes."""

    level: int
    pairs: Block

    def joined(self, other: "PairSample", most: int) -> "PairSample":
        """Both, of a level at which no more than `most` pairs are in it."""
        level = max(self.level, other.level)
        pairs = Reduction(PAIR, {"shared": "sum"})(Block.concat([
            _of_level(self.pairs, level), _of_level(other.pairs, level)]))
        while len(pairs) > most:
            level += 1
            pairs = _of_level(pairs, level)
        return PairSample(level, pairs)


def _of_level(pairs: Block, level: int) -> Block:
    return pairs.take(pairs.hash_rows(PAIR) % np.uint64(1 << level) == 0) if level else pairs


_NO_PAIRS = Block({name: np.zeros(0, kind) for name, kind in _PAIR_TYPES})


@dataclass(frozen=True)
class EstimateBits:
    """Pairs of sampled units -> how many bits the number of a counter has. Memory: `rows` pairs."""

    thresholds: Thresholds
    rows: int = _SAMPLE_ROWS

    def start(self) -> PairSample:
        return PairSample(0, _NO_PAIRS)

    def add(self, held: PairSample, block: Block) -> PairSample:
        return held.joined(PairSample(0, block), self.rows)

    def merge(self, held: PairSample, other: PairSample) -> PairSample:
        return held.joined(other, self.rows)

    def finish(self, held: PairSample | None) -> int:
        if held is None:
            return LEAST_BITS
        return counter_bits(pair_load(held.pairs, self.thresholds) * 2**held.level)


def pair_load(pairs: Block, thresholds: Thresholds) -> float:
    """How often sampled pairs occur, in units of their threshold, up to which they are counted."""
    most = of_pairs(pairs, thresholds).astype(np.uint64)
    return float((np.minimum(pairs.array("shared"), most) / most).sum())


def counter_bits(load: float) -> int:
    """So many counters (a power of two) that on each there are pairs of a quarter of the threshold,
    going by the load of the sample."""
    counters = _LOAD * SAMPLED**2 * load
    return min(max(ceil(log2(max(counters, 1))), LEAST_BITS), MOST_BITS)


@dataclass(frozen=True)
class PairCounters:
    """How often pairs occur, hashed into two rows of counters that stop at `cap`."""

    cap: int
    first: NDArray
    second: NDArray

    @staticmethod
    def sized(cap: int, bits: int) -> "PairCounters":
        kind = np.min_scalar_type(cap)
        return PairCounters(cap, np.zeros(1 << bits, kind), np.zeros(1 << bits, kind))

    def add(self, lists: Block, counted: NDArray[np.bool_], sides: Sides) -> None:
        """Count the pairs of postings whose tag is `counted`."""
        tags, starts, crowds, silence, units = _lists(lists, sides)
        kernels.add_pairs(tags, starts, crowds, silence, units, NEXT, frozen(counted), self.cap,
                          self.first, self.second)

    def merged(self, other: "PairCounters") -> "PairCounters":
        return PairCounters(self.cap, self._sum(self.first, other.first),
                            self._sum(self.second, other.second))

    def _sum(self, a: NDArray, b: NDArray) -> NDArray:
        return a + np.minimum(b, a.dtype.type(self.cap) - a)


@dataclass(frozen=True)
class HeavyPairs:
    """Bitmaps of heavy counters: for each threshold one of either row. `levels` says for each tag
    which of them are its own, -1 if it needs none."""

    levels: NDArray[np.int64]
    first: NDArray[np.uint8]
    second: NDArray[np.uint8]

    @staticmethod
    def all(tags: int) -> "HeavyPairs":
        """Every pair is to be counted."""
        nothing = np.zeros((1, 1), np.uint8)
        return HeavyPairs(np.full(tags, -1), nothing, nothing)


@dataclass(frozen=True)
class CountPairs:
    """Postings -> which pairs may reach their threshold."""

    thresholds: Thresholds
    sides: Sides = ONE_SIDE

    def start(self, bits: int) -> PairCounters:
        return PairCounters.sized(max(self.thresholds), bits)

    def add(self, held: PairCounters, block: Block) -> PairCounters:
        held.add(block, np.array(self.thresholds) > 1, self.sides)
        return held

    def merge(self, held: PairCounters, other: PairCounters) -> PairCounters:
        return held.merged(other)

    def finish(self, held: PairCounters | None) -> HeavyPairs:
        return heavy_of(self.start(LEAST_BITS) if held is None else held, self.thresholds)


def heavy_of(counters: PairCounters, thresholds: Thresholds) -> HeavyPairs:
    """Which counters are heavy, for each threshold above 1."""
    least = np.array(thresholds)
    distinct = np.unique(least[least > 1])
    levels = np.where(least > 1, np.searchsorted(distinct, least), -1)
    first, second = (
        np.stack([np.packbits(row >= each, bitorder="little") for each in distinct])
        for row in (counters.first, counters.second))
    return HeavyPairs(levels, first, second)


@gives(COUNTED_PAIRS)
def heavy_pairs(
    lists: Block, heavy: HeavyPairs, sides: Sides = ONE_SIDE,
) -> Iterator[Block]:
    """Pairs that may be heavy."""
    return pair_rows(lists, heavy, sides)


def pair_rows(
    lists: Block, heavy: HeavyPairs, sides: Sides = ONE_SIDE, most: int = _ROWS_AT_ONCE,
    silent: NDArray[np.bool_] | None = None,
) -> Iterator[Block]:
    """Pairs of postings that may be heavy, each once, with the number of lists that hold it
    (`shared`), but for rows that are `silent`. Where there are more than `most`, and as many as a
    list has units, there are several blocks, and each counts for itself."""
    tags, starts, crowds, silence, units = _lists(lists, sides)
    if silent is not None:
        silence = frozen(silence | np.where(silent, kernels.SILENT, np.uint8(0)))
    sizes = np.diff(starts)
    longest = np.where(crowds, NEXT + 1, sizes)
    pairs = np.where(crowds, sizes * (NEXT + 1), sizes * (sizes - 1) // 2)
    rows = min(most, int(pairs.sum())) + int(longest.max(initial=0))
    bitmaps = frozen(heavy.levels), frozen(heavy.first), frozen(heavy.second)
    cursor = np.zeros(2, np.int64)
    while cursor[0] < len(tags):
        slots = np.full(2 << rows.bit_length(), -1, np.int64)
        found: dict[str, NDArray] = {name: np.empty(rows, kind) for name, kind in _PAIR_TYPES}
        count = kernels.heavy_pairs(tags, starts, crowds, silence, units, NEXT, *bitmaps, cursor,
                                    slots, 0, *found.values())
        yield Block({name: column[:count] for name, column in found.items()})


def _lists(lists: Block, sides: Sides) -> tuple[NDArray, ...]:
    """Postings as kernels take them: tags, starts, crowds, silence, units."""
    starts, role = list_starts(lists), lists.array("role")
    silence = np.where(role == PASSED, kernels.PASSED, np.uint8(0))
    if sides.are_two:
        silence |= np.where(sides.new(lists.array("unit")), np.uint8(0), kernels.OLD)
    return tuple(map(frozen, (lists.array("tag")[starts[:-1]], starts, role[starts[:-1]] == CROWD,
                              silence, lists.array("unit"))))


def of_pairs(pairs: Block, thresholds: Thresholds) -> NDArray[np.int64]:
    """The threshold of each pair."""
    return np.array(thresholds)[pairs.array("tag")]
