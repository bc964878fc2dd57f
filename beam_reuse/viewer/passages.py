"""Passages that are copied: one of them, the pages it is on, and those with given words."""

from typing import Any

from beam_reuse.viewer.tables import shown
from beam_reuse.viewer.view import NotThere, View

PAGES = 200
FOUND = 50
_SEEN = "regexp_replace(text, '<[^>]*(>|$)|&#?\\w+;', ' ', 'g')"
"""SQL of what a reader sees of a chunk."""


def passage(view: View, sha1: str) -> dict[str, Any]:
    """A frequent chunk, or another label, and where it occurs."""
    found = view.ask("frequent_chunks", "*", "sha1 = $sha1", sha1=sha1)
    labels = view.ask("labels", "*", "sha1 = $sha1 order by all limit 50", sha1=sha1)
    pages = _pages(view, sha1)
    if not (found or labels or pages):
        raise NotThere("No chunk of this result has this hash.")
    return {"chunk": _first(found), "labels": list(map(shown, labels)),
            "pages": list(map(shown, pages[:PAGES])), "more": len(pages) > PAGES}


def _pages(view: View, sha1: str) -> list[dict[str, Any]]:
    """The pages that a chunk is on, each with how often and where first."""
    if not view.has("matched_chunks"):
        return []
    names = ("url", "times", "from_byte", "own")
    return [dict(zip(names, row, strict=True)) for row in view.database.rows(
        'select url, count(*), min("start"), bool_or(own) from matched_chunks where sha1 = $sha1 '
        f"group by url order by url limit {PAGES + 1}", {"sha1": sha1})]


def _words(text: str) -> str:
    """SQL of the words of a text, in lower case, with a space between them."""
    return f"regexp_replace(lower({text}), '[^\\pL\\pM\\pN]+', ' ', 'g')"


def line(view: View, fingerprint: str) -> dict[str, Any]:
    """A line of templates, and the hosts whose template has it."""
    view.require("boilerplate")
    rows = view.ask("boilerplate", "*", "fingerprint = $fingerprint order by pages desc, host "
                    f"limit {PAGES + 1}", fingerprint=fingerprint)
    if not rows:
        raise NotThere("No line of a template has this fingerprint.")
    sums = view.ask("by_line", "hosts, pages", "fingerprint = $fingerprint",
                    fingerprint=fingerprint)[0]
    return {"text": shown(rows[0]["text"]), **sums, "rows": list(map(shown, rows[:PAGES])),
            "more": len(rows) > PAGES}


def search(view: View, words: str) -> dict[str, Any]:
    """Passages with these words one after another, whatever their case and the signs between them,
    and the pages they are on: of frequent chunks those on most hosts, of lines of templates
    likewise. Of the first and the last word a part is enough. Cost: a pass over the texts, and over
    the hashes of matched_chunks."""
    if sum(map(str.isalnum, words)) < 2:
        return {"chunks": [], "lines": [], "pages": [], "more": False}
    chunks = view.ask("frequent_chunks", "sha1, text, occurrences, pages, hosts, sample_urls",
                      f"contains({_words(_SEEN)}, trim({_words('$words')})) "
                      f"order by hosts desc, sha1 limit {FOUND}", words=words)
    lines = view.ask("by_line", "fingerprint, text, hosts, pages",
                     f"contains({_words('text')}, trim({_words('$words')})) "
                     f"order by hosts desc, fingerprint limit {FOUND}", words=words)
    hashes = [row["sha1"] for row in chunks]
    on = view.database.rows(
        "select url, count(*) from matched_chunks where sha1 in (select unnest($hashes)) "
        f"group by url order by count(*) desc, url limit {PAGES + 1}", {"hashes": hashes}) if (
            hashes and view.has("matched_chunks")) else [
                (url, 1) for url in sorted({url for row in chunks for url in row["sample_urls"]})]
    return {"chunks": [*map(shown, chunks)], "lines": [*map(shown, lines)],
            "pages": [list(map(shown, row)) for row in on[:PAGES]], "more": len(on) > PAGES}


def _first(rows: list[dict[str, Any]]) -> Any:
    return shown(rows[0]) if rows else None
