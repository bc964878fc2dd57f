"""Blocks as Arrow record batches, and as bytes: what is written to files and carried by Beam.

A column of numbers or flags is an Arrow array of the same type, raw bytes of fixed width are
fixed-size binary, byte strings large binary. Nothing is copied but flags, which Arrow packs eight
to a byte, and no column holds null. The bytes are one Arrow IPC stream of one batch: the same for
equal blocks.
"""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from beam_reuse.columnar.sorting import FIXED_TYPES, Column
from beam_reuse.columnar.varbytes import VarBytes

if TYPE_CHECKING:
    from beam_reuse.columnar.block import Block

_PLAIN = pa.ipc.IpcWriteOptions()
_PACKED = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", compression_level=1))
_TYPES = {dtype: pa.from_numpy_dtype(dtype) for dtype in FIXED_TYPES}
_DTYPES = {kind: dtype for dtype, kind in _TYPES.items()}


class LayoutError(ValueError):
    """Bytes that are no block."""


def to_batch(block: "Block") -> pa.RecordBatch:
    """The block as a record batch that shares its memory."""
    arrays = [_to_array(block[name]) for name in block]
    return pa.RecordBatch.from_arrays(arrays, names=list(block))


def from_batch(batch: pa.RecordBatch) -> dict[str, Column]:
    """The columns of a record batch of these types, without nulls; they share its memory."""
    return {name: _to_column(name, batch.column(name)) for name in batch.schema.names}


def encode(block: "Block", compress: bool) -> pa.Buffer:
    """The block as bytes, compressed by zstd at level 1 if asked for."""
    batch = to_batch(block)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(
            sink, batch.schema, options=_PACKED if compress else _PLAIN) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def decode(buffer: bytes | memoryview | pa.Buffer) -> dict[str, Column]:
    """The columns of the block in `buffer`; they share memory with it if not compressed."""
    try:
        with pa.ipc.open_stream(buffer) as stream:
            batch = stream.read_next_batch()
        return from_batch(batch)
    except (pa.ArrowInvalid, OSError, StopIteration) as error:
        raise LayoutError(f"not a block: {error}") from None


def _to_array(column: Column) -> pa.Array:
    if isinstance(column, VarBytes):
        first = int(column.offsets[0])
        offsets = column.offsets - first if first else column.offsets
        return pa.Array.from_buffers(
            pa.large_binary(), len(column),
            [None, pa.py_buffer(offsets), pa.py_buffer(column.used())])
    if column.dtype.kind == "V":
        return pa.Array.from_buffers(
            pa.binary(column.dtype.itemsize), len(column),
            [None, pa.py_buffer(np.ascontiguousarray(column).view(np.uint8))])
    if column.dtype == np.bool_:
        return pa.array(column)
    return pa.Array.from_buffers(
        _TYPES[column.dtype], len(column), [None, pa.py_buffer(np.ascontiguousarray(column))])


def _to_column(name: str, array: pa.Array) -> Column:
    kind, rows = array.type, len(array)
    if array.null_count:
        raise LayoutError(f"column {name!r} holds null")
    if pa.types.is_large_binary(kind):
        _, offsets, data = array.buffers()
        if not rows:
            return VarBytes(np.zeros(1, np.int64), np.zeros(0, np.uint8))
        return VarBytes(
            np.frombuffer(offsets, np.int64, rows + 1, 8 * array.offset),
            np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8))
    if pa.types.is_boolean(kind):
        return array.to_numpy(zero_copy_only=False)
    dtype = (np.dtype(f"V{kind.byte_width}") if pa.types.is_fixed_size_binary(kind)
             else _DTYPES[kind])
    if not rows:
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, rows, array.offset * dtype.itemsize)
