"""The pages of a run, as analyses read them."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from beam_reuse.rows import Plan, Rows

Made = TypeVar("Made")


@dataclass(frozen=True)
class Pages:
    """`parts` has a row for each numbered part (see `pages.rows`), `names` the number and the URL
    of each page. `spill` is a folder that all workers share; so many parts as `ranges` are worked
    on apart. `made` is what `once` has made.
    """

    plan: Plan
    parts: Rows
    names: Rows
    spill: str
    ranges: int
    made: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)

    def rows(self, kernel: Callable[..., Any], *args: Any) -> Rows:
        """What `kernel(parts, *args)` reads of all pages."""
        return self.parts.map(kernel, *args)

    def with_parts(self, rows: Rows, kernel: Callable[..., Any], *args: Any) -> Rows:
        """What `kernel(rows, parts, *args)` gives where rows come to the parts that their column
        `range` names; all parts are there, and rows are None where there are none for them."""
        return rows.join(self.parts, "range", kernel, *args, buckets=self.ranges, dealt=True)

    def once(self, make: Callable[..., Made], *args: Hashable) -> Made:
        """What `make(pages, *args)` gives: made once for all analyses that ask for the same, so
        that its rows are read and shuffled once."""
        if (make, args) not in self.made:
            self.made[make, args] = make(self, *args)
        made: Made = self.made[make, args]
        return made
