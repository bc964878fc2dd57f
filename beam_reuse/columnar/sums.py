"""Exact sums over all rows."""

from collections.abc import Iterable, Sequence

import apache_beam as beam
import numpy as np
from apache_beam.coders import Coder

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coders import IntsCoder

_LOW = np.uint64(0xFFFFFFFF)


class SumColumns(beam.PTransform):
    """Block -> one dict {column: sum} of Python integers, exact at any size.

    Bool and integer columns. Without any block every sum is 0.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        super().__init__()
        self.columns = tuple(columns)

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        return (
            blocks
            | "Sum" >> beam.CombineGlobally(SumInts(self.columns)).with_output_types(list[int])
            | "Name" >> beam.Map(_named, self.columns).with_output_types(dict[str, int])
        )


class CountRows(beam.PTransform):
    """Block -> the number of rows of all blocks, one int; 0 without any."""

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        return (
            blocks
            | "Rows" >> beam.Map(len).with_output_types(int)
            | "Sum" >> beam.CombineGlobally(sum).with_output_types(int)
        )


def _named(sums: list[int], columns: Sequence[str]) -> dict[str, int]:
    return dict(zip(columns, sums, strict=True))


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
        return [sum(values) for values in zip(self.create_accumulator(), *accumulators,
                                              strict=True)]

    def extract_output(self, sums: list[int]) -> list[int]:
        return sums

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
