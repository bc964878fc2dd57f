"""The moments of capture that crawl files write in many ways, as microseconds since 1970."""

import re
from datetime import UTC, date, datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DIGITS = re.compile(r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?\d*", re.ASCII)
_SHORT = re.compile(r"(\d{4})(?:-(\d\d))?Z?", re.ASCII)
_ZONE = r"(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?"
_PUBLISHED = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)? ?" + _ZONE + ")?",
    re.ASCII | re.IGNORECASE)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_HTTP_DATE = re.compile(
    rf"(?:[a-z]{{3,9}}, *)?(\d{{1,2}})[ -]({'|'.join(_MONTHS)})[ -](\d{{4}}) "
    rf"(\d\d):(\d\d):(\d\d) ?{_ZONE}", re.ASCII | re.IGNORECASE)
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


def parse_published(text: str) -> int | None:
    """Microseconds since 1970 of a date as pages declare it: `YYYY-MM-DD`, perhaps with a time of
    day and a time zone (UTC without one); None for anything else."""
    found = _PUBLISHED.fullmatch(text.strip())
    if found is None:
        return None
    *numbers, fraction, zone = found.groups()
    return _in_zone(tuple(int(each or 0) for each in numbers), fraction or "", zone or "")


def parse_http_date(text: str) -> int | None:
    """Microseconds since 1970 of a date in an HTTP header: `Sun, 06 Nov 1994 08:49:37 GMT`, and
    with another zone; None for anything else."""
    found = _HTTP_DATE.fullmatch(text.strip())
    if found is None:
        return None
    day, month, year, *time, zone = found.groups()
    numbers = (int(year), _MONTHS.index(month.lower()) + 1, int(day), *map(int, time))
    return _in_zone(numbers, "", zone or "")


def _in_zone(numbers: tuple[int, ...], fraction: str, zone: str) -> int | None:
    """The moment with these numbers (year to second) and digits of a second in a time zone, given
    as `+hh:mm`, `+hhmm`, `+hh`; a name is that of UTC."""
    try:
        moment = datetime(*numbers, tzinfo=UTC)  # type: ignore[arg-type,misc]
        moment += timedelta(microseconds=int(fraction[:6].ljust(6, "0")))
        if zone[:1] in ("+", "-"):
            ahead = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:].lstrip(":") or 0))
            moment = moment.replace(tzinfo=timezone(-ahead if zone[0] == "-" else ahead))
    except ValueError:
        return None
    return _micros(moment)


def moment_of(value: object) -> int | None:
    """Microseconds since 1970 of a value in a row: text, a date, or a number (a 14-digit
    date, or seconds, milliseconds, microseconds or nanoseconds since 1970, by its size)."""
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
