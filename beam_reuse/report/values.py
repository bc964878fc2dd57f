"""What a report is made of: cards that answer a question, and figures. Plain values: an analysis
gives them (`About.report`), and `page` makes HTML of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Mark = Literal["points", "line", "bars"]


@dataclass(frozen=True)
class Example:
    """One thing that was found: what it is, as the crawl has it, and what is to be said of it."""

    what: str
    said: str = ""


@dataclass(frozen=True)
class Card:
    """A question, the answer in one sentence, the `number` behind it with its `unit`, some
    examples, and the SQL that gets all of it. Cards are shown in their `order`."""

    order: int
    title: str
    number: str
    unit: str
    answer: str
    examples: Sequence[Example] = ()
    query: str = ""


@dataclass(frozen=True)
class Axis:
    """`log`: by powers of ten, of values of 1 or more. `share`: values are shares of 1, shown in
    per cent. Others begin at 0, unless not `from_zero`."""

    label: str
    log: bool = False
    share: bool = False
    from_zero: bool = True


@dataclass(frozen=True)
class Series:
    """Points (x, y) with one name; `bars` are as wide as `width` and begin at their x."""

    name: str
    points: Sequence[tuple[float, float]]
    mark: Mark = "points"
    width: float = 1.0


@dataclass(frozen=True)
class Plot:
    """Values against values. `lines` are values of x that are marked, with what they mean."""

    title: str
    caption: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    lines: Sequence[tuple[float, str]] = ()


@dataclass(frozen=True)
class Bars:
    """A bar for each label: a value, and the whole of which it is a part."""

    title: str
    caption: str
    label: str
    value: str
    whole: str
    rows: Sequence[tuple[str, int, int]]
    left_out: int = 0


@dataclass(frozen=True)
class Matrix:
    """Shares of 1 of things (rows) in things (columns); a pair that is missing has none."""

    title: str
    caption: str
    label: str
    names: Sequence[str]
    cells: dict[tuple[int, int], float] = field(default_factory=dict)
    left_out: int = 0


Figure = Plot | Bars | Matrix
