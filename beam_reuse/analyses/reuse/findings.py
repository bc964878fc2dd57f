"""What discovery and detection say in the summary of a run."""

from collections.abc import Iterator
from typing import Any

import pyarrow.compute as pc

from beam_reuse.analyses.reuse.schemas import (
    FREQUENCY_HISTOGRAM,
    FREQUENT_CHUNKS,
    FREQUENT_FILES,
    MATCHED_CHUNKS,
    MATCHED_FILES,
    NEIGHBOURHOODS,
    NILSIMSA_SWEEP,
    PAGE_REUSE,
)
from beam_reuse.analyses.reuse.settings import BACKGROUND
from beam_reuse.core.discovery import auto_threshold
from beam_reuse.core.wording import counted, percent
from beam_reuse.io.results.result import Result

FILES_SHOWN, CHUNKS_SHOWN, PLACES_SHOWN, DEEPEST = 3, 5, 5, 20
_TEXT_WIDTH = 60
SHORT = 100
_BELOW = """
    select count(*) as pages from source
    where not flagged and chunks >= $chunks and distinct_matching >= $matching"""


def discovered(there: Result) -> Iterator[str]:
    """What is copied most."""
    if there.rows(FREQUENT_FILES):
        yield f"most copied files ({_selection(there, 'file')}):"
        for row in there.top(FREQUENT_FILES, "occurrences", FILES_SHOWN,
                             ("sha1", "occurrences", "hosts", "first_url")):
            yield f"  {_times(row)}, first captured at {row['first_url']}"
        yield ""
    found = there.rows(FREQUENT_CHUNKS)
    if not found:
        across = there.settings.get("min-hosts", 1)
        where = f" on {across:,} hosts or more (--min-hosts)" if across > 1 else ""
        yield (f"No chunk occurs more than once{where}." if there.settings["top"] else
               f"No chunk occurs {_selection(there, 'chunk')}{where}; --chunk-threshold lowers "
               "the bar.")
        yield ""
        return
    yield f"most copied chunks ({_selection(there, 'chunk')}):"
    shown = there.top(FREQUENT_CHUNKS, "occurrences", CHUNKS_SHOWN,
                      ("sha1", "occurrences", "hosts", "text", "bytes"))
    for row in shown:
        yield f"  {_times(row)}: {_short(row['text'])}"
    if _is_unnarrowed(there) and 2 * sum(row["bytes"] < SHORT for row in shown) > len(shown):
        yield (f"Short chunks are often mere markup: --min-chunk-bytes {SHORT} --min-hosts 2 shows "
               "passages that are copied from site to site.")
    yield ""


def detected(there: Result) -> Iterator[str]:
    """Where known content was found."""
    pages, places = (there.count(schema, "flagged")
                     for schema in (PAGE_REUSE, NEIGHBOURHOODS))
    lists = [name.split(" sha256:")[0] for name in there.settings.get("labels", ())]
    own_chunks = there.count(PAGE_REUSE, "own_matching")
    own_files = there.count(MATCHED_FILES, "own")
    yield (f"known content ({'labels of ' + ', '.join(lists) if lists else 'what discovery found'}"
           f") in {counted(there.rows(MATCHED_CHUNKS) - own_chunks, 'chunk')} and "
           f"{counted(there.rows(MATCHED_FILES) - own_files, 'file')}")
    if stopped := there.count(PAGE_REUSE, "stop_chunks"):
        yield f"{counted(stopped, 'stop chunk')} did not count"
    if own_chunks or own_files:
        yield (f"{counted(own_chunks, 'chunk')} and {counted(own_files, 'file')} on pages of their "
               "source's own domain did not count (--count-own)")
    yield (f"flagged: {pages:,} of {counted(there.rows(PAGE_REUSE), 'page')}"
           f"{_above(there, 'page')}, {places:,} of {there.rows(NEIGHBOURHOODS):,} "
           f"directories{_above(there, 'neighbourhood')}{', most in' if places else ''}")
    value = "mean_contains" if there.settings.get("neighbourhood-score") == "mean" else "badness"
    found = there.top(NEIGHBOURHOODS, "matching", PLACES_SHOWN * DEEPEST,
                      ("prefix", "matching", "chunks", "pages", value, "flagged"), keep="flagged")
    for row in _topmost(found)[:PLACES_SHOWN]:
        yield (f"  {row['prefix']}: {percent(row[value])} of its {counted(row['chunks'], 'chunk')} "
               f"on {counted(row['pages'], 'page')}")
    if lists and there.settings.get("page-threshold") == "auto":
        yield from _as_checked(there)
    yield ""
    if there.has(NILSIMSA_SWEEP):
        yield from _sweep(there)


