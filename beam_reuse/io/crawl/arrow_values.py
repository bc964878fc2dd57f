"""Values of Arrow as Python has them."""

from typing import Any

import pyarrow as pa


def value_of(scalar: pa.Scalar) -> Any:
    """The value of a scalar. Of what Python has no value for, times with nanoseconds and dates
    after the year 9999 are texts, durations and other times numbers, in their own unit."""
    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        if isinstance(scalar, pa.StructScalar):
            return {name: value_of(each) for name, each in scalar.items()}
        if isinstance(scalar, pa.MapScalar):
            return [tuple(map(value_of, each.values())) for each in scalar.values]
        if isinstance(scalar, pa.ListScalar):
            return [value_of(each) for each in scalar.values]
        if isinstance(scalar, pa.DictionaryScalar):
            return value_of(scalar.value)
        if isinstance(scalar, pa.DurationScalar) or (
                isinstance(scalar, pa.TimestampScalar) and scalar.type.unit != "ns"):
            return scalar.value
        return scalar.cast(pa.string()).as_py()


def row_values(batch: pa.RecordBatch, row: int) -> dict[str, Any]:
    """A row by the names of its columns."""
    return {name: value_of(column[row])
            for name, column in zip(batch.schema.names, batch.columns, strict=True)}
