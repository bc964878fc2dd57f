"""Rows of several blocks in a new order, without joining the blocks first."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.fixed import raw_bytes
from beam_reuse.columnar.nested import Lists, Maybe, Values, concat_columns
from beam_reuse.columnar.varbytes import VarBytes, copy_bytes
from beam_reuse.kernels.compiled import frozen, kernel


def arranged(blocks: Sequence[Block], order: NDArray[np.int64]) -> Block:
    """Block.concat(blocks).take(order) for a permutation `order`, without the joined copy.
    The blocks have the same columns."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    ends = np.cumsum([len(block) for block in blocks])
    places = [frozen(part) for part in np.split(place, ends[:-1])]
    first = blocks[0]
    if not all(block.same_columns(first) for block in blocks):
        Block.concat(blocks)
    return Block({n: _placed([b[n] for b in blocks], places, order) for n in first})


def _placed(
    columns: Sequence[Values], places: Sequence[NDArray[np.int64]], order: NDArray[np.int64]
) -> Values:
    first = columns[0]
    if isinstance(first, VarBytes):
        return _placed_strings(columns, places, order)
    if isinstance(first, Lists) and first.is_flat:
        return first.like(_placed_strings([each.as_bytes() for each in columns], places, order))
    if isinstance(first, Maybe):
        return Maybe(_placed([each.values for each in columns], places, order),
                     _placed([each.valid for each in columns], places, order))
    if not isinstance(first, np.ndarray):
        return concat_columns(columns).take(order)
    out = np.empty(len(order), first.dtype)
    for column, place in zip(columns, places, strict=True):
        if first.dtype.kind == "V":
            _scatter_fixed(frozen(raw_bytes(column)), place, first.dtype.itemsize, raw_bytes(out))
        else:
            out[place] = column
    return out


def _placed_strings(
    columns: Sequence[VarBytes], places: Sequence[NDArray[np.int64]], order: NDArray[np.int64]
) -> VarBytes:
    lengths = np.concatenate([column.lengths() for column in columns])
    offsets = np.zeros(len(order) + 1, np.int64)
    np.cumsum(lengths[order], out=offsets[1:])
    out = np.empty(int(offsets[-1]), np.uint8)
    for column, place in zip(columns, places, strict=True):
        _scatter(column.offsets, column.data, place, frozen(offsets), out)
    return VarBytes(offsets, out)


@kernel
def _scatter(offsets, data, place, out_offsets, out):  # type: ignore[no-untyped-def]
    for i in range(len(place)):
        copy_bytes(out, out_offsets[place[i]], data, offsets[i], offsets[i + 1] - offsets[i])


@kernel
def _scatter_fixed(data, place, width, out):  # type: ignore[no-untyped-def]
    for i in range(len(place)):
        copy_bytes(out, place[i] * width, data, i * width, width)
