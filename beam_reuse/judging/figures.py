"""Figures of near-duplicates, as the paper has them: thresholds, degrees, term differences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from beam_reuse.io.figures import rendered
from beam_reuse.judging.differences import MANY, DifferenceSummary
from beam_reuse.judging.graph import DegreeFigures, Graph

_COLOURS = {"b": "#0072b2", "c": "#d55e00", "combined": "#009e73", "hybrid": "#cc79a7"}
_GREY = "#555555"
THRESHOLD_FIGURE, DEGREE_FIGURE, DIFFERENCE_FIGURE = (
    "pairs-thresholds", "graph-degrees", "differences")

Files = Iterator[tuple[str, bytes]]


def threshold_figure(rows: Sequence[Mapping[str, Any]]) -> Files:
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


def degree_figure(graph: Graph) -> Files:
    """The degree distribution of each algorithm's graph, with the line through it."""

    def draw(*panels: Any) -> None:
        for axes, figures in zip(panels, graph.degrees, strict=True):
            _degrees(axes, figures)

    return rendered(DEGREE_FIGURE, len(graph.degrees), draw)


def _degrees(axes: Any, figures: DegreeFigures) -> None:
    axes.set(xlabel="near-duplicates of a page", ylabel="pages", title=figures.algorithm)
    if not figures.degrees:
        return
    degrees, pages = zip(*sorted(figures.degrees.items()), strict=True)
    axes.loglog(degrees, pages, ".", markersize=3, color=_COLOURS[figures.algorithm])
    slope = figures.line_exponent
    if slope is not None:
        anchor = _middle(degrees, pages, slope)
        ends = degrees[0], degrees[-1]
        axes.loglog(ends, [anchor * degree ** slope for degree in ends], "--", color=_GREY,
                    linewidth=1, label=f"exponent {slope:.2f}")
        axes.legend()


def _middle(degrees: Sequence[int], pages: Sequence[int], slope: float) -> float:
    """What the line gives at degree 1: it passes the mean of the points' logarithms."""
    return float(np.exp(np.log(pages).mean() - slope * np.log(degrees).mean()))


def difference_figure(summaries: Sequence[DifferenceSummary]) -> Files:
    """How many pairs have which term difference, up to MANY."""
    whole = [summary for summary in summaries if summary.verdict is None]

    def draw(*panels: Any) -> None:
        for axes, summary in zip(panels, whole, strict=True):
            counts = Counter(terms for terms in summary.terms if terms <= MANY)
            axes.vlines(list(counts), 0, list(counts.values()),
                        color=_COLOURS[summary.algorithm])
            more = len(summary.terms) - counts.total()
            axes.set(xlabel="term difference", ylabel="pairs", xlim=(0, MANY),
                     title=f"{summary.algorithm} ({more:,} above {MANY})")
            axes.set_ylim(bottom=0)

    return rendered(DIFFERENCE_FIGURE, len(whole), draw)
