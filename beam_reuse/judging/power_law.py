"""The exponent of a distribution: how fast counts fall with a value, on a double log scale."""

import math
from collections.abc import Mapping

import numpy as np

_TERMS = 1000
_STEEPEST = 60.0
_FLATTEST = 1 + 1e-6


def line_exponent(histogram: Mapping[int, int]) -> float | None:
    """The slope of the straight line through the points (log value, log count), by least
    squares over all values that occur; None for fewer than two. As one reads it off a plot: the
    many values that occur once flatten it."""
    points = [(math.log10(value), math.log10(count))
              for value, count in sorted(histogram.items()) if value > 0 and count > 0]
    if len(points) < 2:
        return None
    x, y = np.array(points).T
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / (x * x).sum())


def likely_exponent(histogram: Mapping[int, int]) -> float | None:
    """Minus the s for which values with probability k^-s / zeta(s), k = 1, 2, ..., most likely
    give this histogram; None where all values are 1 or there are none.

    It is where the mean of log k is that of the values; found by halving, to 1e-6 or better.
    """
    values = {value: count for value, count in histogram.items() if value > 0 and count > 0}
    total = sum(values.values())
    mean = math.fsum(count * math.log(value) for value, count in values.items()) / total if (
        total) else 0.0
    if not mean:
        return None
    low, high = _FLATTEST, _STEEPEST
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if mean_log(middle) > mean else (low, middle)
    return -low


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
