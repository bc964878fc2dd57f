"""Dense numbers for rows in global order of a key: 0, 1, 2, ... over the whole corpus."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
from apache_beam.coders import Coder
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coders import IntsCoder
from beam_reuse.columnar.combine import CombineBlocks
from beam_reuse.columnar.group import ProcessBuckets, whole_groups
from beam_reuse.columnar.search import splitters_up_to
from beam_reuse.columnar.shuffle import MAIN, Buffer, Fetch, PutAway, Shuffle, elements, joined
from beam_reuse.columnar.store import Piece
from beam_reuse.columnar.varbytes import VarBytes

DROPPED = "dropped"
_SAMPLES_PER_BUCKET = 64
_MOST_SAMPLES = 1 << 16
_SPLITTER_BYTES = 256

Part = tuple[int, int, Piece]


class Ranked(NamedTuple):
    """`ranked`: the surviving rows with their `rank` (uint64), in order within each block;
    `dropped`: what the kernel tagged so; `total`: how many rows survived, one int."""

    ranked: beam.PCollection
    dropped: beam.PCollection
    total: beam.PCollection


class RankRows(beam.PTransform):
    """Block -> Ranked: rows numbered 0..total-1 in order of the column `key`, then `order`.

    `kernel(block, starts, *side)`, if given, sees every run of equal keys whole (`starts` are
    the rows where runs begin) and returns the rows that survive, in order; it may also yield
    TaggedOutput(DROPPED, Block). The numbers do not depend on buckets or splitters, and not
    on input order where key + order tell all rows apart. Rows are written to the store three
    times; Beam sees references. A run of equal keys must fit in memory.
    """

    def __init__(
        self,
        shuffle: Shuffle,
        key: str,
        kernel: Callable[..., Any] | None = None,
        *side: Any,
        order: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self.shuffle, self.key, self.order = shuffle, key, tuple(order)
        self.kernel, self.side = kernel, side

    def expand(self, blocks: beam.PCollection) -> Any:
        shuffle = self.shuffle
        splitters = beam.pvalue.AsSingleton(
            blocks
            | "Sample" >> CombineBlocks(
                SampleKeys(self.key, _samples(shuffle.buckets)), Block, shuffle=shuffle)
            | "Splitters" >> beam.Map(splitters_of, shuffle.buckets).with_output_types(Block)
        )
        survivors = (
            blocks
            | "Put away" >> PutAway(shuffle)
            | "Fetch" >> Fetch(shuffle, splitters)
            | "Sort" >> ProcessBuckets(
                shuffle, [self.key], _Survivors(shuffle, self.key, self.kernel), *self.side,
                order=self.order, bucketer=_range_buckets, bucketer_side=[self.key, splitters],
                outputs=[DROPPED], output_type=Part,
            )
        )
        parts = survivors[MAIN]
        bases = (
            parts
            | "Sizes" >> beam.Map(_bucket_rows).with_output_types(tuple[int, int])
            | "Bases" >> beam.CombineGlobally(Bases(shuffle.buckets)).with_output_types(list[int])
        )
        number = beam.Map(_number, shuffle, beam.pvalue.AsSingleton(bases))
        return Ranked(
            parts | "Number" >> number.with_output_types(Block),
            survivors[DROPPED],
            bases | "Total" >> beam.Map(_total).with_output_types(int),
        )


def _samples(buckets: int) -> int:
    return min(_SAMPLES_PER_BUCKET * buckets, _MOST_SAMPLES)


class SampleKeys(beam.CombineFn):
    """The `size` distinct keys with the smallest hashes: the same sample for any bundles.

    A Block of `hash` and `key`; without columns as long as no row was seen. Keys are cut at
    256 bytes, which is enough to tell ranges apart.
    """

    def __init__(self, key: str, size: int) -> None:
        self.key, self.size = key, size

    def create_accumulator(self) -> Block:
        return Block({})

    def add_input(self, sample: Block, block: Block) -> Block:
        if not len(block):
            return sample
        hashes = block.hash_rows([self.key])
        if len(sample) == self.size:
            rows = np.flatnonzero(hashes < sample.array("hash")[-1])
        else:
            rows = np.arange(len(block))
        if len(rows) > self.size:
            rows = rows[np.argsort(hashes[rows], kind="stable")]
            first = np.flatnonzero(np.append(True, np.diff(hashes[rows]) != 0))
            rows = rows[first[: self.size]]
        key = block[self.key].take(rows)
        if isinstance(key, VarBytes):
            key = VarBytes.from_list([value[:_SPLITTER_BYTES] for value in key.to_list()])
        return self.merge_accumulators([sample, Block({"hash": hashes[rows], "key": key})])

    def merge_accumulators(self, accumulators: Iterable[Block]) -> Block:
        samples = [sample for sample in accumulators if len(sample)]
        if not samples:
            return self.create_accumulator()
        rows = Block.concat(samples).sort(["hash"])
        return rows.take(rows.starts(["hash"])[: self.size])

    def extract_output(self, sample: Block) -> Block:
        return sample


def splitters_of(sample: Block, buckets: int) -> Block:
    """The keys that cut the sample into `buckets` even ranges, at most buckets - 1, sorted."""
    if not len(sample) or buckets == 1:
        return Block({})
    keys = sample.select(["key"]).sort(["key"])
    at = np.unique(np.arange(1, buckets) * len(keys) // buckets)
    return keys.take(at)


def _range_buckets(block: Block, buckets: int, key: str, splitters: Block) -> NDArray[np.int64]:
    if not len(splitters):
        return np.zeros(len(block), np.int64)
    return splitters_up_to(block[key], splitters["key"])


class _Survivors:
    """(bucket, sorted slabs) -> (bucket, first row in the bucket, Piece), and what the kernel
    tagged."""

    def __init__(self, shuffle: Shuffle, key: str, kernel: Callable[..., Any] | None) -> None:
        self.shuffle, self.key, self.kernel = shuffle, key, kernel

    def __call__(self, bucket: int, slabs: Iterator[Block], *side: Any) -> Iterator[Any]:
        buffer = Buffer(self.shuffle.flush_bytes)
        first = 0
        for value in self._kept(slabs, side):
            if not isinstance(value, Block):
                yield value
            elif buffer.add(value):
                for piece in self._put(buffer):
                    yield bucket, first, piece
                    first += piece.rows
        for piece in self._put(buffer):
            yield bucket, first, piece
            first += piece.rows

    def _kept(self, slabs: Iterator[Block], side: Sequence[Any]) -> Iterator[Any]:
        if self.kernel is None:
            yield from slabs
            return
        for block, starts, _ in whole_groups(slabs, [self.key]):
            yield from elements(self.kernel(block, starts, *side))

    def _put(self, buffer: Buffer) -> list[Piece]:
        return self.shuffle.put(joined(buffer.drain(), self.shuffle.flush_bytes // 8))


def _bucket_rows(part: Part) -> tuple[int, int]:
    return part[0], part[2].rows


class Bases(beam.CombineFn):
    """(bucket, rows) -> the rows before each bucket and, last, the total."""

    def __init__(self, buckets: int) -> None:
        self.buckets = buckets

    def create_accumulator(self) -> list[int]:
        return [0] * self.buckets

    def add_input(self, rows: list[int], part: tuple[int, int]) -> list[int]:
        rows[part[0]] += part[1]
        return rows

    def merge_accumulators(self, accumulators: Iterable[list[int]]) -> list[int]:
        return [sum(rows) for rows in zip(self.create_accumulator(), *accumulators, strict=True)]

    def extract_output(self, rows: list[int]) -> list[int]:
        return list(accumulate(rows, initial=0))

    def get_accumulator_coder(self) -> Coder:
        return IntsCoder()


def _number(part: Part, shuffle: Shuffle, bases: list[int]) -> Block:
    bucket, first, piece = part
    start = bases[bucket] + first
    rank = np.arange(start, start + piece.rows, dtype=np.uint64)
    return shuffle.store.get_block(piece).with_columns(rank=rank)


def _total(bases: list[int]) -> int:
    return bases[-1]
