"""What a graph hands to the driver: one small file, on any runner. No Beam."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import astuple
from typing import Any

from beam_reuse.io.files import open_files, write_whole
from beam_reuse.io.results.manifest import Accounting, Part, RunOutcome

RECORDS, PAGES, SKIPPED, REJECTED = "records", "pages", "skipped", "rejected"
MEASURED = "measured"
"""Names of counts, or what comes before the `/` in them; what is MEASURED may differ between runs
with the same result. All other counts are part of a result."""


def save_outcome(
    path: str, parts: Iterable[Part], counts: Iterable[tuple[str, int]],
    thresholds: Mapping[str, int],
) -> None:
    """Write to `path`; counts of the same name are summed."""
    sums: dict[str, int] = {}
    for name, count in counts:
        sums[name] = sums.get(name, 0) + count
    content = {"parts": sorted(map(astuple, parts)), "counts": dict(sorted(sums.items())),
               "thresholds": dict(thresholds)}
    write_whole(open_files(path), path, json.dumps(content).encode())


def read_outcome(path: str) -> RunOutcome:
    """What `save_outcome` wrote. Raises AccountingError if records do not add up."""
    content = json.loads(open_files(path).read(path))
    known: dict[str, dict[str, Any]] = {SKIPPED: {}, REJECTED: {}, MEASURED: {}}
    notes: dict[str, int] = {}
    for name, count in content["counts"].items():
        what, _, reason = name.partition("/")
        known.get(what, notes)[reason or name] = count
    accounting = Accounting(
        notes.pop(RECORDS, 0), notes.pop(PAGES, 0), known[SKIPPED], known[REJECTED], notes)
    return RunOutcome(accounting, tuple(Part(*part) for part in content["parts"]), 0,
                   content["thresholds"], known[MEASURED])
