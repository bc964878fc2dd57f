"""Dense numbers for rows in global order of a key: 0, 1, 2, ... over all rows. No Beam."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.group import whole_groups
from beam_reuse.columnar.schema import NOTHING, NUMBER, UNSIGNED, columns, gives, less
from beam_reuse.columnar.search import splitters_up_to
from beam_reuse.rows.declared import given_by
from beam_reuse.rows.language import Rows, Value
from beam_reuse.rows.nodes import MAIN, Given
from beam_reuse.rows.results import results_of

_SAMPLES_PER_BUCKET = 64
_MOST_SAMPLES = 1 << 16
_SPLITTER_BYTES = 256


class Ranked(NamedTuple):
    """`rows`: those that survive, with their `rank` (uint64); what the kernel tagged is read from
    `found.tagged(...)`."""

    rows: Rows
    found: Rows


def rank(
    rows: Rows, key: str, kernel: Callable[..., Any], *args: Any, order: Sequence[str] = (),
    sampled: Rows | None = None,
) -> Ranked:
    """Rows numbered in order of the column `key`, then `order`.

    `kernel(block, starts, *args)` sees every run of equal keys whole (`starts` are the rows where
    runs begin) and gives the rows that survive, in order. The ranks do not depend on buckets or
    splitters, and not on the order of input where key and order tell all rows apart. A run of
    equal keys must fit in memory. `sampled` are rows with keys like these that are there earlier;
    splitters are taken from them.
    """
    buckets = rows.plan.shuffle.buckets
    some = rows if sampled is None else sampled
    splitters = some.fold(SplitKeys(key, buckets))
    survivors = rows.into_buckets(
        range_buckets, key, splitters, order=(key, *order), kernel=_survivors,
        kernel_args=(key, splitters, kernel, *args))
    return Ranked(survivors.map(_number, survivors.fold(CountBuckets(buckets))), survivors)


@dataclass(frozen=True)
class SplitKeys:
    """The keys that cut all rows into even ranges, one fewer than `buckets` at most, in order: a
    block of `key`, or one without columns.

    They are those of the sampled keys with the smallest hashes, the same sample for any bundles.
    Keys are cut at 256 bytes, which is enough to tell ranges apart.
    """

    key: str
    buckets: int

    @property
    def size(self) -> int:
        return min(_SAMPLES_PER_BUCKET * self.buckets, _MOST_SAMPLES)

    def start(self) -> Block:
        return Block({})

    def add(self, sample: Block, block: Block) -> Block:
        hashes = block.hash_rows([self.key])
        rows = np.arange(len(block))
        if len(sample) == self.size:
            rows = np.flatnonzero(hashes < sample.array("hash")[-1])
        if len(rows) > self.size:
            rows = rows[np.argsort(hashes[rows], kind="stable")]
            first = np.flatnonzero(np.append(True, np.diff(hashes[rows]) != 0))
            rows = rows[first[: self.size]]
        key = block[self.key].take(rows)
        if isinstance(key, VarBytes):
            key = VarBytes.from_list([value[:_SPLITTER_BYTES] for value in key.to_list()])
        return self.merge(sample, Block({"hash": hashes[rows], "key": key}))

    def merge(self, sample: Block, other: Block) -> Block:
        some = [each for each in (sample, other) if len(each)]
        if not some:
            return sample
        rows = Block.concat(some).sort(["hash"])
        return rows.take(rows.starts(["hash"])[: self.size])

    def finish(self, sample: Block | None) -> Block:
        if not sample or self.buckets == 1:
            return Block({})
        keys = sample.select(["key"]).sort(["key"])
        return keys.take(np.unique(np.arange(1, self.buckets) * len(keys) // self.buckets))


def range_buckets(block: Block, buckets: int, key: str, splitters: Block) -> NDArray[np.int64]:
    """The range of each row's key."""
    if not len(splitters):
        return np.zeros(len(block), np.int64)
    return splitters_up_to(block[key], splitters["key"])


def _given(
    rows: pa.Schema, key: str, splitters: Value, kernel: Callable[..., Any], *args: Any,
) -> Given | None:
    """What the kernel declares; its main rows get their place."""
    given = given_by(kernel, (rows,), args)
    return given and {**given, MAIN: columns(given[MAIN], range_=NUMBER, place=UNSIGNED)}


@gives(NOTHING, _given)
def _survivors(
    slabs: Iterator[Block], key: str, splitters: Block, kernel: Callable[..., Any], *args: Any,
) -> Iterator[Any]:
    """What the kernel leaves of a range of keys, with the `range_` and the `place` in it."""
    place = 0
    for block, starts, _ in whole_groups(slabs, [key]):
        number = range_buckets(block.slice(0, 1), 0, key, splitters)
        for result in results_of(kernel(block, starts, *args)):
            if isinstance(result, Block):
                n = len(result)
                yield result.with_columns(
                    range_=np.repeat(number, n),
                    place=np.arange(place, place + n, dtype=np.uint64))
                place += n
            else:
                yield result


@dataclass(frozen=True)
class CountBuckets:
    """The rows before each range."""

    buckets: int

    def start(self) -> NDArray[np.int64]:
        return np.zeros(self.buckets, np.int64)

    def add(self, held: NDArray[np.int64], block: Block) -> NDArray[np.int64]:
        return held + np.bincount(block.array("range_"), minlength=self.buckets)

    def merge(self, held: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        return held + other

    def finish(self, held: NDArray[np.int64] | None) -> NDArray[np.uint64]:
        counts = self.start() if held is None else held
        return np.array(list(accumulate(counts.tolist(), initial=0)), np.uint64)


@gives(lambda rows, _: columns(less(rows, "range_", "place"), rank=UNSIGNED))
def _number(rows: Block, bases: NDArray[np.uint64]) -> Block:
    return rows.without("range_", "place").with_columns(
        rank=bases[rows.array("range_")] + rows.array("place"))

