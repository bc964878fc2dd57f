"""The rows with the greatest values."""

from collections.abc import Iterable, Sequence

from beam_reuse.columnar.block import Block


def top_rows(blocks: Iterable[Block], n: int, descending: str, then: Sequence[str]) -> Block:
    """The top rows of all blocks; a block without columns where there are no rows."""
    rows = [block for block in blocks if len(block)]
    if not rows:
        return Block({})
    joined = Block.concat(rows)
    order = joined.with_columns(_rank=~joined.array(descending)).sort_order(("_rank", *then))
    return joined.take(order[:n])
