"""Shares as integers, so that means, deviations and comparisons are exact.

A share is floor(part * 2**40 / whole); the whole of nothing has none (-1).
"""

from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

BITS = 40
ONE = 1 << BITS
NO_SHARE = -1
_HALF = BITS // 2
_LOW = (1 << _HALF) - 1


def shares(part: NDArray, whole: NDArray) -> NDArray[np.int64]:
    """The share of each `part` in its `whole`; exact for wholes below 2**43.

    Long division, 20 bits at a time: `part` << 40 would overflow beyond 8 million.
    """
    part, whole = part.astype(np.int64), whole.astype(np.int64)
    some = np.maximum(whole, 1)
    out, rest = part // some, part % some
    for _ in range(2):
        rest <<= _HALF
        out = (out << _HALF) + rest // some
        rest %= some
    return np.where(whole > 0, out, NO_SHARE)


def moments(share: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """Columns whose sums give `auto_threshold`: a share's square does not fit in 64 bits, so
    it is kept as the products of its halves. Rows without a share add nothing."""
    value = np.maximum(share, 0)
    high, low = value >> _HALF, value & _LOW
    return {
        "values": (share >= 0).astype(np.int64), "positive": (share > 0).astype(np.int64),
        "total": value, "high_high": high * high,
        "high_low": high * low, "low_low": low * low,
    }


MOMENTS = ("values", "positive", "total", "high_high", "high_low", "low_low")


def auto_threshold(sums: dict[str, int], least: int = 0) -> int:
    """Mean plus one population deviation, from sums of `moments`: a share is above it if and
    only if it is greater than this integer. Exact: with n values, sum S and sum of squares Q,
    share > (S + sqrt(nQ - S²)) / n, where share is an integer.

    With `least`, 0 where the values are no background: fewer than `least`, or half of them or more
    are above 0 (equal ones would then all be below mean plus deviation)."""
    n, total = sums["values"], sums["total"]
    if least and (n < least or 2 * sums["positive"] >= n):
        return 0
    if n == 0:
        return ONE
    squares = (
        (sums["high_high"] << BITS) + (sums["high_low"] << (_HALF + 1)) + sums["low_low"])
    return (total + isqrt(n * squares - total * total)) // n


def given_threshold(value: float) -> int:
    """The greatest share that is not above `value`."""
    return int(Fraction(value) * ONE)


def ratio(part: NDArray, whole: NDArray) -> NDArray[np.float64]:
    """part / whole as the nearest doubles, NaN where the whole is 0; exact below 2**53."""
    out = np.full(len(part), np.nan)
    np.divide(part, whole, out=out, where=whole > 0)
    return out


def mean_share(high: NDArray, low: NDArray, values: NDArray) -> NDArray[np.float64]:
    """The mean of shares whose halves add up to `high` and `low`, as the nearest doubles; NaN
    where there are no values. Python integers where a sum needs more than 53 bits."""
    total = (high.astype(np.int64) << _HALF) + low
    out = ratio(total, values.astype(np.int64)) / ONE  # a power of two: nothing is rounded
    for i in np.flatnonzero(high > 1 << 32):
        out[i] = ((int(high[i]) << _HALF) + int(low[i])) / (int(values[i]) << BITS)
    return out


def floor_mean(high: NDArray, low: NDArray, values: NDArray) -> NDArray[np.int64]:
    """floor(sum of shares / values) of the same sums, NO_SHARE where there are no values."""
    some = np.maximum(values.astype(np.int64), 1)
    whole, rest = high // some, high % some
    out = (whole << _HALF) + ((rest << _HALF) + low) // some
    return np.where(values > 0, out, NO_SHARE)


def halves(share: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """High and low 20 bits of each share; nothing for no share. Sums of them fit in 64 bits
    for 2**42 rows."""
    value = np.maximum(share, 0)
    return value >> _HALF, value & _LOW
