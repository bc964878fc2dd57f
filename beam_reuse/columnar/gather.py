"""All rows in one block: for what is known to be small enough for every worker."""

from collections.abc import Iterable, Sequence

import apache_beam as beam

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.combine import CombineBlocks
from beam_reuse.columnar.shuffle import Shuffle


class GatherRows(beam.PTransform):
    """Blocks -> one Block: their rows, sorted by `order`, one of each; a block without columns
    where there are none. For AsSingleton. Memory: all rows, on every worker."""

    def __init__(self, shuffle: Shuffle, order: Sequence[str]) -> None:
        super().__init__()
        self.shuffle, self.order = shuffle, tuple(order)

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        return blocks | "Combine" >> CombineBlocks(
            _Gather(self.order), Block, shuffle=self.shuffle)


def gathered(blocks: Iterable[Block], order: Sequence[str]) -> Block:
    """The distinct rows of all blocks by `order`."""
    rows = [block for block in blocks if len(block)]
    if not rows:
        return Block({})
    joined = Block.concat(rows).sort(order)
    return joined.take(joined.starts(order))


class _Gather(beam.CombineFn):
    def __init__(self, order: tuple[str, ...]) -> None:
        self.order = order

    def create_accumulator(self) -> Block:
        return Block({})

    def add_input(self, rows: Block, block: Block) -> Block:
        return gathered([rows, block], self.order)

    def merge_accumulators(self, accumulators: Iterable[Block]) -> Block:
        return gathered(accumulators, self.order)

    def extract_output(self, rows: Block) -> Block:
        return rows
