"""Values of Arrow as Python has them."""

from contextlib import suppress
from functools import lru_cache
from typing import Any

import pyarrow as pa


def value_of(scalar: pa.Scalar) -> Any:
    """The value of a scalar, the same whether pandas is installed or not. Of what Python has no
    value for, times with nanoseconds and dates after the year 9999 are texts, durations and other
    times numbers, in their own unit."""
    if not _has_nanoseconds(scalar.type):  # of which Arrow makes values of pandas, if it is there
        with suppress(ValueError, OverflowError):
            return scalar.as_py()
    if not scalar.is_valid:
        return None
    if isinstance(scalar, pa.StructScalar):
        return {name: value_of(each) for name, each in scalar.items()}
    if isinstance(scalar, pa.MapScalar):
        return [tuple(map(value_of, each.values())) for each in scalar.values]
    if isinstance(scalar, pa.ListScalar):
        return [value_of(each) for each in scalar.values]
    if isinstance(scalar, pa.DictionaryScalar):
        return value_of(scalar.value)
    if _has_nanoseconds(scalar.type) and scalar.value % 1000 == 0:
        return value_of(scalar.cast(_in_microseconds(scalar.type)))
    if isinstance(scalar, pa.DurationScalar) or (
            isinstance(scalar, pa.TimestampScalar) and scalar.type.unit != "ns"):
        return scalar.value
    return scalar.cast(pa.string()).as_py()


@lru_cache
def _has_nanoseconds(kind: pa.DataType) -> bool:
    """Whether a type is one of times that count nanoseconds, or has such a type inside."""
    if pa.types.is_dictionary(kind):
        return _has_nanoseconds(kind.value_type)
    return getattr(kind, "unit", "") == "ns" or any(
        _has_nanoseconds(kind.field(i).type) for i in range(kind.num_fields))


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.duration("us") if pa.types.is_duration(kind) else pa.time64("us")


def row_values(batch: pa.RecordBatch, row: int) -> dict[str, Any]:
    """A row by the names of its columns."""
    return {name: value_of(column[row])
            for name, column in zip(batch.schema.names, batch.columns, strict=True)}
