"""A column of byte strings: offsets into one buffer, as in Arrow."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from beam_reuse.columnar.hashing import SEED, hash_values
from beam_reuse.kernels.compiled import frozen, kernel


@intrinsic
def copy_bytes(typing_context, to, to_at, source, source_at, count):  # type: ignore[no-untyped-def]
    """memcpy between two uint8 arrays: a byte loop is some six times slower on URLs."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = []
        for position in (0, 2):
            kind = signature.args[position]
            array = context.make_array(kind)(context, builder, args[position])
            arrays.append(builder.gep(array.data, [args[position + 1]]))
        cgutils.raw_memcpy(builder, arrays[0], arrays[1], args[4], 1)
        return context.get_dummy_value()

    return types.void(to, types.int64, source, types.int64, types.int64), generate


@kernel
def _gather(offsets, data, index, out_offsets, out):  # type: ignore[no-untyped-def]
    for i in range(len(index)):
        to = out_offsets[i]
        copy_bytes(out, to, data, offsets[index[i]], out_offsets[i + 1] - to)


@kernel
def _differs(offsets, data):  # type: ignore[no-untyped-def]
    out = np.empty(max(len(offsets) - 2, 0), np.bool_)
    for i in range(len(out)):
        a, b, c = offsets[i], offsets[i + 1], offsets[i + 2]
        out[i] = b - a != c - b
        if not out[i]:
            for j in range(b - a):
                if data[a + j] != data[b + j]:
                    out[i] = True
                    break
    return out


class VarBytes:
    """Immutable byte strings; value i is data[offsets[i]:offsets[i + 1]].

    A slice shares `data`, so offsets need not begin at 0 nor end at the end of `data`.
    """

    __slots__ = ("data", "offsets")

    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]

    def __init__(self, offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> None:
        if offsets.dtype != np.int64 or offsets.ndim != 1 or not len(offsets):
            raise ValueError("VarBytes: offsets must be int64 and hold one more than the values")
        if data.dtype != np.uint8 or data.ndim != 1:
            raise ValueError(f"VarBytes: data must be flat uint8, not {data.dtype}")
        if offsets[0] < 0 or offsets[-1] > len(data) or offsets[0] > offsets[-1]:
            raise ValueError(f"VarBytes: offsets {offsets[0]}..{offsets[-1]} of {len(data)} bytes")
        self.offsets = frozen(offsets)
        self.data = frozen(data)

    @staticmethod
    def from_list(values: Iterable[bytes]) -> "VarBytes":
        values = list(values)
        lengths = np.fromiter(map(len, values), np.int64, len(values))
        return VarBytes.from_lengths(lengths, np.frombuffer(b"".join(values), np.uint8))

    @staticmethod
    def from_lengths(lengths: NDArray, data: NDArray[np.uint8]) -> "VarBytes":
        """Values of the given lengths that lie one after another in `data`."""
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return VarBytes(offsets, data)

    @staticmethod
    def concat(parts: Sequence["VarBytes"]) -> "VarBytes":
        if len(parts) == 1:
            return parts[0]
        lengths = np.concatenate([np.empty(0, np.int64), *(p.lengths() for p in parts)])
        data = np.concatenate([np.empty(0, np.uint8), *(p.used() for p in parts)])
        return VarBytes.from_lengths(lengths, data)

    def to_list(self) -> list[bytes]:
        base = int(self.offsets[0])
        raw = self.used().tobytes()
        ends = (self.offsets - base).tolist()
        return [raw[a:b] for a, b in pairwise(ends)]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> bytes:
        n = len(self)
        if not -n <= i < n:
            raise IndexError(f"value {i} of {n}")
        i %= n
        return self.data[self.offsets[i] : self.offsets[i + 1]].tobytes()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VarBytes):
            return NotImplemented
        return np.array_equal(self.lengths(), other.lengths()) and np.array_equal(
            self.used(), other.used()
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"VarBytes({len(self)} values, {len(self.used())} bytes)"

    def __reduce__(self) -> tuple:
        return VarBytes.from_lengths, (self.lengths(), self.used())

    @property
    def nbytes(self) -> int:
        """Bytes of the values and their offsets."""
        return 8 * len(self.offsets) + int(self.offsets[-1] - self.offsets[0])

    def used(self) -> NDArray[np.uint8]:
        """The stretch of `data` that holds the values."""
        return self.data[self.offsets[0] : self.offsets[-1]]

    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)

    def slice(self, start: int, stop: int) -> "VarBytes":
        """Values start..stop-1, sharing the buffer."""
        return VarBytes(self.offsets[start : stop + 1], self.data)

    def take(self, index: NDArray) -> "VarBytes":
        """Copies of the values at `index`: integers within range, or a mask."""
        index = _as_index(index, len(self))
        offsets = np.zeros(len(index) + 1, np.int64)
        np.cumsum(self.lengths()[index], out=offsets[1:])
        out = np.empty(int(offsets[-1]), np.uint8)
        _gather(self.offsets, self.data, frozen(index), frozen(offsets), out)
        return VarBytes(offsets, out)

    def hash64(self) -> NDArray[np.uint64]:
        """XXH64 of each value, from the fixed seed of `hashing`."""
        out: NDArray[np.uint64] = hash_values(self.offsets, self.data, SEED)
        return out

    def differs(self) -> NDArray[np.bool_]:
        """For each value but the first: is it another than the one before?"""
        out: NDArray[np.bool_] = _differs(self.offsets, self.data)
        return out


def _as_index(index: NDArray, rows: int) -> NDArray[np.int64]:
    """`index` as non-negative int64 row numbers; the kernel does not check bounds."""
    if index.dtype == np.bool_:
        if len(index) != rows:
            raise IndexError(f"a mask of {len(index)} for {rows} values")
        return np.flatnonzero(index)
    index = index.astype(np.int64, copy=False)
    if len(index):
        low, high = int(index.min()), int(index.max())
        if high >= rows or low < -rows:
            raise IndexError(f"rows {low}..{high} of {rows}")
        if low < 0:
            index = np.where(index < 0, index + rows, index)
    return index
