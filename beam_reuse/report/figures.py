"""The numbers of figures, for those who do not look at them or want to go on with them."""

from beam_reuse.report.scales import shown
from beam_reuse.report.svg import shown_share
from beam_reuse.report.values import Axis, Bars, Figure, Plot

ROWS = 1000
Numbers = tuple[list[str], list[list[str]], int]


def numbers_of(figure: Figure) -> Numbers:
    """Names of columns, rows, and how many more there are."""
    if isinstance(figure, Plot):
        rows = [[series.name, _number(figure.x, x), _number(figure.y, y)]
                for series in figure.series for x, y in series.shown]
        head, listed, more = _limited(["of", figure.x.label, figure.y.label], rows)
        return head, listed, more + sum(
            len(each.points) - len(each.shown) for each in figure.series)
    if isinstance(figure, Bars):
        rows = [[label, f"{value:,}", f"{whole:,}"] for label, value, whole in figure.rows]
        head, listed, more = _limited([figure.label, figure.value, figure.whole], rows)
        return head, listed, more + figure.left_out
    rows = [[figure.names[row], figure.names[column], shown_share(share)]
            for (row, column), share in sorted(figure.cells.items()) if row != column]
    head, listed, more = _limited([figure.label, "is on", "so much of it"], rows)
    return head, listed, more + figure.left_out


def _number(axis: Axis, value: float) -> str:
    if axis.share:
        return shown(axis, value)
    return f"{int(value):,}" if value == int(value) else f"{value:,.4g}"


def _limited(head: list[str], rows: list[list[str]]) -> Numbers:
    return head, rows[:ROWS], max(0, len(rows) - ROWS)
