"""The moments of capture that crawl files write in many ways, as microseconds since 1970."""

import re
from datetime import UTC, date, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DIGITS = re.compile(r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?\d*", re.ASCII)
_SHORT = re.compile(r"(\d{4})(?:-(\d\d))?Z?", re.ASCII)
_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_FAR = 60_000_000_000 * 1_000_000  # in the year 3871


def parse_moment(text: str) -> int | None:
    """Microseconds since 1970 of an ISO date (any precision) or 8 to 14 digits; None if bad,
    or not in the years 1 to 9999 of UTC.

    A moment without a time zone is in UTC.
    """
    text = text.strip()
    if not text.isdigit():
        try:
            return _micros(datetime.fromisoformat(text))
        except ValueError:
            pass
    short = _SHORT.fullmatch(text)
    digits = _DIGITS.fullmatch(text)
    try:
        if short:
            return _micros(datetime(int(short[1]), int(short[2] or 1), 1))
        if digits:
            return _micros(datetime(*(int(part or 0) for part in digits.groups())))  # type: ignore[arg-type]
        return _micros(datetime.fromisoformat(text.replace(":60", ":59")))
    except ValueError:
        return None


def moment_of(value: object) -> int | None:
    """Microseconds since 1970 of a value in a row: text, a date, or a number (a 14-digit
    date, or seconds, milliseconds, microseconds or nanoseconds since 1970, told by size)."""
    if isinstance(value, str):
        return parse_moment(value)
    if isinstance(value, datetime):
        return _micros(value)
    if isinstance(value, date):
        return _micros(datetime(value.year, value.month, value.day))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value != value or abs(value) >= 1e19:
        return None
    if isinstance(value, int) and 19_000_101_000_000 <= value <= 20_991_231_235_959:
        written = parse_moment(str(value))
        if written is not None:
            return written
    for unit in (1_000_000, 1_000, 1):
        if abs(value) * unit < _FAR:
            return int(value * unit)
    return int(value) // 1000


def _micros(moment: datetime) -> int | None:
    """None for a moment whose time zone takes it out of the years that dates can say."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    micros = (moment - _EPOCH) // _MICROSECOND
    return micros if _FIRST <= micros <= _LAST else None
