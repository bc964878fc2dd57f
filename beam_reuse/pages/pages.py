"""The pages of a run, as analyses read them."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, TypeVar

from beam_reuse.rows import Plan, Rows

Args = ParamSpec("Args")
Made = TypeVar("Made")


@dataclass(frozen=True)
class Pages:
    """`parts` has a row for each numbered part (see `pages.rows`), `names` the number and the URL
    of each page. `spill` is a folder that all workers share; so many parts as `ranges` are worked
    on apart.
    """

    plan: Plan
    parts: Rows
    names: Rows
    spill: str
    ranges: int
    _made: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)

    def rows(self, kernel: Callable[..., Any], *args: Any) -> Rows:
        """What `kernel(parts, *args)` reads of all pages."""
        return self.parts.map(kernel, *args)

    def with_parts(self, rows: Rows, kernel: Callable[..., Any], *args: Any) -> Rows:
        """What `kernel(rows, parts, *args)` gives where rows come to the parts that their column
        `range` names; all parts are there, and rows are None where there are none for them."""
        return rows.join(self.parts, "range", kernel, *args, buckets=self.ranges, dealt=True)

    def once(
        self, make: Callable[Concatenate["Pages", Args], Made], *args: Args.args,
        **kwargs: Args.kwargs,
    ) -> Made:
        """What `make(pages, *args)` gives: made once for all analyses that ask for the same, so
        that its rows are read and shuffled once."""
        key = (make, args, *kwargs.items())
        if key not in self._made:
            self._made[key] = make(self, *args, **kwargs)
        made: Made = self._made[key]
        return made
