"""Strata: the rows of a table divided by the values of some of its columns."""

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from beam_reuse.core.errors import UserError

MOST_STRATA = 1000
_NULL = -1

Codes = tuple[int, ...]


class StrataError(UserError):
    """Columns that cannot divide a table; the message says which can."""


class Division(Protocol):
    """How one column divides rows: a number for each, and what the number means."""

    column: str

    def codes(self, values: pa.Array) -> NDArray[np.int64]:
        """The number of each value; -1 for null."""

    def order(self, code: int) -> Any:
        """What numbers are sorted by, so that strata have one order whatever was read first."""

    def label(self, code: int) -> str:
        """The values of a number, in words."""


@dataclass
class Bins:
    """A column of numbers or times in intervals: number i holds lows[i] <= value < lows[i + 1]."""

    column: str
    kind: pa.DataType
    lows: NDArray
    top: float

    def codes(self, values: pa.Array) -> NDArray[np.int64]:
        numbers = _numbers(values)
        codes = np.searchsorted(self.lows, numbers.fill_null(0).to_numpy(), side="right") - 1
        return np.where(values.is_null().to_numpy(zero_copy_only=False), _NULL, codes)

    def order(self, code: int) -> int:
        return code

    def label(self, code: int) -> str:
        if code == _NULL:
            return f"{self.column} null"
        low, last = self.lows[code], code + 1 == len(self.lows)
        next_low = self.top if last else self.lows[code + 1]
        if not pa.types.is_integer(self.kind):
            below = "" if last else "below "
            return f"{self.column} {self._shown(low)} to {below}{self._shown(next_low)}"
        high = next_low if last else next_low - 1
        return f"{self.column} {low}" + (f" to {high}" if high > low else "")

    def _shown(self, value: float) -> str:
        """A number, or a time in ISO 8601."""
        if pa.types.is_floating(self.kind):
            return f"{value:.6g}"
        moment: datetime.datetime = pa.scalar(int(value), self.kind).as_py()
        return moment.isoformat()


@dataclass
class Values:
    """A column of text or flags: each value for itself."""

    column: str
    known: dict[Any, int] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)

    def codes(self, values: pa.Array) -> NDArray[np.int64]:
        encoded = values.dictionary_encode()
        numbers = [self._number(value) for value in encoded.dictionary.to_pylist()]
        if len(self.known) > MOST_STRATA:
            raise StrataError(f"--by {self.column}: more than {MOST_STRATA:,} different values; "
                              "choose a column with fewer, or narrow it with --where")
        index = encoded.indices.fill_null(len(numbers)).to_numpy()
        return np.array([*numbers, _NULL], np.int64)[index]

    def order(self, code: int) -> tuple[bool, str]:
        return code != _NULL, self.label(code)

    def label(self, code: int) -> str:
        return f"{self.column} {self.names[code] if code != _NULL else 'null'}"

    def _number(self, value: Any) -> int:
        if value not in self.known:
            self.known[value] = len(self.known)
            self.names.append(str(value).lower() if isinstance(value, bool) else str(value))
        return self.known[value]


@dataclass
class Strata:
    """The division of a table by several columns; without columns there is one stratum.

    `sizes` has the rows of each stratum seen by `count`.
    """

    divisions: Sequence[Division]
    sizes: dict[Codes, int] = field(default_factory=dict)

    def count(self, batch: pa.RecordBatch) -> None:
        """Add the rows of a batch to `sizes`."""
        found, counts = np.unique(self._codes(batch), axis=0, return_counts=True)
        for codes, count in zip(found.tolist(), counts.tolist(), strict=True):
            self.sizes[tuple(codes)] = self.sizes.get(tuple(codes), 0) + count
        if len(self.sizes) > MOST_STRATA:
            names = ",".join(division.column for division in self.divisions)
            raise StrataError(f"--by {names}: more than {MOST_STRATA:,} strata; "
                              "give fewer columns or fewer --bins")

    def ordered(self) -> list[Codes]:
        """The strata seen, in an order that depends on their values alone."""
        return sorted(self.sizes, key=lambda codes: [
            d.order(code) for d, code in zip(self.divisions, codes, strict=True)])

    def places(self, batch: pa.RecordBatch, place: Mapping[Codes, int]) -> NDArray[np.int64]:
        """The `place` of each row's stratum."""
        found, inverse = np.unique(self._codes(batch), axis=0, return_inverse=True)
        known = np.array([place[tuple(codes)] for codes in found.tolist()], np.int64)
        return known[inverse.reshape(-1)]

    def label(self, codes: Codes) -> str:
        words = (d.label(code) for d, code in zip(self.divisions, codes, strict=True))
        return ", ".join(words) or "all"

    def _codes(self, batch: pa.RecordBatch) -> NDArray[np.int64]:
        columns = [d.codes(batch.column(d.column)) for d in self.divisions]
        if not columns:
            return np.zeros((batch.num_rows, 0), np.int64)
        return np.stack(columns, axis=1)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def is_binned(kind: pa.DataType) -> bool:
    """Whether a column is divided into intervals."""
    return _is_number(kind) or bool(pa.types.is_timestamp(kind))


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
        raise StrataError(f"--by {word}: behind the column stand numbers at which it is cut, "
                          "such as c_similarity:355:372")
    return cut


