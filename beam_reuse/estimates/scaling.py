"""From what halves of a sample took to what the whole input will take, with a spread. No Beam.

What grows as the input does is scaled by bytes. What grows faster, as rows that occur twice do, or
more slowly, is scaled between that and the power of the size by which it grew from a half to the
whole of the sample. How far the halves differ says how far the sample may be off.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.estimates.measuring import Measured

# A sample of few pieces that happen to agree proves less than that; beyond this nothing is known.
LEAST_SPREAD, MOST_SPREAD = 0.1, 30.0
# So many times the difference of the halves is what the whole may differ.
TIMES = 2.5
SLOWEST, FASTEST = 0.5, 2.0
# How far the power may be off by which rows grow: copies are often close to each other, and between
# the pieces of a sample. What has a small part of the sample may have a large one of the whole.
SLOWER, FASTER, SMALL_FASTER = 0.1, 0.25, 0.75
SMALL = 0.05
# Seconds of so few seconds differ by so much.
TIMED = 1.2
# Of a run on several workers so much of the time is not shared among them.
ALONE = 0.1
# Bytes of a reference to a piece in the local runner's memory, of which a round has a fourth; of a
# process before it has read anything; and how often a worker holds what it sorts and writes.
HELD, ROUNDS = 1200, 4
PROCESS = 300 << 20
SORTED, WRITTEN = 3, 2


@dataclass(frozen=True)
class Range:
    """A number, with the least and the most that it may be."""

    low: float
    likely: float
    high: float

    def times(self, factor: float) -> "Range":
        return Range(self.low * factor, self.likely * factor, self.high * factor)

    def plus(self, number: float) -> "Range":
        return Range(self.low + number, self.likely + number, self.high + number)

    def holds(self, number: float) -> bool:
        return self.low <= number <= self.high


@dataclass(frozen=True)
class Grouping:
    """What is shuffled for one grouping, and whose it is ('' where that is not known)."""

    name: str
    owner: str
    rows: Range
    bytes: Range
    pieces: Range


@dataclass(frozen=True)
class Estimate:
    """What a run will need. `memory` is that of a worker, `runner` that of the process that starts
    them; `cpu` in seconds, `start` of which do not depend on the input."""

    size: int
    sample: int
    pages: Range
    groupings: tuple[Grouping, ...]
    disk: Range
    memory: Range
    runner: Range
    cpu: Range
    start: float

    @property
    def shuffled(self) -> Range:
        """Bytes of all groupings."""
        return _sum(each.bytes for each in self.groupings)

    def seconds(self, workers: int) -> Range:
        """How long it takes with so many workers that have nothing else to do."""
        shared = (1 - ALONE) / workers + ALONE
        return self.cpu.plus(-self.start).times(shared).plus(self.start)


def scaled(
    halves: tuple[Measured, Measured], whole: Measured, idle: Measured, size: int, shuffle: Shuffle,
) -> Estimate:
    """What `size` bytes need, by runs on the halves of a sample, on all of it, and on nothing;
    `shuffle` is that of the run."""
    def range_of(
        get: Callable[[Measured], float], less: float = 0.0, faster: float | None = None,
    ) -> Range:
        found = [max(get(each) - less, 0.0) for each in (*halves, whole)]
        return _range((found[0], found[1]), found[2], size / whole.size,
                      (halves[0].size, halves[1].size), faster)

    names = sorted({*whole.rows, *whole.bytes})
    groupings, total = [], sum(whole.bytes.values())
    for name in names:
        faster = FASTER if whole.bytes.get(name, 0) >= SMALL * total else SMALL_FASTER
        rows, held = (range_of(partial(_of_grouping, what=what, name=name), faster=faster)
                      for what in ("rows", "bytes"))
        groupings.append(Grouping(name, whole.owners.get(name, ""), rows, held,
                                  _pieces(rows, held, shuffle)))
    shuffled, linear = (
        _sum(each.bytes for each in groupings), total * size / whole.size)
    cpu = range_of(lambda each: each.cpu, less=idle.cpu)
    more = max(shuffled.likely / linear, 1.0) if linear else 1.0
    cpu = Range(cpu.low / TIMED, cpu.likely, cpu.high * math.sqrt(more) * TIMED).plus(idle.cpu)
    disk = range_of(lambda each: each.disk - sum(each.bytes.values()))
    disk = _sum([disk, shuffled])
    pieces = _sum(each.pieces for each in groupings)
    bucket = max((each.bytes.likely / shuffle.buckets for each in groupings), default=0.0)
    sorting = min(bucket, shuffle.bucket_budget)
    worker = PROCESS + SORTED * sorting + WRITTEN * min(shuffle.flush_bytes, shuffled.likely)
    most = PROCESS + SORTED * shuffle.bucket_budget + WRITTEN * shuffle.flush_bytes
    return Estimate(
        size, whole.size, range_of(lambda each: each.pages), tuple(groupings), disk,
        Range(PROCESS / 2, worker, max(most, worker)),
        pieces.times(HELD / ROUNDS).plus(PROCESS), cpu, idle.cpu)


def _of_grouping(run: Measured, what: str, name: str) -> float:
    found: int = getattr(run, what).get(name, 0)
    return float(found)


def _range(
    halves: tuple[float, float], both: float, times: float, sizes: tuple[int, int],
    faster: float | None,
) -> Range:
    """A number of the sample, scaled: in proportion to bytes; with `faster` also by the power with
    which it grew in the sample, which may be more by so much."""
    if both <= 0:
        return Range(0.0, 0.0, 0.0)
    densities = [number / max(size, 1) for number, size in zip(halves, sizes, strict=True)]
    off = abs(densities[0] - densities[1]) / max(sum(densities), 1e-300)
    spread = 1 + min(max(TIMES * off, LEAST_SPREAD), MOST_SPREAD)
    slow = fast = 1.0
    if faster is not None:
        half = sum(halves) / 2
        power = min(max(math.log2(both / half), SLOWEST), FASTEST) if half > 0 else FASTEST
        slow, fast = min(power, 1.0) - SLOWER, min(max(power, 1.0) + faster, FASTEST)
    low, high = both * times ** slow, both * times ** fast
    return Range(low / spread, math.sqrt(low * high), high * spread)


def _pieces(rows: Range, held: Range, shuffle: Shuffle) -> Range:
    """References to what is shuffled: each file has a piece for each bucket."""
    def count(number: float, size: float) -> float:
        if number <= 0:
            return 0.0
        files = max(size / shuffle.flush_bytes, 1.0)
        return files * min(shuffle.buckets, max(number / files, 1.0))

    return Range(count(rows.low, held.low), count(rows.likely, held.likely),
                 2 * count(rows.high, held.high))


def _sum(ranges: Iterable[Range]) -> Range:
    """The sum of numbers: all may be low at once, where there are few copies; how much more they
    are is independent of each other."""
    every = list(ranges)
    likely = sum(each.likely for each in every)
    more = math.hypot(*(each.high - each.likely for each in every))
    return Range(sum(each.low for each in every), likely, likely + more)
