"""Which pairs share enough: iceberg counting, and counting all of them.

Most pairs of units that share a fingerprint share few. So pairs are hashed into counters first,
twice over; only pairs on two heavy counters are counted exactly. No pair above the threshold is
lost, since its counters have been raised as often as it occurs.
"""

from collections.abc import Iterable, Iterator
from math import ceil, log2
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.coders import registry
from apache_beam.pvalue import AsSingleton, TaggedOutput
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints.decorators import no_annotations
from numpy.typing import NDArray

from beam_reuse.analyses.overlap.postings import SAMPLED, list_starts
from beam_reuse.columnar import MAIN, Block, Fetch, MapBlocks, PutAway, ReduceRows, Shuffle
from beam_reuse.columnar.coders import OwnCoder, join_parts, split_parts
from beam_reuse.columnar.combine import MergeValues
from beam_reuse.columnar.shuffle import par_do
from beam_reuse.kernels import overlap as kernels
from beam_reuse.kernels.compiled import frozen

Thresholds = tuple[int, ...]
"""For each tag how many shared fingerprints are enough."""

SHIPPED = "shipped"
PAIR = ("tag", "unit_a", "unit_b")
LEAST_BITS, MOST_BITS = 12, 27
_LOAD = 4
_ROWS_AT_ONCE, _SAMPLED_AT_ONCE = 1 << 20, 1 << 15


class CountPairs(beam.PTransform):
    """{'postings': postings, 'sample': those of the pilot} -> MAIN: `tag`, `unit_a` < `unit_b` and
    `shared`, of all pairs that share `thresholds[tag]` fingerprints or more; SHIPPED: one number
    a block, the rows of pairs that were handed to the shuffle.

    By `iceberg` or not, the pairs are the same. Memory: two rows of at most 2**27 counters a
    worker, sized by the pilot.
    """

    def __init__(self, shuffle: Shuffle, thresholds: Thresholds, iceberg: bool) -> None:
        super().__init__()
        self.shuffle, self.thresholds = shuffle, thresholds
        self.iceberg = iceberg and max(thresholds) > 1

    @no_annotations
    def expand(self, given: dict[str, beam.PCollection]) -> dict[str, beam.PCollection]:
        shuffle, thresholds = self.shuffle, self.thresholds
        parked = given["postings"] | "Park" >> PutAway(shuffle)
        heavy: tuple[Any, ...] = ()
        if self.iceberg:
            bits = AsSingleton(
                given["sample"]
                | "SamplePairs" >> MapBlocks(sampled_pairs)
                | "CountSample" >> ReduceRows(shuffle, PAIR, {"shared": "sum"})
                | "LightPairs" >> beam.Map(light_load, thresholds).with_output_types(float)
                | "Load" >> beam.CombineGlobally(sum).with_output_types(float)
                | "CounterBits" >> beam.Map(counter_bits).with_output_types(int))
            counters = (
                parked
                | "Unpark" >> Fetch(shuffle, bits)
                | "CountCoarsely" >> beam.ParDo(_CountCoarsely(thresholds), bits)
                .with_output_types(PairCounters)
                | "AddCounters" >> MergeValues(_AddCounters(), PairCounters, shuffle)
            )
            heavy = (AsSingleton(counters | "HeavyPairs" >> beam.Map(
                heavy_of, thresholds).with_output_types(HeavyPairs)),)
        lists = parked | "UnparkAgain" >> Fetch(shuffle, *heavy)
        counted = par_do(lists, _HeavyPairs(len(thresholds)), heavy, {SHIPPED: int}, Block)
        return {
            MAIN: counted[MAIN] | "Count" >> ReduceRows(shuffle, PAIR, {"shared": "sum"})
            | "Enough" >> MapBlocks(enough, thresholds),
            SHIPPED: counted[SHIPPED],
        }


def sampled_pairs(lists: Block) -> Iterator[Block]:
    """All pairs of the lists of a pilot sample."""
    table = PairTable(int(lists.array("tag").max(initial=0)) + 1, None, _SAMPLED_AT_ONCE)
    yield from table.add(lists)
    yield table.drain()


def light_load(pairs: Block, thresholds: Thresholds) -> float:
    """How often sampled pairs below their threshold occur, in units of it."""
    shared, most = pairs.array("shared").astype(np.int64), _of_pairs(pairs, thresholds)
    light = shared < most
    return float((shared[light] / most[light]).sum())


