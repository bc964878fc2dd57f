"""What discovery and detection show in the report."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from beam_reuse.analyses.reuse.findings import threshold_of
from beam_reuse.analyses.reuse.schemas import (
    FREQUENCY_HISTOGRAM,
    FREQUENT_CHUNKS,
    NEIGHBOURHOOD_SOURCES,
    NEIGHBOURHOODS,
    PAGE_REUSE,
)
from beam_reuse.core.wording import counted, percent
from beam_reuse.io.results.result import Result
from beam_reuse.io.results.tables import TableSchema
from beam_reuse.report.histogram import share_plot
from beam_reuse.report.values import Axis, Card, Example, Figure, Plot, Series

POINTS = 400
_WORDS = "length(regexp_replace(text, '<[^>]*>|[^a-z]', '', 'gi')) >= 60"
_PASSAGES = f"""
    select "text", occurrences, pages, hosts, first_url from source
    order by hosts > 1 and {_WORDS} desc, occurrences desc, sha1 limit 3"""
_PASSAGES_QUERY = ("select occurrences, hosts, pages, text from frequent_chunks "
                   "order by hosts > 1 desc, occurrences desc")
_COPIERS = """
    select prefix, sum(matching)::long as copied, arg_max(source, (matching, source)) as source
    from source where strpos(prefix, '/') = length(prefix)
        and not ends_with('.' || prefix, '.' || source || '/')
    group by prefix order by copied desc, prefix limit 3"""
_HOSTS = """
    select prefix, badness, chunks, pages from source where prefix in (select unnest($prefixes))"""
_HOSTS_QUERY = ("select prefix, source, s.matching, badness, pages from neighbourhood_sources s "
                "join neighbourhoods n using (prefix) where depth = 1 and not "
                "ends_with('.' || prefix, '.' || source || '/') order by s.matching desc")
_HISTOGRAM = """
    select kind, occurrences, "distinct" from source order by kind, occurrences"""

def discovered(there: Result) -> Iterator[Card | Figure]:
    """Passages that are copied most, and how occurrences are distributed."""
    found = there.rows(FREQUENT_CHUNKS)
    rows = there.query(_PASSAGES, FREQUENT_CHUNKS, (
        "sha1", "text", "occurrences", "pages", "hosts", "first_url"))
    most = max(rows, key=lambda row: row["hosts"], default=None)
    answer = "No passage occurs often enough to be listed." if most is None else (
        f"One of them occurs {counted(most['occurrences'], 'time')} on "
        f"{counted(most['hosts'], 'host')}.")
    yield Card(1, "Which passages are copied most?", f"{found:,}", "frequent passages", answer, [
        Example(readable(row["text"]), f"{counted(row['occurrences'], 'time')} on "
                f"{counted(row['pages'], 'page')} of {counted(row['hosts'], 'host')}; first "
                f"captured at {row['first_url']}") for row in rows], _PASSAGES_QUERY)
    yield from _occurrences(there)


def _occurrences(there: Result) -> Iterator[Figure]:
    histogram: dict[str, list[tuple[float, float]]] = {}
    for row in there.query(_HISTOGRAM, FREQUENCY_HISTOGRAM, FREQUENCY_HISTOGRAM.names):
        histogram.setdefault(row["kind"], []).append((row["occurrences"], row["distinct"]))
    for kind in ("file", "chunk"):
        points = histogram.get(kind)
        if points:
            threshold = threshold_of(there, kind)
            yield Plot(
                f"How often {kind}s occur", f"Each point: so many different {kind}s occur so often"
                f"{'' if len(points) <= POINTS else ' (of many points some)'}. "
                "Those to the right of the line are listed as frequent.",
                Axis("occurrences", log=True), Axis(f"different {kind}s", log=True),
                [Series(f"{kind}s", _thinned(points))],
                [(threshold, f"threshold {threshold:,}")] if threshold else [])


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Some of many points: all with few occurrences, and of the others every so many."""
    half = POINTS // 2
    apart = max(1, -(-(len(points) - half) // half))
    return [*points[:half], *points[half::apart]]


def detected(there: Result) -> Iterator[Card | Figure]:
    """Hosts that live on copies, and on whose."""
    rows = there.query(_COPIERS, NEIGHBOURHOOD_SOURCES, ("prefix", "source", "matching"))
    hosts = {row["prefix"]: row for row in there.query(
        _HOSTS, NEIGHBOURHOODS, ("prefix", "badness", "chunks", "pages"),
        {"prefixes": [row["prefix"] for row in rows]})} if rows else {}
    flagged = _flagged_hosts(there)
    answer = ("No host has content that is known from another domain." if not rows else
              f"{rows[0]['prefix'].rstrip('/')} has most of other domains: "
              f"{counted(rows[0]['copied'], 'chunk')}.")
    yield Card(2, "Which hosts live on copies, and on whose?", f"{flagged:,}",
               "host flagged" if flagged == 1 else "hosts flagged", answer,
               [Example(row["prefix"].rstrip("/"), _copied(row, hosts[row["prefix"]]))
                for row in rows], _HOSTS_QUERY)
    yield _shares(there, "How much of a page is known content", PAGE_REUSE, "contains", "page",
                  "pages")
    yield _shares(there, "How much of a directory is known content", NEIGHBOURHOODS, "badness",
                  "neighbourhood", "directories")


def _flagged_hosts(there: Result) -> int:
    rows = there.query("select count(*) as n from source where depth = 1 and flagged",
                       NEIGHBOURHOODS, ("depth", "flagged"))
    return int(rows[0]["n"])


def _copied(row: dict[str, Any], host: dict[str, Any]) -> str:
    return (f"{counted(row['copied'], 'chunk')} of other domains, most of {row['source']}; "
            f"{percent(host['badness'])} of its {counted(host['chunks'], 'chunk')} on "
            f"{counted(host['pages'], 'page')} are known content")


def _shares(
    there: Result, title: str, schema: TableSchema, value: str, what: str, many: str,
) -> Figure:
    threshold = there.thresholds.get(what)
    lines = [] if threshold is None else [
        (min(threshold, 1.0), f"threshold {percent(threshold, 1)}")]
    return share_plot(there, schema, (value,), value, title,
                      " Above the threshold they are flagged.", "known content", many, lines)


def readable(text: str) -> str:
    """What a reader sees of a chunk, or its markup, if there is nothing else."""
    seen = " ".join(unescape(re.sub(r"<[^>]*(>|$)", " ", text)).split())
    return seen if sum(letter.isalpha() for letter in seen) >= 12 else " ".join(text.split())
