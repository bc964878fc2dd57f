"""The exponent of a distribution: how fast counts fall with a value, on a double log scale.

A histogram of fewer than LEAST_POINTS values has none: any curve fits so few.
"""

import math
from collections.abc import Mapping

import numpy as np

LEAST_POINTS = 10
_TERMS = 1000
_STEEPEST = 60.0
_FLATTEST = 1 + 1e-6


def line_exponent(histogram: Mapping[int, int]) -> float | None:
    """The slope of the straight line through the points (log value, log count), by least
    squares over all values that occur; None for fewer than LEAST_POINTS. As one reads it off a
    plot: the many values that occur once flatten it."""
    points = _points(histogram)
    if len(points) < LEAST_POINTS:
        return None
    x, y = np.log10(np.array(sorted(points.items()))).T
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / (x * x).sum())


def likely_exponent(histogram: Mapping[int, int]) -> float | None:
    """Minus the s for which values with probability k^-s / zeta(s), k = 1, 2, ..., most likely
    give this histogram; None for fewer than LEAST_POINTS different values.

    It is where the mean of log k is that of the values; found by halving, to 1e-6 or better.
    """
    points = _points(histogram)
    if len(points) < LEAST_POINTS:
        return None
    logs = math.fsum(count * math.log(value) for value, count in points.items())
    mean = logs / sum(points.values())
    low, high = _FLATTEST, _STEEPEST
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if mean_log(middle) > mean else (low, middle)
    return -low


def _points(histogram: Mapping[int, int]) -> dict[int, int]:
    return {value: count for value, count in histogram.items() if value > 0 and count > 0}


def mean_log(s: float) -> float:
    """The mean of log k where k = 1, 2, ... has probability k^-s / zeta(s), for s > 1: the first
    terms summed, the others by the integral and half of the first of them."""
    k = np.arange(1, _TERMS, dtype=np.float64)
    powers, logs = k ** -s, np.log(k)
    n, log_n = float(_TERMS), math.log(_TERMS)
    at_n, tail = n ** -s, n ** (1 - s) / (s - 1)
    zeta = powers.sum() + tail + at_n / 2
    sloped = (powers * logs).sum() + tail * (log_n + 1 / (s - 1)) + at_n * log_n / 2
    return float(sloped / zeta)
