"""What `beam-reuse evaluate` shows of near-duplicates: judged pairs, the graph, differences."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from beam_reuse.cli.arguments import UsageError
from beam_reuse.cli.judged_tables import (
    NO_REASON,
    STEPS_SHOWN,
    in_file,
    percent,
    show,
    show_rows,
    some_of,
)
from beam_reuse.core.settings import naming
from beam_reuse.io.figures import FiguresMissingError, require_matplotlib
from beam_reuse.io.files import local_path
from beam_reuse.judging.differences import (
    Differences,
    DrawnPair,
    compare,
    draw_pairs,
)
from beam_reuse.judging.figures import MANY_TERMS
from beam_reuse.judging.graph import MANY, Graph, graph_of
from beam_reuse.judging.measures import Measure, Rate
from beam_reuse.judging.pair_figures import ALL, SITE, Figures
from beam_reuse.judging.pair_lookup import How
from beam_reuse.judging.pair_report import pair_report
from beam_reuse.judging.pair_thresholds import Choice, in_random_order
from beam_reuse.judging.pairs import PairEvaluation, PairSettings, evaluate_pairs
from beam_reuse.judging.reports import Report
from beam_reuse.judging.sample import SampleSettings
from beam_reuse.judging.similarities import NEAR_DUPLICATES

SITES_SHOWN = 5
_PARTS = {"same": "  same site", "different": "  different sites"}


def judge_pairs(to: Console, folder: str, values: Mapping[str, Any]) -> list[Report]:
    """Show what is asked for of pairs, graph and differences, and give the reports."""
    if "differences" in values and "crawl" not in values:
        raise UsageError("evaluate: --differences N reads pages: say where they are with --crawl "
                         "FILE..., the crawl files or an index of them.")
    drawn = _can_draw(to) if "output" in values else False
    reports, evaluation = [], None
    if "pairs" in values:
        evaluation = evaluate_pairs(folder, values["pairs"], _pair_settings(values))
        _print_pairs(to, evaluation)
        if "differences" not in values:
            _print_figures(to, evaluation, "output" in values)
        reports.append(pair_report(evaluation, drawn))
    if values.get("graph"):
        graph = graph_of(folder)
        _print_graph(to, graph, "output" in values)
        reports.append(graph.report(drawn))
    if "differences" in values:
        found = _differences(folder, evaluation, values)
        _print_differences(to, found)
        reports.append(found.report(drawn))
    return reports


def _pair_settings(values: Mapping[str, Any]) -> PairSettings:
    names = {"bins": "bins", "seed": "seed", "min-r": "least_kept"}
    with naming({field: f"--{name}" for name, field in names.items()}):
        return PairSettings(
            **{field: values[name] for name, field in names.items() if name in values})


def _can_draw(to: Console) -> bool:
    try:
        require_matplotlib()
    except FiguresMissingError as missing:
        to.print(f"Tables only: {missing}", markup=False, soft_wrap=True)
        return False
    return True


def _differences(folder: str, evaluation: PairEvaluation | None,
                 values: Mapping[str, Any]) -> Differences:
    """Pairs of each algorithm, or those that were judged."""
    rows, seed = values["differences"], values.get("seed", 0)
    with naming({"rows": "--differences", "seed": "--seed"}):
        SampleSettings(NEAR_DUPLICATES, rows, seed)
    pairs = draw_pairs(folder, rows, seed) if evaluation is None else [
        DrawnPair(pair.key, pair.returned, pair.verdict)
        for pair in in_random_order(evaluation.pairs, seed)[:rows]]
    return compare(folder, pairs, [local_path(path) for path in values["crawl"]])


def _print_pairs(to: Console, evaluation: PairEvaluation) -> None:
    """How many pairs were judged, and what became of those that count nowhere."""
    judgements = evaluation.judgements
    facts = [f"{len(evaluation.pairs):,} judged pairs"]
    facts += [f"{count:,} {what}" for count, what in (
        (len(evaluation.found(How.UNLISTED)), "returned by no algorithm"),
        (len(evaluation.found(How.DERIVED)), "found through pages equal to theirs"),
        (judgements.unlabelled, "without label"), (judgements.repeated, "named again")) if count]
    to.print(f"[bold]{'; '.join(facts)}")
    for how, what in ((How.ABSENT, "with a page that is not in the crawl"),
                      (How.IDENTICAL, "of pages with the same tokens (identity_sets)")):
        if count := len(evaluation.found(how)):
            to.print(f"  left out of all figures: {count:,} {what}")


def _print_figures(to: Console, evaluation: PairEvaluation, kept: bool) -> None:
    _print_precision(to, evaluation)
    _print_reasons(to, evaluation, kept)
    _print_thresholds(to, evaluation, kept)
    _print_choices(to, evaluation)
    _print_calibration(to, evaluation)


def _print_precision(to: Console, evaluation: PairEvaluation) -> None:
    rows = evaluation.figures()
    whole = any(row.estimate for row in rows)
    show(to, ["pairs returned by", "pairs", "correct", "incorrect", "undecided",
              "without undecided", "recall", "R",
              *(["estimates: pairs", "correct"] if whole else [])],
         [[_part(row), f"{row.counts.judged:,}", *_shares(row.counts),
           *([f"{round(row.estimate.judged):,}", _fraction(row.estimate.precision)]
             if row.estimate else [])] for row in rows])
    to.print("correct (the precision), incorrect, undecided: shares of the pairs returned. recall: "
             "of the correct pairs that are labelled. R: of the correct pairs that B returns.\n",
             soft_wrap=True)
    if evaluation.other_rows is not None:
        to.print(f"The sheet was drawn from {evaluation.other_rows:,} rows, near_duplicates of "
                 f"this result has {evaluation.table_rows:,}: estimates are for the rows it was "
                 "drawn from. If that was another result, draw a sheet from this one.\n",
                 soft_wrap=True)


def _shares(counts: Measure) -> list[str]:
    return [_fraction(rate) for rate in (
        counts.precision, Rate(counts.incorrect, counts.judged),
        Rate(counts.undecided, counts.judged), counts.decided_precision, counts.recall,
        counts.kept)]


def _part(row: Figures) -> str:
    if row.split == ALL:
        return f"[bold]{row.algorithm}"
    if row.split == SITE:
        return _PARTS[row.value]
    return f"  {row.split[0].upper()}-similarity {row.value}"


def _fraction(rate: Rate | None) -> str:
    return percent(rate.value if rate else None, " %")


def _print_reasons(to: Console, evaluation: PairEvaluation, kept: bool) -> None:
    show_rows(to, evaluation.reasons(), {
        "algorithm": "returned by", "label": "label", "reason": "reason", "pairs": "pairs",
        "share": "%", "same_site": "same site", "share_of_same_site": "%",
    }, in_file("pairs", "reasons", kept), NO_REASON)


def _print_thresholds(to: Console, evaluation: PairEvaluation, kept: bool) -> None:
    steps = evaluation.sweep()
    own, least_b = (evaluation.similarities.combined_threshold,
                    evaluation.similarities.b_threshold)
    some = some_of(steps, STEPS_SHOWN, lambda step: step.threshold == own)
    some_b = some_of(evaluation.b_steps(), STEPS_SHOWN, lambda step: step.threshold == least_b)
    show(to, ["threshold", "", "pairs", "precision", "without undecided", "R", ""],
         [[name, f">= {step.threshold}", f"{step.counts.judged:,}",
           *map(_fraction, (step.best.precision, step.best.decided_precision, step.best.kept)),
           "as this run" if step.threshold == at else ""]
          for name, part, at in (("B-similarity", some_b, least_b),
                                 ("combined: C-similarity", some, own)) for step in part])
    if any(step.estimate for step in steps):
        to.print("precision and R here and below are estimates for the rows the sheet was "
                 "drawn from, not shares of the judged pairs as above.\n", soft_wrap=True)
    if len(some) < len(steps):
        to.print(f"{len(some)} of {len(steps):,} C-thresholds that make a difference"
                 f"{in_file('pairs', 'sweep', kept)}\n")


def _print_choices(to: Console, evaluation: PairEvaluation) -> None:
    least = evaluation.settings.least_kept
    for choice in evaluation.choices():
        to.print(_choice(choice, least), soft_wrap=True)
    to.print()


def _choice(choice: Choice, least: float) -> str:
    if choice.chosen is None:
        return (f"Half {choice.half} of the labels has no correct B-similar pair: no C-threshold "
                "can be chosen on it.")
    tested = "; ".join(
        f"{_PARTS.get(row.value, 'all').strip()}: {_told(row.estimate or row.counts)}"
        for row in choice.tested)
    return (f"Chosen on half {choice.half} of the labels: C-threshold {choice.chosen.threshold}, "
            f"the highest precision at R >= {least:g} ({_told(choice.chosen.best)}). "
            f"On the other half: {tested}.")


def _told(measure: Measure) -> str:
    if not measure.judged:
        return "no judged pair above it"
    kept = _fraction(measure.kept)
    return (f"precision {_fraction(measure.precision)}, "
            f"{f'R {kept}' if kept else 'no correct pair of B, so no R'}")


def _print_calibration(to: Console, evaluation: PairEvaluation) -> None:
    found = evaluation.calibration()
    lowest = evaluation.similarities.c_threshold
    counts = dict(found.c_correct)
    if not found.b_correct:
        text = "B returns no correct pair, so C cannot be compared with it."
    elif found.threshold is None:
        text = (f"C returns fewer correct pairs than B at its own threshold already "
                f"({_count(counts[lowest])} against {_count(found.b_correct)} at {lowest}); pairs "
                "below are not in the result. Run again with a lower --c-threshold to calibrate.")
    else:
        at, above = counts[found.threshold], counts.get(found.threshold + 1)
        further = f" ({_count(above)} at {found.threshold + 1})" if above is not None else ""
        text = (f"C returns as many correct pairs as B at C-threshold {found.threshold}: "
                f"{_count(at)}{further} against {_count(found.b_correct)}.")
        if found.threshold == lowest:
            text += " Lower thresholds are not in the result."
    to.print(text + "\n", soft_wrap=True)


def _count(value: Any) -> str:
    return f"{round(value):,}"


def _print_graph(to: Console, graph: Graph, kept: bool) -> None:
    to.print(f"[bold]{graph.pages:,} pages; {graph.distinct_pages:,} with text, equal ones counted "
             "once")
    show_rows(to, graph.algorithms, {
        "algorithm": "graph of", "pairs": "pairs", "same_site_share": "same site %",
        "pages": "pages", "share_of_pages": "%", "mean_degree": "mean degree",
        f"share_with_{MANY}": f">= {MANY} %", "exponent_line": "exponent",
        "exponent_likely": "most likely"})
    to.print("exponent: of the line by least squares through the degree histogram, both scales "
             "logarithmic; most likely: by maximum likelihood.\n", soft_wrap=True)
    show_rows(to, [{**row, "algorithm": f"{row['algorithm'].upper()}-similarity"}
                   for row in graph.similarities],
              {"algorithm": "similarity", "similarity": "", "pairs": "pairs", "share": "%",
               "mean_other_similarity": "mean of the other similarity"})
    first = [row for figures in graph.algorithms for row in [
        row for row in graph.sites if row["algorithm"] == figures["algorithm"]][:SITES_SHOWN]]
    show_rows(to, first, {
        "algorithm": "graph of", "site": "site", "pairs_within": "pairs within",
        "pairs_with_others": "with others", "share": "of all pairs, %"})
    if len(graph.sites) > len(first):
        to.print(f"the {SITES_SHOWN} sites with most pairs of each"
                 f"{in_file('graph', 'sites', kept)}\n")


def _print_differences(to: Console, differences: Differences) -> None:
    to.print(f"[bold]{len(differences.found):,} pairs compared[/bold]" + (
        f"; of {len(differences.missing):,} more a page is not in --crawl"
        if differences.missing else ""))
    show_rows(to, [row for row in differences.summary() if row["pairs"]], {
        "algorithm": "pairs of", "label": "label", "pairs": "pairs", "mean": "mean",
        "median": "median", "percentile_90": "90 in 100", f"above_{MANY_TERMS}":
        f"above {MANY_TERMS}", f"share_above_{MANY_TERMS}": "%"})
    show_rows(to, differences.kinds(), {
        "algorithm": "pairs of", "label": "label", "kind": "differ in", "pairs": "pairs",
        "share": "%"})
