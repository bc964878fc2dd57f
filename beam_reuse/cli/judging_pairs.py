"""What `beam-reuse evaluate` shows of near-duplicates: judged pairs, the graph, differences."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape

from beam_reuse.cli.arguments import UsageError
from beam_reuse.cli.judged_tables import CLASSES_SHOWN, STEPS_SHOWN, grid, in_file, shown, some_of
from beam_reuse.cli.summary import print_table
from beam_reuse.core.settings import naming
from beam_reuse.io.figures import FiguresMissingError, require_matplotlib
from beam_reuse.io.files import local_path
from beam_reuse.judging.differences import (
    Differences,
    DifferenceSettings,
    DrawnPair,
    compare,
    draw_pairs,
)
from beam_reuse.judging.graph import MANY, Graph, graph_of
from beam_reuse.judging.measures import Rate
from beam_reuse.judging.pair_figures import ALL, SITE, Figures, Measure
from beam_reuse.judging.pair_lookup import How
from beam_reuse.judging.pair_reports import (
    difference_report,
    graph_report,
    pair_report,
    summary_row,
    verdict_word,
)
from beam_reuse.judging.pair_thresholds import Choice, Step, in_random_order
from beam_reuse.judging.pairs import PairEvaluation, PairSettings, evaluate_pairs
from beam_reuse.judging.reports import Report

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
        reports.append(graph_report(graph, drawn))
    if "differences" in values:
        found = _differences(folder, evaluation, values)
        _print_differences(to, found)
        reports.append(difference_report(found, drawn))
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
    with naming({"rows": "--differences", "seed": "--seed"}):
        settings = DifferenceSettings(values["differences"], values.get("seed", 0))
    pairs = draw_pairs(folder, settings) if evaluation is None else [
        DrawnPair(pair.key, pair.returned, pair.verdict)
        for pair in in_random_order(evaluation.pairs, settings.seed)[:settings.rows]]
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
    table = grid("pairs returned by", "pairs", "correct", "incorrect", "undecided",
                 "without undecided", "recall", "R",
                 *(["estimates: pairs", "correct"] if whole else []))
    for row in rows:
        tally = row.counts.tally
        estimate = [f"{round(row.estimate.tally.pairs):,}",
                    _fraction(row.estimate.tally.precision)] if row.estimate else []
        table.add_row(
            _part(row), f"{tally.pairs:,}", _fraction(tally.precision),
            _fraction(Rate(tally.incorrect, tally.pairs)),
            _fraction(Rate(tally.undecided, tally.pairs)),
            _fraction(tally.decided_precision), _fraction(row.counts.recall),
            _fraction(row.counts.kept), *estimate)
    print_table(to, table)
    to.print("correct (the precision), incorrect, undecided: shares of the pairs returned. recall: "
             "of the correct pairs that are labelled. R: of the correct pairs that B returns.\n",
             soft_wrap=True)
    if evaluation.other_rows is not None:
        to.print(f"The sheet was drawn from {evaluation.other_rows:,} rows, near_duplicates of "
                 f"this result has {evaluation.table_rows:,}: estimates are for the rows it was "
                 "drawn from. If that was another result, draw a sheet from this one.\n",
                 soft_wrap=True)


def _part(row: Figures) -> str:
    if row.split == ALL:
        return f"[bold]{row.algorithm}"
    if row.split == SITE:
        return _PARTS[row.value]
    return f"  {row.split[0].upper()}-similarity {row.value}"


def _fraction(rate: Rate | None) -> str:
    return "" if rate is None or rate.value is None else f"{100 * rate.value:.1f} %"


def _print_reasons(to: Console, evaluation: PairEvaluation, kept: bool) -> None:
    rows = evaluation.reasons()
    if not rows:
        return
    table = grid("returned by", "label", "reason", "pairs", "%", "same site", "%", text=3)
    for row in rows[:CLASSES_SHOWN]:
        table.add_row(
            row.algorithm, verdict_word(row.verdict), escape(row.reason) or "(none)",
            f"{row.pairs:,}", _percent(row.pairs, row.of_pairs), f"{row.same_site:,}",
            _percent(row.same_site, row.of_same_site))
    print_table(to, table)
    if len(rows) > CLASSES_SHOWN:
        to.print(f"… and {len(rows) - CLASSES_SHOWN:,} more"
                 f"{in_file('pairs', 'reasons', kept)}\n")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else ""


def _print_thresholds(to: Console, evaluation: PairEvaluation, kept: bool) -> None:
    steps = evaluation.sweep()
    own = evaluation.similarities.combined_threshold
    some = some_of(steps, STEPS_SHOWN, lambda step: step.threshold == own)
    least_b = evaluation.similarities.b_threshold
    some_b = some_of(evaluation.b_steps(), STEPS_SHOWN, lambda step: step.threshold == least_b)
    named = [("B-similarity", some_b, least_b),
             ("combined: C-similarity", some, own)]
    table = grid("threshold", "", "pairs", "precision", "without undecided", "R", "")
    for name, part, at in named:
        for step in part:
            table.add_row(name, f">= {step.threshold}", *_step_cells(step),
                          "as this run" if step.threshold == at else "")
    print_table(to, table)
    if any(step.estimate for step in steps):
        to.print("precision and R here and below are estimates for the rows the sheet was "
                 "drawn from, not shares of the judged pairs as above.\n", soft_wrap=True)
    if len(some) < len(steps):
        to.print(f"{len(some)} of {len(steps):,} C-thresholds that make a difference"
                 f"{in_file('pairs', 'sweep', kept)}\n")


def _step_cells(step: Step) -> list[str]:
    tally = step.counts.tally
    return [f"{tally.pairs:,}", _fraction(step.best.tally.precision),
            _fraction(step.best.tally.decided_precision), _fraction(step.best.kept)]


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
    if not measure.tally.pairs:
        return "no judged pair above it"
    kept = _fraction(measure.kept)
    return (f"precision {_fraction(measure.tally.precision)}, "
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
    table = grid("graph of", "pairs", "same site", "pages", "%", "mean degree", f">= {MANY}",
                 "exponent", "most likely")
    for figures in graph.degrees:
        pairs = graph.pairs[figures.algorithm]
        table.add_row(
            figures.algorithm, f"{pairs:,}",
            _fraction(Rate(graph.same_site[figures.algorithm], pairs)), f"{figures.pages:,}",
            _percent(figures.pages, figures.pages + figures.alone),
            "" if figures.mean_degree.value is None else f"{figures.mean_degree.value:,.2f}",
            _fraction(figures.share_of_many),
            *("" if value is None else f"{value:.2f}"
              for value in (figures.line_exponent, figures.likely_exponent)))
    print_table(to, table)
    to.print("exponent: of the line by least squares through the degree histogram, both scales "
             "logarithmic; most likely: by maximum likelihood.\n", soft_wrap=True)
    table = grid("similarity", "", "pairs", "%", "mean of the other similarity", text=2)
    for row in graph.similarities:
        mean = "" if row.mean_other.value is None else f"{row.mean_other.value:.2f}"
        table.add_row(f"{row.algorithm.upper()}-similarity", row.similarity, f"{row.pairs:,}",
                      _percent(row.pairs, row.of_pairs), mean)
    print_table(to, table)
    _print_sites(to, graph, kept)


def _print_sites(to: Console, graph: Graph, kept: bool) -> None:
    table = grid("graph of", "site", "pairs within", "with others", "% of all pairs", text=2)
    for figures in graph.degrees:
        mine = [row for row in graph.sites if row.algorithm == figures.algorithm]
        for row in mine[:SITES_SHOWN]:
            table.add_row(row.algorithm, escape(row.site), f"{row.within:,}", f"{row.between:,}",
                          _percent(row.within + row.between, graph.pairs[row.algorithm]))
    print_table(to, table)
    if len(graph.sites) > table.row_count:
        to.print(f"the {SITES_SHOWN} sites with most pairs of each"
                 f"{in_file('graph', 'sites', kept)}\n")


def _print_differences(to: Console, differences: Differences) -> None:
    to.print(f"[bold]{len(differences.found):,} pairs compared[/bold]" + (
        f"; of {len(differences.missing):,} more a page is not in --crawl"
        if differences.missing else ""))
    summaries = [summary for summary in differences.summaries() if summary.terms]
    rows: Sequence[Mapping[str, Any]] = [summary_row(summary) for summary in summaries]
    table = grid("pairs of", "label", "pairs", "mean", "median", "90 %", "above 200", "share",
                 text=2)
    for row in rows:
        algorithm, label, pairs, *numbers, above, share = row.values()
        table.add_row(algorithm, label, f"{pairs:,}", *(f"{number:,.4g}" for number in numbers),
                      f"{above:,}", shown(share))
    print_table(to, table)
    table = grid("pairs of", "label", "differ in", "pairs", "%", text=3)
    for summary in summaries:
        for kind, count in sorted(summary.kinds.items(), key=lambda two: (-two[1], two[0].value)):
            table.add_row(summary.algorithm, verdict_word(summary.verdict), kind.value,
                          f"{count:,}", _percent(count, len(summary.terms)))
    print_table(to, table)
