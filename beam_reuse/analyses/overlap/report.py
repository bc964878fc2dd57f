"""What overlap shows in the report."""

from collections.abc import Iterator
from typing import Any

from beam_reuse.analyses.overlap.schemas import (
    CRAWL_SAVINGS,
    REPLICAS,
    SERVER_OVERLAP,
    SKIPPABLE,
)
from beam_reuse.core.wording import counted, megabytes, percent
from beam_reuse.io.results.result import Result
from beam_reuse.report.parts import Shown, parts
from beam_reuse.report.values import Axis, Bars, Card, Example, Figure, Matrix, Plot, Series

EXAMPLES, HOSTS_SHOWN, MATRIX_HOSTS = 3, 15, 12
_MIRRORS = """
    select host_a, host_b, max(shared) as shared, max(containment_a) as a, max(containment_b) as b
    from source where relation = 'mirror' and shared > 1 group by host_a, host_b
    order by shared desc, host_a, host_b limit 3"""
_MIRROR_COUNT = """
    select count(distinct (host_a, host_b)) as n from source
    where relation = 'mirror' and shared > 1"""
_SAVED = """
    select chunking, sum(pages)::long as pages, sum(redundant_pages)::long as redundant_pages,
        sum(bytes)::long as bytes, sum(redundant_bytes)::long as redundant_bytes
    from source group by chunking order by redundant_pages, chunking"""
_BY_HOST = """
    select host, redundant_pages, pages from source where chunking = $chunking
    and redundant_pages > 0 order by redundant_pages desc, host limit $n"""
_HOSTS_SAVED = """
    select count(*) as n from source where chunking = $chunking and redundant_pages > 0"""
_QUERY = "select url, because_of, bytes from skippable where chunking = '{}' order by host, url"
_REPLICAS = "select chunking, copies, pages from source order by chunking, copies"
_PAIR_COUNT = "select count(*) as n from source where chunking = $chunking"
_PAIRS = """
    select host_a, host_b, containment_a, containment_b from source where chunking = $chunking
    order by shared desc, host_a, host_b limit $n"""


def overlap(there: Result) -> Iterator[Shown]:
    """Mirrors, what a crawler can stop fetching, copies of pages, and overlap of hosts."""
    return parts(there, (_saved, (CRAWL_SAVINGS, SERVER_OVERLAP, SKIPPABLE)),
                 (_replicas, (REPLICAS,)), (_matrix, (SERVER_OVERLAP,)))


def _saved(there: Result) -> Iterator[Card | Figure]:
    saved = there.query(_SAVED, CRAWL_SAVINGS, CRAWL_SAVINGS.names)
    (mirrors,) = there.query(_MIRROR_COUNT, SERVER_OVERLAP, SERVER_OVERLAP.names)
    pairs = there.query(_MIRRORS, SERVER_OVERLAP, SERVER_OVERLAP.names)
    yield _card(there, saved, mirrors["n"], pairs)
    if saved and saved[-1]["redundant_pages"]:
        yield _savings(there, saved[-1]["chunking"])


def _card(
    there: Result, saved: list[dict[str, Any]], mirrors: int, pairs: list[dict[str, Any]],
) -> Card:
    """The strictest way of cutting pages counts, most often whole pages; the loosest is said."""
    title = "Which hosts are mirrors, and what can a crawler stop fetching?"
    if not saved or not saved[-1]["redundant_pages"]:
        return Card(3, title, "0", "pages to skip", "No page is a copy of one that stays.",
                    query="select * from skippable", screen="table?name=skippable")
    strict, loose = saved[0], saved[-1]
    share = percent(strict["redundant_pages"] / strict["pages"])
    exact = (f"{share} of the {counted(strict['pages'], 'page')} with lines "
             f"({megabytes(strict['redundant_bytes'])}) are copies of one that stays"
             f"{_compared(strict['chunking'])}")
    more = ("" if loose is strict else "; with pages whose own lines are nearly all on another"
            f"{_compared(loose['chunking'])} it is {loose['redundant_pages']:,}")
    answer = f"{exact}{more}. {_mirrors(mirrors)}"
    hosts = there.query(_BY_HOST, CRAWL_SAVINGS, CRAWL_SAVINGS.names, {
        "chunking": strict["chunking"], "n": EXAMPLES - len(pairs)})
    return Card(3, title, f"{strict['redundant_pages']:,}", "pages to skip", answer, [
        Example(f"{row['host_a']} and {row['host_b']}",
                f"mirrors: {percent(row['a'])} and {percent(row['b'])} of each is on the other",
                "shared", {"a": row["host_a"], "b": row["host_b"]})
        for row in pairs] + [
        Example(row["host"], f"{row['redundant_pages']:,} of its {counted(row['pages'], 'page')} "
                "can be skipped", "site", {"host": row["host"]}) for row in hosts],
        _QUERY.format(strict["chunking"]),
        f"table?name=skippable&f=chunking.is.{strict['chunking']}")


