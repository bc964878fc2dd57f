"""Figures of near-duplicates, as the paper has them: thresholds, degrees, term differences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from beam_reuse.io.figures import rendered

_COLOURS = {"b": "#0072b2", "c": "#d55e00", "combined": "#009e73", "hybrid": "#cc79a7"}
_GREY = "#555555"
THRESHOLD_FIGURE, DEGREE_FIGURE, DIFFERENCE_FIGURE = (
    "pairs-thresholds", "graph-degrees", "differences")

MANY_TERMS = 200

Files = Iterator[tuple[str, bytes]]
Rows = Sequence[Mapping[str, Any]]


def threshold_figure(rows: Rows) -> Files:
    """Precision against the C-threshold of combined, and R against precision: all labels, and
    each half."""
    halves = {"all": ("all labels", "-"), "1": ("half 1", "--"), "2": ("half 2", ":")}

    def draw(precision: Any, against: Any) -> None:
        for half, (label, line) in halves.items():
            mine = [row for row in rows if row["half"] == half and row["precision"] is not None]
            look = {"label": label, "linestyle": line, "marker": ".", "markersize": 3}
            precision.plot([row["threshold"] for row in mine],
                           [row["precision"] for row in mine], **look)
            both = [row for row in mine if row["r"] is not None]
            against.plot([row["precision"] for row in both], [row["r"] for row in both], **look)
        precision.set(xlabel="C-threshold of combined", ylabel="precision", ylim=(-0.03, 1.03))
        against.set(xlabel="precision", ylabel="R: share of B's correct pairs kept",
                    xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        precision.legend()

    return rendered(THRESHOLD_FIGURE, 2, draw)


def degree_figure(algorithms: Rows, degrees: Rows) -> Files:
    """The degree distribution of each algorithm's graph, with the line through it."""

    def draw(*panels: Any) -> None:
        for axes, row in zip(panels, algorithms, strict=True):
            name = row["algorithm"]
            _degrees(axes, name, [one for one in degrees if one["algorithm"] == name],
                     row["exponent_line"])

    return rendered(DEGREE_FIGURE, len(algorithms), draw)


def _degrees(axes: Any, algorithm: str, rows: Rows, slope: float | None) -> None:
    axes.set(xlabel="near-duplicates of a page", ylabel="pages", title=algorithm)
    if not rows:
        return
    degrees, pages = ([row[name] for row in rows] for name in ("degree", "pages"))
    axes.loglog(degrees, pages, ".", markersize=3, color=_COLOURS[algorithm])
    if slope is not None:
        anchor = _middle(degrees, pages, slope)
        ends = degrees[0], degrees[-1]
        axes.loglog(ends, [anchor * degree ** slope for degree in ends], "--", color=_GREY,
                    linewidth=1, label=f"exponent {slope:.2f}")
        axes.legend()


def _middle(degrees: Sequence[int], pages: Sequence[int], slope: float) -> float:
    """What the line gives at degree 1: it passes the mean of the points' logarithms."""
    return float(np.exp(np.log(pages).mean() - slope * np.log(degrees).mean()))


def difference_figure(terms: Mapping[str, Sequence[int]]) -> Files:
    """How many pairs of each algorithm have which term difference, up to MANY_TERMS."""

    def draw(*panels: Any) -> None:
        for axes, (algorithm, mine) in zip(panels, terms.items(), strict=True):
            counts = Counter(term for term in mine if term <= MANY_TERMS)
            axes.vlines(list(counts), 0, list(counts.values()), color=_COLOURS[algorithm])
            more = len(mine) - counts.total()
            axes.set(xlabel="term difference", ylabel="pairs", xlim=(0, MANY_TERMS),
                     title=f"{algorithm} ({more:,} above {MANY_TERMS})")
            axes.set_ylim(bottom=0)

    return rendered(DIFFERENCE_FIGURE, len(terms), draw)
