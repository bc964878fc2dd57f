"""Blocks as Arrow record batches, and as bytes: what is written to files and carried by Beam.

A column of numbers or flags is an Arrow array of the same type, raw bytes of fixed width are
fixed-size binary, byte strings large binary, lists large lists (of structs where their values are a
block). Nothing is copied but flags, which Arrow packs eight to a byte. A field is nullable where
the column is Maybe, whether it has a null or not. The bytes are one Arrow IPC stream of one batch:
the same for equal blocks.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.columnar.columns import Column
from beam_reuse.columnar.fixed import FIXED_TYPES
from beam_reuse.columnar.nested import Lists, Maybe, Values
from beam_reuse.columnar.varbytes import VarBytes

if TYPE_CHECKING:
    from beam_reuse.columnar.block import Block

Make = Callable[[dict[str, Column]], "Block"]
_PLAIN = pa.ipc.IpcWriteOptions()
_PACKED = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", compression_level=1))
_TYPES = {dtype: pa.from_numpy_dtype(dtype) for dtype in FIXED_TYPES}
_DTYPES = {kind: dtype for dtype, kind in _TYPES.items()}


class LayoutError(ValueError):
    """Bytes that are no block."""


def to_batch(block: "Block") -> pa.RecordBatch:
    """The block as a record batch that shares its memory."""
    arrays, fields = _arrays(block)
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def from_batch(batch: pa.RecordBatch, make: Make) -> "Block":
    """The block that `make` makes of the columns of a record batch; they share its memory."""
    return make({field.name: _to_column(field, batch.column(at), make)
                 for at, field in enumerate(batch.schema)})


def encode(block: "Block", compress: bool) -> pa.Buffer:
    """The block as bytes, compressed by zstd at level 1 if asked for."""
    batch = to_batch(block)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(
            sink, batch.schema, options=_PACKED if compress else _PLAIN) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def decode(buffer: bytes | memoryview | pa.Buffer, make: Make) -> "Block":
    """The block in `buffer`, whose columns share memory with it if not compressed."""
    try:
        with pa.ipc.open_stream(buffer) as stream:
            batch = stream.read_next_batch()
        return from_batch(batch, make)
    except (pa.ArrowInvalid, OSError, StopIteration) as error:
        raise LayoutError(f"not a block: {error}") from None


def _arrays(block: "Block") -> tuple[list[pa.Array], list[pa.Field]]:
    arrays = [to_array(block[name]) for name in block]
    fields = [pa.field(name, array.type, isinstance(block[name], Maybe))
              for name, array in zip(block, arrays, strict=True)]
    return arrays, fields


def to_array(column: Column) -> pa.Array:
    """A column as an Arrow array that shares its memory."""
    if isinstance(column, VarBytes):
        first = int(column.offsets[0])
        offsets = column.offsets - first if first else column.offsets
        return pa.Array.from_buffers(
            pa.large_binary(), len(column),
            [None, pa.py_buffer(offsets), pa.py_buffer(column.used())])
    if isinstance(column, Lists):
        offsets, values = column.flat()
        child = _child(values)
        kind = pa.large_list(pa.field("item", child.type, isinstance(values, Maybe)))
        return pa.Array.from_buffers(
            kind, len(column), [None, pa.py_buffer(offsets)], children=[child])
    if isinstance(column, Maybe):
        return _with_nulls(to_array(column.values), column.valid)
    if column.dtype.kind == "V":
        return pa.Array.from_buffers(
            pa.binary(column.dtype.itemsize), len(column),
            [None, pa.py_buffer(np.ascontiguousarray(column).view(np.uint8))])
    if column.dtype == np.bool_:
        return pa.array(column)
    return pa.Array.from_buffers(
        _TYPES[column.dtype], len(column), [None, pa.py_buffer(np.ascontiguousarray(column))])


def _child(values: Values) -> pa.Array:
    """The values of lists, which may be a block."""
    if isinstance(values, np.ndarray | VarBytes | Lists | Maybe):
        return to_array(values)
    arrays, fields = _arrays(values)
    return pa.StructArray.from_arrays(arrays, fields=fields)


def _with_nulls(array: pa.Array, valid: NDArray[np.bool_]) -> pa.Array:
    """An array that `to_array` gave, with nulls where it is not valid."""
    is_list = pa.types.is_large_list(array.type)
    own = array.buffers()[:2] if is_list else array.buffers()
    return pa.Array.from_buffers(
        array.type, len(array), [pa.array(valid).buffers()[1], *own[1:]],
        children=[array.values] if is_list else None)


def _to_column(field: pa.Field, array: pa.Array, make: Make) -> Values:
    kind, rows = array.type, len(array)
    if field.nullable:
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        return Maybe(_to_column(field.with_nullable(False), array, make), valid)
    if pa.types.is_large_binary(kind):
        _, offsets, data = array.buffers()
        return VarBytes(
            _offsets(array, offsets),
            np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8))
    if pa.types.is_large_list(kind):
        return Lists(_offsets(array, array.buffers()[1]),
                     _to_column(kind.value_field, array.values, make))
    if pa.types.is_struct(kind):
        return make({each.name: _to_column(each, values, make)
                     for each, values in zip(kind, array.flatten(), strict=True)})
    if pa.types.is_boolean(kind):
        flags = pa.Array.from_buffers(kind, rows, [None, array.buffers()[1]], offset=array.offset)
        return flags.to_numpy(zero_copy_only=False)
    dtype = (np.dtype(f"V{kind.byte_width}") if pa.types.is_fixed_size_binary(kind)
             else _DTYPES[kind])
    if not rows:
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, rows, array.offset * dtype.itemsize)


def _offsets(array: pa.Array, offsets: Any) -> NDArray[np.int64]:
    if not len(array):
        return np.zeros(1, np.int64)
    return np.frombuffer(offsets, np.int64, len(array) + 1, 8 * array.offset)
