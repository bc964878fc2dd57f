"""Runs on samples, in this process: what they shuffle, write and take."""

import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from beam_reuse.io.files import join
from beam_reuse.io.results.outcome import read_outcome
from beam_reuse.io.results.run_folder import Workspace
from beam_reuse.pages.inputs import Inputs
from beam_reuse.pipeline import OUTCOME, build
from beam_reuse.plan import RunPlan
from beam_reuse.rows.steps import Entry
from beam_reuse.runners import engine_for


@dataclass(frozen=True)
class Measured:
    """What a run on so many bytes of input took: `rows` and `bytes` by grouping, `disk` bytes at
    its end, when nothing was removed yet, and seconds of `cpu`. `owners`: the analysis whose
    each grouping is, as far as its kernel shows."""

    size: int
    pages: int
    rows: Mapping[str, int]
    bytes: Mapping[str, int]
    disk: int
    cpu: float
    owners: Mapping[str, str] = field(default_factory=dict)


class _Silent:
    """A run that nobody watches."""

    def expect(self, total_bytes: int) -> None: ...
    def stage(self, name: str) -> None: ...
    def tasks(self, done: int, total: int) -> None: ...


def measured(plan: RunPlan, inputs: Inputs) -> Measured:
    """The plan run on these inputs, by one worker; its result is thrown away."""
    alone = replace(plan, workers=1, runner="local")
    with tempfile.TemporaryDirectory(prefix="beam-reuse-estimate-") as folder:
        work = Workspace(folder, is_watched=False)
        os.makedirs(work.tables)
        os.makedirs(work.spill)
        started = time.process_time()
        with engine_for(alone, 0) as engine:
            built = build(engine.pipeline, alone, inputs, work)
            engine.run(_Silent())
        cpu = time.process_time() - started
        outcome = read_outcome(join(folder, OUTCOME))
        disk = sum(os.path.getsize(os.path.join(above, name))
                   for above, _, names in os.walk(folder) for name in names)
    by: dict[str, dict[str, int]] = {"rows": {}, "bytes": {}, "pieces": {}}
    for name, number in outcome.measured.items():
        what, _, grouping = name.partition("/")
        if what in by and grouping:
            by[what][grouping] = number
    return Measured(inputs.bytes, outcome.accounting.pages, by["rows"], by["bytes"], disk, cpu,
                    {entry.name: _owner(entry) for each in built.rounds for entry in each.entries})


def _owner(entry: Entry) -> str:
    """The analysis whose kernel a grouping has; '' for others, which every run has."""
    words = getattr(getattr(entry.reader, "kernel", None), "__module__", "").split(".")
    return words[2] if words[1:2] == ["analyses"] else ""
