"""Any table of a result: sorted, filtered, a page at a time.

Pages are found by keys: the value that rows are sorted by and the place of the row, so that
page 10,000 costs what the first does. No SQL comes from outside: names of columns are looked
up, operators are those below, values are bound.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from beam_reuse.core.errors import UserError
from beam_reuse.viewer.view import PLACE, View

ROWS = 50
MOST_ROWS = 500
LETTERS = 4_000
_NUMBERS = ("BIGINT", "DOUBLE")
_TEXT, _FLAG, _TIME, _TEXTS = "VARCHAR", "BOOLEAN", "TIMESTAMP WITH TIME ZONE", "VARCHAR[]"
_SORTED = (*_NUMBERS, _TEXT, _FLAG, _TIME)
_SIGNS = r"[%_\\]"
_DOTTED = "i\u0307"
"""What "İ" is in lower case; of DuckDB it becomes a mere "i"."""
_KEYS = {"BIGINT": int, "DOUBLE": int | float, _TEXT: str, _FLAG: bool, _TIME: int}
"""Of what type the keys of rows are, by that of the column they are sorted by."""
_LARGEST = 2**63
_COMPARED = {"is": "=", "not": "!=", "min": ">=", "max": "<="}


class SqlCondition(NamedTuple):
    """SQL of a filter, and the values it asks for."""

    sql: str
    values: Mapping[str, Any]


def browse(view: View, name: str, sort: str = "", descending: bool = False,
           filters: Sequence[str] = (), after: str = "", before: str = "",
           rows: int = ROWS) -> dict[str, Any]:
    """A page of a table: rows behind the key `after`, or those before the key `before`; with
    neither the first. In the result's order without `sort`; nulls come last.

    A filter is `COLUMN.OPERATOR.VALUE`: `has` and `starts` for text (`has` whatever the case),
    `min` and `max` for numbers, `is` and `not` for anything, `null` with the value true or false.
    """
    view.require(name)
    columns = view.types[name]
    by = "" if sort == "" or _is_stored_order(view, name, sort, descending) else sort
    if by and columns.get(by) not in _SORTED:
        raise UserError(f"{name} cannot be sorted by {sort!r}.")
    limit = max(1, min(rows, MOST_ROWS))
    condition = where(columns, filters)
    view.prepare(name)
    if not view.is_copied(name) and not (by or filters or after or before or descending):
        found = [(n, None, *row) for n, row in enumerate(view.database.rows(
            f'select * from "{name}" limit {limit + 1}'), 1)]
    else:
        found = _page(view, name, by, descending, condition, after, before, limit)
    more = len(found) > limit
    found = found[:limit]
    if before:
        found.reverse()
    return {
        "table": name, "columns": [{"name": key, "type": kind} for key, kind in columns.items()],
        "rows": [dict(zip(columns, map(shown, row[2:]), strict=True)) for row in found],
        "first": _key(found[0]) if found else "", "last": _key(found[-1]) if found else "",
        "more": more,
    }


def count(view: View, name: str, filters: Sequence[str] = ()) -> dict[str, Any]:
    """How many rows of a table the filters let through."""
    view.require(name)
    if not filters:
        return {"rows": view.size_of(name)}
    condition = where(view.types[name], filters)
    return {"rows": view.database.rows(
        f"select count(*) from {view.copied(name)} where {condition.sql}", condition.values)[0][0]}


def reasons(view: View, name: str) -> dict[str, Any]:
    """The reasons that rows of a table have, in order."""
    view.require(name)
    if view.types[name].get("reason") != _TEXT:
        raise UserError(f"{name} has no reasons.")
    return {"reasons": [row[0] for row in view.database.rows(
        f'select distinct reason from "{name}" where reason is not null order by reason')]}


def _is_stored_order(view: View, name: str, sort: str, descending: bool) -> bool:
    """Parts are sorted by their first column."""
    return (sort == next(iter(view.types[name])) and not descending
            and len(view.manifest.tables().get(name, ())) == 1)


def _page(view: View, name: str, by: str, descending: bool, condition: SqlCondition, after: str,
          before: str, limit: int) -> list[tuple[Any, ...]]:
    columns = view.types[name]
    key = sort_key(columns, by) if by else "null"
    back = bool(before)
    if not by:  # the rows of a result are in order, and there are no nulls among their places
        passed, order = _beyond_row(after or before, descending != back), (
            f"{PLACE} desc" if descending != back else PLACE)
    else:
        passed = _beyond(key, columns[by], after or before, descending, back,
                         view.has_nulls(name, by))
        order = (f"{key} {'desc' if descending != back else 'asc'} nulls "
                 f"{'first' if back else 'last'}, {PLACE} {'desc' if back else 'asc'}")
    return view.database.rows(
        f"select {PLACE}, {key}, * exclude ({PLACE}) from {view.copied(name)} "
        f"where {condition.sql} and {passed.sql} order by {order} limit {limit + 1}",
        {**condition.values, **passed.values})


def _beyond_row(key: str, down: bool) -> SqlCondition:
    if not key:
        return SqlCondition("true", {})
    return SqlCondition(f"{PLACE} {'<' if down else '>'} $place", {"place": _read_key(key, "")[1]})


def _beyond(key: str, kind: str, given: str, descending: bool, back: bool,
            nulls: bool) -> SqlCondition:
    """The rows behind a key, or before it, of a column with or without nulls."""
    if not given:
        return SqlCondition("true", {})
    value, place = _read_key(given, kind)
    values: dict[str, Any] = {"place": place}
    further = f"{PLACE} {'<' if back else '>'} $place"
    if value is None:
        return SqlCondition(f"({key} is not null or {further})" if back
                         else f"({key} is null and {further})", values)
    sign = "<" if descending != back else ">"
    sql = f"({key} {sign}= $key and ({key} {sign} $key or {further}))"
    return SqlCondition(f"({sql} or {key} is null)" if nulls and not back else sql,
                     {**values, "key": value})


def _key(row: Sequence[Any]) -> str:
    return json.dumps([row[1], row[0]])


def _read_key(text: str, kind: str) -> tuple[Any, int]:
    """The value and place of a key of rows that are sorted by a column of this type, or by none."""
    try:
        value, place = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        value, place = None, None
    if not _is_of(int, place) or not (value is None or (kind in _KEYS and _is_of(
            _KEYS[kind], value))):
        raise UserError("This is no key of a row of this table in this order.")
    return value, place


def _is_of(kind: Any, value: Any) -> bool:
    """Whether it is of this type, and DuckDB can have it: no large number, no half of a letter."""
    if isinstance(value, bool) or not isinstance(value, kind):
        return kind is bool and isinstance(value, bool)
    if isinstance(value, str):
        return value == value.encode("utf-8", "replace").decode()
    return isinstance(value, float) or -_LARGEST <= value < _LARGEST


def sort_key(columns: Mapping[str, str], name: str) -> str:
    """What rows are sorted by."""
    return f'epoch_us("{name}")' if columns[name] == _TIME else f'"{name}"'


def where(columns: Mapping[str, str], filters: Sequence[str]) -> SqlCondition:
    """All filters together."""
    parts, values = ["true"], dict[str, Any]()
    for number, text in enumerate(filters):
        name, operator, value = (*text.split(".", 2), "", "")[:3]
        if name not in columns:
            raise UserError(f"There is no column {name!r} to filter by.")
        sql, read = _filter(name, columns[name], operator, value, f"f{number}")
        parts.append(sql)
        values |= read
    return SqlCondition(" and ".join(parts), values)


def _filter(name: str, kind: str, operator: str, value: str,
            as_: str) -> tuple[str, dict[str, Any]]:
    column = f'"{name}"'
    if operator == "null" and value in ("true", "false"):
        return f"{column} is {'' if value == 'true' else 'not '}null", {}
    if kind in (_TEXT, _TEXTS) and operator == "has":
        inside = column if kind == _TEXT else f"array_to_string({column}, ' ')"
        return _has(inside, value, as_)
    if kind == _TEXT and operator == "starts":
        return f"starts_with({column}, ${as_})", {as_: value}
    if operator in _COMPARED and kind in _SORTED and (
            kind != _FLAG or operator in ("is", "not")):
        return f"{column} {_COMPARED[operator]} ${as_}", {as_: _read(kind, value)}
    raise UserError(f"{name} cannot be filtered by {operator!r}.")


def _has(inside: str, value: str, as_: str) -> tuple[str, dict[str, Any]]:
    """Text that has `value`, whatever its case. DuckDB is quickest at patterns without escapes, so
    a sign that means something there may be any one letter first, and is looked at then."""
    if _DOTTED in (lower := "".join(map(str.lower, value))):
        text = f"lower(replace({inside}, 'İ', 'i' || chr(775)))"
        return f"contains({text}, ${as_})", {as_: lower}
    if not any(map(str.isalpha, value)):
        return f"contains({inside}, ${as_})", {as_: value}
    values = {f"{as_}p": f"%{re.sub(_SIGNS, '_', value)}%"}
    pattern = f"{inside} ilike ${as_}p"
    if not re.search(_SIGNS, value):
        return pattern, values
    return (f"({pattern} and contains(lower({inside}), lower(${as_})))", {**values, as_: value})


def _read(kind: str, value: str) -> Any:
    """A value of a filter as one of its column's type."""
    try:
        if kind in (*_NUMBERS, _TIME) and (not value.isascii() or "_" in value):
            raise ValueError  # as Python reads numbers, and nobody else
        if kind == "BIGINT" and not _is_of(int, int(value)):
            raise ValueError
        if kind in _NUMBERS:
            return int(value) if kind == "BIGINT" else float(value)
        if kind == _TIME:
            moment = datetime.fromisoformat(value)
            return moment.isoformat() + ("" if moment.tzinfo else "+00:00")
    except ValueError:
        raise UserError(f"{value!r} is no value of this column.") from None
    if kind == _FLAG:
        if value not in ("true", "false"):
            raise UserError("A flag is true or false.")
        return value == "true"
    return value


def shown(value: Any) -> Any:
    """A value as JSON has it; of long text the beginning."""
    if isinstance(value, str) and len(value) > LETTERS:
        return value[:LETTERS] + f"… ({len(value) - LETTERS:,} more characters)"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return [shown(each) for each in value]
    if isinstance(value, dict):
        return {key: shown(each) for key, each in value.items()}
    return value
