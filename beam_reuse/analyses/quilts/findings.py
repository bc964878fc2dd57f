"""What quilts say in the summary of a run."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from beam_reuse.analyses.quilts.schemas import QUILTS
from beam_reuse.analyses.quilts.settings import SWEPT, QuiltSettings
from beam_reuse.core.wording import counted, percent
from beam_reuse.io.results.result import Result
from beam_reuse.io.results.tables import PAGES

QUILTS_SHOWN = 3
_VARIANTS = {"any": "sources anywhere", "foreign": "sources on other domains",
             "ip": "sources on other domains and addresses"}


def quilts(there: Result) -> Iterator[str]:
    """How many quilts there are, by combination if it was a sweep, and what they are made of."""
    pages: dict[tuple[float, ...], int] = dict.fromkeys(_combinations(there), 0)
    pivot = next(iter(pages))
    best = QUILTS.arrow().empty_table()
    patch = linked = 0.0
    copied = 0
    for batch in there.batches(QUILTS, QUILTS.names):
        for row in batch.group_by(SWEPT).aggregate([("url", "count")]).to_pylist():
            pages[tuple(row[name] for name in SWEPT)] += row["url_count"]
        for name, value in zip(SWEPT, pivot, strict=True):
            batch = batch.filter(pc.equal(batch[name], value))
        copied += pc.sum(pc.greater(batch["copies"], 0)).as_py() or 0
        patch += pc.sum(batch["patch_grams"]).as_py() or 0
        linked += pc.sum(pc.round(pc.multiply(
            batch["patch_grams"], batch["linked_domain_share"]))).as_py() or 0
        best = pa.concat_tables([best, batch]).sort_by(
            [("sources", "descending"), ("url", "ascending")]).slice(0, QUILTS_SHOWN)
    yield (f"quilts ({_VARIANTS[there.settings['quilt-sources']]}): "
           f"{counted(pages[pivot], 'page')}"
           + (f", {copied:,} of them with copies elsewhere" if copied else "")
           + (f", {percent(linked / patch)} of their patches linked to the domain they came from; "
              "most sources:" if patch else ""))
    for row in best.to_pylist():
        copies = {0: "", 1: ", 1 copy"}.get(row["copies"], f", {row['copies']:,} copies")
        part = percent(row["patch_fraction"] * row["covered"])
        yield f"  {part} of it from {counted(row['sources'], 'source')}{copies}: {row['url']}"
    varied = [place for place, values in enumerate(zip(*pages, strict=True))
              if len(set(values)) > 1]
    for key, count in sorted(pages.items()) if varied else ():
        told = " ".join(f"--{SWEPT[place].replace('_', '-')} {key[place]:g}" for place in varied)
        yield f"  {count:>9,} with {told}{' (pivot)' if key == pivot else ''}"
    if there.settings["quilt-sources"] != "any" and not any(pages.values()) and _one_domain(there):
        yield "  all pages are of one domain: --quilt-sources any"
    yield ""


def _one_domain(there: Result) -> bool:
    """Whether there are pages, all of one registered domain."""
    found: set[str] = set()
    if there.has(PAGES):
        for batch in there.batches(PAGES, ("domain",)):
            found.update(pc.unique(batch["domain"]).to_pylist())
            if len(found) > 1:
                break
    return len(found) == 1


def _combinations(there: Result) -> list[tuple[Any, ...]]:
    """The combinations of the sweep, the pivot first."""
    lists: dict[str, Any] = {
        name: tuple(there.settings[name.replace("_", "-")]) for name in SWEPT}
    return QuiltSettings(**lists, sweep=there.settings["sweep"]).combinations()
