"""Two hosts: what both have, and what only one of them has."""

from typing import Any

from beam_reuse.viewer.tables import shown
from beam_reuse.viewer.view import View

MOST = 200
_PAIRS = (("page_overlap", "url_a", "url_b"), ("near_duplicates", "url_a", "url_b"))
_SETS = (("exact_copies", "centre"), ("identity_sets", "representative"))
_ONCE = "qualify row_number() over (partition by url_a, url_b order by shared desc, chunking) = 1"
_MOST_ALIKE = {
    "page_overlap": f"{_ONCE} order by greatest(containment_a, containment_b) desc, shared desc,",
    "near_duplicates": "order by c_similarity desc, b_similarity desc,",
    "exact_copies": "order by"}
_PAGES = ("mine as (select url from pages where host = $a), "
          "theirs as (select url from pages where host = $b)")


def shared(view: View, a: str, b: str) -> dict[str, Any]:
    """Pairs of pages of two hosts that overlap, are near-duplicates or copies; passages that are
    on both; and of each host how many pages share something with the other, and the rest.

    Cost: a pass over the URLs of these tables, and over the hashes of matched_chunks."""
    found: dict[str, Any] = {table: _pairs(view, table, x, y, a, b) for table, x, y in (
        *_PAIRS, ("exact_copies", "centre", "url")) if view.has(table)}
    return {**found, "most": MOST, "passages": _passages(view, a, b), "only_a": _only(view, a, b),
            "only_b": _only(view, b, a)}


def _pairs(view: View, table: str, x: str, y: str, a: str, b: str) -> list[Any]:
    """Rows of a table of pairs with a page of each host, each pair once, the most similar first."""
    return [*map(shown, view.ask(
        table, "*", f"(({x} in (select url from pages where host = $a) and "
        f"{y} in (select url from pages where host = $b)) or "
        f"({x} in (select url from pages where host = $b) and "
        f"{y} in (select url from pages where host = $a))) "
        f"{_MOST_ALIKE[table]} {x}, {y} limit {MOST}", a=a, b=b))]


def _passages(view: View, a: str, b: str) -> list[Any]:
    """Known chunks that are on both hosts, the longest first."""
    if not view.has("matched_chunks", "frequent_chunks"):
        return []
    rows = view.database.rows(
        f"with {_PAGES}, together as (select sha1 from matched_chunks where url in (from mine) "
        "intersect select sha1 from matched_chunks where url in (from theirs)) "
        "select sha1, text, pages, hosts from frequent_chunks where sha1 in (from together) "
        f"order by bytes desc, sha1 limit {MOST}", {"a": a, "b": b})
    return [dict(zip(("sha1", "text", "pages", "hosts"), map(shown, row), strict=True))
            for row in rows]


def _only(view: View, a: str, b: str) -> dict[str, Any]:
    """The pages of host `a` that no pair and no set of copies has together with one of `b`."""
    parts = [f"select {x} from {table} where {x} in (from mine) and {y} in (from theirs)"
             for table, one, two in _PAIRS if view.has(table)
             for x, y in ((one, two), (two, one))]
    for table, key in _SETS:
        if view.has(table):
            members = (f"(select {key} as k, url from {table} "
                       f"union select {key}, {key} from {table})")
            parts.append(f"select url from {members} where url in (from mine) and "
                         f"k in (select k from {members} where url in (from theirs))")
    values = {"a": a, "b": b}
    together = {url for part in parts
                for url, in view.database.rows(f"with {_PAGES} {part}", values)}
    pages = [row["url"] for row in view.ask("pages", "url", "host = $a order by url", a=a)]
    alone = [url for url in pages if url not in together]
    return {"pages": len(pages), "shared": len(pages) - len(alone),
            "urls": [*map(shown, alone[:MOST])], "more": len(alone) > MOST}
