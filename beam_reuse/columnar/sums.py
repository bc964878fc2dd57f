"""Exact sums over all rows."""

from collections.abc import Iterable, Sequence

import apache_beam as beam
import numpy as np
from apache_beam.coders import registry

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coders import IntsCoder, OwnCoder, join_parts, split_parts
from beam_reuse.columnar.combine import CombineBlocks

_LOW = np.uint64(0xFFFFFFFF)


class Sums(dict[str, int]):
    """Sums by column name. A type of its own, as Beam's dicts hold 64-bit integers only."""


class SumsCoder(OwnCoder):
    """Names, then integers of any size."""

    kind = Sums

    def encode(self, value: Sums) -> bytes:
        names = [name.encode() for name in value]
        return join_parts([join_parts(names), IntsCoder().encode(value.values())])

    def decode(self, encoded: bytes) -> Sums:
        names, integers = split_parts(encoded)
        sums = IntsCoder().decode(integers)
        return Sums(zip((n.decode() for n in split_parts(names)), sums, strict=True))


registry.register_coder(Sums, SumsCoder)


class SumColumns(beam.PTransform):
    """Block -> one Sums, a dict {column: sum} of Python integers, exact at any size.

    Bool and integer columns. Without any block every sum is 0.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        super().__init__()
        self.columns = tuple(columns)

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        return blocks | "Sum" >> CombineBlocks(_AddSums(self.columns), Sums)


class CountRows(beam.PTransform):
    """Block -> the number of rows of all blocks, one int; 0 without any."""

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        return (
            blocks
            | "Rows" >> beam.Map(_rows_of).with_output_types(int)
            | "Sum" >> beam.CombineGlobally(sum).with_output_types(int)
        )


def _rows_of(block: Block) -> int:
    """Not `len` itself: see `top._has_rows`."""
    return len(block)


class _AddSums(beam.CombineFn):
    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = columns

    def create_accumulator(self) -> Sums:
        return Sums((name, 0) for name in self.columns)

    def add_input(self, sums: Sums, block: Block) -> Sums:
        return Sums((name, sums[name] + exact_sum(block.array(name))) for name in self.columns)

    def merge_accumulators(self, accumulators: Iterable[Sums]) -> Sums:
        held = list(accumulators)
        return Sums((name, sum(sums[name] for sums in held)) for name in self.columns)

    def extract_output(self, sums: Sums) -> Sums:
        return sums


def exact_sum(column: np.ndarray) -> int:
    """The sum of an integer column without overflow: its halves are summed apart."""
    if column.dtype.kind not in "bui":
        raise TypeError(f"only integers are summed exactly, not {column.dtype}")
    if column.dtype.itemsize < 8:
        return int(column.sum(dtype=np.int64))
    low = column.view(np.uint64) & _LOW
    high = column >> np.array(32, column.dtype)
    return int(low.sum(dtype=np.uint64)) + (int(high.sum()) << 32)
