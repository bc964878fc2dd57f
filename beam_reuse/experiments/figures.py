"""Figures of the experiments, drawn from the rows of their tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_reuse.experiments.tables import Row
from beam_reuse.io.figures import rendered

# Told apart by line and by colour, also by those who see no red or green.
LABEL_STYLES = {
    "expert": {"color": "#009e73", "linestyle": "-", "marker": "o"},
    "blind": {"color": "#0072b2", "linestyle": "--", "marker": "s"},
}
_RED, _ORANGE, _GREY = "#d55e00", "#e69f00", "#555555"
_VERBS = {"add": "added", "delete": "deleted", "change": "changed"}


def inject_figure(rows: Sequence[Row], title: str) -> Iterator[tuple[str, bytes]]:
    """Share of the site's distinct files and chunks that are found, against copies."""

    def draw(axes: Any) -> None:
        copies = [row["copies"] for row in rows]
        for kind, look in (("chunk", LABEL_STYLES["blind"]), ("file", LABEL_STYLES["expert"])):
            shares = _percent(rows, f"{kind}_share")
            axes.plot(copies, shares, label=f"{kind}s", markersize=3, **look)
        axes.set(xlabel="copies of the site", ylabel="distinct ones discovered (%)",
                 ylim=(-3, 103))
        axes.legend()

    return rendered("inject", 1, draw, title)


def mutate_figure(
    way: str, rows: Sequence[Row], tolerances: Sequence[Row], title: str,
) -> Iterator[tuple[str, bytes]]:
    """One way of mutating: mean contains of pages, contains of the neighbourhood, and pages
    still detected, against mutations per page."""

    def draw(pages: Any, neighbourhood: Any, detected: Any) -> None:
        for axes, level in ((pages, "page"), (neighbourhood, "neighbourhood")):
            _curves(axes, rows, f"{level}_contains", f"{level}_error")
            _mark_tolerances(axes, [row for row in tolerances if row["level"] == level])
            axes.set(ylim=(-0.03, 1.03), ylabel="share of matching chunks",
                     title="mean of its pages" if level == "page" else "neighbourhood")
        _curves(detected, rows, "detected", "detected_error")
        detected.set(ylabel="pages still detected", title="detected pages",
                     ylim=(0, max(row["pages"] for row in rows) * 1.05))
        most = max(row["multiple"] for row in rows)
        for axes in (pages, neighbourhood, detected):
            axes.set(xlabel=f"chunks {_VERBS[way]} per page / mean chunks per page",
                     xlim=(-0.02 * most, 1.02 * most) if most else None)
            axes.legend(fontsize=7)
        if way == "delete":
            _show_size(pages, rows)

    return rendered(f"mutate-{way}", 3, draw, title)


def thresholds_figure(
    rows: Mapping[str, Sequence[Row]], used: Mapping[str, int],
) -> Iterator[tuple[str, bytes]]:
    """For each kind: both rates against the threshold, with the one in use marked, and each
    against the other."""

    def draw(*panels: Any) -> None:
        for (kind, found), by_threshold, against in zip(
                rows.items(), panels[::2], panels[1::2], strict=True):
            _rates(by_threshold, kind, found, used[kind])
            against.plot(_percent(found, "false_positive_rate"),
                         _percent(found, "true_positive_rate"),
                         color=_GREY, marker="o", markersize=3)
            against.set(xlabel="benign ones found (%)", ylabel="bad ones found (%)",
                        xlim=(-3, 103), ylim=(-3, 103), title=f"{kind}s: one against the other")

    return rendered("thresholds", 2 * len(rows), draw)


def _rates(axes: Any, kind: str, rows: Sequence[Row], used: int) -> None:
    at = [row["threshold"] for row in rows]
    for what, label, look in (("true", "bad", LABEL_STYLES["blind"]),
                              ("false", "benign", LABEL_STYLES["expert"])):
        axes.plot(at, _percent(rows, f"{what}_positive_rate"), drawstyle="steps-post",
                  label=f"{label} ones found", markersize=3, **look)
    axes.axvline(used, color=_RED, linestyle=":", label=f"threshold in use: {used:,}")
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xlim(left=0)
    axes.set(xlabel=f"discovery threshold ({kind}s)", ylabel="found (%)", ylim=(-3, 103),
             title=f"{kind}s")
    axes.legend(fontsize=7)


def _curves(axes: Any, rows: Sequence[Row], value: str, error: str) -> None:
    """One curve per set of labels. As in the papers, bars only for errors above 0.01."""
    for labels, look in LABEL_STYLES.items():
        mine = [row for row in rows if row["labels"] == labels and row[value] is not None]
        at = [row["multiple"] for row in mine]
        axes.plot(at, [row[value] for row in mine], label=f"{labels} labels", markersize=3, **look)
        wide = [row for row in mine if (row[error] or 0) > 0.01]
        axes.errorbar([row["multiple"] for row in wide], [row[value] for row in wide],
                      yerr=[row[error] for row in wide], fmt="none", ecolor=look["color"],
                      elinewidth=0.8, capsize=2)


def _mark_tolerances(axes: Any, tolerances: Sequence[Row]) -> None:
    for threshold in sorted({row["threshold"] for row in tolerances}):
        axes.axhline(threshold, color=_RED, linestyle=":", label=f"threshold {threshold:.3f}")
    for row in tolerances:
        if row["tolerance"] is not None:
            axes.axvline(row["tolerance"], color=LABEL_STYLES[row["labels"]]["color"],
                         linestyle=":", label=f"{row['tolerance']:.1f} x, {row['labels']}")


def _show_size(axes: Any, rows: Sequence[Row]) -> None:
    """Mean chunks of the pages that are left, on an axis of its own at the right."""
    mine = [row for row in rows if row["labels"] == rows[0]["labels"]]
    mine = [row for row in mine if row["mean_chunks"] is not None]
    right = axes.twinx()
    right.plot([row["multiple"] for row in mine], [row["mean_chunks"] for row in mine],
               color=_ORANGE, linestyle="-.")
    right.set_ylabel("mean chunks of the pages left", color=_ORANGE)
    right.set_ylim(bottom=0)
    right.grid(visible=False)


def _percent(rows: Sequence[Row], name: str) -> list[float]:
    return [float("nan") if row[name] is None else 100 * row[name] for row in rows]
