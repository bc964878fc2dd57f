"""Figures as PNG and SVG.

Drawn without matplotlib's global state and from its own defaults, so that the same values give
the same bytes with the same version of it.
"""

import io
from collections.abc import Callable, Iterator

from beam_reuse.core.errors import UserError

FORMATS = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
_STYLE = {
    "svg.hashsalt": "beam-reuse", "svg.fonttype": "path", "figure.dpi": 100, "savefig.dpi": 150,
    "font.size": 9, "axes.grid": True, "grid.alpha": 0.3, "axes.axisbelow": True,
    "legend.frameon": False, "lines.linewidth": 1.5,
}
_PANEL = (4.6, 3.6)


class FiguresMissingError(UserError):
    """matplotlib is not installed."""


def require_matplotlib() -> None:
    """Refuse early where figures cannot be drawn; the message gives the command."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise FiguresMissingError(
            "figures are drawn with matplotlib, which is not installed. "
            "Install it with: pip install '.[figures]' (or pip install matplotlib)."
        ) from None


def rendered(
    name: str, panels: int, draw: Callable[..., None], title: str = "",
) -> Iterator[tuple[str, bytes]]:
    """File names and contents of one figure in every format; `draw` gets its axes."""
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(["default", _STYLE]):
        width, height = _PANEL
        figure = Figure(figsize=(width * panels, height), layout="constrained")
        if title:
            figure.suptitle(title)
        draw(*figure.subplots(1, panels, squeeze=False)[0])
        for suffix, metadata in FORMATS.items():
            content = io.BytesIO()
            figure.savefig(content, format=suffix, metadata=metadata)
            yield f"{name}.{suffix}", content.getvalue()
