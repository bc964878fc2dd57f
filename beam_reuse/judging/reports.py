"""An evaluation as files: one JSON document, a CSV for each of its tables, and figures."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from beam_reuse.core.shares import ONE
from beam_reuse.io.files import join, open_files, write_whole
from beam_reuse.judging.evaluate import ClassRow, Evaluation
from beam_reuse.judging.measures import Confusion, Rate
from beam_reuse.judging.sheets import LABEL, REASON, neutral, write_sheet

DOCUMENT = "evaluation.json"
FILES = "files"
COUNTS = ("tp", "fp", "fn", "tn")
RATES = tuple(Confusion().rates())
DETECTION_TABLES = ("outcomes", "classes", "sweep", "absent")


@dataclass(frozen=True)
class ReportTable:
    """A table of a report: its rows as the cells of a sheet."""

    name: str
    columns: Sequence[str]
    rows: Iterable[Sequence[str]]


@dataclass(frozen=True)
class Report:
    """What there is to tell of one evaluation: its part of the document, its tables, and figures
    by file name."""

    name: str
    document: Mapping[str, Any]
    tables: Sequence[ReportTable]
    figures: Mapping[str, bytes] = field(default_factory=dict)


def write_report(folder: str, reports: Sequence[Report]) -> list[str]:
    """Write all there is to tell to `folder`; gives the names of the files. Those of an earlier
    evaluation in `folder` that are not written anew are removed."""
    earlier = _earlier_names(folder)
    names = [DOCUMENT]
    for report in reports:
        for table in report.tables:
            names.append(f"{report.name}-{table.name}.csv")
            write_sheet(join(folder, names[-1]), table.columns, table.rows)
        for name, content in report.figures.items():
            names.append(name)
            write_whole(open_files(folder), join(folder, name), content)
    document = {report.name: report.document for report in reports} | {FILES: names}
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    write_whole(open_files(folder), join(folder, DOCUMENT), text.encode("utf-8", "replace"))
    open_files(folder).delete(join(folder, name) for name in earlier if name not in names)
    return names


def _earlier_names(folder: str) -> list[str]:
    """The files of the evaluation that is now in `folder`; none if there is none."""
    try:
        files = json.loads(open_files(folder).read(join(folder, DOCUMENT)))[FILES]
    except (OSError, ValueError, LookupError, TypeError):
        return []
    return [name for name in files if isinstance(name, str) and os.path.basename(name) == name]


def detection_report(evaluation: Evaluation) -> Report:
    """Judged pages or directories as a report."""
    tables = [ReportTable(*table) for table in _tables(evaluation)]
    return Report(evaluation.subject.name, as_json(evaluation), tables)


def as_json(evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation as JSON values; rates have their value (null for 0/0), part and whole."""
    undecided = sum(outcome.flagged for outcome in evaluation.undecided)
    weighted = evaluation.weighted()
    at = evaluation.step_of_run()
    return {
        "table": evaluation.subject.table,
        "judged": len(evaluation.decided),
        "undecided": {"flagged": undecided, "not_flagged": len(evaluation.undecided) - undecided},
        "unlabelled": evaluation.judgements.unlabelled,
        "repeated": evaluation.judgements.repeated,
        "absent": [judgement.cell(evaluation.subject.key) for judgement in evaluation.absent],
        "confusion": _confusion_json(evaluation.confusion()),
        "weighted": _confusion_json(weighted) if weighted else None,
        "by": list(evaluation.by),
        "classes": [_class_json(row) for row in evaluation.classes()],
        "threshold_of_run": None if at is None else at / ONE,
        "sweep": [{"threshold": step.share / ONE, **_confusion_json(step.confusion)}
                  for step in evaluation.sweep()],
    }


def _confusion_json(confusion: Confusion) -> dict[str, Any]:
    counts = {name: number_json(getattr(confusion, name)) for name in COUNTS}
    return counts | {name: _rate_json(rate) for name, rate in confusion.rates().items()}


def _rate_json(rate: Rate) -> dict[str, Any]:
    return {"value": rate.value, "part": number_json(rate.part), "whole": number_json(rate.whole)}


def _class_json(row: ClassRow) -> dict[str, Any]:
    return {"label": row.verdict.value, "class": list(row.values), "rows": row.rows,
            "of_label": row.of_verdict, "flagged": row.flagged}


def number_json(value: int | Fraction) -> int | float:
    return int(value) if value == int(value) else float(value)


def _tables(evaluation: Evaluation) -> Iterable[
        tuple[str, Sequence[str], Iterable[Sequence[str]]]]:
    """Name, columns and rows of each CSV."""
    key = evaluation.subject.key
    yield "outcomes", (key, LABEL, REASON, "share", "flagged", "outcome"), (
        (neutral(o.key), neutral(o.judgement.cell(LABEL)), neutral(o.judgement.cell(REASON)),
         repr(o.share / ONE), str(o.flagged).lower(), o.name) for o in evaluation.outcomes)
    if evaluation.by:
        yield "classes", (LABEL, *evaluation.by, "rows", "percent_of_label", "flagged",
                          "percent_flagged"), (
            (row.verdict.value, *map(neutral, row.values), str(row.rows),
             f"{100 * row.rows / row.of_verdict:.2f}", str(row.flagged),
             f"{100 * row.flagged / row.rows:.2f}") for row in evaluation.classes())
    yield "sweep", ("threshold", *COUNTS, *RATES), (
        (repr(step.share / ONE), *(str(getattr(step.confusion, name)) for name in COUNTS),
         *("" if rate.value is None else repr(rate.value)
           for rate in step.confusion.rates().values())) for step in evaluation.sweep())
    yield "absent", (key, LABEL, REASON, "row", "why"), (
        (neutral(j.cell(key)), neutral(j.cell(LABEL)), neutral(j.cell(REASON)),
         str(j.row.number), j.why or "not in the crawl") for j in evaluation.absent)
