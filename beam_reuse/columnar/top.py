"""The rows with the greatest values."""

from collections.abc import Iterable, Sequence

import apache_beam as beam

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.combine import CombineBlocks


class TopRows(beam.PTransform):
    """Blocks -> at most one Block: the `n` rows with the greatest int64 column `descending`,
    ties to the smallest `then`. Memory: 2 `n` rows a worker."""

    def __init__(self, n: int, descending: str, then: Sequence[str]) -> None:
        super().__init__()
        self.n, self.descending, self.then = n, descending, tuple(then)

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        top = _Top(self.n, self.descending, self.then)
        return (
            blocks
            | "Combine" >> CombineBlocks(top, Block)
            | "Rows" >> beam.Filter(_has_rows).with_output_types(Block)
        )


def top_rows(blocks: Iterable[Block], n: int, descending: str, then: Sequence[str]) -> Block:
    """The top rows of all blocks; a block without columns where there are no rows."""
    rows = [block for block in blocks if len(block)]
    if not rows:
        return Block({})
    joined = Block.concat(rows)
    order = joined.with_columns(_rank=~joined.array(descending)).sort_order(("_rank", *then))
    return joined.take(order[:n])


def _has_rows(block: Block) -> bool:
    """Not `len` itself: Beam reads the signature of a builtin by parsing text, which Python 3.11
    now and then gets wrong where threads do it at once (SystemError)."""
    return len(block) > 0


class _Top(beam.CombineFn):
    def __init__(self, n: int, descending: str, then: tuple[str, ...]) -> None:
        self.args = (n, descending, then)

    def create_accumulator(self) -> Block:
        return Block({})

    def add_input(self, rows: Block, block: Block) -> Block:
        return top_rows([rows, block], *self.args)

    def merge_accumulators(self, accumulators: Iterable[Block]) -> Block:
        return top_rows(accumulators, *self.args)

    def extract_output(self, rows: Block) -> Block:
        return rows
