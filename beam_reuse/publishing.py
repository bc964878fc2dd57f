"""What becomes a result of a run's outcome: judged, described, published.

The driver does so where it waits for the run's end, the graph's own last step where it does not.
"""

import datetime
import hashlib
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any

from beam_reuse.declaring.kinds import FOLDER
from beam_reuse.declaring.registry import registry
from beam_reuse.io.files import is_local, join, open_files, write_whole
from beam_reuse.io.results.manifest import UNREAD_ROWS, Manifest, RunOutcome
from beam_reuse.io.results.run_folder import HandedFolder, Workspace
from beam_reuse.options.table import BY_NAME
from beam_reuse.options.values import recorded_settings
from beam_reuse.plan import RunPlan

PACKAGES = ("apache-beam", "numba", "numpy", "publicsuffixlist", "pyarrow", "resiliparse")


class TooManyRejectsError(RuntimeError):
    """More of the input was unreadable than the user allows."""


@dataclass(frozen=True)
class Publication:
    """All that publishing a run needs beside its outcome; travels inside the graph. `settings` are
    those of the manifest."""

    plan: RunPlan
    settings: Mapping[str, Any]
    command_line: tuple[str, ...]
    directory: str
    started: float
    folder: HandedFolder

    def publish(self, outcome: RunOutcome) -> None:
        """Publish the result, or refuse to; may be done again after it failed anywhere."""
        try:
            refuse_too_many_rejects(self.plan, outcome, self.folder.work)
        except TooManyRejectsError:
            self.folder.release()
            raise
        manifest = with_report(manifest_of(self.plan, self.settings, outcome), self.folder.work,
                               self.folder.path)
        self.folder.publish(manifest, run_info(self.plan, outcome, self.command_line,
                                               self.directory, self.started))


def manifest_of(plan: RunPlan, settings: Mapping[str, Any], outcome: RunOutcome) -> Manifest:
    """The manifest of a run with this outcome; `settings` as `recorded` gives them. Refuses a
    corpus whose pages do not add up."""
    from beam_reuse.core.shares import ONE

    manifest = Manifest(
        "index" if plan.command == "index" else "result",
        settings,
        outcome.accounting,
        outcome.parts,
        thresholds={name: share / ONE for name, share in outcome.thresholds.items()},
    )
    if plan.command == "clean":
        manifest.require_whole_corpus()
    return manifest


def with_report(manifest: Manifest, work: Workspace, path: str) -> Manifest:
    """The manifest of a result with its report, which is written beside the tables of `work`. Once
    these are being moved to the result at `path`, the report is there already."""
    from beam_reuse.report.page import REPORT, report_of

    if manifest.kind != "result":
        return manifest
    files = open_files(path)
    waiting = set(files.list(work.tables))
    if REPORT in waiting:
        content = files.read(join(work.tables, REPORT))
    elif waiting.issuperset(manifest.paths):
        content = report_of(manifest, work.tables)
        write_whole(files, join(work.tables, REPORT), content)
    else:
        content = files.read(join(path, REPORT))
    return replace(manifest, files={**manifest.files, REPORT: hashlib.sha256(content).hexdigest()})


def recorded(plan: RunPlan) -> dict[str, Any]:
    """The settings of the manifest: lists and results by their names and content, not by their
    paths."""
    from beam_reuse.io.labels.lists import list_id

    settings = recorded_settings(plan.command, plan.settings)
    return {
        name: [list_id(path) for path in value] if BY_NAME[name].takes_many
        else list_id(value) if BY_NAME[name].kind is FOLDER and value else value
        for name, value in settings.items()
    }


def refuse_too_many_rejects(plan: RunPlan, outcome: RunOutcome, work: Workspace) -> None:
    """Fail a run whose share of rejected records is above `--max-rejects`."""
    accounting, limit = outcome.accounting, plan.settings.max_rejects
    if accounting.rejected_share <= limit:
        return
    reasons = ", ".join(f"{reason} {n}" for reason, n in sorted(accounting.rejected.items()))
    unread = accounting.noted.get(UNREAD_ROWS, 0)
    more = f", and with them {unread:,} more rows of these files" if unread else ""
    raise TooManyRejectsError(
        f"{accounting.rejected_total:,} of {accounting.records:,} records were rejected "
        f"({reasons}){more}, more than --max-rejects {limit} allows; no result was written.\n"
        f"{_first_reject(outcome, work)}Check the input, or raise --max-rejects."
    )


def _first_reject(outcome: RunOutcome, work: Workspace) -> str:
    """Where the first rejected record lies, so that the user can look at it."""
    import pyarrow.parquet as pq

    from beam_reuse.io.results.tables import REJECTS

    for part in sorted(outcome.parts):
        if part.table == REJECTS.name and part.rows:
            with open_files(work.tables).open(join(work.tables, part.path)) as source:
                row = pq.ParquetFile(source).read().slice(0, 1).to_pylist()[0]
            detail = f" ({row['detail']})" if row["detail"] else ""
            return f"The first: {row['file']} at {row['offset']}: {row['reason']}{detail}. "
    return ""


def run_info(
    plan: RunPlan, outcome: RunOutcome, command_line: Sequence[str], directory: str,
    started: float,
) -> dict[str, Any]:
    """The content of run.json: what may differ between runs with the same result. `directory` is
    where the command was typed, which its paths may be relative to."""
    now = time.time()
    return {
        "command": list(command_line),
        "directory": directory,
        "inputs": [*map(_absolute, plan.inputs)],
        **({"baseline": [*map(_absolute, plan.baseline)]} if plan.baseline else {}),
        "output": plan.output,
        "runner": plan.runner,
        "workers": plan.workers,
        "beam_args": list(plan.beam_args),
        "started": _iso(started),
        "finished": _iso(now),
        "seconds": round(now - started, 3),
        "bytes_read": outcome.bytes_read,
        "measured": dict(outcome.measured),
        "versions": versions(),
        "machine": platform.platform(),
    }


def _absolute(path: str) -> str:
    """A path that is right in whichever folder somebody looks at the result."""
    return os.path.abspath(path) if is_local(path) else path


def versions() -> dict[str, str]:
    """Versions of everything installed that can change a value or a byte."""
    from beam_reuse import __version__

    found = {"beam-reuse": __version__, "python": sys.version.split()[0]}
    return found | {package: metadata.version(package) for package in PACKAGES} | dict(
        registry().distributions)


def _iso(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="seconds")
