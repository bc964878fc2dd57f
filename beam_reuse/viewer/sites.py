"""Directories as a tree, and everything that is known of a host."""

from typing import Any

from beam_reuse.viewer.tables import shown
from beam_reuse.viewer.view import View

MOST = 200
SOURCES = 4
_FACTS = (
    ("crawl_savings", "host = $host", "chunking"),
    ("popular_collections", "starts_with(prefix, $host || '/')", "prefix"),
    ("boilerplate", "host = $host", "position"),
)


def neighbourhoods(view: View, prefix: str = "", hosts: str = "",
                   flagged: bool = False) -> dict[str, Any]:
    """The directories right below a prefix, those with most known content first; without one the
    hosts, of which `hosts` is a part of the name."""
    depth = prefix.count("/") + 1 if prefix else 1
    rows = view.ask(
        "neighbourhoods", "*",
        "depth = $depth and prefix >= $prefix and starts_with(prefix, $prefix) "
        f"and contains(prefix, $hosts) {'and flagged' if flagged else ''} "
        f"order by matching desc, prefix limit {MOST + 1}",
        depth=depth, prefix=prefix, hosts=hosts.lower())
    own = view.ask("neighbourhoods", "*", "prefix = $prefix", prefix=prefix) if prefix else []
    shown_rows = rows[:MOST]
    sources = view.ask(
        "neighbourhood_sources", "*", "list_contains($prefixes, prefix) "
        "order by matching desc, source", prefixes=[row["prefix"] for row in own + shown_rows])
    whose: dict[str, list[Any]] = {}
    for row in sources:
        whose.setdefault(row["prefix"], []).append({
            "source": shown(row["source"]), "matching": row["matching"]})
    below = _below(view, [row["prefix"] for row in shown_rows], depth)
    return {"own": shown(own[0]) | {"sources": whose.get(prefix, [])} if own else None,
            "rows": [shown(row) | {"sources": whose.get(row["prefix"], [])[:SOURCES],
                                   "has_more": row["prefix"] in below} for row in shown_rows],
            "more": len(rows) > MOST, "thresholds": dict(view.manifest.thresholds)}


def _below(view: View, prefixes: list[str], depth: int) -> set[str]:
    """Which of these directories have some of their own."""
    if not prefixes:
        return set()
    rows = view.database.rows(
        "select distinct regexp_extract(prefix, '^([^/]*/){' || $n || '}') from neighbourhoods "
        "where depth = $n + 1 and prefix >= $low and prefix <= $high || chr(1114111)",
        {"n": depth, "low": min(prefixes), "high": max(prefixes)})
    return {row[0] for row in rows}.intersection(prefixes)


def site(view: View, host: str) -> dict[str, Any]:
    """All that the tables say of a host."""
    own = view.ask("neighbourhoods", "*", "prefix = $prefix", prefix=f"{host}/")
    pages = view.database.rows(
        "select count(*), sum(bytes), min(ip), any_value(domain), any_value(site) from pages "
        "where host = $host", {"host": host})[0]
    found = {table: view.ask(table, "*", f'{where} order by "{order}" limit {MOST + 1}', host=host)
             for table, where, order in _FACTS if view.has(table)}
    if view.has("skippable"):
        found["skippable"] = _skippable(view, host)
    facts = {table: {"rows": [*map(shown, rows[:MOST])], "more": len(rows) > MOST}
             for table, rows in found.items()}
    overlap = view.ask("server_overlap", "*", "host_a = $host or host_b = $host "
                       f"order by shared desc limit {3 * MOST}", host=host)
    sources = view.ask("neighbourhood_sources", "*", "prefix = $prefix order by matching desc "
                       f"limit {MOST}", prefix=f"{host}/")
    copiers = _copiers(view, pages[3], f"{host}/")
    return {"host": host, "pages": pages[0], "bytes": pages[1], "ip": pages[2],
            "domain": pages[3], "site": pages[4], "neighbourhood": shown(own[0]) if own else None,
            "overlap": [*map(shown, overlap)], "sources": [*map(shown, sources)],
            "copiers": copiers[:MOST], "more_copiers": len(copiers) > MOST, "facts": facts,
            "tables": {name: view.has(name) for name in ("neighbourhoods", "server_overlap")}}


def _copiers(view: View, domain: str | None, own: str) -> list[dict[str, Any]]:
    """Hosts that have known content of a domain, those with most of it first. A host's own
    content is no copy, nor is that of its domain."""
    if domain is None or not view.has("neighbourhood_sources", "neighbourhoods"):
        return []
    names = ("prefix", "matching", "distinct_matching", "chunks", "pages")
    rows = view.database.rows(
        "select prefix, s.matching, s.distinct_matching, chunks, pages from neighbourhood_sources s"
        " join neighbourhoods n using (prefix) where source = $domain and depth = 1 "
        "and prefix <> $own and not ends_with('.' || prefix, '.' || $domain || '/') "
        f"order by s.matching desc, prefix limit {MOST + 1}", {"domain": domain, "own": own})
    return [dict(zip(names, map(shown, row), strict=True)) for row in rows]


def _skippable(view: View, host: str) -> list[dict[str, Any]]:
    """Each page that need not be fetched once, with the ways of cutting pages that say so."""
    names = ("url", "because_of", "containment", "bytes", "chunking")
    rows = view.database.rows(
        "select url, because_of, min(containment), max(bytes), "
        "string_agg(chunking, ', ' order by chunking) from skippable where host = $host "
        "group by url, because_of order by url, because_of "
        f"limit {MOST + 1}", {"host": host})
    return [dict(zip(names, row, strict=True)) for row in rows]
