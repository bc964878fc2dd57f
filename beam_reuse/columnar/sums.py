"""Exact sums over all rows."""

from collections.abc import Iterable, Sequence

import apache_beam as beam
import numpy as np
from apache_beam.coders import Coder, registry

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coders import IntsCoder, OwnCoder, join_parts, split_parts

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
        combine = beam.CombineGlobally(SumInts(self.columns))
        return blocks | "Sum" >> combine.with_output_types(Sums)


class CountRows(beam.PTransform):
    """Block -> the number of rows of all blocks, one int; 0 without any."""

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        return (
            blocks
            | "Rows" >> beam.Map(len).with_output_types(int)
            | "Sum" >> beam.CombineGlobally(sum).with_output_types(int)
        )


class SumInts(beam.CombineFn):
    """Sums of columns as Python integers."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)

    def create_accumulator(self) -> list[int]:
        return [0] * len(self.columns)

    def add_input(self, sums: list[int], block: Block) -> list[int]:
        values = (exact_sum(block.array(name)) for name in self.columns)
        return [a + b for a, b in zip(sums, values, strict=True)]

    def merge_accumulators(self, accumulators: Iterable[list[int]]) -> list[int]:
        columns = zip(self.create_accumulator(), *accumulators, strict=True)
        return [sum(values) for values in columns]

    def extract_output(self, sums: list[int]) -> Sums:
        return Sums(zip(self.columns, sums, strict=True))

    def get_accumulator_coder(self) -> Coder:
        return IntsCoder()


def exact_sum(column: np.ndarray) -> int:
    """The sum of an integer column without overflow: its halves are summed apart."""
    if column.dtype.kind not in "bui":
        raise TypeError(f"only integers are summed exactly, not {column.dtype}")
    if column.dtype.itemsize < 8:
        return int(column.sum(dtype=np.int64))
    low = column.view(np.uint64) & _LOW
    high = column >> np.array(32, column.dtype)
    return int(low.sum(dtype=np.uint64)) + (int(high.sum()) << 32)
