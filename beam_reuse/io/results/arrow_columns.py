"""Block columns as the Arrow columns of a result table.

Pure functions; `tables.Column` says which block column fills which Arrow type.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.columnar.arrow import to_array
from beam_reuse.columnar.block import Block, Column, Lists, Maybe, VarBytes
from beam_reuse.columnar.columns import column_type
from beam_reuse.columnar.schema import type_name
from beam_reuse.io.results import tables


@dataclass(frozen=True)
class Coded:
    """A column in which few values occur often: row i has values[codes[i]]."""

    values: Column
    codes: NDArray


def require_rows(schema: tables.TableSchema, given: pa.Schema, whose: str) -> None:
    """Refuse declared rows that do not fill the columns of a table; `whose` says where they come
    from."""
    for field in schema.rows:
        where = f"table {schema.name!r} needs {field.name!r} as {type_name(field)}; {whose}"
        if field.name not in given.names:
            raise ValueError(f"{where} have {', '.join(given.names)}")
        if given.field(field.name) != field:
            raise ValueError(f"{where} have it as {type_name(given.field(field.name))}")


def to_arrow(
    schema: tables.TableSchema, rows: Block | Mapping[str, Column | Coded],
) -> pa.Table:
    """Rows as rows of the table; columns the table lacks are left out. A column that comes
    coded stays so: its dictionary is that of its values."""
    columns = [_arrow_column(column, rows[column.name]) for column in schema.columns]
    fields = [field.with_type(column.type)
              for field, column in zip(schema.arrow(), columns, strict=True)]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _arrow_column(column: tables.Column, values: Column | Coded) -> pa.Array:
    if isinstance(values, Coded):
        known = _arrow_column(column, values.values).dictionary_encode()
        codes = known.indices.take(pa.array(values.codes))
        return pa.DictionaryArray.from_arrays(codes, known.dictionary)
    try:
        out = _convert(values, column.type)
    except (TypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TypeError(f"column {column.name!r} of a result table: {error}") from error
    if out.null_count and not column.nullable:
        raise TypeError(f"column {column.name!r} of a result table must not hold null")
    return out


def _convert(values: Column, kind: pa.DataType) -> pa.Array:
    plain = values.values if isinstance(values, Maybe) else values
    if isinstance(plain, np.ndarray) and plain.dtype.kind == "V":
        plain = _hex(plain)
        values = Maybe(plain, values.valid) if isinstance(values, Maybe) else plain
    if (pa.types.is_list(kind), kind == pa.string()) != (
            isinstance(plain, Lists), isinstance(plain, VarBytes)):
        raise TypeError(f"{column_type(values)} cannot become {kind}")
    return to_array(values).cast(kind)


def _hex(values: np.ndarray) -> VarBytes:
    width = 2 * values.dtype.itemsize
    digits = np.frombuffer(values.tobytes().hex().encode(), np.uint8)
    return VarBytes(np.arange(len(values) + 1, dtype=np.int64) * width, digits)
