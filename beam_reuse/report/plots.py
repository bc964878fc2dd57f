"""Plots as SVG: axes, points, lines and bars."""

from collections.abc import Iterator, Sequence

from beam_reuse.report.markup import element, escaped
from beam_reuse.report.scales import Scale, shown
from beam_reuse.report.values import Plot, Series

WIDTH, HEIGHT, LETTER = 560.0, 320.0, 7.2
_LEFT, _RIGHT, _TOP, _BOTTOM = 62.0, 24.0, 26.0, 46.0
_RADIUS = 2.8


def plotted(plot: Plot) -> Iterator[str]:
    """The parts of a plot, WIDTH by HEIGHT."""
    points = [point for series in plot.series for point in series.shown]
    edges = [x - each.before + beyond for each in plot.series if each.mark == "bars"
             for x, _ in each.points for beyond in (0.0, each.width)]
    xs = [x for x, _ in points] + edges + [at for at, _ in plot.lines]
    x = Scale.of(plot.x, xs, _LEFT, WIDTH - _RIGHT)
    y = Scale.of(plot.y, [each for _, each in points] + [at for at, _ in plot.levels],
                 HEIGHT - _BOTTOM, _TOP)
    yield from _axes(plot, x, y)
    for number, series in enumerate(plot.series):
        yield element("g", *_marks(series, number, x, y), class_=f"s{number}")
    yield from _marked(plot, x, y)
    yield from _legend(plot.series)


def _marked(plot: Plot, x: Scale, y: Scale) -> Iterator[str]:
    """Values that are marked by a line across the plot, and what they mean."""
    for number, (at, what) in enumerate(plot.lines):
        place, height = x.place(at), _TOP + 10 + 12 * number
        yield _line(place, _TOP, place, HEIGHT - _BOTTOM, "mark")
        if place > WIDTH / 2:
            yield written(place - 4, height, what, "mark end")
        else:
            yield written(place + 4, height, what, "mark")
    for at, what in plot.levels:
        place = y.place(at)
        yield _line(_LEFT, place, WIDTH - _RIGHT, place, "mark")
        yield written(WIDTH - _RIGHT - 2, place - 4, what, "mark end")


def _axes(plot: Plot, x: Scale, y: Scale) -> Iterator[str]:
    bottom = HEIGHT - _BOTTOM
    for value, text in y.ticks():
        at = y.place(value)
        yield _line(_LEFT, at, WIDTH - _RIGHT, at, "grid")
        yield written(_LEFT - 6, at + 4, text, "tick end")
    for value, text in x.ticks():
        at = x.place(value)
        yield _line(at, bottom, at, bottom + 4, "axis")
        yield written(at, bottom + 17, text, "tick mid")
    yield _line(_LEFT, bottom, WIDTH - _RIGHT, bottom, "axis")
    yield written((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 8, plot.x.label, "label mid")
    middle = (_TOP + bottom) / 2
    yield written(13, middle, plot.y.label, "label mid", transform=f"rotate(-90 13 {middle:g})")


def _marks(series: Series, number: int, x: Scale, y: Scale) -> Iterator[str]:
    if series.mark in ("line", "path"):
        path = " ".join(f"{x.place(a):.1f},{y.place(b):.1f}" for a, b in series.shown)
        yield element("polyline", points=path, class_="line")
    for a, b in series.shown:
        said = element("title", escaped(f"{series.name}: {shown(x.axis, a)}, {shown(y.axis, b)}"))
        if series.mark == "bars":
            left = x.place(a - series.before)
            right = x.place(a - series.before + series.width)
            top, bottom = y.place(b), y.place(0)
            yield element("rect", said, x=left + 0.5, y=top, width=max(right - left - 1, 0.5),
                          height=max(bottom - top, 0.0), class_="bar")
        elif series.mark in ("points", "path"):
            yield _point(number, x.place(a), y.place(b), said)


def _point(number: int, x: float, y: float, said: str = "") -> str:
    """A point, whose shape tells series apart where colours do not: a disc, a square, a triangle,
    a diamond."""
    r = _RADIUS
    if number % 4 == 0:
        return element("circle", said, cx=x, cy=y, r=r, class_="point")
    if number % 4 == 1:
        return element("rect", said, x=x - r, y=y - r, width=2 * r, height=2 * r, class_="point")
    corners = ((0, -1.3), (1.3, 1), (-1.3, 1)) if number % 4 == 2 else (
        (0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0))
    path = " ".join(f"{x + a * r:.1f},{y + b * r:.1f}" for a, b in corners)
    return element("polygon", said, points=path, class_="point")


def _legend(series: Sequence[Series]) -> Iterator[str]:
    if len(series) < 2:
        return
    left = _LEFT
    for number, each in enumerate(series):
        if each.mark == "line":
            key = element("line", x1=left, y1=11, x2=left + 12, y2=11, class_="line")
        elif each.mark == "bars":
            key = element("rect", x=left, y=6, width=10, height=10, class_="bar")
        else:
            key = _point(number, left + 6, 11)
        yield element("g", key, written(left + 17, 15, each.name, "tick"), class_=f"s{number}")
        left += 17 + LETTER * len(each.name) + 16


def written(x: float, y: float, text: str, kind: str, **more: str) -> str:
    """Text at a place."""
    return element("text", escaped(text), x=x, y=y, class_=kind, **more)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)
