"""Figures as SVG: drawn from values alone, coloured by the page's own style sheet."""

from collections.abc import Iterator

from beam_reuse.report.labels import short_labels
from beam_reuse.report.markup import element, escaped
from beam_reuse.report.plots import HEIGHT, LETTER, WIDTH, plotted, written
from beam_reuse.report.values import Bars, Figure, Matrix, Plot

_BAR, _LABEL = 22.0, 230.0
_CELL = 30.0


def drawn(figure: Figure) -> str:
    """The figure as one `svg` element with a name for those who do not see it."""
    if isinstance(figure, Plot):
        return _svg(figure.title, WIDTH, HEIGHT, plotted(figure))
    if isinstance(figure, Bars):
        return _svg(figure.title, WIDTH, _BAR * len(figure.rows) + 8, _bars(figure))
    side = _CELL * len(figure.names) + 8
    return _svg(figure.title, max(WIDTH, _LABEL + side), side + 40, _matrix(figure))


def _svg(title: str, width: float, height: float, parts: Iterator[str]) -> str:
    return element("svg", *parts, viewBox=f"0 0 {width:g} {height:g}", role="img",
                   aria_label=f"{title}; its numbers are in the table below",
                   preserveAspectRatio="xMinYMin meet")


def _bars(bars: Bars) -> Iterator[str]:
    most = max((whole for _, _, whole in bars.rows), default=0) or 1
    room = WIDTH - _LABEL - 70
    labels = short_labels([label for label, _, _ in bars.rows], _letters(6))
    for number, (label, (full, value, whole)) in enumerate(zip(labels, bars.rows, strict=True)):
        top = 4 + number * _BAR
        yield written(_LABEL - 6, top + 14, label, "tick end")
        said = element("title", escaped(f"{full}: {value:,} of {whole:,}"))
        yield element("g", said, element("rect", x=_LABEL, y=top + 3, width=room * whole / most,
                                         height=_BAR - 8, class_="whole"),
                      element("rect", x=_LABEL, y=top + 3, width=room * value / most,
                              height=_BAR - 8, class_="bar"), class_="s0")
        yield written(_LABEL + room * whole / most + 5, top + 14, f"{value:,}", "tick")


def _matrix(matrix: Matrix) -> Iterator[str]:
    top = 32.0
    labels = short_labels(matrix.names, _letters(30))
    for row, (label, name) in enumerate(zip(labels, matrix.names, strict=True)):
        y = top + row * _CELL
        yield written(_LABEL - 6, y + 19, f"{label}  {row + 1}", "tick end")
        yield written(_LABEL + (row + 0.5) * _CELL, top - 8, str(row + 1), "tick mid")
        for column, other in enumerate(matrix.names):
            share = matrix.cells.get((row, column))
            what = f"{shown_share(share)} of {name} is on {other}"
            yield element(
                "rect", element("title", escaped(what)), x=_LABEL + column * _CELL + 1, y=y + 1,
                width=_CELL - 2, height=_CELL - 2, class_="cell" if share else "none",
                fill_opacity=f"{0.08 + 0.92 * share:.2f}" if share else None)
            if share and row != column:
                yield written(_LABEL + (column + 0.5) * _CELL, y + 19, f"{100 * share:.0f}",
                              "in mid" if share > 0.5 else "tick mid")


def shown_share(share: float | None) -> str:
    """A share in per cent."""
    return f"{100 * (share or 0):.1f} %"


def _letters(taken: float) -> int:
    """How many letters fit beside a bar or a row, of which so much room is taken."""
    return int((_LABEL - taken) / LETTER)
