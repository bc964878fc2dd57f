"""Judged pages or directories as a report."""

from collections.abc import Iterator
from typing import Any

from beam_reuse.core.shares import ONE
from beam_reuse.io.sheets import LABEL, REASON
from beam_reuse.judging.evaluate import PAGES, ClassRow, Evaluation
from beam_reuse.judging.measures import Confusion, Rate
from beam_reuse.judging.reports import Report, ReportTable, number_json

COUNTS = ("tp", "fp", "fn", "tn")
RATES = tuple(Confusion().rates())


def detection_report(evaluation: Evaluation) -> Report:
    """Judged pages or directories as a report."""
    return Report(evaluation.subject.name, as_json(evaluation), list(_tables(evaluation)))


def as_json(evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation as JSON values; rates have their value (null for 0/0), part and whole."""
    undecided = sum(outcome.flagged for outcome in evaluation.undecided)
    weighted = evaluation.weighted()
    at, precision = evaluation.step_of_run(), evaluation.precision()
    return {
        "table": evaluation.subject.table,
        "judged": len(evaluation.decided),
        "undecided": {"flagged": undecided, "not_flagged": len(evaluation.undecided) - undecided},
        "unlabelled": evaluation.judgements.unlabelled,
        "repeated": evaluation.judgements.repeated,
        "absent": [judgement.cell(evaluation.subject.key) for judgement in evaluation.absent],
        "confusion": _confusion_json(evaluation.confusion()),
        "table_precision": vars(precision) if precision else None,
        "weighted": _confusion_json(weighted) if weighted else None,
        "by": list(evaluation.by),
        "classes": [_class_json(row) for row in evaluation.classes()],
        "threshold_of_run": None if at is None else at / ONE,
        "sweep": [{"threshold": step.share / ONE, **_confusion_json(step.confusion)}
                  for step in evaluation.sweep()],
        "evidence": [{"min_matching": step.share + 1, **_confusion_json(step.confusion)}
                     for step in evaluation.evidence_sweep()],
    }


def _confusion_json(confusion: Confusion) -> dict[str, Any]:
    counts = {name: number_json(getattr(confusion, name)) for name in COUNTS}
    return counts | {name: _rate_json(rate) for name, rate in confusion.rates().items()}


def _rate_json(rate: Rate) -> dict[str, Any]:
    return {"value": rate.value, "part": number_json(rate.part), "whole": number_json(rate.whole)}


def _class_json(row: ClassRow) -> dict[str, Any]:
    return {"label": row.verdict.value, "class": list(row.values), "rows": row.rows,
            "of_label": row.of_verdict, "flagged": row.flagged, "evidence": row.evidence}


def _tables(evaluation: Evaluation) -> Iterator[ReportTable]:
    key = evaluation.subject.key
    yield ReportTable("outcomes", (key, LABEL, REASON, "share", "evidence", "flagged", "outcome"), [
        (o.key, o.judgement.cell(LABEL), o.judgement.cell(REASON), o.share / ONE, o.evidence,
         o.flagged, o.name) for o in evaluation.outcomes])
    if evaluation.by:
        yield ReportTable(
            "classes",
            (LABEL, *evaluation.by, "rows", "percent_of_label", "flagged", "percent_flagged",
             "share_of_evidence"),
            [(row.verdict.value, *row.values, row.rows,
              f"{100 * row.rows / row.of_verdict:.2f}", row.flagged,
              f"{100 * row.flagged / row.rows:.2f}", row.evidence) for row in evaluation.classes()])
    yield ReportTable("sweep", ("threshold", *COUNTS, *RATES), [
        (step.share / ONE, *(getattr(step.confusion, name) for name in COUNTS),
         *(rate.value for rate in step.confusion.rates().values()))
        for step in evaluation.sweep()])
    if evaluation.subject is PAGES:
        yield _evidence_table(evaluation)
    yield ReportTable("absent", (key, LABEL, REASON, "row", "why"), [
        (j.cell(key), j.cell(LABEL), j.cell(REASON), j.row.number, j.why or "not in the crawl")
        for j in evaluation.absent])


def _evidence_table(evaluation: Evaluation) -> ReportTable:
    return ReportTable("evidence", ("min_matching", *COUNTS, *RATES), [
        (step.share + 1, *(getattr(step.confusion, name) for name in COUNTS),
         *(rate.value for rate in step.confusion.rates().values()))
        for step in evaluation.evidence_sweep()])