def counter_bits(load: float) -> int:
    """So many counters (a power of two) that on each lie light pairs of a quarter of the
    threshold, going by the load of the sample."""
    counters = _LOAD * SAMPLED**2 * load
    return min(max(ceil(log2(max(counters, 1))), LEAST_BITS), MOST_BITS)


class PairCounters:
    """How often pairs occur, hashed into two rows of counters that stop at `cap`. Rows without
    counters have counted nothing."""

    def __init__(self, cap: int, first: NDArray, second: NDArray) -> None:
        self.cap, self.first, self.second = cap, first, second

    @staticmethod
    def sized(cap: int, count: int = 0) -> "PairCounters":
        kind = np.min_scalar_type(cap)
        return PairCounters(cap, np.zeros(count, kind), np.zeros(count, kind))

    def add(self, lists: Block, counted: NDArray[np.bool_]) -> None:
        """Count the pairs of postings whose tag is `counted`."""
        starts = list_starts(lists)
        kernels.add_pairs(
            frozen(lists.array("tag")[starts[:-1]]), frozen(starts), frozen(lists.array("unit")),
            frozen(counted), self.cap, self.first, self.second)

    def merged(self, other: "PairCounters") -> "PairCounters":
        if not len(self.first) or not len(other.first):
            return self if len(self.first) else other
        return PairCounters(self.cap, self._sum(self.first, other.first),
                            self._sum(self.second, other.second))

    def _sum(self, a: NDArray, b: NDArray) -> NDArray:
        return a + np.minimum(b, a.dtype.type(self.cap) - a)


class PairCountersCoder(OwnCoder):
    """PairCounters as blocks, compressed."""

    kind = PairCounters

    def encode(self, value: PairCounters) -> bytes:
        rows = Block({"first": value.first, "second": value.second})
        return join_parts([value.cap.to_bytes(4, "little"), rows.to_bytes(True)])

    def decode(self, encoded: bytes) -> PairCounters:
        cap, rows = split_parts(encoded)
        counters = Block.from_bytes(rows)
        return PairCounters(int.from_bytes(cap, "little"),
                            *(counters.array(name).copy() for name in ("first", "second")))


class _CountCoarsely(beam.DoFn):
    """Blocks of postings -> the counters of a bundle."""

    def __init__(self, thresholds: Thresholds) -> None:
        self.counted, self.cap = np.array(thresholds) > 1, max(thresholds)

    def start_bundle(self) -> None:
        self.held = PairCounters.sized(self.cap)

    @no_annotations
    def process(self, lists: Block, bits: int) -> Iterable[PairCounters]:
        if not len(self.held.first):
            self.held = PairCounters.sized(self.cap, 1 << bits)
        self.held.add(lists, self.counted)
        return ()

    def finish_bundle(self) -> Iterator[Any]:
        held, self.held = self.held, PairCounters.sized(self.cap)
        if len(held.first):
            yield GlobalWindows.windowed_value(held)


class _AddCounters(beam.CombineFn):
    def create_accumulator(self) -> PairCounters:
        return PairCounters.sized(1)

    def add_input(self, held: PairCounters, more: PairCounters) -> PairCounters:
        return held.merged(more)

    def merge_accumulators(self, accumulators: Iterable[PairCounters]) -> PairCounters:
        out = self.create_accumulator()
        for held in accumulators:
            out = out.merged(held)
        return out

    def extract_output(self, held: PairCounters) -> PairCounters:
        return held


class HeavyPairs:
    """Bitmaps of heavy counters: for each threshold one of either row. `levels` says for each tag
    which of them are its own, -1 if it needs none."""

    def __init__(self, levels: NDArray[np.int64], first: NDArray, second: NDArray) -> None:
        self.levels, self.first, self.second = frozen(levels), frozen(first), frozen(second)

    @staticmethod
    def none(tags: int) -> "HeavyPairs":
        """Every pair is to be counted."""
        nothing = np.zeros((1, 1), np.uint8)
        return HeavyPairs(np.full(tags, -1), nothing, nothing)