def _compared(chunking: str) -> str:
    return "" if chunking == "whole" else f" (compared by {chunking})"


def _mirrors(pairs: int) -> str:
    return ("No two hosts mirror each other." if not pairs else "Two hosts mirror each other."
            if pairs == 1 else f"{pairs:,} pairs of hosts mirror each other.")


def _savings(there: Result, chunking: str) -> Figure:
    rows = there.query(_BY_HOST, CRAWL_SAVINGS, CRAWL_SAVINGS.names,
                       {"chunking": chunking, "n": HOSTS_SHOWN})
    (more,) = there.query(_HOSTS_SAVED, CRAWL_SAVINGS, CRAWL_SAVINGS.names, {"chunking": chunking})
    return Bars(
        "Pages that a crawler can skip, by host",
        f"Dark: pages that are on a page that stays, compared by {chunking}; light: all pages of "
        "the host.", "host", "pages to skip", "all pages",
        [(row["host"], row["redundant_pages"], row["pages"]) for row in rows],
        more["n"] - len(rows))


def _replicas(there: Result) -> Iterator[Figure]:
    points: dict[str, list[tuple[float, float]]] = {}
    for row in there.query(_REPLICAS, REPLICAS, REPLICAS.names):
        points.setdefault(row["chunking"], []).append((row["copies"], row["pages"]))
    if points:
        yield Plot("How many copies pages have",
                   "Each point: so many pages occur so often, the page itself counted, by each way "
                   "of cutting pages; 1 is no copy.",
                   Axis("copies of a page", log=True), Axis("pages", log=True),
                   [Series(name, found) for name, found in sorted(points.items())][:4])


def _matrix(there: Result) -> Iterator[Figure]:
    """The hosts that share most."""
    chunkings = [each for each in there.settings.get("overlap-chunkings", ()) if each != "whole"]
    chunking = (chunkings or ["whole"])[-1]
    rows = there.query(_PAIRS, SERVER_OVERLAP, SERVER_OVERLAP.names,
                       {"chunking": chunking, "n": 10 * MATRIX_HOSTS})
    names: list[str] = []
    for row in rows:
        new = [each for each in (row["host_a"], row["host_b"]) if each not in names]
        if len(names) + len(new) <= MATRIX_HOSTS:
            names += new
    if not names:
        return
    number = {name: n for n, name in enumerate(sorted(names))}
    cells: dict[tuple[int, int], float] = {(n, n): 1.0 for n in number.values()}
    for row in rows:
        a, b = number.get(row["host_a"]), number.get(row["host_b"])
        if a is not None and b is not None:
            cells[a, b], cells[b, a] = row["containment_a"], row["containment_b"]
    (pairs,) = there.query(_PAIR_COUNT, SERVER_OVERLAP, ("chunking",), {"chunking": chunking})
    shown = sum(row["host_a"] in number and row["host_b"] in number for row in rows)
    yield Matrix("Overlap of hosts", f"How much of each host (row, in per cent) is on others "
                 f"(columns, by the rows' numbers), compared by {chunking}: the hosts that share "
                 "most.", "host", sorted(names), cells, 2 * (pairs["n"] - shown))
