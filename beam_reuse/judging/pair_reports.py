"""Judged pairs, the graph and term differences as reports: rows of one form for CSV and JSON."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from beam_reuse.io.figures import FORMATS
from beam_reuse.judging.differences import MANY as MANY_TERMS
from beam_reuse.judging.differences import Differences, DifferenceSummary
from beam_reuse.judging.figures import (
    DEGREE_FIGURE,
    DIFFERENCE_FIGURE,
    THRESHOLD_FIGURE,
    degree_figure,
    difference_figure,
    threshold_figure,
)
from beam_reuse.judging.graph import MANY as MANY_NEIGHBOURS
from beam_reuse.judging.graph import Graph
from beam_reuse.judging.judgements import drawn_from
from beam_reuse.judging.measures import Rate
from beam_reuse.judging.pair_figures import Figures, Measure
from beam_reuse.judging.pair_lookup import How
from beam_reuse.judging.pair_thresholds import Step, c_sweep, halves
from beam_reuse.judging.pairs import URLS, PairEvaluation
from beam_reuse.judging.reports import (
    DETECTION_TABLES,
    DOCUMENT,
    Report,
    ReportTable,
    number_json,
)
from beam_reuse.judging.sample import cell_text
from beam_reuse.judging.sheets import LABEL, REASON
from beam_reuse.judging.similarities import ALGORITHMS
from beam_reuse.judging.verdicts import Verdict

PAIRS, GRAPH, DIFFERENCES = "pairs", "graph", "differences"
PAIR_TABLES = ("precision", "reasons", "b-thresholds", "sweep", "choices", "calibration",
               "outcomes")
GRAPH_TABLES = ("algorithms", "degrees", "similarities", "sites")
DIFFERENCE_TABLES = ("summary", "kinds", "pairs")
PAIR_WORDS = {Verdict.POSITIVE: "correct", Verdict.NEGATIVE: "incorrect",
              Verdict.UNDECIDED: "undecided"}

Row = Mapping[str, Any]


def pair_report(evaluation: PairEvaluation, drawn: bool) -> Report:
    """All that judged pairs tell; with figures if they are to be `drawn`."""
    tables = {
        "precision": [_figures_row(row) for row in evaluation.figures()],
        "reasons": _reason_rows(evaluation),
        "b-thresholds": [_step_row(step) for step in evaluation.b_steps()],
        "sweep": _sweep_rows(evaluation),
        "choices": _choice_rows(evaluation),
        "calibration": _calibration_rows(evaluation),
        "outcomes": _outcome_rows(evaluation),
    }
    figures = dict(threshold_figure(tables["sweep"])) if drawn else {}
    return _report(PAIRS, _pair_facts(evaluation), tables, figures)


def graph_report(graph: Graph, drawn: bool) -> Report:
    facts = {"pages": graph.pages, "distinct_pages": graph.distinct_pages}
    tables: dict[str, list[Row]] = {
        "algorithms": _algorithm_rows(graph),
        "degrees": [{"algorithm": figures.algorithm, "degree": degree, "pages": pages}
                    for figures in graph.degrees
                    for degree, pages in sorted(figures.degrees.items())],
        "similarities": [
            {"algorithm": row.algorithm, "similarity": row.similarity, "pairs": row.pairs,
             "share": Rate(row.pairs, row.of_pairs).value,
             "mean_other_similarity": row.mean_other.value} for row in graph.similarities],
        "sites": [
            {"algorithm": row.algorithm, "site": row.site, "pairs_within": row.within,
             "pairs_with_others": row.between,
             "share": Rate(row.within + row.between, graph.pairs[row.algorithm]).value}
            for row in graph.sites],
    }
    return _report(GRAPH, facts, tables, dict(degree_figure(graph)) if drawn else {})


def difference_report(differences: Differences, drawn: bool) -> Report:
    summaries = differences.summaries()
    tables: dict[str, list[Row]] = {
        "summary": [summary_row(summary) for summary in summaries],
        "kinds": [{"algorithm": s.algorithm, LABEL: verdict_word(s.verdict), "kind": kind.value,
                   "pairs": pairs, "share": Rate(pairs, len(s.terms)).value}
                  for s in summaries
                  for kind, pairs in sorted(s.kinds.items(), key=lambda two: (-two[1],
                                                                              two[0].value))],
        "pairs": [{"url_a": one.pair.key[0], "url_b": one.pair.key[1],
                   "counts_for": ",".join(n for n in ALGORITHMS if n in one.pair.counts_for),
                   LABEL: verdict_word(one.pair.verdict), "deleted": one.deleted,
                   "inserted": one.inserted, "terms": one.terms, "kind": one.kind.value}
                  for one in differences.found],
    }
    facts = {"missing": [list(key) for key in differences.missing]}
    figures = dict(difference_figure(summaries)) if drawn else {}
    return _report(DIFFERENCES, facts, tables, figures)


def summary_row(summary: DifferenceSummary) -> Row:
    """The figures of one sample of term differences."""
    return {
        "algorithm": summary.algorithm, LABEL: verdict_word(summary.verdict),
        "pairs": len(summary.terms), "mean": summary.mean.value, "median": summary.median,
        "percentile_90": summary.percentile_90, f"above_{MANY_TERMS}": summary.above_many.part,
        f"share_above_{MANY_TERMS}": summary.above_many.value,
    }


def verdict_word(verdict: Verdict | None) -> str:
    return PAIR_WORDS[verdict] if verdict else ""


def _report(name: str, facts: Row, tables: Mapping[str, Sequence[Row]],
            figures: Mapping[str, bytes]) -> Report:
    """A report whose document has the facts and the tables; empty tables have no file."""
    sheets = [ReportTable(table, list(rows[0]), [list(map(cell_text, row.values()))
                                                 for row in rows])
              for table, rows in tables.items() if rows]
    document = {**facts, **{table.replace("-", "_"): rows for table, rows in tables.items()}}
    return Report(name, document, sheets, figures)


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
    tally = counts.tally
    row = {
        "pairs": tally.pairs, "correct": tally.correct, "incorrect": tally.incorrect,
        "undecided": tally.undecided, **_rates(counts),
        "incorrect_share": Rate(tally.incorrect, tally.pairs).value,
        "undecided_share": Rate(tally.undecided, tally.pairs).value,
    }
    if estimate:
        row["table_pairs"] = estimate.tally.pairs
        row |= {f"table_{name}": value for name, value in _rates(estimate).items()}
    return {name: number_json(value) if isinstance(value, Fraction) else value
            for name, value in row.items()}


def _rates(measure: Measure) -> dict[str, float | None]:
    return {"precision": measure.tally.precision.value,
            "precision_decided": measure.tally.decided_precision.value,
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


def _reason_rows(evaluation: PairEvaluation) -> list[Row]:
    return [
        {"algorithm": row.algorithm, LABEL: verdict_word(row.verdict), REASON: row.reason,
         "pairs": row.pairs, "share": Rate(row.pairs, row.of_pairs).value,
         "same_site": row.same_site,
         "share_of_same_site": Rate(row.same_site, row.of_same_site).value}
        for row in evaluation.reasons()
    ]


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


def _algorithm_rows(graph: Graph) -> list[Row]:
    return [
        {"algorithm": figures.algorithm, "pairs": graph.pairs[figures.algorithm],
         "same_site_pairs": graph.same_site[figures.algorithm],
         "same_site_share": Rate(graph.same_site[figures.algorithm],
                                 graph.pairs[figures.algorithm]).value,
         "pages": figures.pages, "share_of_pages": figures.share.value,
         "mean_degree": figures.mean_degree.value,
         f"share_with_{MANY_NEIGHBOURS}": figures.share_of_many.value,
         "exponent_line": figures.line_exponent,
         "exponent_likely": figures.likely_exponent}
        for figures in graph.degrees
    ]


def file_names(reports: Iterable[str]) -> list[str]:
    """The files that reports of these names may have."""
    tables = {PAIRS: PAIR_TABLES, GRAPH: GRAPH_TABLES, DIFFERENCES: DIFFERENCE_TABLES}
    figures = {PAIRS: THRESHOLD_FIGURE, GRAPH: DEGREE_FIGURE, DIFFERENCES: DIFFERENCE_FIGURE}
    names = [DOCUMENT]
    for report in reports:
        names += [f"{report}-{table}.csv" for table in tables.get(report, DETECTION_TABLES)]
        names += [f"{figures[report]}.{form}" for form in FORMATS if report in figures]
    return names
