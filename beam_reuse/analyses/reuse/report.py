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
from beam_reuse.report.parts import Shown, parts
from beam_reuse.report.values import Axis, Card, Example, Figure, Plot, Series

# Passages of text on several hosts first, then other text, then what is mere markup.
_WITH_LETTERS = ("(select *, length(regexp_replace(text, '<[^>]*>|[^\\p{{L}}]', '', 'g')) "
                 "as letters from {})")
_PASSAGES_ORDER = ("order by hosts > 1 and letters >= 60 desc, letters >= 60 desc, "
                   "letters >= 20 desc, occurrences desc, sha1")
_PASSAGES = f"""
    select sha1, "text", occurrences, pages, hosts, first_url, letters,
        hosts > 1 and letters >= 60 as copied
    from {_WITH_LETTERS.format("source")} {_PASSAGES_ORDER} limit 60"""
_PASSAGES_QUERY = ("select occurrences, hosts, pages, text from "
                   f"{_WITH_LETTERS.format('frequent_chunks')} {_PASSAGES_ORDER}")
# Less than a tenth of a host is what hosts happen to have in common. The same chunk of markup may
# be on all pages of a host: what it has from whom is counted in different chunks.
_COPIERS = (
    "with copiers as (select prefix, sum(matching)::long as occurrences, "
    "sum(distinct_matching)::long as copied, "
    "arg_max(source, (distinct_matching, source)) as source from {sources} "
    "where strpos(prefix, '/') = length(prefix) "
    "and not ends_with('.' || prefix, '.' || source || '/') group by prefix) "
    "select prefix, copied, source, badness, chunks, pages{more} "
    "from {hosts} join copiers using (prefix) where occurrences * 10 >= chunks "
    "order by copied desc, prefix")
_FIRST_COPIERS = _COPIERS.format(
    sources="source", hosts="hosts", more=", count(*) over () as copiers") + " limit 3"
_HOSTS_QUERY = _COPIERS.format(sources="neighbourhood_sources", hosts="neighbourhoods", more="")
_HISTOGRAM = """
    select kind, occurrences, "distinct" from source order by kind, occurrences"""


def discovered(there: Result) -> Iterator[Shown]:
    """Passages that are copied most, and how occurrences are distributed."""
    return parts(there, (_passages, (FREQUENT_CHUNKS,)), (_occurrences, (FREQUENCY_HISTOGRAM,)))


def _passages(there: Result) -> Iterator[Card]:
    found = there.rows(FREQUENT_CHUNKS)
    rows = there.query(_PASSAGES, FREQUENT_CHUNKS, (
        "sha1", "text", "occurrences", "pages", "hosts", "first_url"))
    answer = "No passage occurs often enough to be listed." if not rows else (
        f"{_what_leads(rows[0])} occurs {counted(rows[0]['occurrences'], 'time')} on "
        f"{counted(rows[0]['hosts'], 'host')}.")
    yield Card(1, "Which passages are copied most?", f"{found:,}",
               "frequent passages, markup included", answer, [
        Example(readable(row["text"]), f"{counted(row['occurrences'], 'time')} on "
                f"{counted(row['pages'], 'page')} of {counted(row['hosts'], 'host')}; first "
                f"captured at {row['first_url']}", "passage", {"sha1": row["sha1"]})
        for row in _of_other_words(rows)], _PASSAGES_QUERY, _passages_screen(rows))


def _what_leads(row: dict[str, Any]) -> str:
    if row["copied"]:
        return "The text that is copied most from host to host"
    return ("No text is copied from host to host. What is repeated most" if row["letters"] >= 20
            else "Only markup is repeated. What is repeated most")


