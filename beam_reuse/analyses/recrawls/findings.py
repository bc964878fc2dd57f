"""What a run with a baseline says of its pages in the summary."""

from collections import Counter
from collections.abc import Iterator

from beam_reuse.analyses.near_duplicates.schemas import KEEP
from beam_reuse.analyses.recrawls.schemas import RECRAWLED
from beam_reuse.core.wording import counted
from beam_reuse.io.results.result import Result
from beam_reuse.io.results.tables import PAGES

_WHAT = {
    "same-bytes": "with the same bytes", "same-words": "with the same words",
    "near": "nearly the same", "other": "with other content", "changed": "with other bytes",
}


def recrawls(there: Result) -> Iterator[str]:
    """How many pages are new, how many were fetched before and have changed how, and how many are
    dropped for a page of the baseline."""
    old = there.noted.get("pages-of-baseline", 0)
    changes: Counter[str] = Counter()
    for batch in there.batches(RECRAWLED, ["change"]):
        for row in batch.group_by("change").aggregate([([], "count_all")]).to_pylist():
            changes[row["change"]] += row["count_all"]
    pages, again = there.manifest.accounting.pages, sum(changes.values())
    yield (f"beside a baseline of {counted(old, 'page')}: "
           f"{counted(pages - again, 'page')} of URLs that are new, "
           f"{counted(again, 'page')} fetched again")
    for change, what in _WHAT.items():
        if changes[change]:
            yield f"  {changes[change]:,} {what}"
    if there.has(KEEP):
        known = _dropped_for_old(there)
        if known:
            yield f"  {counted(known, 'new page')} dropped (table keep) for pages of the baseline"
    yield ""


def _dropped_for_old(there: Result) -> int:
    """How many pages `keep` drops for one of the baseline."""
    old = {row["url"] for row in there.query(
        "SELECT url FROM source WHERE starts_with(crawl, 'baseline:')", PAGES, ("url", "crawl"))}
    return sum(row["because_of"] in old for row in there.query(
        "SELECT because_of FROM source WHERE NOT keep", KEEP, ("keep", "because_of")))
