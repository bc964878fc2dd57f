"""A real Flink cluster on this machine: a JobManager and TaskManagers, each a process."""

import json
import shutil
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from beam_reuse.runners.processes import Follower
from beam_reuse.runners.rest import free_port
from tests.engines.running import environment

SECONDS_TO_START = 120


@dataclass(frozen=True)
class FlinkCluster:
    """A cluster that runs. `master` is what `--flink_master` takes; `start` starts one more
    program of it, whose words go to a log of the given name in `folder`."""

    master: str
    folder: Path
    start: Callable[[str, str], Follower]
    job_manager: Follower
    task_managers: list[Follower]

    def start_task_manager(self) -> None:
        """Start one more, which will register some seconds later."""
        log = f"taskmanager-{len(self.task_managers)}.log"
        self.task_managers.append(self.start("taskmanager.sh", log))

    @property
    def mark(self) -> bytes:
        """What the environment of all its processes has, and of those they start."""
        return f"FLINK_LOG_DIR={self.folder}".encode()

    def ask(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://{self.master}/{path}", timeout=10) as answer:
            return json.load(answer)


@contextmanager
def flink_cluster(
    kit: Path, folder: Path, task_managers: int = 2, settings: Mapping[str, Any] | None = None,
) -> Iterator[FlinkCluster]:
    """A cluster of the programs in `kit`, on free ports; settings and logs lie in `folder`."""
    rest, rpc = free_port(), free_port()
    config = configure(kit / "conf", folder / "conf", {
        "rest.port": rest, "rest.address": "127.0.0.1", "rest.bind-address": "127.0.0.1",
        "jobmanager.rpc.port": rpc, "jobmanager.rpc.address": "127.0.0.1",
        "jobmanager.bind-host": "127.0.0.1", "taskmanager.bind-host": "127.0.0.1",
        "taskmanager.host": "127.0.0.1", "io.tmp.dirs": str(folder),
        **(settings or {}),
    })
    with ExitStack() as stack:
        def start(program: str, log: str) -> Follower:
            follower = Follower(
                [str(kit / "bin" / program), "start-foreground"], folder / log,
                FLINK_CONF_DIR=str(config), FLINK_LOG_DIR=str(folder), FLINK_PID_DIR=str(folder),
                # For workers that Flink starts, and the server they are forked from.
                PYTHONPATH=environment()["PYTHONPATH"], XDG_RUNTIME_DIR=str(folder))
            stack.callback(follower.stop)
            return follower

        cluster = FlinkCluster(
            f"127.0.0.1:{rest}", folder, start, start("jobmanager.sh", "jobmanager.log"), [])
        for _ in range(task_managers):
            cluster.start_task_manager()
        wait_for(cluster, task_managers * int(
            (settings or {}).get("taskmanager.numberOfTaskSlots", 1)))
        yield cluster


def configure(shipped: Path, folder: Path, settings: Mapping[str, Any]) -> Path:
    """The settings a release ships with, changed; keys with dots are groups in groups."""
    shutil.copytree(shipped, folder)
    file = folder / "config.yaml"
    content = yaml.safe_load(file.read_text())
    for name, value in settings.items():
        *groups, last = name.split(".")
        group = content
        for each in groups:
            group = group.setdefault(each, {})
        group[last] = value
    file.write_text(yaml.safe_dump(content, width=10_000))
    return folder


def wait_for(cluster: FlinkCluster, slots: int) -> None:
    """Wait until all TaskManagers have registered, which have so many slots."""
    until = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            if cluster.ask("overview")["slots-total"] == slots:
                return
        except (OSError, ValueError):
            pass
        assert time.monotonic() < until, cluster.job_manager.words()[-2000:]
        time.sleep(0.3)
