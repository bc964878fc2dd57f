"""All rows in one block: for what is known to be small enough for every worker."""

from collections.abc import Iterable, Sequence

from beam_reuse.columnar.block import Block


def gathered(blocks: Iterable[Block], order: Sequence[str]) -> Block:
    """The distinct rows of all blocks by `order`."""
    rows = [block for block in blocks if len(block)]
    if not rows:
        return Block({})
    joined = Block.concat(rows).sort(order)
    return joined.take(joined.starts(order))
