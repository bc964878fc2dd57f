"""Directories as a tree, and everything that is known of a host."""

from typing import Any

from beam_reuse.viewer.tables import shown
from beam_reuse.viewer.view import View

MOST = 200
_FACTS = (
    ("crawl_savings", "host = $host", "host"), ("skippable", "host = $host", "url"),
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
    shown_rows = rows[:MOST]
    sources = view.ask(
        "neighbourhood_sources", "*", "list_contains($prefixes, prefix) "
        "order by matching desc, source", prefixes=[row["prefix"] for row in shown_rows])
    whose: dict[str, list[Any]] = {}
    for row in sources:
        whose.setdefault(row["prefix"], []).append({
            "source": shown(row["source"]), "matching": row["matching"]})
    below = _below(view, [row["prefix"] for row in shown_rows], depth)
    return {"rows": [shown(row) | {"sources": whose.get(row["prefix"], [])[:3],
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
    facts = {table: [*map(shown, view.ask(table, "*", f'{where} order by "{order}" limit {MOST}',
                                          host=host))]
             for table, where, order in _FACTS if view.has(table)}
    overlap = view.ask("server_overlap", "*", "host_a = $host or host_b = $host "
                       f"order by shared desc limit {MOST}", host=host)
    sources = view.ask("neighbourhood_sources", "*", "prefix = $prefix order by matching desc "
                       f"limit {MOST}", prefix=f"{host}/")
    return {"host": host, "pages": pages[0], "bytes": pages[1], "ip": pages[2],
            "domain": pages[3], "site": pages[4], "neighbourhood": shown(own[0]) if own else None,
            "overlap": [*map(shown, overlap)], "sources": [*map(shown, sources)], "facts": facts,
            "tables": {name: view.has(name) for name in (
                "neighbourhoods", "server_overlap", *(fact[0] for fact in _FACTS))}}


def shared(view: View, a: str, b: str) -> dict[str, Any]:
    """Pairs of pages of two hosts that overlap or are near-duplicates or copies."""
    values = {"a": f"%://{_like(a)}%", "b": f"%://{_like(b)}%"}
    either = ("((x like $a escape '!' and y like $b escape '!') or "
              "(x like $b escape '!' and y like $a escape '!'))")
    found = {}
    for table, x, y in (("page_overlap", "url_a", "url_b"), ("near_duplicates", "url_a", "url_b"),
                        ("exact_copies", "centre", "url")):
        where = either.replace("x like", f"{x} like").replace("y like", f"{y} like")
        found[table] = [*map(shown, view.ask(table, "*", f"{where} limit {MOST}", **values))]
    return found


def _like(host: str) -> str:
    """A host in a pattern, with what ends it in a URL."""
    return host.replace("!", "!!").replace("%", "!%").replace("_", "!_") + "/"
