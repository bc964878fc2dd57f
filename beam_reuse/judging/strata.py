"""Strata: the rows of a table divided by the values of some of its columns."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from beam_reuse.core.errors import UserError
from beam_reuse.io.results.queries import Stream, query


class StrataError(UserError):
    """Columns that cannot divide a table; the message says which can."""


@dataclass(frozen=True)
class Division:
    """How a column divides rows: each value for itself; or, where it holds numbers or times, into
    intervals: number i holds lows[i] <= value < lows[i + 1], the last one ends with `top`."""

    column: str
    kind: pa.DataType
    lows: Sequence[float] = ()
    top: float = 0

    def sql(self) -> str:
        """The value of a row, or the number of its interval; null for null."""
        if not self.lows:
            return f'"{self.column}"'
        reached = [f"({_number(self.column, self.kind)} >= ${name})::BIGINT"
                   for name in self.values()]
        return f"{' + '.join(reached)} - 1"

    def values(self) -> dict[str, float]:
        """The values that `sql` asks for."""
        return {f"{self.column}_{number}": low for number, low in enumerate(self.lows)}

    def label(self, found: Any) -> str:
        """What `sql` gives, in words."""
        if found is None:
            return f"{self.column} null"
        if not self.lows:
            return f"{self.column} {str(found).lower() if isinstance(found, bool) else found}"
        low, last = self.lows[found], found + 1 == len(self.lows)
        next_low = self.top if last else self.lows[found + 1]
        if not pa.types.is_integer(self.kind):
            below = "" if last else "below "
            return f"{self.column} {self._shown(low)} to {below}{self._shown(next_low)}"
        high = next_low if last else next_low - 1
        return f"{self.column} {low}" + (f" to {high}" if high > low else "")

    def _shown(self, value: float) -> str:
        """A number, or a time in ISO 8601."""
        if pa.types.is_floating(self.kind):
            return f"{value:.6g}"
        return str(pa.scalar(int(value), self.kind).as_py().isoformat())


def _number(column: str, kind: pa.DataType) -> str:
    """A column of numbers; of times their microseconds."""
    return f'epoch_us("{column}")' if pa.types.is_timestamp(kind) else f'"{column}"'


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def parse_by(words: Sequence[str]) -> dict[str, list[float]]:
    """The columns that words of --by name, each with the rising numbers at which it is to be cut:
    the column alone, or `COLUMN:NUMBER:NUMBER...`."""
    found: dict[str, list[float]] = {}
    for word in words:
        column, *numbers = word.split(":")
        if column in found:
            raise StrataError(f"--by: names {column} twice; give all its cuts at once, such as "
                              "c_similarity:355:372")
        found[column] = cuts = [_cut_at(word, number) for number in numbers]
        rising = sorted(set(cuts))
        if cuts != rising:
            raise StrataError(f"--by {word}: the numbers at which a column is cut must rise: "
                              f"{':'.join([column, *(f'{cut:.15g}' for cut in rising)])}")
    return found


def _cut_at(word: str, number: str) -> float:
    try:
        cut = float(number)
    except ValueError:
        cut = math.nan
    if not math.isfinite(cut):
        raise StrataError(f"--by {word}: after the column give the numbers at which it is cut, "
                          "such as c_similarity:355:372")
    return cut


def refuse_indivisible(schema: pa.Schema, by: Mapping[str, Sequence[float]]) -> None:
    """Refuse columns that a table of this schema has not, and cuts where there are no numbers."""
    for name, cuts in by.items():
        if name not in schema.names or pa.types.is_nested(schema.field(name).type):
            usable = [f.name for f in schema if not pa.types.is_nested(f.type)]
            raise StrataError(f"--by: there is no column {name!r} to divide by; "
                              f"there are {', '.join(usable)}")
        if cuts and not _is_number(schema.field(name).type):
            raise StrataError(f"--by {name}: holds no numbers, so it cannot be cut at any")


def divisions_of(by: Mapping[str, Sequence[float]], bins: int, rows: Stream) -> list[Division]:
    """How the columns `by` divide `rows`: cut at the numbers given there, or else, if they hold
    numbers or times, into `bins` intervals. Rows are read only if a column has to be cut."""
    spans = _spans(by, rows)
    return [_division(rows.schema.field(name), cuts, bins, spans.get(name))
            for name, cuts in by.items()]


def _spans(by: Iterable[str], rows: Stream) -> dict[str, Sequence[float]]:
    """The smallest and the largest value of each column of numbers or times."""
    kinds = {name: rows.schema.field(name).type for name in by}
    numbers = {name: _number(name, kind) for name, kind in kinds.items()
               if _is_number(kind) or pa.types.is_timestamp(kind)}
    if not numbers:
        return {}
    spans = ", ".join(f'[coalesce(min({number}), 0), coalesce(max({number}), 0)] AS "{name}"'
                      for name, number in numbers.items())
    (found,) = query(f"SELECT {spans} FROM source", {"source": rows}).to_pylist()
    return found


def _division(field: pa.Field, cuts: Sequence[float], bins: int,
              span: Sequence[float] | None) -> Division:
    if span is None:
        return Division(field.name, field.type)
    lows, top = _cut(field.type, cuts, *span) if cuts else _intervals(field.type, bins, *span)
    return Division(field.name, field.type, lows, top)


def _cut(kind: pa.DataType, cuts: Sequence[float], low: float,
         high: float) -> tuple[list[float], float]:
    """Intervals that begin at `cuts`, and one for what is below them."""
    whole = pa.types.is_integer(kind)
    lows = sorted({math.ceil(cut) if whole else cut for cut in (*cuts, min(low, cuts[0]))})
    return lows, max(high, lows[-1])


def _intervals(kind: pa.DataType, bins: int, low: float,
               high: float) -> tuple[list[float], float]:
    """Intervals of a column: shares (all within 0 to 1) in steps of 1/bins, other doubles and
    times in steps of equal width, counts in steps of equal ratio (of value + 1)."""
    if pa.types.is_floating(kind):
        low, high = (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)
        return [low + (high - low) * i / bins for i in range(bins)], high
    if high - low < bins:
        return list(range(int(low), int(high) + 1)), high
    if low < 0 or pa.types.is_timestamp(kind):
        lows = {low + (high - low + 1) * i // bins for i in range(bins)}
    else:
        ratio = (high + 1) / (low + 1)
        lows = {low, *(round((low + 1) * ratio ** (i / bins)) - 1 for i in range(1, bins))}
    return sorted(lows), high
