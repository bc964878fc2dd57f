"""The first screen: what was read, what was found, what there is to look at."""

from functools import lru_cache
from typing import Any

from beam_reuse.io.files import whole_path
from beam_reuse.io.results.queries import let_go
from beam_reuse.io.results.result import Result
from beam_reuse.report.figures import numbers_of
from beam_reuse.report.findings import TITLE, findings_of
from beam_reuse.report.page import cut
from beam_reuse.report.svg import drawn
from beam_reuse.report.values import Findings
from beam_reuse.viewer.view import View


def overview(view: View) -> dict[str, Any]:
    """Accounting, tables and settings: at once, from the manifest."""
    accounting, manifest = view.manifest.accounting, view.manifest
    return {
        "title": TITLE, "folder": whole_path(view.folder), "kind": manifest.kind,
        "accounting": accounting.as_json(),
        "tables": dict(view.sizes), "damaged": [*view.database.damaged.values()],
        "settings": dict(manifest.settings),
        "thresholds": dict(manifest.thresholds),
    }


def findings(view: View) -> dict[str, Any]:
    """The cards and figures of the report. Cost: one pass over the columns that are shown, once."""
    found = _findings(view)
    return {
        "cards": [{"title": card.title, "number": card.number, "unit": card.unit,
                   "answer": card.answer, "query": card.query, "screen": card.screen,
                   "examples": [{"what": cut(each.what), "said": cut(each.said),
                                 "screen": each.screen, "parameters": dict(each.parameters)}
                                for each in card.examples]} for card in found.cards],
        "figures": [{"title": figure.title, "caption": figure.caption,
                     "numbers": dict(zip(("head", "rows", "left_out"), numbers_of(figure),
                                         strict=True))} for figure in found.figures],
    }


def figure_svg(view: View, number: int) -> bytes:
    """A figure as an image of its own; raises IndexError if there is none."""
    return drawn(_findings(view).figures[number]).encode()


@lru_cache(maxsize=2)
def _findings(view: View) -> Findings:
    try:
        return findings_of(Result(view.manifest, view.folder))
    finally:
        let_go()
