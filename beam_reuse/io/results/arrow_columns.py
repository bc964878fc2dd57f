"""Block columns as the Arrow columns of a result table.

Pure functions; `tables.Column` says which block column fills which Arrow type.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Column, VarBytes
from beam_reuse.columnar.columns import column_type
from beam_reuse.io.results import tables

NULL = np.iinfo(np.int64).min
FIRST_NAN = np.copysign(np.nan, -1.0)


@dataclass(frozen=True)
class Coded:
    """A column in which few values stand often: row i has values[codes[i]]."""

    values: Column
    codes: NDArray


def to_arrow(
    schema: tables.TableSchema, rows: Block | Mapping[str, Column | Coded],
) -> pa.Table:
    """Rows as rows of the table; columns the table lacks are left out. A column that comes
    coded stays so: its dictionary is that of its values."""
    columns = [_arrow_column(column, rows[column.name]) for column in schema.columns]
    fields = [field.with_type(column.type)
              for field, column in zip(schema.arrow(), columns, strict=True)]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def nulls_first(schema: tables.TableSchema, block: Block) -> Block:
    """`block` with every null in the form that sorts before all values.

    The lowest integer and the empty string do already; of all NaNs only one does.
    """
    columns = {column.name: block[column.name] for column in schema.columns}
    for column in schema.columns:
        values = columns[column.name]
        if column.type == pa.float64() and isinstance(values, np.ndarray):
            columns[column.name] = np.where(np.isnan(values), FIRST_NAN, values)
    return Block(columns)


def _arrow_column(column: tables.Column, values: Column | Coded) -> pa.Array:
    if isinstance(values, Coded):
        known = _arrow_column(column, values.values).dictionary_encode()
        codes = known.indices.take(pa.array(values.codes))
        return pa.DictionaryArray.from_arrays(codes, known.dictionary)
    try:
        out = _convert(column, values)
    except (TypeError, pa.ArrowInvalid) as error:
        raise TypeError(f"column {column.name!r} of a result table: {error}") from error
    if out.null_count and not column.nullable:
        raise TypeError(f"column {column.name!r} of a result table must not hold null")
    return out


def _convert(column: tables.Column, values: Column) -> pa.Array:
    if column.type == pa.string():
        return _strings(values, column.nullable)
    if column.type == tables.STRINGS:
        return _string_lists(values, column.nullable)
    if column.type == tables.SPANS:
        return _spans(values)
    if not isinstance(values, np.ndarray) or values.dtype.kind == "V":
        raise TypeError(f"bytes cannot become {column.type}")
    if column.type == pa.float64():
        return pa.array(values, pa.float64(), mask=np.isnan(values))
    if values.dtype == np.bool_:
        return pa.array(values, column.type)
    whole = values.astype(np.int64, copy=False)
    missing = whole == NULL
    if column.type == pa.bool_():
        return pa.array(whole != 0, column.type, mask=missing)
    return pa.array(whole, pa.int64(), mask=missing).cast(column.type)


def _strings(values: Column, nullable: bool) -> pa.Array:
    if isinstance(values, VarBytes):
        strings = _utf8(values.offsets - values.offsets[0], values.used())
    elif isinstance(values, np.ndarray) and values.dtype.kind == "V":
        strings = _hex(values)
    else:
        raise TypeError(f"{column_type(values)} values cannot become string")
    return _empty_as_null(strings) if nullable else strings


def _hex(values: np.ndarray) -> pa.Array:
    width = 2 * values.dtype.itemsize
    digits = np.frombuffer(values.tobytes().hex().encode(), np.uint8)
    return _text(np.arange(len(values) + 1, dtype=np.int64) * width, digits)


def _utf8(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> pa.Array:
    strings = _text(offsets, data)
    strings.validate(full=True)
    return strings


def _text(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> pa.Array:
    if offsets[-1] > np.iinfo(np.int32).max:
        raise TypeError(f"{offsets[-1]} bytes of text in one column of a block; the limit is 2 GB")
    return pa.StringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)
    )


def _string_lists(values: Column, nullable: bool) -> pa.Array:
    joined = _strings(values, False)
    lists = pc.split_pattern(joined, "\n")
    empty = pa.scalar(None if nullable else [], lists.type)
    return pc.if_else(pc.equal(joined, ""), empty, lists).cast(tables.STRINGS)


def _spans(values: Column) -> pa.Array:
    if not isinstance(values, VarBytes) or (values.lengths() % 16).any():
        raise TypeError("spans must be bytes: pairs of 64-bit integers")
    words = np.frombuffer(values.used().tobytes(), np.int64)
    pairs = pa.StructArray.from_arrays(
        [pa.array(words[0::2]), pa.array(words[1::2])],
        fields=list(tables.SPANS.value_type))
    offsets = pa.array((values.offsets - values.offsets[0]) // 16, pa.int32())
    return pa.ListArray.from_arrays(offsets, pairs, type=tables.SPANS)


def _empty_as_null(strings: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(strings, ""), pa.scalar(None, pa.string()), strings)
