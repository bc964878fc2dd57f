"""report.html of an experiment: what came out in a sentence or two, and its curves."""

from collections.abc import Iterator
from typing import Any

from beam_reuse.core.wording import counted, percent
from beam_reuse.experiments.tables import INJECT, MUTATE, STOP_CHUNK_EFFECT, THRESHOLDS, TOLERANCES
from beam_reuse.io.results.manifest import Manifest
from beam_reuse.io.results.result import Result
from beam_reuse.io.results.tables import TableSchema
from beam_reuse.report.findings import found_in
from beam_reuse.report.page import page_of
from beam_reuse.report.parts import Part, parts
from beam_reuse.report.values import Axis, Card, Example, Figure, Plot, Series

Points = list[tuple[float, float]]
_TITLES = {
    INJECT.name: "Experiment: copies of a site, and what discovery finds of them",
    MUTATE.name: "Experiment: a copied site that is changed, and what detection still finds",
    THRESHOLDS.name: "Experiment: thresholds against what people judged",
}
_NOT_SHOWN = (
    "Errors of means: they are columns of the tables, and bars in the figures beside this report.",
    "Other sites: what holds for this one need not hold for yours. Repeat it with several.",
)
_DONE = {"add": "added", "delete": "deleted", "change": "changed"}
_LEVELS = {"page": "pages", "neighbourhood": "the neighbourhood"}


def experiment_report(manifest: Manifest, folder: str) -> bytes:
    """The report of an experiment whose tables are in `folder`; the same bytes for the same
    tables. Cost: one pass over them."""
    there = Result(manifest, folder)
    found: list[tuple[TableSchema, list[Part]]] = [
        (INJECT, [(_injected, (INJECT,))]),
        (MUTATE, [(_tolerated, (TOLERANCES,)), (_mutated, (MUTATE, TOLERANCES))]),
        (THRESHOLDS, [(_effect, (STOP_CHUNK_EFFECT,)), (_rates, (THRESHOLDS,))]),
    ]
    tables = manifest.tables()
    made = [each for schema, some in found if schema.name in tables for each in some]
    title = next((_TITLES[name] for name in _TITLES if name in tables), "Experiment")
    return page_of(there, found_in(parts(there, *made), title, _NOT_SHOWN))


def _all(there: Result, schema: TableSchema, order: str) -> list[dict[str, Any]]:
    return there.query(f"select * from source order by {order}", schema, schema.names)


def _injected(there: Result) -> Iterator[Card | Figure]:
    rows = _all(there, INJECT, "copies")
    if not rows:
        return
    last, whole = rows[-1], [row for row in rows if row["chunks"] == row["distinct_chunks"]]
    answer = (f"With {last['copies']:,} copies, {last['chunks']:,} of "
              f"{counted(last['distinct_chunks'], 'distinct chunk')} and {last['files']:,} of "
              f"{counted(last['distinct_files'], 'distinct file')} are found.")
    yield Card(1, "How many copies does discovery need?", f"{whole[0]['copies']:,}"
               if whole else f"> {last['copies']:,}", "copies until every chunk is found", answer,
               [], "select copies, file_share, chunk_share from inject order by copies")
    yield Plot("What discovery finds of a copied site", "The share of the site's distinct files "
               "and chunks that are found, by how many copies there are.",
               Axis("copies of the site"), Axis("distinct ones found", share=True),
               [Series(f"{kind}s", _points(rows, "copies", f"{kind}_share"), "path")
                for kind in ("chunk", "file")])


def _tolerated(there: Result) -> Iterator[Card]:
    rows = _all(there, TOLERANCES, "way, level desc, labels desc")
    known = [row["tolerance"] for row in rows if row["tolerance"] is not None]
    if rows:
        yield Card(1, "How much change does detection tolerate?",
                   f"{min(known):.1f}" if known else "no limit",
                   "times the mean chunks of a page, in the worst case" if known else "found",
                   "So many chunks of each page can be changed before it, or its neighbourhood, "
                   "is no longer detected.",
                   [Example(f"{_DONE.get(row['way'], row['way'])}, {row['level']}, "
                            f"{row['labels']} labels", _tolerance(row)) for row in rows],
                   "select * from tolerances order by way, level, labels")