def _of_other_words(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first three that read differently: the same words in other markup are another chunk."""
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(readable(row["text"]), row)
    return [*first.values()][:3]


def _passages_screen(rows: list[dict[str, Any]]) -> str:
    """Where the viewer lists them, in the same order where they are copied passages of text."""
    if not rows or not rows[0]["copied"]:
        return "passages?sort=occurrences&descending=true"
    return "passages?sort=occurrences&descending=true&f=letters.min.60&f=hosts.min.2"


def _occurrences(there: Result) -> Iterator[Figure]:
    histogram: dict[str, list[tuple[float, float]]] = {}
    for row in there.query(_HISTOGRAM, FREQUENCY_HISTOGRAM, FREQUENCY_HISTOGRAM.names):
        histogram.setdefault(row["kind"], []).append((row["occurrences"], row["distinct"]))
    for kind in ("file", "chunk"):
        points = histogram.get(kind)
        if points:
            threshold = threshold_of(there, kind)
            yield Plot(
                f"How often {kind}s occur", f"Each point: so many different {kind}s occur so "
                "often. Those to the right of the line are listed as frequent.",
                Axis("occurrences", log=True), Axis(f"different {kind}s", log=True),
                [Series(f"{kind}s", points)],
                [(threshold, f"threshold {threshold:,}")] if threshold else [])


def detected(there: Result) -> Iterator[Shown]:
    """Hosts that live on copies, and on whose; how much of pages and directories is known."""
    return parts(there, (_copiers, (NEIGHBOURHOOD_SOURCES, NEIGHBOURHOODS)),
                 (_page_shares, (PAGE_REUSE,)), (_directory_shares, (NEIGHBOURHOODS,)))


def _copiers(there: Result) -> Iterator[Card]:
    rows = there.query(
        _FIRST_COPIERS, NEIGHBOURHOOD_SOURCES,
        ("prefix", "source", "matching", "distinct_matching"),
        others={"hosts": (NEIGHBOURHOODS, ("prefix", "badness", "chunks", "pages"))})
    number = rows[0]["copiers"] if rows else 0
    answer = ("No host has a tenth of its content from other domains." if not rows else
              f"{rows[0]['prefix'].rstrip('/')} has most of all: "
              f"{counted(rows[0]['copied'], 'different chunk')} of others, most of them of "
              f"{rows[0]['source']}.")
    yield Card(2, "Which hosts live on copies, and on whose?", f"{number:,}",
               f"{'host' if number == 1 else 'hosts'} with a tenth or more from other domains",
               answer,
               [Example(host := row["prefix"].rstrip("/"), _copied(row), "site", {"host": host})
                for row in rows], _HOSTS_QUERY, "sites")


def _page_shares(there: Result) -> Iterator[Figure]:
    yield from _shares(there, "How much of a page is known content", PAGE_REUSE, "contains",
                       "page", "pages")


def _directory_shares(there: Result) -> Iterator[Figure]:
    yield from _shares(there, "How much of a directory is known content", NEIGHBOURHOODS,
                       "badness", "neighbourhood", "directories")


def _copied(row: dict[str, Any]) -> str:
    return (f"{counted(row['copied'], 'different chunk')} from other domains, mostly "
            f"{row['source']}; {percent(row['badness'])} of its {counted(row['chunks'], 'chunk')} "
            f"on {counted(row['pages'], 'page')} are known content")


def _shares(
    there: Result, title: str, schema: TableSchema, value: str, what: str, many: str,
) -> Iterator[Figure]:
    threshold = there.thresholds.get(what)
    lines = [] if threshold is None else [
        (min(threshold, 1.0), f"threshold {percent(threshold, 1)}")]
    return share_plot(there, schema, (value,), value, title,
                      " Above the threshold they are flagged.", "known content", many, lines)


def readable(text: str) -> str:
    """What a reader sees of a chunk, or its markup, if there is nothing else."""
    seen = " ".join(unescape(re.sub(r"<[^>]*(>|$)", " ", text)).split())
    return seen if sum(letter.isalpha() for letter in seen) >= 12 else " ".join(text.split())
