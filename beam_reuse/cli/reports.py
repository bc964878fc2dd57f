"""`beam-reuse report`: the report of a result that is there, written again."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from beam_reuse.cli.arguments import one_folder
from beam_reuse.cli.summary import console
from beam_reuse.core.errors import UserError
from beam_reuse.experiments.report import experiment_report
from beam_reuse.io.files import join, open_files, require_writable, write_whole
from beam_reuse.io.results.manifest import MANIFEST
from beam_reuse.io.results.tables import read_manifest
from beam_reuse.report.page import REPORT, report_of


def run_report(folders: Sequence[str], values: Mapping[str, Any]) -> int:
    """Write the report into the folder of a result, and its SHA-256 into the manifest."""
    folder = one_folder("report", folders)
    manifest = read_manifest(folder)
    if manifest.kind == "index":
        raise UserError(f"{folder} is an index; report.html is of results of `run` and of "
                        "experiments.")
    path = join(folder, REPORT)
    require_writable(path)
    make = experiment_report if manifest.kind == "experiment" else report_of
    content, files = make(manifest, folder), open_files(folder)
    write_whole(files, path, content)
    known = replace(manifest, files={
        **manifest.files, REPORT: hashlib.sha256(content).hexdigest()})
    if known != manifest:
        write_whole(files, join(folder, MANIFEST), known.to_json().encode())
    console().print(f"report in {path}", markup=False, soft_wrap=True)
    return 0
