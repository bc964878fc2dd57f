"""What quilts show in the report."""

from collections.abc import Iterator
from typing import Any

from beam_reuse.analyses.quilts.schemas import QUILT_SOURCES, QUILTS
from beam_reuse.core.wording import counted, percent
from beam_reuse.io.results.result import Result
from beam_reuse.report.parts import Shown, parts
from beam_reuse.report.values import Axis, Card, Example, Figure, Plot, Series

_SETTINGS = ("gram_size", "max_pages_per_gram", "min_sources", "min_patch_fraction")
_LABELS = {"gram_size": "tokens of a gram (k)", "max_pages_per_gram": "pages of a gram (m)",
           "min_sources": "sources at least (c)", "min_patch_fraction": "patch fraction (θ)"}
_TOP = """
    select url, max(sources) as sources, max(patch_fraction * covered) as part from source
    where {pivot} group by url order by sources desc, url limit 3"""
_COUNT = "select count(distinct url) as n from source where {pivot}"
_SWEEP = f"select {', '.join(_SETTINGS)}, count(*) as n from source group by all order by all"
_QUERY = ("select url, count(*) over (partition by url) as sources, rank, source_url, share, "
          "linked from quilt_sources where {pivot} order by sources desc, url, rank")


def quilts(there: Result) -> Iterator[Shown]:
    """Pages that are stitched from others', and how many with other settings."""
    return parts(there, (_stitched, (QUILTS, QUILT_SOURCES)), (_sweeps, (QUILTS,)))


def _stitched(there: Result) -> Iterator[Card]:
    """The quilts of the pivot: of each setting that was varied, the first value."""
    pivot = " and ".join(f"{name} = {value!r}" for name, value in _pivot(there).items()) or "true"
    columns = ("url", "sources", "patch_fraction", "covered", *_SETTINGS)
    (found,) = there.query(_COUNT.format(pivot=pivot), QUILTS, columns)
    rows = there.query(_TOP.format(pivot=pivot), QUILTS, columns)
    answer = ("No page is stitched from passages of others." if not rows else
              f"The largest takes passages from {counted(rows[0]['sources'], 'page')}.")
    yield Card(5, "Which pages are stitched from other people's?", f"{found['n']:,}",
               "quilt" if found["n"] == 1 else "quilts", answer, [
                   Example(row["url"], f"{percent(row['part'])} of its text is from "
                           f"{counted(row['sources'], 'source')}",
                           "quilt", {"url": row["url"]}) for row in rows],
               _QUERY.format(pivot=pivot), "quilts?sort=sources&descending=true")


def _pivot(there: Result) -> dict[str, Any]:
    values = {name: there.settings.get(name.replace("_", "-")) for name in _SETTINGS}
    first = {name: value[0] if isinstance(value, list | tuple) else value
             for name, value in values.items()}
    return {name: value for name, value in first.items() if value is not None}


def _sweeps(there: Result) -> Iterator[Figure]:
    """How the number of quilts follows each setting that was varied, the others at the first
    value that was given."""
    rows = there.query(_SWEEP, QUILTS, _SETTINGS)
    asked = {name: there.settings.get(name.replace("_", "-")) for name in _SETTINGS}
    pivot = _pivot(there)
    for name in _SETTINGS:
        values = asked[name]
        if not isinstance(values, list | tuple) or len(values) < 2:
            continue
        others = [each for each in _SETTINGS if each != name]
        counts = {row[name]: row["n"] for row in rows
                  if all(row[each] == pivot[each] for each in others)}
        points = [(float(value), float(counts.get(value, 0))) for value in sorted(values)]
        yield Plot(f"Quilts by {_LABELS[name]}", "How many pages are quilts with each value, the "
                   "other settings at their first value.", Axis(_LABELS[name]), Axis("quilts"),
                   [Series("quilts", points, "path")])
