"""Two sides of a crawl that grows: pages of the new crawl, and pages of its baseline.

Parts of the baseline have the greatest numbers of all, and pages of it odd ones, so that whoever
has the number of a page knows its side. Without a baseline all pages are new, and numbers dense.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.schema import gives, only, same
from beam_reuse.rows import Rows

_TWO, _OLD = np.uint64(2), np.uint64(1)


@dataclass(frozen=True)
class Sides:
    """`first_old` is the first part of the baseline; None if there is no baseline."""

    first_old: int | None = None

    @property
    def are_two(self) -> bool:
        """Whether there is a baseline."""
        return self.first_old is not None

    def is_new_part(self, part: int) -> bool:
        return self.first_old is None or part < self.first_old

    def new_parts(self, ranges: NDArray) -> NDArray[np.bool_]:
        """Which parts are of the new crawl."""
        if self.first_old is None:
            return np.ones(len(ranges), np.bool_)
        return np.asarray(ranges < self.first_old)

    def numbered(self, rank: NDArray[np.uint64], ranges: NDArray) -> NDArray[np.uint64]:
        """The numbers of pages, from their ranks by URL and their parts: in the same order."""
        if self.first_old is None:
            return rank
        return rank * _TWO + np.where(self.new_parts(ranges), np.uint64(0), _OLD)

    def new(self, pages: NDArray) -> NDArray[np.bool_]:
        """Which pages are new, by their numbers."""
        if self.first_old is None:
            return np.ones(len(pages), np.bool_)
        return np.asarray(pages.astype(np.uint64, copy=False) & _OLD == 0)

    def with_new(self, rows: Rows, *pages: str) -> Rows:
        """The rows of which one of the `pages`, columns with their numbers, is new."""
        return rows.map(_with_new, self, pages) if self.are_two else rows

    def sets_with_new(self, rows: Rows, pages: Sequence[str], *key: str) -> Rows:
        """The rows of sets that have a new page in one of the columns `pages`; `key` says which
        rows are of one set. A set must fit in memory. Costs nothing without a baseline."""
        if not self.are_two:
            return rows
        known = self.with_new(rows, *pages).map(_keys, key)
        return rows.join(known, key, _of_sets, key, other_reducing={})


ONE_SIDE = Sides()
"""All pages are new."""


@gives(same)
def _with_new(rows: Block, sides: Sides, pages: tuple[str, ...]) -> Block:
    return rows.take(np.logical_or.reduce([sides.new(rows.array(name)) for name in pages]))


@gives(lambda rows, key: only(rows, *key))
def _keys(rows: Block, key: tuple[str, ...]) -> Block:
    return rows.select(key)


@gives(lambda rows, *_: rows)
def _of_sets(rows: Block | None, known: Block | None, key: tuple[str, ...]) -> Block | None:
    if rows is None or known is None:
        return None
    return rows.take(lookup(rows, known, key) >= 0)


@gives(lambda parts, *_: parts)
def parts_of_side(parts: Block, sides: Sides, new: bool) -> Block:
    """The parts of one side."""
    return parts.take(sides.new_parts(parts.array("range")) == new)

