"""The rows with the greatest values."""

from collections.abc import Iterable, Sequence

import apache_beam as beam
import numpy as np

from beam_reuse.columnar.block import Block


class TopRows(beam.PTransform):
    """Blocks -> at most one Block: the `n` rows with the greatest int64 column `descending`,
    ties to the smallest `then`. Memory: 2 `n` rows a worker."""

    def __init__(self, n: int, descending: str, then: Sequence[str]) -> None:
        super().__init__()
        self.n, self.descending, self.then = n, descending, tuple(then)

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        combine = beam.CombineGlobally(_Top(self.n, self.descending, self.then))
        return (
            blocks
            | "Combine" >> combine.without_defaults()
            | "Rows" >> beam.FlatMap(list).with_output_types(Block)
        )


def top_rows(blocks: Iterable[Block], n: int, descending: str, then: Sequence[str]) -> list[Block]:
    """The top rows of all blocks as one block; [] for no rows."""
    rows = [block for block in blocks if len(block)]
    if not rows:
        return []
    joined = Block.concat(rows)
    order = joined.with_columns(_rank=~joined.array(descending)).sort_order(("_rank", *then))
    return [joined.take(np.asarray(order[:n]))]


class _Top(beam.CombineFn):
    def __init__(self, n: int, descending: str, then: tuple[str, ...]) -> None:
        self.args = (n, descending, then)

    def create_accumulator(self) -> list[Block]:
        return []

    def add_input(self, rows: list[Block], block: Block) -> list[Block]:
        return top_rows([*rows, block], *self.args)

    def merge_accumulators(self, accumulators: Iterable[list[Block]]) -> list[Block]:
        return top_rows([block for rows in accumulators for block in rows], *self.args)

    def extract_output(self, rows: list[Block]) -> list[Block]:
        return rows