def heavy_of(counters: PairCounters, thresholds: Thresholds) -> HeavyPairs:
    """Which counters are heavy, for each threshold above 1."""
    least = np.array(thresholds)
    distinct = np.unique(least[least > 1])
    levels = np.where(least > 1, np.searchsorted(distinct, least), -1)
    first, second = (
        np.stack([np.packbits(row >= each, bitorder="little") for each in distinct])
        for row in (counters.first, counters.second))
    return HeavyPairs(levels, first, second)


class HeavyPairsCoder(OwnCoder):
    """HeavyPairs as blocks, compressed; rows of bitmaps end to end."""

    kind = HeavyPairs

    def encode(self, value: HeavyPairs) -> bytes:
        bitmaps = Block({"first": value.first.ravel(), "second": value.second.ravel()})
        return join_parts([Block({"levels": value.levels}).to_bytes(), bitmaps.to_bytes(True),
                           len(value.first).to_bytes(4, "little")])

    def decode(self, encoded: bytes) -> HeavyPairs:
        levels, packed, rows = split_parts(encoded)
        bitmaps, count = Block.from_bytes(packed), int.from_bytes(rows, "little")
        return HeavyPairs(Block.from_bytes(levels).array("levels"),
                          *(bitmaps.array(name).reshape(count, -1) for name in ("first", "second")))


registry.register_coder(PairCounters, PairCountersCoder)
registry.register_coder(HeavyPairs, HeavyPairsCoder)


class PairTable:
    """Pairs of postings that may be heavy, each once, with the number of lists that hold it. When
    `rows` pairs are held, or as many as a list can have, they are handed out.
    """

    def __init__(self, tags: int, heavy: HeavyPairs | None, rows: int = _ROWS_AT_ONCE) -> None:
        self.heavy = heavy or HeavyPairs.none(tags)
        self._sized(rows)

    def _sized(self, rows: int) -> None:
        self.slots = np.full(2 << rows.bit_length(), -1, np.int64)
        self.columns = (np.empty(rows, np.uint8), np.empty(rows, np.uint64),
                        np.empty(rows, np.uint64), np.empty(rows, np.uint64))
        self.count = 0

    def add(self, lists: Block) -> Iterator[Block]:
        """Take postings; what has to be handed out on the way."""
        starts, heavy = list_starts(lists), self.heavy
        tag, unit = frozen(lists.array("tag")[starts[:-1]]), frozen(lists.array("unit"))
        longest = int(np.diff(starts).max(initial=0))
        cursor = np.zeros(2, np.int64)
        if longest > len(self.columns[0]):
            yield self.drain()
            self._sized(longest)
        while cursor[0] < len(tag):
            self.count = kernels.heavy_pairs(
                tag, frozen(starts), unit, heavy.levels, heavy.first, heavy.second, cursor,
                self.slots, self.count, *self.columns)
            if cursor[0] < len(tag):
                yield self.drain()

    def drain(self) -> Block:
        """What is held; nothing is, afterwards."""
        rows = [column[: self.count].copy() for column in self.columns]
        self.count = 0
        self.slots[:] = -1
        return Block(dict(zip((*PAIR, "shared"), rows, strict=True)))


class _HeavyPairs(beam.DoFn):
    """Blocks of postings -> rows of pairs that may be heavy, combined within a bundle as far as
    they fit; SHIPPED: how many rows."""

    def __init__(self, tags: int) -> None:
        self.tags = tags

    def start_bundle(self) -> None:
        self.table: PairTable | None = None

    @no_annotations
    def process(self, lists: Block, heavy: HeavyPairs | None = None) -> Iterator[Any]:
        if self.table is None:
            self.table = PairTable(self.tags, heavy)
        for rows in self.table.add(lists):
            yield rows
            yield TaggedOutput(SHIPPED, len(rows))

    def finish_bundle(self) -> Iterator[Any]:
        if self.table is not None and self.table.count:
            rows, self.table = self.table.drain(), None
            yield GlobalWindows.windowed_value(rows)
            yield TaggedOutput(SHIPPED, GlobalWindows.windowed_value(len(rows)))


def enough(pairs: Block, thresholds: Thresholds) -> Block:
    """The pairs that share as much as their threshold asks for."""
    shared = pairs.array("shared").astype(np.int64)
    return pairs.with_columns(shared=shared).take(shared >= _of_pairs(pairs, thresholds))


def _of_pairs(pairs: Block, thresholds: Thresholds) -> NDArray[np.int64]:
    return np.array(thresholds)[pairs.array("tag")]
