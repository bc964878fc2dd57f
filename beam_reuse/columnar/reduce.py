"""Sums, minima and maxima per key."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Column
from beam_reuse.columnar.distinct import count_distinct
from beam_reuse.columnar.schema import NUMBER, UNSIGNED, columns, only

OPERATIONS = ("sum", "min", "max", "any")
_HASH, _KIND = np.dtype("V20"), np.dtype(np.uint8)


class Reduction:
    """One row per distinct `keys`, other columns summed or their smallest or largest kept.

    Sums of unsigned and bool columns are uint64, of signed ones int64, both exact as long as
    they fit. Minimum and maximum work for every type of column; "any" keeps one of the values, for
    those that are equal where the keys are. Columns that are neither keys nor named are dropped.
    """

    def __init__(self, keys: Sequence[str], columns: Mapping[str, str]) -> None:
        bad = {name: op for name, op in columns.items() if op not in OPERATIONS}
        if bad or not keys or set(keys) & set(columns):
            raise ValueError(
                f"cannot reduce {dict(columns)!r} by {list(keys)!r}: give one or more keys, and "
                f"{', '.join(OPERATIONS)} for other columns"
            )
        self.keys, self.columns = tuple(keys), dict(columns)

    def __call__(self, block: Block) -> Block:
        """The block reduced, sorted by the keys."""
        return self._reduced(self.prepared(block).sort(self.keys))

    def loosely(self, block: Block) -> Block:
        """The block reduced, in any order: hashes that are only counted, also those of several
        kinds, need no sorting."""
        rows, (key, *kinds) = self.prepared(block), self.keys
        if not self._only_counts(rows):
            return self._reduced(rows.sort(self.keys))
        return Block.concat([self._counted(each, key) for each in _by_kind(rows, kinds)])

    def _only_counts(self, rows: Block) -> bool:
        """Are these sums by a hash, and perhaps by its kind?"""
        types = [getattr(rows[name], "dtype", None) for name in self.keys]
        return types in ([_HASH], [_HASH, _KIND]) and not set(self.columns.values()) - {"sum"}

    def _counted(self, rows: Block, key: str) -> Block:
        """Rows that are of one kind, counted by their hash."""
        distinct, sums = count_distinct(
            rows.array(key), [rows.array(name) for name in self.columns])
        return Block({
            key: distinct, **{name: rows[name].take(np.zeros(len(distinct), np.int64))
                              for name in self.keys[1:]},
            **dict(zip(self.columns, sums, strict=True))})

    def _reduced(self, rows: Block) -> Block:
        """Rows in order of the keys, reduced."""
        starts = rows.starts(self.keys)
        if len(starts) == len(rows):
            return rows
        out = {name: rows[name].take(starts) for name in self.keys}
        for name, operation in self.columns.items():
            out[name] = _reduced(rows, self.keys, name, operation, starts)
        return Block(out)

    def prepared(self, block: Block) -> Block:
        """Only the columns that count, those to be summed as 64-bit integers."""
        sums = [name for name, operation in self.columns.items() if operation == "sum"]
        wide = {name: _summable(name, block.array(name)) for name in sums}
        return block.select([*self.keys, *self.columns]).with_columns(**wide)

    def schema(self, rows: pa.Schema) -> pa.Schema:
        """The columns of what becomes of rows with these."""
        sums = {name: _sum_type(rows.field(name)) for name, operation in self.columns.items()
                if operation == "sum"}
        return columns(only(rows, *self.keys, *self.columns), **sums)

    def merge(self, slabs: Iterable[Block]) -> Iterator[Block]:
        """Reduce a stream sorted by the keys: every key comes out once, in order."""
        waiting: Block | None = None
        for slab in slabs:
            slab = self.prepared(slab)
            reduced = self._reduced(slab if waiting is None else Block.concat([waiting, slab]))
            waiting = reduced.slice(len(reduced) - 1, len(reduced))
            if len(reduced) > 1:
                yield reduced.slice(0, len(reduced) - 1)
        if waiting is not None:
            yield waiting


def _by_kind(rows: Block, kinds: Sequence[str]) -> list[Block]:
    """The rows of each kind; all of them where there are no kinds."""
    if not kinds or not len(rows):
        return [rows]
    kind = rows.array(kinds[0])
    present = np.flatnonzero(np.bincount(kind))
    return [rows] if len(present) == 1 else [rows.take(kind == each) for each in present]


def _summable(name: str, column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in "bu":
        return column.astype(np.uint64, copy=False)
    if column.dtype.kind == "i":
        return column.astype(np.int64, copy=False)
    raise TypeError(f"column {name!r} is {column.dtype}; only integers are summed, exactly")


def _sum_type(field: pa.Field) -> pa.DataType:
    if pa.types.is_unsigned_integer(field.type) or pa.types.is_boolean(field.type):
        return UNSIGNED
    if pa.types.is_signed_integer(field.type):
        return NUMBER
    raise TypeError(f"column {field.name!r} is {field.type}; only integers are summed, exactly")


def _reduced(
    rows: Block, keys: Sequence[str], name: str, operation: str, starts: NDArray[np.int64]
) -> Column:
    column = rows[name]
    if operation == "sum":
        return np.asarray(np.add.reduceat(rows.array(name), starts))
    if operation == "any":
        return column.take(starts)
    if not isinstance(column, np.ndarray) or column.dtype.kind in "Vf":
        order = rows.sort_order([*keys, name])
        last = np.append(starts[1:], len(rows)) - 1
        return column.take(order[starts if operation == "min" else last])
    function = np.minimum if operation == "min" else np.maximum
    return np.asarray(function.reduceat(column, starts))
