"""Columns made of other columns, as in Arrow: lists, and values that may be null."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.fixed import fixed, raw_bytes
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.kernels.compiled import frozen

# A column of any kind; in a list also a Block, whose rows are the values.
Values = Any


class Lists:
    """Immutable lists; list i has the rows offsets[i] to offsets[i + 1] of `values`.

    `values` is a column of any kind, or a Block where the values have several columns. A slice
    shares them, so offsets need not begin at 0 nor end at the end of `values`.
    """

    __slots__ = ("offsets", "values")

    offsets: NDArray[np.int64]
    values: Values

    def __init__(self, offsets: NDArray[np.int64], values: Values) -> None:
        if offsets.dtype != np.int64 or offsets.ndim != 1 or not len(offsets):
            raise ValueError("Lists: offsets must be int64 and hold one more than the lists")
        if offsets[0] < 0 or offsets[-1] > len(values) or offsets[0] > offsets[-1]:
            raise ValueError(f"Lists: offsets {offsets[0]}..{offsets[-1]} of {len(values)} values")
        self.offsets = frozen(offsets)
        self.values = _checked(values)

    @staticmethod
    def from_lengths(lengths: NDArray, values: Values) -> "Lists":
        """Lists of the given lengths whose values come one after another."""
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return Lists(offsets, values)

    @staticmethod
    def concat(parts: Sequence["Lists"]) -> "Lists":
        return Lists.from_lengths(
            np.concatenate([part.lengths() for part in parts]),
            concat_columns([part.used() for part in parts]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> Values:
        """The values of list i."""
        return slice_column(self.values, int(self.offsets[i]), int(self.offsets[i + 1]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Lists):
            return NotImplemented
        return np.array_equal(self.lengths(), other.lengths()) and same_column(
            self.used(), other.used())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Lists({len(self)} of {self.values!r})"

    @property
    def nbytes(self) -> int:
        return 8 * len(self.offsets) + int(self.used().nbytes)

    def used(self) -> Values:
        """The values of all lists, one after another."""
        return slice_column(self.values, int(self.offsets[0]), int(self.offsets[-1]))

    def flat(self) -> tuple[NDArray[np.int64], Values]:
        """Offsets from 0 on, and the values of all lists."""
        return frozen(self.offsets - self.offsets[0]), self.used()

    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)

    def slice(self, start: int, stop: int) -> "Lists":
        """Lists start..stop-1, sharing the values."""
        return Lists(self.offsets[start : stop + 1], self.values)

    def take(self, index: NDArray) -> "Lists":
        """Copies of the lists at `index`: integers within range, or a mask."""
        if self.is_flat:
            return self.like(self.as_bytes().take(index))
        if index.dtype == np.bool_:
            index = np.flatnonzero(index)
        lengths = self.lengths()[index]
        ends = np.cumsum(lengths)
        rows = np.arange(int(lengths.sum())) + np.repeat(
            self.offsets[:-1][index] - ends + lengths, lengths)
        return Lists.from_lengths(lengths, take_column(self.values, rows))

    @property
    def is_flat(self) -> bool:
        """Are the values of fixed width, so that lists can be handled as byte strings?"""
        return isinstance(self.values, np.ndarray)

    def as_bytes(self) -> VarBytes:
        """Lists of fixed-width values as byte strings that share their memory."""
        return VarBytes(self.offsets * self.values.dtype.itemsize, raw_bytes(self.values))

    def like(self, strings: VarBytes) -> "Lists":
        """Lists of the same type, from what `as_bytes` gave."""
        dtype = self.values.dtype
        return Lists(strings.offsets // dtype.itemsize, strings.data.view(dtype))


class Maybe:
    """Immutable values of which some are null: those that are not `valid`.

    What `values` has in their place is 0, or empty: equal columns have equal values.
    """

    __slots__ = ("valid", "values")

    values: Values
    valid: NDArray[np.bool_]

    def __init__(self, values: Values, valid: NDArray[np.bool_]) -> None:
        if valid.dtype != np.bool_ or valid.shape != (len(values),):
            raise ValueError(f"Maybe: {valid.shape} {valid.dtype} flags of {len(values)} values")
        self.values = _checked(_without_hidden(values, valid))
        self.valid = frozen(valid)

    @staticmethod
    def _of(values: Values, valid: NDArray[np.bool_]) -> "Maybe":
        """A column of what comes from one: there is nothing to check."""
        column = object.__new__(Maybe)
        column.values, column.valid = values, frozen(valid)
        return column

    @staticmethod
    def spread(values: Values, valid: NDArray[np.bool_]) -> "Maybe":
        """A column whose valid rows have these values, in order."""
        if isinstance(values, np.ndarray):
            every = np.zeros(len(valid), values.dtype)
            every[valid] = values
            return Maybe(every, valid)
        lengths = np.zeros(len(valid), np.int64)
        lengths[valid] = values.lengths()
        return Maybe._of(type(values).from_lengths(lengths, values.used()), valid)

    @staticmethod
    def nulls(rows: int, dtype: Any = None) -> "Maybe":
        """So many nulls: of byte strings, or of numbers of a type."""
        values = (VarBytes(np.zeros(rows + 1, np.int64), np.zeros(0, np.uint8))
                  if dtype is None else np.zeros(rows, dtype))
        return Maybe(values, np.zeros(rows, np.bool_))

    @staticmethod
    def unless_empty(strings: VarBytes) -> "Maybe":
        """Strings, null where they are empty."""
        return Maybe._of(strings, strings.lengths() > 0)

    @staticmethod
    def unless_nan(numbers: NDArray[np.float64]) -> "Maybe":
        """Numbers, null where they are NaN."""
        return Maybe(numbers, ~np.isnan(numbers))

    @staticmethod
    def concat(parts: Sequence["Maybe"]) -> "Maybe":
        return Maybe._of(concat_columns([part.values for part in parts]),
                         np.concatenate([part.valid for part in parts]))

    def __len__(self) -> int:
        return len(self.valid)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Maybe):
            return NotImplemented
        return np.array_equal(self.valid, other.valid) and same_column(self.values, other.values)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Maybe({int(self.valid.sum())} of {self.values!r})"

    @property
    def nbytes(self) -> int:
        return len(self.valid) + int(self.values.nbytes)

    def filled(self, value: Any) -> NDArray:
        """The values, which are numbers, with `value` in place of null."""
        return np.where(self.valid, self.values, value)

    def slice(self, start: int, stop: int) -> "Maybe":
        """Values start..stop-1, sharing memory."""
        return Maybe._of(slice_column(self.values, start, stop), self.valid[start:stop])

    def take(self, index: NDArray) -> "Maybe":
        """Copies of the values at `index`: integers within range, or a mask."""
        if index.dtype == np.bool_:
            index = np.flatnonzero(index)
        return Maybe._of(take_column(self.values, index), self.valid[index])


def take_column(column: Values, index: NDArray) -> Values:
    """The rows at `index` (row numbers), copied."""
    taken = column.take(index)
    if isinstance(taken, np.ndarray):
        taken.flags.writeable = False
    return taken


def slice_column(column: Values, start: int, stop: int) -> Values:
    """Rows start..stop-1, sharing memory."""
    return column[start:stop] if isinstance(column, np.ndarray) else column.slice(start, stop)


def concat_columns(columns: Sequence[Values]) -> Values:
    """Columns of one type, one after another."""
    first = columns[0]
    if len(columns) == 1:
        return first
    return np.concatenate(columns) if isinstance(first, np.ndarray) else type(first).concat(columns)


def same_type(a: Values, b: Values) -> bool:
    """Are two columns of the same kind, with values of the same type?"""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype
    if isinstance(a, Lists | Maybe):
        return same_type(a.values, b.values)
    return isinstance(a, VarBytes) or bool(a.same_columns(b))


def same_column(a: Values, b: Values) -> bool:
    """Do two columns have the same type and, to the bit, the same values?"""
    if not same_type(a, b):
        return False
    return a.tobytes() == b.tobytes() if isinstance(a, np.ndarray) else bool(a == b)


def _checked(values: Values) -> Values:
    """Values of a list or of Maybe: arrays are checked, other columns were when they were made."""
    return fixed("values", values) if isinstance(values, np.ndarray) else values


def _without_hidden(values: Values, valid: NDArray[np.bool_]) -> Values:
    """`values` with 0, or nothing, where they are not valid."""
    if valid.all():
        return values
    if isinstance(values, np.ndarray):
        hidden = values.copy()
        hidden[~valid] = np.zeros(1, values.dtype)
        return hidden
    if not values.lengths()[~valid].any():
        return values
    return Maybe.spread(values.take(valid), valid).values
