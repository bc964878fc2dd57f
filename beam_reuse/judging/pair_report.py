"""Judged pairs as a report: rows of one form for CSV and JSON."""

from fractions import Fraction
from typing import Any

from beam_reuse.io.sheets import LABEL, REASON
from beam_reuse.judging.figures import threshold_figure
from beam_reuse.judging.judgements import drawn_from
from beam_reuse.judging.measures import Measure, Rate
from beam_reuse.judging.pair_figures import Figures
from beam_reuse.judging.pair_lookup import URLS, How
from beam_reuse.judging.pair_thresholds import Step, c_sweep, halves
from beam_reuse.judging.pairs import PairEvaluation
from beam_reuse.judging.reports import Report, Row, number_json, report_of
from beam_reuse.judging.similarities import ALGORITHMS


def pair_report(evaluation: PairEvaluation, drawn: bool) -> Report:
    """All that judged pairs show, with a figure if it is to be `drawn`."""
    tables = {
        "precision": [_figures_row(row) for row in evaluation.figures()],
        "reasons": evaluation.reasons(),
        "b-thresholds": [_step_row(step) for step in evaluation.b_steps()],
        "sweep": _sweep_rows(evaluation),
        "choices": _choice_rows(evaluation),
        "calibration": _calibration_rows(evaluation),
        "outcomes": _outcome_rows(evaluation),
    }
    figures = dict(threshold_figure(tables["sweep"])) if drawn else {}
    return report_of("pairs", _pair_facts(evaluation), tables, figures)


def _pair_facts(evaluation: PairEvaluation) -> dict[str, Any]:
    return {
        "judged": len(evaluation.pairs),
        "drawn_from": drawn_from(evaluation.sheet),
        "table_rows": evaluation.table_rows,
        "unlabelled": evaluation.judgements.unlabelled,
        "repeated": evaluation.judgements.repeated,
        **{how.value: len(evaluation.found(how)) for how in How},
        "thresholds": dict(vars(evaluation.similarities)),
        "seed": evaluation.settings.seed,
        "least_r": evaluation.settings.least_kept,
        "calibrated_c_threshold": evaluation.calibration().threshold,
    }


def _measured(counts: Measure, estimate: Measure | None) -> dict[str, Any]:
    row = {
        "pairs": counts.judged, "correct": counts.correct, "incorrect": counts.incorrect,
        "undecided": counts.undecided, **_rates(counts),
        "incorrect_share": Rate(counts.incorrect, counts.judged).value,
        "undecided_share": Rate(counts.undecided, counts.judged).value,
    }
    if estimate:
        row["table_pairs"] = estimate.judged
        row |= {f"table_{name}": value for name, value in _rates(estimate).items()}
    return {name: number_json(value) if isinstance(value, Fraction) else value
            for name, value in row.items()}


def _rates(measure: Measure) -> dict[str, float | None]:
    return {"precision": measure.precision.value,
            "precision_decided": measure.decided_precision.value,
            "recall": measure.recall.value if measure.recall else None,
            "r": measure.kept.value if measure.kept else None}


def _figures_row(row: Figures) -> Row:
    return {"algorithm": row.algorithm, "split": row.split, "value": row.value,
            **_measured(row.counts, row.estimate)}


def _step_row(step: Step) -> Row:
    row = _measured(step.counts, step.estimate)
    return {"threshold": step.threshold,
            **{name: value for name, value in row.items() if not name.endswith("recall")}}


def _sweep_rows(evaluation: PairEvaluation) -> list[Row]:
    """The sweep over all pairs, then over each half."""
    two = halves(evaluation.swept(), evaluation.settings.seed)
    parts = [("all", evaluation.sweep()), ("1", c_sweep(two[0])), ("2", c_sweep(two[1]))]
    return [{"half": name, **_step_row(step)} for name, steps in parts for step in steps]


def _choice_rows(evaluation: PairEvaluation) -> list[Row]:
    """Each choice on its own half, and what it gives on the other."""
    rows: list[Row] = []
    for choice in evaluation.choices():
        head = {"chosen_on_half": choice.half,
                "threshold": choice.chosen.threshold if choice.chosen else None}
        if choice.chosen:
            rows.append({**head, "half": choice.half, "site": "",
                         **_measured(choice.chosen.counts, choice.chosen.estimate)})
        rows += [{**head, "half": 3 - choice.half, "site": row.value,
                  **_measured(row.counts, row.estimate)} for row in choice.tested]
    return rows


def _calibration_rows(evaluation: PairEvaluation) -> list[Row]:
    found = evaluation.calibration()
    return [{"c_threshold": t, "c_correct": number_json(count),
             "b_correct": number_json(found.b_correct), "calibrated": t == found.threshold}
            for t, count in found.c_correct]


def _outcome_rows(evaluation: PairEvaluation) -> list[Row]:
    rows: list[Row] = []
    for outcome in evaluation.outcomes:
        urls = outcome.judgement.key or tuple(map(outcome.cell, URLS))
        rows.append({
            **dict(zip(URLS, urls, strict=True)), LABEL: outcome.cell(LABEL),
            REASON: outcome.cell(REASON), "found": outcome.found.how.value,
            "why": outcome.judgement.why,
            "b_similarity": outcome.found.b_similarity,
            "c_similarity": outcome.found.c_similarity,
            "same_site": outcome.pair.same_site if outcome.pair else None,
            **{name: name in outcome.found.returned for name in ALGORITHMS},
        })
    return rows