def _above(there: Result, what: str) -> str:
    """The share above which pages or directories were flagged."""
    threshold = there.thresholds.get(what)
    if threshold is None:
        return ""
    if threshold == 0 and there.settings.get("labels"):
        return " (any known chunk)"
    never = f", so none can be: give --{what}-threshold" if threshold >= 1 else ""
    return f" (share above {threshold:.4g}{never})"


def _as_checked(there: Result) -> Iterator[str]:
    """Why pages were flagged or not where the threshold is automatic, compared with `check`."""
    if there.thresholds.get("page") == 0:
        yield ("Any known chunk flags a page, as in `check`: an average is taken of "
               f"{BACKGROUND:,} pages or more, of which fewer than half have known content "
               "(--page-threshold).")
        return
    [row] = there.query(_BELOW, PAGE_REUSE, ("chunks", "distinct_matching", "flagged"), {
        "chunks": there.settings["min-chunks"], "matching": there.settings["min-matching"]})
    if row["pages"]:
        has = "has" if row["pages"] == 1 else "have"
        yield (f"{counted(row['pages'], 'more page')} {has} known content, not above mean + one "
               "deviation of all pages: --page-threshold 0 flags any, as `check` does.")


def _topmost(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without directories that hold just what one above them holds."""
    kept: list[dict[str, Any]] = []
    for row in sorted(rows, key=lambda row: (-row["matching"], row["prefix"])):
        same = (row["matching"], row["chunks"], row["pages"])
        if not any(row["prefix"].startswith(above["prefix"])
                   and same == (above["matching"], above["chunks"], above["pages"])
                   for above in kept):
            kept.append(row)
    return kept


def _sweep(there: Result) -> Iterator[str]:
    yield "Nilsimsa scores (at low thresholds every chunk is compared with every label):"
    for batch in there.batches(NILSIMSA_SWEEP, NILSIMSA_SWEEP.names):
        for row in batch.to_pylist():
            yield (f"  {row['threshold']:>4} or more: {row['matching']:,} chunks match, "
                   f"{row['matching'] - row['exact']:,} of them not exactly")
    yield ""


def _times(row: dict[str, Any]) -> str:
    return f"{row['occurrences']:>9,} times on {counted(row['hosts'], 'host')}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _TEXT_WIDTH else text[: _TEXT_WIDTH - 1] + "…"


def _selection(there: Result, kind: str) -> str:
    """By which rule files or chunks were listed."""
    if there.settings["top"]:
        return f"the {there.settings['top']:,} most frequent"
    if there.settings[f"{kind}-threshold"] != "auto":
        return f"more than {counted(there.settings[f'{kind}-threshold'], 'time')}"
    threshold = counted(threshold_of(there, kind), "time")
    return f"more than {threshold}: automatic for {counted(_total(there, kind), kind)}"


def threshold_of(there: Result, kind: str) -> int:
    """How often files or chunks must occur more than, to be listed; 0 if the most frequent are."""
    if there.settings["top"]:
        return 0
    given = there.settings[f"{kind}-threshold"]
    return auto_threshold(kind, _total(there, kind)) if given == "auto" else int(given)


def _total(there: Result, kind: str) -> int:
    """How many files or chunks there are, with repeats."""
    total = 0
    for batch in there.batches(FREQUENCY_HISTOGRAM, FREQUENCY_HISTOGRAM.names):
        counts = batch.filter(pc.equal(batch["kind"], kind))
        total += pc.sum(pc.multiply(counts["occurrences"], counts["distinct"])).as_py() or 0
    return total


def _is_unnarrowed(there: Result) -> bool:
    """Whether chunks of any length, and copies within a site, were looked at."""
    return (there.settings.get("min-chunk-bytes"), there.settings.get("min-hosts")) == (0, 1)
