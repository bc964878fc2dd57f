"""Parts of a run on a Flink cluster that can be killed, and what is left of a run."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.cli.test_workers import children_of
from tests.engines.flink_cluster import FlinkCluster
from tests.engines.running import command, environment

FORK_SERVERS = (b"multiprocessing.forkserver", b"beam_reuse.workers.fork_server")
_PROGRESS = re.compile(r"\d+:\d\d  ")
_SECONDS_FOR_A_RUN = 900


@dataclass
class Run:
    """A command, whose words go to files in `folder`. The environment of its processes has `mark`,
    so they are found even when the one that started them is gone."""

    folder: Path
    arguments: Sequence[object]

    @property
    def mark(self) -> bytes:
        return f"BEAM_REUSE_TEST={self.folder}".encode()

    def start(self) -> None:
        self.folder.mkdir()
        with (self.folder / "out").open("w") as out, (self.folder / "err").open("w") as err:
            self.process = subprocess.Popen(
                command(*self.arguments), stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                env={**environment(), "BEAM_REUSE_TEST": str(self.folder)})

    @property
    def is_over(self) -> bool:
        return self.process.poll() is not None

    def end(self) -> int:
        """Wait for the exit status."""
        return self.process.wait(_SECONDS_FOR_A_RUN)

    @property
    def message(self) -> list[str]:
        """What it said on standard error, but for its progress."""
        lines = (self.folder / "err").read_text().splitlines()
        return [line for line in lines if not _PROGRESS.match(line)]


def task_manager(run: Run, cluster: FlinkCluster) -> list[int]:
    return [pid for pid in marked(cluster.mark) if is_java(pid, "TaskManagerRunner")]


def job_server(run: Run, cluster: FlinkCluster) -> list[int]:
    return [pid for pid in marked(run.mark) if is_java(pid, "FlinkJobServerDriver")]


def the_command(run: Run, cluster: FlinkCluster) -> list[int]:
    return [run.process.pid]


def python_worker(run: Run, cluster: FlinkCluster) -> list[int]:
    """Forks of the command's fork server, or of the one that Flink's workers are forked from."""
    return workers_among([*marked(run.mark), *marked(cluster.mark)])


VICTIMS: dict[str, Callable[[Run, FlinkCluster], list[int]]] = {
    "TaskManager": task_manager, "worker": python_worker, "job-server": job_server,
    "command": the_command,
}


def strike(
    victim: str, run: Run, cluster: FlinkCluster, seconds: float, rng: Random,
) -> bool:
    """Kill -9 a victim so long after the run's start, or as soon as there is one; False if the run
    was over before. A TaskManager is replaced."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if run.is_over:
            return False
        time.sleep(0.05)
    while not run.is_over:
        if found := VICTIMS[victim](run, cluster):
            os.kill(rng.choice(found), signal.SIGKILL)
            if victim == "TaskManager":
                cluster.start_task_manager()
            return True
        time.sleep(0.01)
    return False


def marked(mark: bytes) -> list[int]:
    """Processes that are alive and have this mark."""
    return [int(each.name) for each in Path("/proc").glob("[0-9]*")
            if mark in words_of(each / "environ")]


def workers_among(processes: Iterable[int]) -> list[int]:
    """Those that are forks of a fork server."""
    servers = [pid for pid in processes
               if any(server in word for word in words_of(Path(f"/proc/{pid}/cmdline"))
                      for server in FORK_SERVERS)]
    return sorted(fork for pid in servers for fork in children_of(pid))


def is_java(pid: int, main_class: str) -> bool:
    words = words_of(Path(f"/proc/{pid}/cmdline"))
    return bool(words) and words[0].endswith(b"java") and any(
        word.endswith(main_class.encode()) for word in words)


def words_of(file: Path) -> list[bytes]:
    """Words of a file in /proc, which ends them with zeros; [] for a process that is gone."""
    try:
        return file.read_bytes().split(b"\0")
    except OSError:
        return []
