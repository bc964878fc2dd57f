"""A quilt with its patches, and where each is in its source."""

from itertools import pairwise
from typing import Any

from beam_reuse.core.tokens import token_texts
from beam_reuse.core.wording import percent
from beam_reuse.viewer.contents import NoContent
from beam_reuse.viewer.pages import text_of
from beam_reuse.viewer.tables import shown
from beam_reuse.viewer.texts import MarkedText, shown_lines
from beam_reuse.viewer.view import NotThere, View

_SETTINGS = ("gram_size", "max_pages_per_gram", "min_sources", "min_patch_fraction", "variant",
             "min_source_share")


def quilt(view: View, url: str) -> dict[str, Any]:
    """A quilt, which `part` of it is from its sources, as the report says it, these sources, and
    its text in which each patch has its source's rank."""
    view.require("quilts")
    rows = view.ask("quilts", "*", "url = $url order by all", url=url)
    if not rows:
        raise NotThere("This page is no quilt.")
    sources = sources_of(view, url)
    part = percent(rows[0]["patch_fraction"] * rows[0]["covered"])
    told = {"quilt": shown(rows[0]), "part": part, "settings": [*map(shown, rows)], "sources": [
        shown({key: value for key, value in row.items() if key != "spans"})
        | {"spans": len(row["spans"])} for row in sources]}
    try:
        page = text_of(view, url)
    except NoContent as error:
        return {**told, "why_not": str(error)}
    marks = [mark for row in sources for mark in page.of_tokens(spans_of(row), str(row["rank"]))]
    return {**told, **shown_lines(MarkedText(page.text, marks))}


def sources_of(view: View, url: str) -> list[dict[str, Any]]:
    """The sources of a quilt, of the first combination of settings that has some."""
    rows = view.ask("quilt_sources", "*", "url = $url order by all", url=url)
    first = [row for row in rows if all(row[name] == rows[0][name] for name in _SETTINGS)]
    return sorted(first, key=lambda row: row["rank"])


def spans_of(row: dict[str, Any]) -> list[tuple[int, int]]:
    return [(span["start"], span["end"]) for span in row["spans"]]


def source(view: View, url: str, rank: int) -> dict[str, Any]:
    """The source of that rank, with what the quilt has of it marked."""
    row = next((row for row in sources_of(view, url) if row["rank"] == rank), None)
    if row is None:
        raise NotThere(f"This quilt has no source {rank}.")
    try:
        whole, other = text_of(view, url), text_of(view, row["source_url"])
    except NoContent as error:
        return {"url": shown(row["source_url"]), "why_not": str(error)}
    spans = shared_spans(_tokens(whole), spans_of(row), _tokens(other), row["gram_size"])
    return {"url": shown(row["source_url"]),
            **shown_lines(MarkedText(other.text, other.of_tokens(spans, str(rank))))}


def _tokens(page: MarkedText) -> list[str]:
    return token_texts(page.text.encode("utf-8", "surrogatepass"))


def shared_spans(tokens: list[str], spans: list[tuple[int, int]], other: list[str],
                 size: int) -> list[tuple[int, int]]:
    """Where grams of these spans of `tokens` are in `other`: unions of their ranges of tokens,
    touching ones merged."""
    grams = {tuple(tokens[at:at + size]) for start, end in spans
             for at in range(start, end - size + 1)}
    places = [at for at in range(len(other) - size + 1) if tuple(other[at:at + size]) in grams]
    if not places:
        return []
    ends = [(a, b) for a, b in pairwise(places) if b > a + size]
    return list(zip([places[0], *(b for _, b in ends)],
                    [*(a + size for a, _ in ends), places[-1] + size], strict=True))
