"""Two pages side by side, and all that was measured of the pair."""

from collections.abc import Sequence
from typing import Any

from beam_reuse.core.tokens import token_texts
from beam_reuse.viewer.aligned import aligned
from beam_reuse.viewer.contents import NoContent
from beam_reuse.viewer.pages import text_of
from beam_reuse.viewer.tables import shown
from beam_reuse.viewer.texts import MOST_LINES, MarkedText
from beam_reuse.viewer.view import View

GRAM = 5
"""Words of a run in `keep.containment`."""


def pair(view: View, a: str, b: str) -> dict[str, Any]:
    """Both texts aligned, and the rows of the tables that compare them, whichever is named first
    there; of a page that is dropped for the other, the share of its runs of words that is there."""
    rows = {table: [*map(shown, view.ask(
        table, "*", f"({x} = $a and {y} = $b) or ({x} = $b and {y} = $a)", a=a, b=b))]
        for table, x, y in (
            ("near_duplicates", "url_a", "url_b"), ("page_overlap", "url_a", "url_b"),
            ("exact_copies", "centre", "url"), ("identity_sets", "representative", "url"),
            ("keep", "url", "because_of"), ("skippable", "url", "because_of"))}
    try:
        texts = {url: text_of(view, url) for url in (a, b)}
    except NoContent as error:
        return {"rows": rows, "why_not": str(error)}
    sides = [_lines(text) for text in texts.values()]
    found = aligned(*(side[:MOST_LINES] for side in sides))
    contained = [containment(*(token_texts(texts[row[side]].text.encode("utf-8", "surrogatepass"))
                               for side in ("url", "because_of"))) for row in rows["keep"]]
    return {"rows": rows, "contained": contained, "lines": [row._asdict() for row in found],
            "left_out": sum(max(0, len(side) - MOST_LINES) for side in sides)}


def containment(dropped: Sequence[str], kept: Sequence[str]) -> float:
    """The share of the distinct GRAM-grams of `dropped` (its distinct tokens, if it has fewer) that
    `kept` has: `containment` of the table keep."""
    size = GRAM if len(dropped) >= GRAM else 1
    mine, theirs = ({tuple(tokens[at:at + size]) for at in range(len(tokens) - size + 1)}
                    for tokens in (dropped, kept))
    return len(mine & theirs) / len(mine) if mine else 1.0


def _lines(page: MarkedText) -> list[str]:
    return [" ".join(page.text[start:end].split()) for start, end in page.lines()]


def similarities(view: View, table: str, column: str, other_sites: bool = False) -> dict[str, Any]:
    """How many pairs have which similarity: to choose a cutoff by."""
    view.require(table)
    choices = {("near_duplicates", "c_similarity"): "c_similarity",
               ("near_duplicates", "b_similarity"): "b_similarity",
               ("overlapping", "larger"): "floor(20 * larger) / 20"}
    key = choices.get((table, column))
    if key is None:
        return {"bins": []}
    where = "where not same_site" if other_sites else ""
    rows = view.database.rows(f"select {key} as bin, count(*) from {view.copied(table)} {where} "
                              "group by bin order by bin")
    return {"bins": rows}
