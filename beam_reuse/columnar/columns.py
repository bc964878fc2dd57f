"""What holds of columns of every kind: their type, which rows are equal, hashes."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.fixed import FIXED_TYPES, fixed, raw_bytes
from beam_reuse.columnar.hashing import SEED, combine, hash_fixed, mix
from beam_reuse.columnar.nested import Lists, Maybe, Values
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.kernels.compiled import frozen, kernel

Column = np.ndarray | VarBytes | Lists | Maybe


def checked(name: str, column: Column) -> Column:
    """The column, if it can be one of a block; `name` is for messages."""
    return column if isinstance(column, VarBytes | Lists | Maybe) else fixed(name, column)


def column_type(column: Values) -> str:
    """A name for the column's type: that of NumPy, 'V<n>', 'bytes', or what it is made of."""
    if isinstance(column, np.ndarray):
        return FIXED_TYPES.get(column.dtype) or f"V{column.dtype.itemsize}"
    if isinstance(column, VarBytes):
        return "bytes"
    if isinstance(column, Lists):
        return f"list {column_type(column.values)}"
    if isinstance(column, Maybe):
        return f"maybe {column_type(column.values)}"
    return f"{{{', '.join(f'{name}: {column_type(column[name])}' for name in column)}}}"


def arrays_of(column: Values) -> Iterator[NDArray]:
    """The arrays that a column is made of."""
    if isinstance(column, np.ndarray):
        yield column
    elif isinstance(column, VarBytes):
        yield from (column.offsets, column.data)
    elif isinstance(column, Lists | Maybe):
        yield column.offsets if isinstance(column, Lists) else column.valid
        yield from arrays_of(column.values)
    else:
        for name in column:
            yield from arrays_of(column[name])


def sort_columns(column: Values) -> Iterator[np.ndarray | VarBytes | Lists]:
    """Columns without null, by which rows are in the order of this one: null is before every
    value."""
    if isinstance(column, np.ndarray | VarBytes | Lists):
        yield column
    elif isinstance(column, Maybe):
        yield column.valid
        yield from sort_columns(column.values)
    else:
        for name in column:
            yield from sort_columns(column[name])


def differs(column: Values) -> NDArray[np.bool_]:
    """For each row but the first: does the column differ from the row before?"""
    if isinstance(column, VarBytes):
        return column.differs()
    if isinstance(column, Lists):
        return column.as_bytes().differs() if column.is_flat else _lists_differ(column)
    if not isinstance(column, np.ndarray):
        return np.asarray(
            np.logical_or.reduce([differs(each) for each in sort_columns(column)]))
    if column.dtype.kind == "V":
        return np.asarray(_differs_fixed(frozen(raw_bytes(column)), column.dtype.itemsize))
    if column.dtype.kind == "f":
        column = column.view(np.uint64)
    return np.asarray(column[1:] != column[:-1])


def _lists_differ(column: Lists) -> NDArray[np.bool_]:
    offsets, values = column.flat()
    lengths = np.diff(offsets)
    out = np.asarray(lengths[1:] != lengths[:-1])
    same = np.flatnonzero(~out) + 1
    # Values of lists as long as the one before, each after the one in its place there.
    which = np.repeat(same, lengths[same])
    place = np.flatnonzero(np.repeat(np.r_[False, ~out], lengths) if len(lengths) else [])
    pairs = np.column_stack([place - lengths[which], place]).reshape(-1)
    other = differs(values.take(pairs))[::2]
    out[which[other] - 1] = True
    return out


@kernel
def _differs_fixed(data, width):  # type: ignore[no-untyped-def]
    out = np.zeros(max(len(data) // width - 1, 0), np.bool_)
    for i in range(len(out)):
        for j in range(i * width, (i + 1) * width):
            if data[j] != data[j + width]:
                out[i] = True
                break
    return out


def hash_column(column: Values) -> NDArray[np.uint64]:
    """A 64-bit hash of each row, the same in every process and run."""
    if isinstance(column, VarBytes):
        return column.hash64()
    if isinstance(column, Lists):
        flat = column if column.is_flat else Lists(column.offsets, hash_column(column.values))
        return flat.as_bytes().hash64()
    if not isinstance(column, np.ndarray):
        first, *others = map(hash_column, sort_columns(column))
        for each in others:
            first = combine(first, each)
        return first
    out: NDArray[np.uint64]
    if column.dtype.kind == "V":
        out = hash_fixed(frozen(raw_bytes(column)), column.dtype.itemsize, SEED)
        return out
    words = column.view(np.uint64) if column.dtype.kind == "f" else column.astype(np.uint64)
    out = mix(frozen(words))
    return out
