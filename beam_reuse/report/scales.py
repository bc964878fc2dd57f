"""Where values are drawn, and which of them are written beside an axis."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10

from beam_reuse.report.values import Axis

_STEPS = (1, 2, 5, 10)
_TICKS = 5
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class Scale:
    """Maps values from `low` to `high` to places from `start` to `end`."""

    axis: Axis
    low: float
    high: float
    start: float
    end: float

    @staticmethod
    def of(axis: Axis, values: Iterable[float], start: float, end: float) -> "Scale":
        """A scale on which all these values have a place; values of a logarithmic one below 1
        have none, and count as 1."""
        known = [*values] or [0.0]
        low, high = min(known), max(known)
        if axis.log:
            return Scale(axis, 0.0, max(1, ceil(log10(max(1.0, high)) - 1e-9)), start, end)
        if axis.share and low >= 0 and high <= 1:
            return Scale(axis, 0.0, 1.0, start, end)
        low = min(0.0, low) if axis.from_zero else low
        step = _step(low, high)
        return Scale(axis, floor(low / step + 1e-9) * step,
                     max(low + step, ceil(high / step - 1e-9) * step), start, end)

    def place(self, value: float) -> float:
        at = log10(max(1.0, value)) if self.axis.log else value
        share = (at - self.low) / (self.high - self.low) if self.high > self.low else 0.0
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Values that are written beside the axis, and how."""
        if self.axis.log:
            apart = max(1, ceil(self.high / 6))
            return [(10.0 ** n, short(10.0 ** n))
                    for n in range(0, round(self.high) + 1, apart)]
        step = _step(self.low, self.high)
        values = (self.low + n * step
                  for n in range(floor((self.high - self.low) / step + 1e-9) + 1))
        return [(each, shown(self.axis, each)) for each in values]


def shown(axis: Axis, value: float) -> str:
    """A value of an axis for people."""
    return f"{100 * value:.4g} %" if axis.share else short(value)


def short(value: float) -> str:
    """A number in few letters: 1, 20k, 3.5M."""
    for scale, unit in _UNITS:
        if value >= scale:
            return f"{value / scale:.4g}{unit}"
    return f"{value:.4g}"


def _step(low: float, high: float) -> float:
    """The distance of ticks: 1, 2 or 5 times a power of ten."""
    raw = (high - low) / _TICKS or 1.0
    power = 10.0 ** floor(log10(raw))
    return next(step * power for step in _STEPS if step * power >= raw - 1e-12)
