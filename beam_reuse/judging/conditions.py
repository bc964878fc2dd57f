"""Conditions on the rows of a table: `COLUMN OP VALUE`."""

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from beam_reuse.core.errors import UserError

_FORM = re.compile(r"\s*(?P<column>[A-Za-z_]\w*)\s*(?P<op>==|=|!=|<>|<=|>=|<|>|~)\s*(?P<value>.*)",
                   re.DOTALL)
_SPELLINGS = {"==": "=", "<>": "!="}
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal, "!=": pc.not_equal, "<": pc.less, "<=": pc.less_equal, ">": pc.greater,
    ">=": pc.greater_equal,
}
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


class ConditionError(UserError):
    """A condition that makes no sense for the table; the message says what would."""


@dataclass(frozen=True)
class Condition:
    """One condition. A comparison with null is false; `= null` and `!= null` ask for it."""

    column: str
    op: str
    value: Any

    def holds(self, batch: pa.RecordBatch) -> pa.Array:
        """Whether each row passes."""
        column = batch.column(self.column)
        if self.value is None:
            return column.is_null() if self.op == "=" else column.is_valid()
        if self.op == "~":
            return pc.match_substring(column, self.value, ignore_case=True).fill_null(False)
        return _COMPARE[self.op](column, pa.scalar(self.value, column.type)).fill_null(False)


def parse_condition(text: str, schema: pa.Schema) -> Condition:
    """The condition that `text` states on a table of this schema.

    The operators are = != < <= > >= and, for text, ~ (contains, in any case). A value may
    are in quotes.
    """
    found = _FORM.fullmatch(text)
    if not found:
        raise ConditionError(
            f"--where: {text!r} is not of the form 'COLUMN OP VALUE', such as 'occurrences > 100'; "
            "the operators are = != < <= > >= and ~ (contains)")
    name, op = found["column"], _SPELLINGS.get(found["op"], found["op"])
    if name not in schema.names:
        raise ConditionError(f"--where: the table has no column {name!r}; "
                             f"it has {', '.join(schema.names)}")
    kind = schema.field(name).type
    value = found["value"].strip()
    if value.lower() == "null" and op in ("=", "!="):
        return Condition(name, op, None)
    if pa.types.is_nested(kind) or (op == "~" and not pa.types.is_string(kind)):
        raise ConditionError(f"--where: {op} does not work on the column {name} ({kind})")
    try:
        found_value = _value(value, kind)
        pa.scalar(found_value, kind)
    except (ValueError, OverflowError):
        raise ConditionError(
            f"--where: {value!r} is no value of the column {name} ({kind})") from None
    return Condition(name, op, found_value)


def _value(text: str, kind: pa.DataType) -> Any:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    if pa.types.is_boolean(kind):
        if text.lower() not in _TRUTH:
            raise ValueError(text)
        return _TRUTH[text.lower()]
    if pa.types.is_integer(kind):
        return int(text)
    if pa.types.is_floating(kind):
        return float(text)
    if pa.types.is_timestamp(kind):
        moment = datetime.datetime.fromisoformat(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
    return text
