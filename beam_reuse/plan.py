"""What the command line asks of the pipeline, as one value.

The seam between `cli` and `pipeline`. `beam_reuse.pipeline` offers three functions:

    def survey(plan: RunPlan) -> Survey
        The input files and the graph's size, with nothing run and nothing written.

    def run(plan: RunPlan, work: Workspace, progress: RunProgress) -> RunOutcome
        Run the graph to its end. Tables go below `work.tables`, shuffled bytes below
        `work.spill`, workers report below `work.progress`. Raises on failure.

    def launch(plan: RunPlan, publication: Publication) -> None
        Hand the graph over to be run without this process; its last step publishes the result.

The command line makes the workspace (`io.run_folder.ResultFolder`), publishes what the
outcome lists and removes the rest, so `run` neither cleans up nor writes a manifest.
"""

import os
from dataclasses import dataclass, field
from typing import Literal, Protocol

from beam_reuse.core.settings import require
from beam_reuse.declaring.kinds import FOLDER
from beam_reuse.declaring.registry import known
from beam_reuse.declaring.settings import Settings

Command = Literal["run", "clean", "decontaminate", "index", "labels"]


def usable_cores() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class RunPlan:
    """One run: what to read, what to compute, where and how to run it.

    `settings` is all that may change a value; the rest changes only where and how fast.
    `beam_args` are Beam's own options as they were on the command line. `runner` is one of
    `runners.ENGINES` or a name Beam knows. `engines`: where programs of engines were
    fetched to. `worker_memory`: bytes of a worker process, 0 as `runners.memory_for` knows.
    For `labels` alone: `merge` and `remove` are lists of labels; without `all_chunks` chunks are
    left out that are on several domains, or on more than `background_hosts` hosts of the
    `background`, which is read as inputs are. For `run` alone: `baseline` are indexes of earlier
    crawls, with which the new one is compared.
    """

    command: Command
    inputs: tuple[str, ...]
    output: str
    settings: Settings
    runner: str = "local"
    workers: int = field(default_factory=usable_cores)
    beam_args: tuple[str, ...] = ()
    overwrite: bool = False
    merge: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    background: tuple[str, ...] = ()
    background_hosts: int = 3
    all_chunks: bool = False
    baseline: tuple[str, ...] = ()
    engines: str = ""
    worker_memory: int = 0

    def __post_init__(self) -> None:
        require(bool(self.inputs or self.merge), "inputs", "",
                "one or more files, folders or globs")
        require(self.background_hosts >= 0, "background_hosts", self.background_hosts, "0 or more")
        require(not (self.background and self.all_chunks), "background",
                self.background[0] if self.background else "", "given without {all_chunks}")
        require(self.workers >= 1, "workers", self.workers, "1 or more")

    @property
    def places(self) -> tuple[tuple[str, str], ...]:
        """Every file, folder or pattern that workers open, each with the option that names it."""
        options = [option for about in known().values() for option in about.options]
        of_analyses = [(f"--{option.name}", option.of(self.settings)) for option in options
                       if option.takes_many]
        of_analyses += [(f"--{option.name}", filter(None, (option.of(self.settings),)))
                        for option in options if option.kind is FOLDER]
        return tuple((option, path) for option, paths in (
            ("-o", (self.output,)), ("INPUT", self.inputs), ("--merge", self.merge),
            ("--background", self.background), ("--baseline", self.baseline), *of_analyses,
        ) for path in paths)

    @property
    def is_launched(self) -> bool:
        """Whether the graph is only described, in a file from which Dataflow makes a job: nobody
        waits for its end."""
        return any(each.startswith("--template_location") for each in self.beam_args)


@dataclass(frozen=True)
class Sizes:
    """What follows from the bytes of the input and the memory of a worker; changes no value.

    `ranges`: pieces in which crawl files are read. `buckets`: parts in which rows are shuffled, of
    which a worker sorts `budget` bytes at once. `flush`: bytes of rows it collects for a file."""

    memory: int
    ranges: int
    buckets: int
    budget: int
    flush: int


@dataclass(frozen=True)
class Survey:
    """What `--dry-run` shows: input files with their sizes, the full names of the graph's steps,
    the sizes, and what is done in each round."""

    files: tuple[tuple[str, int], ...]
    steps: tuple[str, ...]
    sizes: Sizes
    rounds: tuple[tuple[str, ...], ...] = ()

    @property
    def bytes(self) -> int:
        return sum(size for _, size in self.files)


class RunProgress(Protocol):
    """Where the driver reports what it is doing; what workers report goes through files."""

    def expect(self, total_bytes: int) -> None:
        """The bytes that will be read in all, so that the display can show the rest."""

    def stage(self, name: str) -> None:
        """What the driver is doing now, in a few words."""

    def tasks(self, done: int, total: int) -> None:
        """How many tasks an engine has done, of how many it knows."""
