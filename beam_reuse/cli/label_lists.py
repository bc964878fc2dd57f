"""The command `labels`: a list of labels from originals and other lists."""

import heapq
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from beam_reuse.cli.progress import ProgressMonitor
from beam_reuse.core.errors import UserError
from beam_reuse.core.labels import LabelSettings
from beam_reuse.io.files import is_local, join, open_files, require_writable
from beam_reuse.io.labels.lists import read_list, shared_settings
from beam_reuse.io.labels.writing import COMPACT, PARQUET, require_list_name, write_labels
from beam_reuse.io.results.manifest import Accounting, Part
from beam_reuse.io.results.run_folder import ResultFolder
from beam_reuse.io.results.tables import LABELS, PAGES_WITHOUT_LABELS
from beam_reuse.plan import RunPlan
from beam_reuse.publishing import refuse_too_many_rejects
from beam_reuse.runners import prepare

WORK_SUFFIX = ".work"
PAGES_NAMED = 5


@dataclass(frozen=True)
class MadeLabels:
    """What is reported of a finished list. `lost`: how many pages have no chunk left among the
    labels, of which `named` are the rows of those that had most."""

    accounting: Accounting
    labels: int
    bytes_read: int
    seconds: float
    background_hosts: int | None
    lost: int = 0
    named: Sequence[dict[str, Any]] = ()


def refuse_existing(plan: RunPlan) -> None:
    """Refuse an output that is no list's name, a folder, or a file that may not be replaced."""
    if is_local(plan.output) and os.path.isdir(plan.output):
        raise UserError(f"-o {plan.output} is a folder. Give a file, such as labels.parquet.")
    require_list_name(plan.output)
    require_writable(plan.output)
    if plan.output.endswith(COMPACT) and plan.settings.detection.matcher == "nilsimsa":
        raise UserError(f"-o {plan.output}: a compact list holds no Nilsimsa digests. Write a "
                        f"{PARQUET} file.")
    try:
        open_files(plan.output).open(plan.output).close()
    except FileNotFoundError:
        return
    except PermissionError:
        pass  # it is there, whatever it holds
    if not plan.overwrite:
        raise UserError(f"-o {plan.output} exists already. Add --overwrite to replace it, or "
                        "choose another name.")


def make_labels(plan: RunPlan) -> MadeLabels:
    """Run the plan and write its list; the file appears whole, or not at all."""
    started = time.time()
    refuse_existing(plan)
    prepare(plan)
    from beam_reuse import pipeline

    with ResultFolder(plan.output + WORK_SUFFIX) as folder:
        with ProgressMonitor(folder.work.progress) as progress:
            outcome = pipeline.run(plan, folder.work, progress)
        refuse_too_many_rejects(plan, outcome, folder.work)
        settings = _settings_of(plan)
        parts = sorted(part for part in outcome.parts if part.table == LABELS.name)
        lost = [part for part in outcome.parts if part.table == PAGES_WITHOUT_LABELS.name]
        named = heapq.nsmallest(PAGES_NAMED, _rows(lost, folder.work.tables),
                                key=lambda row: (-row["chunks"], row["url"]))
        # In the work folder, which the next such command removes if this one is killed.
        finished = join(folder.work.root, plan.output.rpartition("/")[2])
        rows = write_labels(finished, (
            batch for part in parts for batch in read_list(join(folder.work.tables, part.path))),
            settings)
        open_files(plan.output).move(finished, plan.output)
    open_files(plan.output).delete_tree(plan.output + WORK_SUFFIX)
    return MadeLabels(outcome.accounting, rows, outcome.bytes_read, time.time() - started,
                      plan.background_hosts if plan.background else None,
                      sum(part.rows for part in lost), named)


def _rows(parts: Sequence[Part], folder: str) -> Iterator[dict[str, Any]]:
    for part in parts:
        path = join(folder, part.path)
        with open_files(path).open(path) as source:
            for batch in pq.ParquetFile(source).iter_batches():
                yield from batch.to_pylist()


def _settings_of(plan: RunPlan) -> LabelSettings | None:
    """How the labels were made; plain lists of hashes alone stay plain."""
    if not plan.inputs and shared_settings(plan.merge) is None:
        return None
    stops = plan.settings.stops
    return LabelSettings(plan.settings.chunks, stops.min_chunk_bytes, stops.min_chunk_tokens)
