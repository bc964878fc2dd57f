"""Block: equal-length columns, the one kind of element the shuffle carries."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.columns import Column, checked, column_type, differs, hash_column
from beam_reuse.columnar.hashing import combine
from beam_reuse.columnar.nested import (
    Lists,
    Maybe,
    concat_columns,
    same_column,
    same_type,
    slice_column,
    take_column,
)
from beam_reuse.columnar.sorting import sort_order
from beam_reuse.columnar.varbytes import VarBytes

__all__ = ["Block", "Column", "Lists", "Maybe", "VarBytes"]


class Block:
    """Immutable named columns of equal length.

    A column is a NumPy array of one of the types in FIXED, an array of 'V<n>' (raw bytes of fixed
    width: a SHA-1 is 'V20'), VarBytes, Lists of any of these, or Maybe, of which values are null.
    Rows keep their order in every method that does not say otherwise. Arrays handed in are not
    copied: do not write to them later.
    """

    __slots__ = ("_columns", "_rows")

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = {name: checked(name, column) for name, column in columns.items()}
        lengths = {name: len(column) for name, column in self._columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of a block must have equal lengths, not {lengths}")
        self._rows = next(iter(lengths.values()), 0)

    @staticmethod
    def _of(columns: dict[str, Column], rows: int) -> "Block":
        """A block of columns that come from a block: there is nothing to check."""
        block = object.__new__(Block)
        block._columns, block._rows = columns, rows
        return block

    @staticmethod
    def concat(blocks: Sequence["Block"]) -> "Block":
        """All rows of the blocks, which have the same columns, one after another."""
        if not blocks:
            raise ValueError("Block.concat needs at least one block: it names the columns")
        if len(blocks) == 1:
            return blocks[0]
        for block in blocks:
            if not block.same_columns(blocks[0]):
                raise ValueError(f"blocks to join differ in columns: {blocks[0].types()} and "
                                 f"{block.types()}")
        return Block({n: concat_columns([b[n] for b in blocks]) for n in blocks[0].names})

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._columns)

    def types(self) -> dict[str, str]:
        """The columns with names for their types."""
        return {name: column_type(column) for name, column in self._columns.items()}

    def same_columns(self, other: "Block") -> bool:
        """Do the two have columns of the same names and types?"""
        return self._columns.keys() == other._columns.keys() and all(
            same_type(column, other[name])
            for name, column in self._columns.items()
        )

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self._columns.values())

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, name: str) -> Column:
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"no column {name!r}; the block has {', '.join(self.names)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Block):
            return NotImplemented
        return self.names == other.names and all(
            same_column(self[name], other[name]) for name in self.names
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Block({self._rows} rows: {', '.join(self.names)})"

    def __reduce__(self) -> tuple:
        return Block.from_bytes, (self.to_bytes(False),)

    def array(self, name: str) -> np.ndarray:
        """The fixed-width column `name`."""
        column = self[name]
        if not isinstance(column, np.ndarray):
            raise TypeError(f"column {name!r} holds {_held(column)}, not fixed-width values")
        return column

    def strings(self, name: str) -> VarBytes:
        """The column `name` of byte strings."""
        column = self[name]
        if not isinstance(column, VarBytes):
            raise TypeError(f"column {name!r} holds {_held(column)}, not byte strings")
        return column

    def lists(self, name: str) -> Lists:
        """The column `name` of lists."""
        column = self[name]
        if not isinstance(column, Lists):
            raise TypeError(f"column {name!r} holds {_held(column)}, not lists")
        return column

    def maybe(self, name: str) -> Maybe:
        """The column `name`, in which null may occur."""
        column = self[name]
        if not isinstance(column, Maybe):
            raise TypeError(f"column {name!r} holds {_held(column)} without null")
        return column

    def take(self, index: NDArray) -> "Block":
        """The rows at `index` (row numbers, or a mask), copied."""
        if index.dtype == np.bool_:
            index = np.flatnonzero(index)
        taken = {name: take_column(column, index) for name, column in self._columns.items()}
        return Block._of(taken, len(index) if taken else 0)

    def slice(self, start: int, stop: int) -> "Block":
        """Rows start..stop-1, sharing memory with this block."""
        start, stop, _ = slice(start, stop).indices(self._rows)
        stop = max(start, stop)
        return Block._of({
            name: slice_column(column, start, stop) for name, column in self._columns.items()
        }, stop - start)

    def select(self, names: Sequence[str]) -> "Block":
        """Only the columns `names`, in that order."""
        return Block._of({name: self[name] for name in names}, self._rows if names else 0)

    def with_columns(self, **columns: Column) -> "Block":
        """This block with columns added or replaced."""
        return Block({**self._columns, **columns})

    def without(self, *names: str) -> "Block":
        """This block without the columns `names`."""
        left = {n: c for n, c in self._columns.items() if n not in names}
        return Block._of(left, self._rows if left else 0)

    def sort_order(self, keys: Sequence[str]) -> NDArray[np.int64]:
        """The stable order of rows by the columns `keys`, the first most significant."""
        return sort_order([self[key] for key in keys], self._rows)

    def sort(self, keys: Sequence[str]) -> "Block":
        """Rows sorted by the columns `keys`: stable, bytes as unsigned, floats by bits, null before
        all values, a list before those that begin with it."""
        return self.take(self.sort_order(keys))

    def starts(self, keys: Sequence[str]) -> NDArray[np.int64]:
        """Rows where a run of equal `keys` begins; the block is sorted by them."""
        new = np.zeros(self._rows, np.bool_)
        new[:1] = True
        for key in keys:
            new[1:] |= differs(self[key])
        return np.flatnonzero(new)

    def hash_rows(self, keys: Sequence[str]) -> NDArray[np.uint64]:
        """A 64-bit hash of each row's `keys`, the same in every process and run."""
        if not keys:
            raise ValueError("hash_rows needs at least one column name")
        out = hash_column(self[keys[0]])
        for key in keys[1:]:
            out = combine(out, hash_column(self[key]))
        return out

    def to_bytes(self, compress: bool = False) -> bytes:
        """The block as an Arrow stream (see `arrow`): equal blocks give equal bytes."""
        from beam_reuse.columnar.arrow import encode

        return bytes(encode(self, compress))

    @staticmethod
    def from_bytes(buffer: bytes | memoryview) -> "Block":
        """The block that `to_bytes` wrote; columns share memory with an uncompressed buffer."""
        from beam_reuse.columnar.arrow import decode

        return decode(buffer, Block)


def _held(column: Column) -> str:
    return "byte strings" if isinstance(column, VarBytes) else f"{column_type(column)} values"
