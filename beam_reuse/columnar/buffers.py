"""Blocks that wait to be written together."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.columns import arrays_of


class Buffer:
    """Blocks held until they reach `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.blocks: list[Block] = []
        self.nbytes = 0

    def add(self, block: Block) -> bool:
        """Take a block; says whether it is time to drain."""
        if len(block):
            self.blocks.append(detached(block))
            self.nbytes += block.nbytes
        return self.nbytes >= self.limit

    def drain(self) -> list[Block]:
        blocks, self.blocks, self.nbytes = self.blocks, [], 0
        return blocks


def joined(blocks: Iterable[Block], nbytes: int) -> Iterator[Block]:
    """The same rows in the same order, neighbours with equal columns joined up to `nbytes`."""
    waiting: list[Block] = []
    size = 0
    for block in blocks:
        if waiting and (size + block.nbytes > nbytes or not waiting[0].same_columns(block)):
            yield Block.concat(waiting)
            waiting, size = [], 0
        waiting.append(block)
        size += block.nbytes
    if waiting:
        yield Block.concat(waiting)


def detached(block: Block) -> Block:
    """The same block, copied if it would keep far more memory alive than it uses.

    A few columns of a block that came from one buffer pin that whole buffer.
    """
    kept = dict(map(_kept, arrays_of(block)))
    if sum(kept.values()) <= 2 * block.nbytes + 4096:
        return block
    return block.take(np.arange(len(block)))


def _kept(array: NDArray) -> tuple[int, int]:
    """The memory that an array keeps alive: something that tells it apart, and its size."""
    owner: Any = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    below = owner.base.obj if isinstance(owner.base, memoryview) else owner.base
    if isinstance(below, pa.Buffer):
        while below.parent is not None:
            below = below.parent
        return below.address, below.size
    return (id(below), len(below)) if isinstance(below, bytes) else (id(owner), owner.nbytes)