def _tolerance(row: dict[str, Any]) -> str:
    value = (f"{row['tolerance']:.2f} times the mean chunks of a page"
             if row["tolerance"] is not None else f"more than {row['looked_to']:.1f} times")
    papers = f"; the papers: {row['papers']}" if row["papers"] else ""
    return (f"{value}, above a share of {percent(row['threshold'])} ({row['threshold_from']})"
            f"{papers}")


def _mutated(there: Result) -> Iterator[Figure]:
    rows = _all(there, MUTATE, "way, labels desc, mutations")
    limits = _all(there, TOLERANCES, "way, level, labels")
    for way in sorted({row["way"] for row in rows}):
        mine = [row for row in rows if row["way"] == way]
        across = Axis(f"chunks {_DONE.get(way, way)} per page / mean chunks per page")
        for level, of in _LEVELS.items():
            levels = {row["threshold"] for row in limits if (row["way"], row["level"]) == (
                way, level)}
            yield Plot(f"Chunks {_DONE.get(way, way)}: known content of {of}",
                       "The share of chunks that still match, by how much was changed; the line is "
                       "the threshold.", across, Axis("matching chunks", share=True),
                       _by_labels(mine, f"{level}_contains"), (),
                       [(each, f"threshold {each:.3f}") for each in sorted(levels)])
        yield Plot(f"Chunks {_DONE.get(way, way)}: pages that are still detected",
                   "How many pages are above the threshold, by how much was changed.", across,
                   Axis("pages detected"), _by_labels(mine, "detected"))


def _by_labels(rows: list[dict[str, Any]], value: str) -> list[Series]:
    names = sorted({row["labels"] for row in rows}, reverse=True)
    return [Series(f"{name} labels", _points(
        [row for row in rows if row["labels"] == name], "multiple", value), "path")
        for name in names]


def _effect(there: Result) -> Iterator[Card]:
    rows = _all(there, STOP_CHUNK_EFFECT, "stop_chunks desc")
    if rows:
        removed = rows[0]
        yield Card(1, "What do stop chunks change?", f"{removed['flagged']:,}",
                   "neighbourhoods flagged without stop chunks",
                   f"Of {counted(removed['neighbourhoods'], 'neighbourhood')}, by "
                   f"{counted(removed['labels'], 'label')}, above a share of "
                   f"{percent(removed['threshold'])}.",
                   [Example(f"stop chunks {row['stop_chunks']}",
                            f"{row['flagged']:,} of {row['neighbourhoods']:,} flagged, above "
                            f"{percent(row['threshold'])}, by {counted(row['labels'], 'label')}")
                    for row in rows], "select * from stop_chunk_effect")


def _rates(there: Result) -> Iterator[Figure]:
    rows = _all(there, THRESHOLDS, "kind, threshold")
    for kind in sorted({row["kind"] for row in rows}):
        mine = [row for row in rows if row["kind"] == kind]
        yield Plot(f"What each threshold finds of judged {kind}s", "The share of bad and of "
                   f"benign {kind}s that occur more often than the threshold. 0 is drawn at 1.",
                   Axis("threshold", log=True), Axis("found", share=True),
                   [Series("bad", _points(mine, "threshold", "true_positive_rate"), "path"),
                    Series("benign", _points(mine, "threshold", "false_positive_rate"), "path")])
        both = [row for row in mine if row["false_positive_rate"] is not None]
        yield Plot(f"Bad against benign {kind}s found", "Each point is a threshold: the best ones "
                   "are at the upper left.", Axis(f"benign {kind}s found", share=True),
                   Axis(f"bad {kind}s found", share=True),
                   [Series("thresholds", _points(both, "false_positive_rate",
                                                 "true_positive_rate"), "path")])


def _points(rows: list[dict[str, Any]], x: str, y: str) -> Points:
    return [(float(row[x]), float(row[y])) for row in rows if row[y] is not None]
