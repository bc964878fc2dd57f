"""`beam-reuse experiment`: run one, write its tables and figures, show what came out."""

import csv
import hashlib
import io
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from beam_reuse.cli.arguments import Arguments, UsageError, spelled
from beam_reuse.cli.progress import ProgressMonitor
from beam_reuse.core.errors import UserError
from beam_reuse.experiments.report import experiment_report
from beam_reuse.experiments.tables import Row, arrow_table
from beam_reuse.io.figures import require_matplotlib
from beam_reuse.io.files import join, local_path, open_files, write_whole
from beam_reuse.io.labels.label_settings import described, same_chunks
from beam_reuse.io.labels.lists import shared_settings
from beam_reuse.io.results.manifest import Manifest, Part
from beam_reuse.io.results.run_folder import ResultFolder
from beam_reuse.io.results.tables import TableSchema
from beam_reuse.options.values import recorded_settings
from beam_reuse.plan import RunPlan
from beam_reuse.publishing import refuse_too_many_rejects, run_info
from beam_reuse.report.page import REPORT
from beam_reuse.runners import prepare

if TYPE_CHECKING:
    from beam_reuse.experiments.conduct import Results


def run_experiment(arguments: Arguments, plan: RunPlan, command_line: Sequence[str]) -> int:
    """One experiment from its command line to a published folder.

    Leaves no result if anything fails or too much was rejected.
    """
    from beam_reuse.cli.summary import console

    name = arguments.command.split("-", 1)[1]
    given = {
        option: tuple(map(local_path, arguments.values.get(option, ())))
        for option in ("background", "bad", "benign")
    }
    if name == "thresholds" and not (given["bad"] and given["benign"]):
        raise UsageError(f"{spelled(arguments.command)}: give hashes that people have judged "
                         "with --bad FILE and --benign FILE.")
    _refuse_other_chunks(plan, (*given["bad"], *given["benign"]))
    require_matplotlib()
    started = time.time()
    prepare(replace(plan, inputs=(*plan.inputs, *given["background"])))
    from beam_reuse import experiment_pipeline

    experiment = experiment_pipeline.ExperimentPlan(name, plan, **given)
    with ResultFolder(plan.output, plan.overwrite) as folder:
        with ProgressMonitor(folder.work.progress) as progress:
            outcome, results = experiment_pipeline.run(experiment, folder.work, progress)
        refuse_too_many_rejects(plan, outcome, folder.work)
        parts, files = write_results(results, folder.work.tables)
        manifest = _with_report(Manifest(
            "experiment", recorded_settings(arguments.command, plan.settings),
            outcome.accounting, (*outcome.parts, *parts), files), folder.work.tables)
        folder.publish(manifest, run_info(plan, outcome, command_line, os.getcwd(), started))
    to = console()
    for line in (*results.lines, f"figures and tables in {plan.output}: {', '.join(files)}",
                 f"report in {join(plan.output, REPORT)}"):
        to.print(line, markup=False, soft_wrap=True)
    return 0


def _with_report(manifest: Manifest, folder: str) -> Manifest:
    """The manifest with the report of the tables in `folder`, which is written beside them."""
    content = experiment_report(manifest, folder)
    write_whole(open_files(folder), join(folder, REPORT), content)
    return replace(manifest, files={
        **manifest.files, REPORT: hashlib.sha256(content).hexdigest()})


def _refuse_other_chunks(plan: RunPlan, lists: Sequence[str]) -> None:
    """Refuse judged lists whose own settings cut pages otherwise: nothing of them would occur."""
    made_with = shared_settings(lists)
    if made_with is not None and not same_chunks(made_with.chunks, plan.settings.chunks):
        raise UserError(f"--bad, --benign: these hashes were made with {described(made_with)}, "
                        "and chunks cut otherwise would not match. Give the same chunk settings.")


def write_results(results: "Results", folder: str) -> tuple[list[Part], dict[str, str]]:
    """Write tables (Parquet and CSV) and figures below `folder`; gives the parts of the tables
    and the other files with their SHA-256."""
    parts, others = [], dict(results.figures)
    for schema, rows in results.tables.items():
        path, content = f"{schema.name}/part-00000-of-00001.parquet", parquet(schema, rows)
        write_whole(open_files(folder), join(folder, path), content)
        parts.append(Part(schema.name, path, len(rows), hashlib.sha256(content).hexdigest()))
        others[f"{schema.name}.csv"] = comma_separated(schema, rows)
    for name, content in others.items():
        write_whole(open_files(folder), join(folder, name), content)
    return parts, {n: hashlib.sha256(others[n]).hexdigest() for n in sorted(others)}


def parquet(schema: TableSchema, rows: Sequence[Row]) -> bytes:
    """A table of an experiment as a Parquet file; the same bytes for the same rows."""
    target = io.BytesIO()
    pq.write_table(arrow_table(schema, rows), target, version="2.6", compression="zstd",
                   store_schema=False)
    return target.getvalue()


def comma_separated(schema: TableSchema, rows: Sequence[Row]) -> bytes:
    """The same as CSV with a head; null is empty."""
    target = io.StringIO()
    writer = csv.DictWriter(target, schema.names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue().encode()
