"""Block: equal-length columns, the one kind of element the shuffle carries."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.hashing import SEED, combine, hash_fixed, mix
from beam_reuse.columnar.sorting import FIXED, FIXED_TYPES, Column, differs, raw_bytes, sort_order
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.kernels.compiled import frozen

__all__ = ["Block", "Column", "VarBytes"]
_NAMES = {np.dtype(name): name for name in FIXED}


class Block:
    """Immutable named columns of equal length.

    A column is a NumPy array of one of the types in FIXED, an array of 'V<n>' (raw bytes
    of fixed width: a SHA-1 is 'V20') or VarBytes. Rows keep their order in every method
    that does not say otherwise. Arrays handed in are not copied: do not write to them later.
    """

    __slots__ = ("_columns", "_rows")

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = {name: _checked(name, column) for name, column in columns.items()}
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
            _same_type(column, other[name])
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
            _same_column(self[name], other[name]) for name in self.names
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Block({self._rows} rows: {', '.join(self.names)})"

    def __reduce__(self) -> tuple:
        return Block.from_bytes, (self.to_bytes(False),)

    def array(self, name: str) -> np.ndarray:
        """The fixed-width column `name`."""
        column = self[name]
        if isinstance(column, VarBytes):
            raise TypeError(f"column {name!r} holds byte strings, not fixed-width values")
        return column

    def strings(self, name: str) -> VarBytes:
        """The column `name` of byte strings."""
        column = self[name]
        if not isinstance(column, VarBytes):
            raise TypeError(f"column {name!r} holds {column.dtype} values, not byte strings")
        return column

    def take(self, index: NDArray) -> "Block":
        """The rows at `index` (row numbers, or a mask), copied."""
        if index.dtype == np.bool_:
            index = np.flatnonzero(index)
        taken = {name: _take(column, index) for name, column in self._columns.items()}
        return Block._of(taken, len(index) if taken else 0)

    def slice(self, start: int, stop: int) -> "Block":
        """Rows start..stop-1, sharing memory with this block."""
        start, stop, _ = slice(start, stop).indices(self._rows)
        stop = max(start, stop)
        return Block._of({
            name: c.slice(start, stop) if isinstance(c, VarBytes) else c[start:stop]
            for name, c in self._columns.items()
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
        """Rows sorted by the columns `keys`: stable, bytes as unsigned, floats by bits."""
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
        out = _hash_column(self[keys[0]])
        for key in keys[1:]:
            out = combine(out, _hash_column(self[key]))
        return out

    def to_bytes(self, compress: bool = False) -> bytes:
        """The block as an Arrow stream (see `arrow`): equal blocks give equal bytes."""
        from beam_reuse.columnar.arrow import encode

        return bytes(encode(self, compress))

    @staticmethod
    def from_bytes(buffer: bytes | memoryview) -> "Block":
        """The block that `to_bytes` wrote; columns share memory with an uncompressed buffer."""
        from beam_reuse.columnar.arrow import decode

        return Block(decode(buffer))


def concat_columns(columns: Sequence[Column]) -> Column:
    """Columns of one type, one after another."""
    first = columns[0]
    if isinstance(first, VarBytes):
        return VarBytes.concat([c for c in columns if isinstance(c, VarBytes)])
    return np.concatenate([c for c in columns if not isinstance(c, VarBytes)])


def column_type(column: Column) -> str:
    """A name for the column's type: one of FIXED, 'V<n>' or 'bytes'."""
    if isinstance(column, VarBytes):
        return "bytes"
    return _NAMES.get(column.dtype) or f"V{column.dtype.itemsize}"


def _same_type(a: Column, b: Column) -> bool:
    if isinstance(a, VarBytes) or isinstance(b, VarBytes):
        return isinstance(a, VarBytes) and isinstance(b, VarBytes)
    return a.dtype == b.dtype


def _checked(name: str, column: Column) -> Column:
    if isinstance(column, VarBytes):
        return column
    if not isinstance(column, np.ndarray) or column.ndim != 1:
        raise TypeError(f"column {name!r} must be a flat array or VarBytes")
    dtype = column.dtype
    if dtype in FIXED_TYPES or (dtype.kind == "V" and dtype.itemsize and not dtype.names):
        return frozen(column)
    native = dtype.newbyteorder("=")
    if native not in FIXED_TYPES:
        raise TypeError(f"column {name!r} is {dtype}; it must be one of {', '.join(FIXED)}, V<n>")
    return frozen(column.astype(native))


def _same_column(a: Column, b: Column) -> bool:
    if isinstance(a, VarBytes) or isinstance(b, VarBytes):
        return _same_type(a, b) and a == b
    return _same_type(a, b) and a.tobytes() == b.tobytes()


def _take(column: Column, index: NDArray) -> Column:
    taken = column.take(index)
    if not isinstance(taken, VarBytes):
        taken.flags.writeable = False
    return taken


def _hash_column(column: Column) -> NDArray[np.uint64]:
    if isinstance(column, VarBytes):
        return column.hash64()
    if column.dtype.kind == "V":
        out: NDArray[np.uint64] = hash_fixed(
            frozen(raw_bytes(column)), column.dtype.itemsize, SEED
        )
        return out
    words = column.view(np.uint64) if column.dtype.kind == "f" else column.astype(np.uint64)
    out = mix(frozen(words))
    return out
