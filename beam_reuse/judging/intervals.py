"""How far a share of a sample may be from that of the rows it was drawn from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from beam_reuse.judging.measures import Rate

# Of samples drawn as ours are, 95 in 100 have an interval that contains the true share.
NORMAL_95 = 1.959963984540054


@dataclass(frozen=True)
class Drawn:
    """The share found in a sample of a stratum, and the rows that the stratum has."""

    found: Rate
    rows: int


@dataclass(frozen=True)
class Interval:
    """A share of a table's rows: as estimated, with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


def wilson(stratum: Drawn) -> Interval | None:
    """Wilson's score interval. What has been drawn cannot differ any more: a sample of n of N rows
    counts as n (N - 1) / (N - n), and one of all rows is exact. None for an empty sample."""
    n, rows = stratum.found.whole, stratum.rows
    if not n:
        return None
    p = float(Fraction(stratum.found.part) / Fraction(n))
    if n >= rows:
        return Interval(p, p, p)
    per_row = NORMAL_95 ** 2 / (float(n) * (rows - 1) / float(rows - n))
    middle = (p + per_row / 2) / (1 + per_row)
    half = math.sqrt(p * (1 - p) * per_row + per_row ** 2 / 4) / (1 + per_row)
    return Interval(p, min(p, middle - half), max(p, middle + half))


def of_strata(strata: Sequence[Drawn]) -> Interval | None:
    """The share of all rows of some strata, each of which was sampled by itself: the mean of theirs
    by rows; distances to the ends of their intervals add up as independent errors do (squared).
    Strata without a sample are left out; None if all are. One stratum has Wilson's interval."""
    parts = [(stratum.rows, wilson(stratum)) for stratum in strata]
    known = [(rows, interval) for rows, interval in parts if interval is not None]
    if not known:
        return None
    total = sum(rows for rows, _ in known)
    value = sum(rows * interval.value for rows, interval in known) / total
    below, above = (math.sqrt(sum((rows / total * distance) ** 2 for rows, distance in (
        (rows, end(interval)) for rows, interval in known))) for end in (
            lambda one: one.value - one.low, lambda one: one.high - one.value))
    return Interval(value, max(value - below, 0.0), min(value + above, 1.0))
