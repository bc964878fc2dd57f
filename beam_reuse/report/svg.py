"""Figures as SVG: drawn from values alone, coloured by the page's own style sheet."""

from collections.abc import Iterator, Sequence

from beam_reuse.report.markup import element, escaped
from beam_reuse.report.scales import Scale, shown
from beam_reuse.report.values import Bars, Figure, Matrix, Plot, Series

WIDTH, HEIGHT = 560.0, 320.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 62.0, 16.0, 26.0, 46.0
_BAR, _LABEL, _LETTER = 22.0, 230.0, 6.2
_CELL = 30.0


def drawn(figure: Figure) -> str:
    """The figure as one `svg` element with a name for those who do not see it."""
    if isinstance(figure, Plot):
        return _svg(figure.title, WIDTH, HEIGHT, _plot(figure))
    if isinstance(figure, Bars):
        return _svg(figure.title, WIDTH, _BAR * len(figure.rows) + 8, _bars(figure))
    side = _LABEL + _CELL * len(figure.names) + 8
    return _svg(figure.title, side, side - _LABEL + 40, _matrix(figure))


def _svg(title: str, width: float, height: float, parts: Iterator[str]) -> str:
    return element("svg", *parts, viewBox=f"0 0 {width:g} {height:g}", role="img",
                   aria_label=f"{title}; its numbers are in the table below",
                   preserveAspectRatio="xMinYMin meet")


def _text(x: float, y: float, text: str, kind: str, **more: str) -> str:
    return element("text", escaped(text), x=x, y=y, class_=kind, **more)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def _plot(plot: Plot) -> Iterator[str]:
    points = [point for series in plot.series for point in series.points]
    right = [x + each.width for each in plot.series if each.mark == "bars"
             for x, _ in each.points]
    xs = [x for x, _ in points] + right + [at for at, _ in plot.lines]
    x = Scale.of(plot.x, xs, _LEFT, WIDTH - _RIGHT)
    y = Scale.of(plot.y, [each for _, each in points], HEIGHT - _BOTTOM, _TOP)
    yield from _axes(plot, x, y)
    for number, series in enumerate(plot.series):
        yield element("g", *_marks(series, x, y), class_=f"s{number}")
    for at, what in plot.lines:
        place = x.place(at)
        yield _line(place, _TOP, place, HEIGHT - _BOTTOM, "mark")
        if place > WIDTH / 2:
            yield _text(place - 4, _TOP + 10, what, "mark end")
        else:
            yield _text(place + 4, _TOP + 10, what, "mark")
    yield from _legend(plot.series)


def _axes(plot: Plot, x: Scale, y: Scale) -> Iterator[str]:
    bottom = HEIGHT - _BOTTOM
    for value, text in y.ticks():
        at = y.place(value)
        yield _line(_LEFT, at, WIDTH - _RIGHT, at, "grid")
        yield _text(_LEFT - 6, at + 4, text, "tick end")
    for value, text in x.ticks():
        at = x.place(value)
        yield _line(at, bottom, at, bottom + 4, "axis")
        yield _text(at, bottom + 17, text, "tick mid")
    yield _line(_LEFT, bottom, WIDTH - _RIGHT, bottom, "axis")
    yield _text((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 8, plot.x.label, "label mid")
    middle = (_TOP + bottom) / 2
    yield _text(13, middle, plot.y.label, "label mid", transform=f"rotate(-90 13 {middle:g})")


def _marks(series: Series, x: Scale, y: Scale) -> Iterator[str]:
    if series.mark == "line":
        path = " ".join(f"{x.place(a):.1f},{y.place(b):.1f}" for a, b in series.points)
        yield element("polyline", points=path, class_="line")
    for a, b in series.points:
        said = element("title", escaped(f"{series.name}: {shown(x.axis, a)}, {shown(y.axis, b)}"))
        if series.mark == "bars":
            left, right = x.place(a), x.place(a + series.width)
            top, bottom = y.place(b), y.place(0)
            yield element("rect", said, x=left + 0.5, y=top, width=max(right - left - 1, 0.5),
                          height=max(bottom - top, 0.0), class_="bar")
        elif series.mark == "points":
            yield element("circle", said, cx=x.place(a), cy=y.place(b), r=2.6, class_="point")


def _legend(series: Sequence[Series]) -> Iterator[str]:
    if len(series) < 2:
        return
    left = _LEFT
    for number, each in enumerate(series):
        yield element("g", element("rect", x=left, y=6, width=10, height=10, class_="key"),
                      _text(left + 14, 15, each.name, "tick"), class_=f"s{number}")
        left += 14 + _LETTER * len(each.name) + 18


def _bars(bars: Bars) -> Iterator[str]:
    most = max((whole for _, _, whole in bars.rows), default=0) or 1
    room = WIDTH - _LABEL - 70
    for number, (label, value, whole) in enumerate(bars.rows):
        top = 4 + number * _BAR
        yield _text(_LABEL - 6, top + 14, _cut(label), "tick end")
        yield element("g", element("rect", x=_LABEL, y=top + 3, width=room * whole / most,
                                   height=_BAR - 8, class_="whole"),
                      element("rect", x=_LABEL, y=top + 3, width=room * value / most,
                              height=_BAR - 8, class_="bar"), class_="s0")
        yield _text(_LABEL + room * whole / most + 5, top + 14, f"{value:,}", "tick")


def _matrix(matrix: Matrix) -> Iterator[str]:
    top = 32.0
    for row, name in enumerate(matrix.names):
        y = top + row * _CELL
        yield _text(_LABEL - 6, y + 19, f"{_cut(name)}  {row + 1}", "tick end")
        yield _text(_LABEL + (row + 0.5) * _CELL, top - 8, str(row + 1), "tick mid")
        for column, other in enumerate(matrix.names):
            share = matrix.cells.get((row, column))
            what = f"{shown_share(share)} of {name} is on {other}"
            yield element(
                "rect", element("title", escaped(what)), x=_LABEL + column * _CELL + 1, y=y + 1,
                width=_CELL - 2, height=_CELL - 2, class_="cell" if share else "none",
                fill_opacity=f"{0.08 + 0.92 * share:.2f}" if share else None)
            if share and row != column:
                yield _text(_LABEL + (column + 0.5) * _CELL, y + 19, f"{100 * share:.0f}",
                            "in mid" if share > 0.5 else "tick mid")


def shown_share(share: float | None) -> str:
    """A share in per cent."""
    return f"{100 * (share or 0):.1f} %"


def _cut(label: str) -> str:
    most = int((_LABEL - 30) / _LETTER)
    return label if len(label) <= most else label[: most // 2] + "…" + label[-(most // 2) + 1 :]
