"""`beam-reuse demo`: write the sample crawl, run it, show and check what was found."""

import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.cli.runs import execute
from beam_reuse.cli.summary import console, print_summary
from beam_reuse.core.settings import ChunkSettings, naming
from beam_reuse.declaring.settings import Settings
from beam_reuse.demo.checks import Check, check_result
from beam_reuse.demo.planted import Planted
from beam_reuse.demo.sample import rewritten_pages, sample_crawl
from beam_reuse.demo.writing import write_crawl
from beam_reuse.detector import Detector
from beam_reuse.io.files import local_path
from beam_reuse.plan import RunPlan, usable_cores
from beam_reuse.report.page import REPORT


def run_demo(
    values: Mapping[str, Any], beam_args: Sequence[str], command_line: Sequence[str]
) -> int:
    """The demo with the options in `values`; returns 0 if all that was planted is found."""
    if "output" in values:
        folder = local_path(values["output"])
        return _demo_in(folder, values, beam_args, command_line, kept=True)
    with tempfile.TemporaryDirectory(prefix="beam-reuse-demo-") as folder:
        return _demo_in(folder, values, beam_args, command_line, kept=False)


def _demo_in(folder: str, values: Mapping[str, Any], beam_args: Sequence[str],
             command_line: Sequence[str], kept: bool) -> int:
    crawl = sample_crawl()
    inputs = write_crawl(crawl, os.path.join(folder, "crawl"))
    result = os.path.join(folder, "result")
    with naming({"workers": "--workers"}):
        plan = RunPlan(
            command="run",
            inputs=tuple(inputs),
            output=result,
            settings=Settings(near_duplicates=NearDuplicateSettings(min_containment=0.8)),
            runner=values.get("runner", "local"),
            workers=values.get("workers", usable_cores()),
            beam_args=tuple(beam_args),
            overwrite=values.get("overwrite", False),
            engines=values.get("engines-dir", ""),
        )
    finished = execute(plan, command_line)
    to = console()
    print_summary(to, finished.manifest, result, finished.bytes_read, finished.seconds,
                  finished.measured)
    checks = [*check_result(result, crawl.planted()), *check_rewritten(crawl.planted())]
    to.print()
    print_checks(to, checks)
    if kept:
        for line in (f"report in {os.path.join(result, REPORT)}",
                     f"To look at it: beam-reuse view {shlex.quote(result)}"):
            to.print(line, markup=False, soft_wrap=True)
    else:
        to.print("The folder was temporary; -o DIR keeps the crawl and the tables.")
    return 0 if all(check.passed for check in checks) else 1


def check_rewritten(planted: Planted) -> list[Check]:
    """A detector that has learned the original finds its paragraphs in other markup by chunks of
    text, and not by chunks of bytes."""
    (source, original), (copy, page) = rewritten_pages().items()
    checks = []
    for normalise, known in (("text", planted.rewrite.paragraphs), ("whitespace", 0)):
        detector = Detector((), chunks=ChunkSettings(normalise=normalise))
        detector.learn(original, source)
        checks.append(Check(
            f"{copy} has {known} chunks of {source} by --chunk-normalise {normalise}",
            known, detector.check(page, copy).matching))
    return checks


def print_checks(to: Console, checks: Sequence[Check]) -> None:
    """One line per planted thing, with both sides where they differ."""
    to.print("[bold]planted and found")
    for check in checks:
        to.print(f"  [green]✓[/] {check.what}" if check.passed else f"  [red]✗[/] {check.what}")
        if not check.passed:
            to.print(f"      planted {check.expected}", f"      found   {check.found}", sep="\n",
                     markup=False, soft_wrap=True)
    missed = sum(not check.passed for check in checks)
    to.print(f"[red]{missed} of {len(checks)} checks failed" if missed
             else f"[green]all {len(checks)} checks passed")
