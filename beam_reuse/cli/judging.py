"""`beam-reuse sample` and `beam-reuse evaluate`: from options to files and to what people read."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape

from beam_reuse.cli.arguments import UsageError, one_folder
from beam_reuse.cli.judged_tables import (
    NO_REASON,
    STEPS_SHOWN,
    in_file,
    percent,
    show,
    show_rows,
    shown,
    some_of,
)
from beam_reuse.cli.summary import console
from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import naming
from beam_reuse.core.shares import ONE
from beam_reuse.io.files import is_inside, is_local, join, local_path, require_writable
from beam_reuse.io.sheets import LABEL, sheet_text, write_sheet
from beam_reuse.judging.detection_report import detection_report
from beam_reuse.judging.evaluate import NEIGHBOURHOODS, PAGES, Evaluation, evaluate
from beam_reuse.judging.measures import Confusion, SweepStep
from beam_reuse.judging.reports import Report, file_names, write_report
from beam_reuse.judging.rows import RowEvaluation, evaluate_rows
from beam_reuse.judging.sample import Sample, SampleSettings, draw
from beam_reuse.judging.similarities import NEAR_DUPLICATES

ABSENT_SHOWN = 5
FIRST_SHOWN = 10
SUBJECTS = {"pages": PAGES, "neighbourhoods": NEIGHBOURHOODS}
PAIR_REPORTS = ("pairs", "graph", "differences")
JUDGED = "judged"
USED_BY = {"by": (*SUBJECTS, JUDGED), "of": (JUDGED,), "bins": ("pairs",), "min-r": ("pairs",),
           "seed": ("pairs", "differences"), "crawl": ("differences",)}
JUDGED_BY = {**{subject.table: name for name, subject in SUBJECTS.items()},
             NEAR_DUPLICATES: "pairs"}
RATE_NAMES = {"precision": "TP / (TP + FP)", "recall": "TP / (TP + FN)",
              "f1": "2 TP / (2 TP + FP + FN)", "false_positive_rate": "FP / (FP + TN)",
              "accuracy": "(TP + TN) / judged"}


def run_sample(folders: Sequence[str], values: Mapping[str, Any]) -> int:
    """Draw a sample and write it to the file asked for, or to standard output."""
    if "of" not in values:
        raise UsageError("sample: say of which table with --of TABLE.")
    names = ("rows", "seed", "by", "bins", "where")
    with naming({name: f"--{name}" for name in names}):
        settings = SampleSettings(
            values["of"], **{name: values[name] for name in names if name in values})
    path = local_path(values.get("output", ""))
    folder = one_folder("sample", folders)
    if path:
        if not path.lower().endswith((".csv", ".tsv")):
            raise UsageError(f"sample: -o {path}: give the name of a .csv or .tsv file.")
        require_writable(path)
        _refuse_inside(path, folder)
        _refuse_existing([path], values, "it may hold labels already")
    sample = draw(folder, settings)
    if path:
        write_sheet(path, sample.columns(), sample.cells())
        _print_sample(console(), sample, path, folder)
    else:
        sys.stdout.write(sheet_text(sample.columns(), sample.cells()))
        _print_sample(console(sys.stderr), sample, "", folder)
    return 0


def _print_sample(to: Console, sample: Sample, path: str, folder: str) -> None:
    settings = sample.settings
    where = f" where {' and '.join(settings.where)}" if settings.where else ""
    to.print(f"{sample.rows.num_rows:,} of {sample.table_rows:,} rows of {settings.table}{where}, "
             f"seed {settings.seed}", markup=False, soft_wrap=True)
    if sample.rows.num_rows < settings.rows:
        to.print(f"{settings.rows:,} were asked for; these are all there are.")
    if settings.is_part:
        show(to, ["stratum", "rows", "drawn", "weight"],
             [[escape(stratum.label), f"{stratum.rows:,}", f"{stratum.drawn:,}",
               f"{float(stratum.weight):,.4g}" if stratum.weight else ""]
              for stratum in sample.strata])
    option = JUDGED_BY.get(settings.table, JUDGED)
    if path:
        to.print(f"Fill the columns label and reason of {path}, then: beam-reuse evaluate {folder} "
                 f"--{option} {path}", markup=False, soft_wrap=True)


def run_evaluate(folders: Sequence[str], values: Mapping[str, Any]) -> int:
    """Evaluate what is asked for, show it, and write it where asked."""
    asked = [name for name in (*SUBJECTS, JUDGED, *PAIR_REPORTS) if name in values]
    if not asked:
        raise UsageError("evaluate: give labelled rows with --pages FILE, --neighbourhoods FILE, "
                         "--pairs FILE or --judged FILE, or ask for --graph or --differences N.")
    _refuse_useless(asked, values)
    folder = one_folder("evaluate", folders)
    output = local_path(values.get("output", ""))
    if output:
        if is_local(output) and os.path.isfile(output):
            raise UsageError(f"evaluate: -o {output} is a file. Give a folder.")
        require_writable(output)
        _refuse_inside(output, folder)
        _refuse_existing([join(output, name) for name in file_names(asked)], values)
    to = console()
    reports = [_judged_rows(to, folder, name, values) for name in asked if name in SUBJECTS]
    if JUDGED in asked:
        judged = evaluate_rows(folder, values[JUDGED], values.get("of"), values.get("by"))
        _print_rows(to, judged, "output" in values)
        reports.append(judged.report())
    if any(name in PAIR_REPORTS for name in asked):
        from beam_reuse.cli.judging_pairs import judge_pairs

        reports += judge_pairs(to, folder, values)
    if output:
        names = write_report(output, reports)
        to.print(f"{', '.join(names)} in {output}", markup=False, soft_wrap=True)
    return 0


def _refuse_useless(asked: Sequence[str], values: Mapping[str, Any]) -> None:
    """Refuse options that say nothing of what is asked for."""
    for name, uses in USED_BY.items():
        if name in values and not set(uses) & set(asked):
            raise UsageError(f"evaluate: --{name} is for {' and '.join(f'--{u}' for u in uses)}.")


def _judged_rows(to: Console, folder: str, name: str, values: Mapping[str, Any]) -> Report:
    evaluation = evaluate(folder, values[name], SUBJECTS[name], values.get("by"))
    print_evaluation(to, evaluation, "output" in values)
    return detection_report(evaluation)


def print_evaluation(to: Console, evaluation: Evaluation, kept: bool) -> None:
    """Counts, rates, classes and the sweep of one evaluation; `kept`: files hold the rest."""
    name = evaluation.subject.name
    judgements = evaluation.judgements
    facts = [f"{len(evaluation.decided):,} judged {name}"]
    facts += [f"{count:,} {what}" for count, what in (
        (len(evaluation.undecided), "undecided (left out of all figures)"),
        (judgements.unlabelled, "without label"), (judgements.repeated, "named again"),
        (len(evaluation.absent), "not in the result")) if count]
    to.print(f"[bold]{'; '.join(facts)}")
    absent = [judgement.cell(evaluation.subject.key) for judgement in evaluation.absent]
    for key in absent[:ABSENT_SHOWN]:
        to.print(f"  not in the result: {key}", markup=False, soft_wrap=True)
    if len(absent) > ABSENT_SHOWN:
        to.print(f"  … and {len(absent) - ABSENT_SHOWN:,} more{in_file(name, 'absent', kept)}")
    confusion, weighted = evaluation.confusion(), evaluation.weighted()
    show(to, ["labelled", "flagged", "not flagged", ""],
         [["positive", f"{confusion.tp:,} TP", f"{confusion.fn:,} FN", ""],
          ["negative", f"{confusion.fp:,} FP", f"{confusion.tn:,} TN", ""]])
    _print_rates(to, confusion, weighted)
    if found := evaluation.precision():
        to.print(f"precision in the table, if these rows were drawn from it: "
                 f"{percent(found.value)} %, from {percent(found.low)} to {percent(found.high)} % "
                 "(95 % interval)\n", soft_wrap=True)
    _print_classes(to, evaluation, kept)
    _print_sweep(to, evaluation, kept)


def _print_rates(to: Console, confusion: Confusion, weighted: Confusion | None) -> None:
    rows = [[name.replace("_", " "), shown(rate.value), f"{rate.part}/{rate.whole}",
             RATE_NAMES[name], *([shown(weighted.rates()[name].value)] if weighted else [])]
            for name, rate in confusion.rates().items()]
    if weighted:
        rows.append(["rows", f"{confusion.judged:,}", "", "", f"{round(weighted.judged):,}"])
    show(to, ["rate", "", "exactly", "", *(["of the whole table"] if weighted else [])], rows)


def _print_classes(to: Console, evaluation: Evaluation, kept: bool) -> None:
    rows = [{LABEL: row.verdict.value, **dict(zip(evaluation.by, row.values, strict=True)),
             "judged": row.rows, "share_of_label": row.rows / row.of_verdict,
             "judged_flagged": row.flagged, "share_flagged": row.flagged / row.rows,
             "evidence": row.evidence}
            for row in evaluation.classes()]
    show_rows(to, rows, {
        **{name: name for name in (LABEL, *evaluation.by)}, "judged": "rows",
        "share_of_label": "%", "judged_flagged": "flagged", "share_flagged": "%",
        "evidence": "share of evidence",
    }, in_file(evaluation.subject.name, "classes", kept), NO_REASON)


def _print_rows(to: Console, evaluation: RowEvaluation, kept: bool) -> None:
    """How many rows were judged, the precision they show, and the classes they are of."""
    facts = [f"{len(evaluation.found):,} judged rows of {evaluation.table}"]
    facts += [f"{count:,} {what}" for count, what in (
        (evaluation.judgements.unlabelled, "without label"),
        (evaluation.judgements.repeated, "named again"),
        (len(evaluation.absent), "not in the result (left out)")) if count]
    to.print(f"[bold]{'; '.join(facts)}")
    show_rows(to, evaluation.precision(), {
        "split": "of", "value": "", "judged": "rows", "correct": "correct",
        "incorrect": "incorrect", "undecided": "undecided", "precision": "correct, %",
        "precision_decided": "without undecided, %", "table_rows": "in the table: rows",
        "table_precision": "correct, %", "table_low": "from %", "table_high": "to %",
    }, in_file("judged", "precision", kept))
    to.print("in the table: what the judged rows say of all rows they were drawn from, with the "
             "ends of the 95 % interval.\n", soft_wrap=True)
    show_rows(to, evaluation.classes(), {
        **{name: name for name in (LABEL, *evaluation.by)}, "judged": "rows",
        "share_of_label": "%"}, in_file("judged", "classes", kept), NO_REASON)


def _print_sweep(to: Console, evaluation: Evaluation, kept: bool) -> None:
    steps, at = evaluation.sweep(), evaluation.step_of_run()
    above = "" if evaluation.threshold is None else f" (> {evaluation.threshold:.6f})"
    some = some_of(steps, STEPS_SHOWN, lambda step: step.share == at)
    _print_steps(to, "threshold", [
        (f"> {step.share / ONE:.6f}", step, f"as this run{above}" if step.share == at else "")
        for step in some], len(steps), in_file(evaluation.subject.name, "sweep", kept))
    steps = evaluation.evidence_sweep()
    if len(steps) > 1:
        _print_steps(to, "min-matching", [
            (f"{step.share + 1:,}", step, "" if step.share else "as this run")
            for step in steps[:FIRST_SHOWN]], len(steps),
            in_file(evaluation.subject.name, "evidence", kept))


def _print_steps(to: Console, name: str, some: Sequence[tuple[str, SweepStep, str]], count: int,
                 rest: str) -> None:
    """Some steps of `count`, each with its value and a remark; `rest` says where the others are."""
    rows = []
    for value, step, remark in some:
        rates, c = step.confusion.rates(), step.confusion
        rows.append([value, *(f"{n:,}" for n in (c.tp, c.fp, c.fn, c.tn)),
                     *(shown(rates[rate].value)
                       for rate in ("precision", "recall", "false_positive_rate", "f1")), remark])
    show(to, [name, "TP", "FP", "FN", "TN", "precision", "recall", "fpr", "f1", ""], rows)
    if len(some) < count:
        to.print(f"{len(some)} of {count:,} thresholds that make a difference{rest}\n")


def _refuse_inside(output: str, folder: str) -> None:
    """Refuse to write into the result that is read: it goes when a run replaces the result."""
    if is_inside(output, folder):
        raise UsageError(f"-o {output} is in {folder}, the result itself. Give a place outside it.")


def _refuse_existing(paths: Iterable[str], values: Mapping[str, Any], why: str = "") -> None:
    there = [path for path in paths if is_local(path) and os.path.exists(path)]
    if there and not values.get("overwrite"):
        raise UserError(f"-o: {there[0]} is there already{f' ({why})' if why else ''}. "
                        "Choose another name, or give --overwrite.")
