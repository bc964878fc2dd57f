"""One run from plan to published result: locked, watched, judged, published or cleaned up."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from beam_reuse.cli.first_run import compile_kernels
from beam_reuse.cli.progress import ProgressMonitor
from beam_reuse.io.results.manifest import Manifest
from beam_reuse.io.results.run_folder import ResultFolder
from beam_reuse.plan import RunPlan
from beam_reuse.publishing import (
    Publication,
    manifest_of,
    recorded,
    refuse_too_many_rejects,
    run_info,
    with_report,
)
from beam_reuse.runners import prepare


@dataclass(frozen=True)
class FinishedRun:
    """What is reported of a published run."""

    manifest: Manifest
    bytes_read: int
    seconds: float
    measured: Mapping[str, int]


def execute(plan: RunPlan, command_line: Sequence[str]) -> FinishedRun:
    """Run `plan` and publish its result in `plan.output`.

    Raises without leaving a new result if anything fails or too much was rejected; an
    earlier result that was to be overwritten is then still there.
    """
    started = time.time()
    if plan.runner == "local":
        compile_kernels()
    prepare(plan)
    from beam_reuse import pipeline

    with ResultFolder(plan.output, plan.overwrite) as folder:
        with ProgressMonitor(folder.work.progress) as progress:
            outcome = pipeline.run(plan, folder.work, progress)
        refuse_too_many_rejects(plan, outcome, folder.work)
        manifest = with_report(manifest_of(plan, recorded(plan), outcome), folder.work, plan.output)
        folder.publish(manifest, run_info(plan, outcome, command_line, os.getcwd(), started))
    return FinishedRun(manifest, outcome.bytes_read, time.time() - started, outcome.measured)


def launch(plan: RunPlan, command_line: Sequence[str]) -> None:
    """Hand the graph of `plan` over to be run without us; its last step publishes the result."""
    from beam_reuse import pipeline

    with ResultFolder(plan.output, plan.overwrite) as folder:
        pipeline.launch(plan, Publication(
            plan, recorded(plan), tuple(command_line), os.getcwd(), time.time(), folder.handle))
        folder.hand_over()
