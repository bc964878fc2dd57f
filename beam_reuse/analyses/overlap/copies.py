"""Exact copies: pages with the same sequence of lines. The smallest URL is the centre."""

from collections.abc import Iterable, Iterator

import apache_beam as beam
import numpy as np
from apache_beam.coders import registry
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coders import OwnCoder, join_parts, split_parts
from beam_reuse.columnar.combine import CombineBlocks
from beam_reuse.columnar.group import with_leaders
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.overlap import set_bits_at

_NONE = np.zeros(0, np.uint8)


def copy_rows(bucket: int, slabs: Iterator[Block]) -> Iterator[Block]:
    """Pages sorted by the fingerprint of all lines and page -> a row for each that is not the
    first of its set: `centre`, `page`, the hosts of both (`host_a` that of the centre), `bytes`,
    and `second`, which is true for one page of each set. Holds a slab, whatever the sets."""
    for rows, leaders, place in with_leaders(slabs, ("whole",)):
        others = np.flatnonzero(place > 0)
        copies = rows.take(others)
        yield Block({
            "centre": leaders.array("page")[others], "page": copies["page"],
            "host_a": leaders.array("host")[others], "host": copies["host"],
            "bytes": copies["bytes"], "second": place[others] == 1,
        })


class Roles:
    """Which pages are exact copies, and which of these stand on the host of their centre, as
    bits by page number. Memory: two bits for each page up to the last copy."""

    def __init__(
        self, copies: NDArray[np.uint8] = _NONE, silent: NDArray[np.uint8] = _NONE,
    ) -> None:
        self._bitmaps = [copies, silent]

    def add(self, rows: Block) -> None:
        """Take rows of `copy_rows`."""
        page = rows.array("page")
        self._set(0, page)
        self._set(1, page[rows.array("host") == rows.array("host_a")])

    def _set(self, which: int, pages: NDArray[np.uint64]) -> None:
        if len(pages):
            self._bitmaps[which] = _grown(self._bitmaps[which], int(pages.max()) // 8 + 1)
            set_bits_at(self._bitmaps[which], frozen(pages))

    def merge(self, other: "Roles") -> None:
        for which, theirs in enumerate(other._bitmaps):
            mine = _grown(self._bitmaps[which], len(theirs))
            mine[: len(theirs)] |= theirs
            self._bitmaps[which] = mine

    def copies(self, pages: NDArray[np.uint64]) -> NDArray[np.bool_]:
        return _has(self._bitmaps[0], pages)

    def silent(self, pages: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether pages add nothing to their host either."""
        return _has(self._bitmaps[1], pages)

    def to_bytes(self) -> bytes:
        return join_parts(bitmap.tobytes() for bitmap in self._bitmaps)

    @staticmethod
    def from_bytes(encoded: bytes) -> "Roles":
        return Roles(*(np.frombuffer(part, np.uint8).copy() for part in split_parts(encoded)))


def _grown(bitmap: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    if len(bitmap) >= size:
        return bitmap
    out = np.zeros(max(size, len(bitmap) * 3 // 2), np.uint8)
    out[: len(bitmap)] = bitmap
    return out


def _has(bitmap: NDArray[np.uint8], numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
    within = numbers < np.uint64(8 * len(bitmap))
    at = np.where(within, numbers, np.uint64(0))
    if not len(bitmap):
        return np.zeros(len(numbers), np.bool_)
    bits = bitmap[at >> np.uint64(3)] >> (at & np.uint64(7)).astype(np.uint8)
    return within & ((bits & 1) == 1)


class FindRoles(beam.PTransform):
    """Rows of copies -> one Roles, for AsSingleton."""

    def __init__(self, shuffle: Shuffle) -> None:
        super().__init__()
        self.shuffle = shuffle

    def expand(self, copies: beam.PCollection) -> beam.PCollection:
        return copies | "Gather" >> CombineBlocks(
            _Gather(), Roles, shuffle=self.shuffle)


class _Gather(beam.CombineFn):
    def create_accumulator(self) -> Roles:
        return Roles()

    def add_input(self, roles: Roles, copies: Block) -> Roles:
        roles.add(copies)
        return roles

    def merge_accumulators(self, accumulators: Iterable[Roles]) -> Roles:
        out = Roles()
        for roles in accumulators:
            out.merge(roles)
        return out

    def extract_output(self, roles: Roles) -> Roles:
        return roles


class RolesCoder(OwnCoder):
    """Roles as their bitmaps."""

    kind = Roles

    def encode(self, value: Roles) -> bytes:
        return value.to_bytes()

    def decode(self, encoded: bytes) -> Roles:
        return Roles.from_bytes(encoded)


registry.register_coder(Roles, RolesCoder)
