"""What a report is made of: cards that answer a question, and figures. Plain values: an analysis
gives them (`About.report`), and `page` makes HTML of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

POINTS = 400
Mark = Literal["points", "line", "bars", "path"]


@dataclass(frozen=True)
class Example:
    """One thing that was found: what it is, as the crawl has it, and what is to be said of it.
    `screen` is where the viewer shows it, with the parameters of its address."""

    what: str
    said: str = ""
    screen: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Card:
    """A question, the answer in one sentence, the `number` behind it with its `unit`, some
    examples, and the SQL that gets all of it. Cards are shown in their `order`. `screen` is where
    the viewer shows all of it: what follows `#/` in the address."""

    order: int
    title: str
    number: str
    unit: str
    answer: str
    examples: Sequence[Example] = ()
    query: str = ""
    screen: str = ""


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
    """Points (x, y) with one name; `bars` are as wide as `width` and begin `before` their x, a
    `path` is a line with its points."""

    name: str
    points: Sequence[tuple[float, float]]
    mark: Mark = "points"
    width: float = 1.0
    before: float = 0.0

    @property
    def shown(self) -> Sequence[tuple[float, float]]:
        """The points that are drawn and listed: of many the first ones, of the others every so
        many, and the last."""
        half, points = POINTS // 2, self.points
        if len(points) <= POINTS:
            return points
        apart = -(-(len(points) - half) // (half - 1))
        return [*points[:half], *points[half:-1:apart], points[-1]]


@dataclass(frozen=True)
class Plot:
    """Values against values. `lines` are values of x that are marked, with what they mean,
    `levels` such values of y."""

    title: str
    caption: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    lines: Sequence[tuple[float, str]] = ()
    levels: Sequence[tuple[float, str]] = ()


@dataclass(frozen=True)
class Bars:
    """A bar for each label: a value, and the whole of which it is a part. `left_out` labels have
    none, though they could."""

    title: str
    caption: str
    label: str
    value: str
    whole: str
    rows: Sequence[tuple[str, int, int]]
    left_out: int = 0


@dataclass(frozen=True)
class Matrix:
    """Shares of 1 of things (rows) in things (columns); a pair that is missing has none, and
    `left_out` pairs are of things that are not shown."""

    title: str
    caption: str
    label: str
    names: Sequence[str]
    cells: dict[tuple[int, int], float] = field(default_factory=dict)
    left_out: int = 0


Figure = Plot | Bars | Matrix


@dataclass(frozen=True)
class Missing:
    """A table that would be shown, if the result had it, with the columns of today, and if it were
    not damaged, which `said` says."""

    table: str
    said: str = ""


@dataclass(frozen=True)
class Findings:
    """All that a report shows beside the tables and settings, and what it does not show."""

    title: str
    cards: Sequence[Card]
    figures: Sequence[Figure]
    not_shown: Sequence[str] = ()
