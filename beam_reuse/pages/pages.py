"""The pages of a run, as analyses read them."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from beam_reuse.pages.sides import ONE_SIDE, Sides, parts_of_side
from beam_reuse.rows import Plan, Rows
from beam_reuse.rows.folds import FindKeys

Made = TypeVar("Made")


@dataclass(frozen=True)
class Pages:
    """`parts` has a row for each numbered part (see `pages.rows`), `names` the number and the URL
    of each page. `spill` is a folder that all workers share; so many parts as `ranges` are worked
    on apart. `text`: whether their text was looked at. `made` is what `once` has made.

    Where there is a baseline, `sides` says which pages are new. `again` has a row (see `captures`)
    for each that was fetched before; its captures are in `every_part`, with those that are no page.
    """

    plan: Plan
    parts: Rows
    names: Rows
    spill: str
    ranges: int
    sides: Sides = ONE_SIDE
    again: Rows | None = None
    every_part: Rows | None = None
    text: bool = True
    made: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)

    def rows(self, kernel: Callable[..., Any], *args: Any) -> Rows:
        """What `kernel(parts, *args)` reads of all pages."""
        return self.parts.map(kernel, *args)

    @property
    def new(self) -> "Pages":
        """The pages of the new crawl: all, if there is no baseline."""
        return self._of_side(True) if self.sides.are_two else self

    @property
    def old(self) -> "Pages":
        """The pages of the baseline, where there is one."""
        return self._of_side(False)

    def _of_side(self, new: bool) -> "Pages":
        return replace(self, parts=self.parts.map(parts_of_side, self.sides, new), made={})

    def sharing(
        self, kernel: Callable[..., Any], *args: Any, keys: Callable[[Rows], Rows], bits: int,
    ) -> Rows:
        """What `kernel(parts, *args, None)` reads of new pages, and of old pages what it reads with
        a filter of the keys that new pages have, in place of None. `keys(rows)` gives the keys of
        rows that the kernel gave, in one column; 2**`bits` tell them apart.

        So what only old pages have is read once, and goes nowhere.
        """
        new = self.new.rows(kernel, *args, None)
        if not self.sides.are_two:
            return new
        known = keys(new)
        assert known.columns is not None, "keys that are not declared"
        found = known.fold(FindKeys(tuple(known.columns.names), bits))
        return new + self.old.rows(kernel, *args, found)

    def with_parts(
        self, rows: Rows, kernel: Callable[..., Any], *args: Any, others: Sequence[Rows] = (),
    ) -> Rows:
        """What `kernel(rows, *others, parts, *args)` gives where rows come to the parts that their
        column `range` names; all parts are there, and rows are None where there are none for
        them."""
        return rows.join((*others, self.parts), "range", kernel, *args, buckets=self.ranges,
                         dealt=True)

    def once(self, make: Callable[..., Made], *args: Hashable) -> Made:
        """What `make(pages, *args)` gives: made once for all analyses that ask for the same, so
        that its rows are read and shuffled once."""
        if (make, args) not in self.made:
            self.made[make, args] = make(self, *args)
        made: Made = self.made[make, args]
        return made