def divisions_of(schema: pa.Schema, by: Mapping[str, Sequence[float]], bins: int,
                 batches: Iterator[pa.RecordBatch]) -> list[Division]:
    """How the columns `by` divide a table, cut at the numbers given there, or else, if they hold
    numbers, into `bins` intervals; `batches` are its rows, read only if a column has to be cut."""
    for name in by:
        if name not in schema.names or pa.types.is_nested(schema.field(name).type):
            usable = [f.name for f in schema if not pa.types.is_nested(f.type)]
            raise StrataError(f"--by: there is no column {name!r} to divide by; "
                              f"there are {', '.join(usable)}")
        if by[name] and not _is_number(schema.field(name).type):
            raise StrataError(f"--by {name}: holds no numbers, so it cannot be cut at any")
    binned = [name for name in by if is_binned(schema.field(name).type)]
    ranges: dict[str, tuple[float, float]] = {}
    for batch in batches if binned else ():
        for name in binned:
            span = pc.min_max(_numbers(batch.column(name))).as_py()
            if span["min"] is not None:
                low, high = ranges.get(name, (span["min"], span["max"]))
                ranges[name] = min(low, span["min"]), max(high, span["max"])
    return [_division(schema.field(name), by[name], bins, ranges.get(name, (0, 0))) for name in by]


def _division(field: pa.Field, cuts: Sequence[float], bins: int,
              span: tuple[float, float]) -> Division:
    if cuts:
        return _cut(field.name, field.type, cuts, *span)
    return _bins(field.name, field.type, bins, *span) if is_binned(field.type) else (
        Values(field.name))


def _cut(column: str, kind: pa.DataType, cuts: Sequence[float], low: float, high: float) -> Bins:
    """Intervals that begin at `cuts`, and one for what is below them."""
    whole = pa.types.is_integer(kind)
    lows = sorted({math.ceil(cut) if whole else cut for cut in (*cuts, min(low, cuts[0]))})
    return Bins(column, kind, np.array(lows), max(high, lows[-1]))


def _bins(column: str, kind: pa.DataType, bins: int, low: float, high: float) -> Bins:
    """Intervals of a column: shares (all within 0 to 1) in steps of 1/bins, other doubles and
    times in steps of equal width, counts in steps of equal ratio (of value + 1)."""
    if pa.types.is_floating(kind):
        low, high = (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)
        steps = [low + (high - low) * i / bins for i in range(bins)]
        return Bins(column, kind, np.array(steps), high)
    low, high = int(low), int(high)
    if high - low < bins:
        return Bins(column, kind, np.arange(low, high + 1), high)
    if low < 0 or pa.types.is_timestamp(kind):
        lows = {low + (high - low + 1) * i // bins for i in range(bins)}
    else:
        ratio = (high + 1) / (low + 1)
        lows = {low, *(round((low + 1) * ratio ** (i / bins)) - 1 for i in range(1, bins))}
    return Bins(column, kind, np.array(sorted(lows)), high)


def _numbers(values: pa.Array) -> pa.Array:
    return values.cast(pa.int64()) if pa.types.is_timestamp(values.type) else values
