"""How a graph hands its outcome to the driver: one small file, on any runner."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import apache_beam as beam
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.io.files import open_files, write_whole
from beam_reuse.io.results.manifest import Accounting, Outcome, Part
from beam_reuse.io.results.sink import Receipt

RECORDS, PAGES, SKIPPED, REJECTED, NOTED, BYTES, THRESHOLD, MEASURED = (
    "records", "pages", "skipped", "rejected", "noted", "bytes", "threshold", "measured"
)

Count = tuple[tuple[str, str], int]
"""((what, reason), how many), with `what` one of the names above; reason '' where none. For
THRESHOLD the reason says of what, and the number is an integer share; what is MEASURED may differ
between runs with the same result."""


class SaveOutcome(beam.PTransform):
    """{"parts": PCollection[Receipt], "counts": PCollection[Count]} -> a file at `path`.

    Counts of the same key are summed. The file is what `read_outcome` reads; it appears
    whole, after all parts are written.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    @no_annotations
    def expand(self, given: Mapping[str, beam.PCollection]) -> beam.PCollection:
        counts = given["counts"] | "SumCounts" >> beam.CombinePerKey(sum)
        return (
            given["counts"].pipeline
            | "Once" >> beam.Create([self.path])
            | "Save" >> beam.Map(
                save_outcome, beam.pvalue.AsList(given["parts"]), beam.pvalue.AsList(counts)
            )
        )


def save_outcome(path: str, parts: Iterable[Receipt], counts: Iterable[Count]) -> str:
    """Write parts and counts to `path`."""
    content = {"parts": sorted(parts), "counts": sorted(counts)}
    write_whole(open_files(path), path, json.dumps(content).encode())
    return path


def read_outcome(path: str) -> Outcome:
    """What `SaveOutcome` wrote. Raises AccountingError if records do not add up."""
    content = json.loads(open_files(path).read(path))
    found: dict[str, dict[str, Any]] = {}
    for (what, reason), count in content["counts"]:
        found.setdefault(what, {})[reason] = count

    def total(what: str) -> int:
        return sum(found.get(what, {}).values())

    accounting = Accounting(
        total(RECORDS), total(PAGES), found.get(SKIPPED, {}), found.get(REJECTED, {}),
        found.get(NOTED, {}),
    )
    return Outcome(accounting, tuple(Part(*part) for part in content["parts"]), total(BYTES),
                   found.get(THRESHOLD, {}), found.get(MEASURED, {}))
