"""Figures of the near-duplicate graph by their definitions: every page's degree in a list."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from statistics import linear_regression
from typing import Any

from scipy.optimize import minimize_scalar
from scipy.special import zeta

Row = Mapping[str, Any]
LEAST_POINTS = 10


def degrees(pairs: Iterable[tuple[str, str]]) -> dict[str, int]:
    """The degree of every page with a near-duplicate."""
    near: dict[str, set[str]] = defaultdict(set)
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    return {page: len(others) for page, others in near.items()}


def mean(values: Sequence[int]) -> Fraction | None:
    return Fraction(sum(values), len(values)) if values else None


def share(flags: Sequence[bool]) -> Fraction | None:
    return Fraction(sum(flags), len(flags)) if flags else None


def slope(values: Sequence[int]) -> float | None:
    """Of log10(how many have a value) over log10(value)."""
    points = sorted({value: values.count(value) for value in values}.items())
    if len(points) < LEAST_POINTS:
        return None
    return linear_regression([math.log10(v) for v, _ in points],
                             [math.log10(n) for _, n in points]).slope


def most_likely(values: Sequence[int]) -> float | None:
    """Minus the exponent under which the values are most likely, by trying exponents."""
    if len(set(values)) < LEAST_POINTS:
        return None

    def unlikely(s: float) -> float:
        return len(values) * math.log(zeta(s, 1)) + s * sum(map(math.log, values))

    found = minimize_scalar(unlikely, bounds=(1.0001, 40), method="bounded",
                            options={"xatol": 1e-9})
    return -float(found.x)
