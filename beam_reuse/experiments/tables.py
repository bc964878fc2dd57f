"""The tables of the experiments: their columns, and rows from what was computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from beam_reuse.core.shares import ONE
from beam_reuse.experiments import papers
from beam_reuse.experiments.inject import Injection, found_chunks, found_files
from beam_reuse.experiments.mutate import MutationStep
from beam_reuse.experiments.tolerance import Tolerance, tolerance
from beam_reuse.experiments.vectors import Background, Ints, Site
from beam_reuse.io.results.tables import TableSchema, maybe, table

Row = dict[str, Any]
text, number, real = pa.string(), pa.int64(), pa.float64()

INJECT = table(
    "inject",
    copies=number, file_threshold=number, files=number, distinct_files=number,
    file_share=maybe(real), chunk_threshold=number, chunks=number, distinct_chunks=number,
    chunk_share=maybe(real),
)
MUTATE = table(
    "mutate",
    way=text, labels=text, mutations=number, multiple=real, pages=number,
    mean_chunks=maybe(real), page_contains=maybe(real), page_error=maybe(real),
    neighbourhood_contains=maybe(real), neighbourhood_error=maybe(real), detected=real,
    detected_error=real,
)
TOLERANCES = table(
    "tolerances",
    way=text, level=text, labels=text, threshold=real, threshold_from=text,
    tolerance=maybe(real), first_step=maybe(real), looked_to=real, papers=maybe(text),
)
THRESHOLDS = table(
    "thresholds",
    kind=text, threshold=number, true_positives=number, bad=number,
    true_positive_rate=maybe(real), false_positives=number, benign=number,
    false_positive_rate=maybe(real), precision=maybe(real),
)
STOP_CHUNK_EFFECT = table(
    "stop_chunk_effect",
    stop_chunks=text, labels=number, threshold=real, neighbourhoods=number, flagged=number,
)


@dataclass(frozen=True)
class Threshold:
    """A share above which something counts as detected, and where it comes from: given,
    background or papers."""

    value: Fraction
    source: str


def inject_rows(
    site: Site, background: Background, copies: Sequence[int], how: Injection,
) -> list[Row]:
    """What discovery finds for each number of copies. Exact. Cost: the distinct files and
    chunks of the site, once per number."""
    rows = []
    for number in copies:
        files, file_threshold = found_files(site, background, number, how)
        chunks, chunk_threshold = found_chunks(site, background, number, how)
        rows.append({
            "copies": number,
            "file_threshold": file_threshold, "files": int(files.sum()),
            "distinct_files": len(files), "file_share": _ratio(int(files.sum()), len(files)),
            "chunk_threshold": chunk_threshold, "chunks": int(chunks.sum()),
            "distinct_chunks": len(chunks), "chunk_share": _ratio(int(chunks.sum()), len(chunks)),
        })
    return rows


def mutate_rows(way: str, steps: Mapping[str, Sequence[MutationStep]], mean: Fraction) -> list[Row]:
    """Rows of one way; `mean` are the chunks per page of the site as it was."""
    return [
        {"way": way, "labels": labels, "mutations": step.mutations,
         "multiple": float(step.mutations / mean), "pages": step.pages,
         "mean_chunks": _ratio(step.chunks, step.pages),
         "page_contains": _real(step.page.mean), "page_error": step.page.error,
         "neighbourhood_contains": _real(step.neighbourhood.mean),
         "neighbourhood_error": step.neighbourhood.error,
         "detected": _real(step.detected.mean), "detected_error": step.detected.error}
        for labels, found in steps.items() for step in found
    ]


def tolerance_rows(
    way: str, steps: Mapping[str, Sequence[MutationStep]], mean: Fraction,
    thresholds: Mapping[tuple[str, str], Threshold],
) -> list[Row]:
    """How much is tolerated at both levels with each set of labels, beside what the papers
    report; `thresholds` by level and labels."""
    rows = []
    for level in ("page", "neighbourhood"):
        for labels, found in steps.items():
            means = [getattr(step, level).mean for step in found]
            multiples = [step.mutations / mean for step in found]
            threshold = thresholds[level, labels]
            got: Tolerance = tolerance(multiples, means, threshold.value)
            rows.append({
                "way": way, "level": level, "labels": labels,
                "threshold": float(threshold.value), "threshold_from": threshold.source,
                "tolerance": _real(got.crossing), "first_step": _real(got.step),
                "looked_to": float(max(
                    (m for m, value in zip(multiples, means, strict=True) if value is not None),
                    default=0)),
                "papers": papers.tolerance(way, level, labels) or None,
            })
    return rows


def threshold_rows(kind: str, bad: Ints, benign: Ints) -> list[Row]:
    """What every discovery threshold at which something changes, from 0 on, finds of judged labels
    of a kind, given how often each occurs. A label is found if it occurs more often than the
    threshold; true positives are bad ones, false positives benign ones. Cost: one sort."""
    thresholds = np.unique(np.concatenate([[0], bad, benign]).astype(np.int64))
    found = (len(counts) - np.searchsorted(np.sort(counts), thresholds, side="right")
             for counts in (bad, benign))
    return [
        {"kind": kind, "threshold": threshold,
         "true_positives": true, "bad": len(bad), "true_positive_rate": _ratio(true, len(bad)),
         "false_positives": false, "benign": len(benign),
         "false_positive_rate": _ratio(false, len(benign)),
         "precision": _ratio(true, true + false)}
        for threshold, true, false in zip(
            thresholds.tolist(), *(counts.tolist() for counts in found), strict=True)
    ]


def effect_rows(numbers: Mapping[str, int], settings: Sequence[str]) -> list[Row]:
    """What detection flags with each setting of stop chunks, from the numbers of the graph."""
    return [
        {"stop_chunks": name, "labels": numbers.get(f"labels {name}", 0),
         "threshold": numbers[f"threshold {name}"] / ONE,
         "neighbourhoods": numbers.get(f"neighbourhoods {name}", 0),
         "flagged": numbers.get(f"flagged {name}", 0)}
        for name in settings
    ]


def arrow_table(schema: TableSchema, rows: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=schema.arrow())


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _real(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
