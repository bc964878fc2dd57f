"""A 64-bit hash of each row's content, by which samples are drawn."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from beam_reuse.kernels.fingerprint import fingerprint_each

_NULL = np.uint64(0)
_WORD = 8


def row_hashes(batch: pa.RecordBatch, seed: int) -> NDArray[np.uint64]:
    """A hash of every row: the fingerprint of the seed and of each column's own, in order.

    Depends on the values alone, not on where a row lies. Equal rows have equal hashes.
    """
    seeds = np.full(batch.num_rows, seed % (1 << 64), np.uint64)
    columns = [seeds, *(_words(column) for column in batch.columns)]
    words = np.ascontiguousarray(np.stack(columns, axis=1))
    return _each(words, np.arange(batch.num_rows + 1, dtype=np.int64) * len(columns) * _WORD)


def _words(column: pa.Array) -> NDArray[np.uint64]:
    """The fingerprint of each value: of a text's UTF-8 bytes, of a number's eight bytes
    (little-endian), of the fingerprints of a list's values; 0 for null."""
    if pa.types.is_list(column.type):
        bounds = column.offsets.to_numpy().astype(np.int64)
        items = _words(column.values.slice(int(bounds[0]), int(bounds[-1] - bounds[0])))
        words = _each(items, (bounds - bounds[0]) * _WORD)
    elif pa.types.is_struct(column.type):
        words = row_hashes(pa.RecordBatch.from_struct_array(column), 0)
    elif pa.types.is_string(column.type):
        words = _texts(column)
    else:
        words = _each(_numbers(column), np.arange(len(column) + 1, dtype=np.int64) * _WORD)
    return np.where(column.is_null().to_numpy(zero_copy_only=False), _NULL, words)


def _numbers(column: pa.Array) -> NDArray:
    kind = pa.float64() if pa.types.is_floating(column.type) else pa.int64()
    return column.cast(kind).fill_null(0).to_numpy()


def _texts(column: pa.Array) -> NDArray[np.uint64]:
    column = pc.fill_null(column, "")
    _, offsets, data = column.buffers()
    bounds = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return _each(np.frombuffer(data or b"", np.uint8), bounds.astype(np.int64))


def _each(data: NDArray, bounds: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The fingerprint of each stretch of the bytes of `data`."""
    raw = np.frombuffer(data, np.uint8)
    raw.flags.writeable = False  # as elsewhere: the kernel has one variant
    out: NDArray[np.uint64] = fingerprint_each(raw, bounds)
    return out
