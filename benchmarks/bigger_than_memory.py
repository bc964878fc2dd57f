"""All analyses on an engine with 1 GB of memory in all: bytes shuffled, memory, the same result.

usage: PYTHONPATH=. python benchmarks/bigger_than_memory.py flink|spark [--heap 1g] WARC...

Flink: a JobManager and two TaskManagers whose whole processes may take 512 MB each. Spark: inside
the job server, with two threads and a heap of 1 GB. Python workers are apart, and reported. The
local runner, with two workers, says what the result must be; --expected FOLDER names one that it
has made.
"""

import argparse
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engines import LOCAL, LOOPBACK, beam_reuse, cluster, options_of
from measure import Cost

from tests.engines.running import digests

FLINK_SETTINGS = {
    "taskmanager.memory.process.size": "512m",
    "taskmanager.memory.jvm-overhead.min": "48m",
    "taskmanager.memory.jvm-overhead.max": "48m",
    "taskmanager.memory.jvm-metaspace.size": "112m",
    "taskmanager.memory.framework.heap.size": "64m",
    "taskmanager.memory.framework.off-heap.size": "96m",
    "taskmanager.memory.network.min": "40m",
    "taskmanager.memory.network.max": "40m",
    "taskmanager.memory.managed.size": "40m",
    "taskmanager.memory.framework.off-heap.batch-shuffle.size": "16m",
    "taskmanager.memory.segment-size": "8kb",
}
_SAMPLE_SECONDS = 1.0


class Watch:
    """What a run into `output` has spilled, and what Java programs besides take, at the peak."""

    def __init__(self, output: Path, sessions: list[int]) -> None:
        self.blocks = self.parts = self.resident = 0
        self._output, self._sessions = output, sessions
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(_SAMPLE_SECONDS):
            self.blocks = max(self.blocks, self._bytes("blocks"))
            self.parts = max(self.parts, self._bytes("parts"))
            self.resident = max(self.resident, max(map(resident_of, self._sessions), default=0))

    def _bytes(self, kind: str) -> int:
        """Bytes that lie in the run's folder; nothing is removed before its end."""
        found = 0
        for file in self._output.glob(f".beam-reuse-run-*/spill/{kind}/**/*"):
            try:
                found += file.stat().st_size
            except OSError:
                continue
        return found


def resident_of(session: int) -> int:
    """Bytes of memory that Java programs of a session take."""
    found = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(") ")[2].split()
            if int(fields[3]) == session and (process / "comm").read_text().strip() == "java":
                found += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            continue
    return found


@contextmanager
def engine(name: str, heap: str, folder: Path) -> Iterator[tuple[list[str], list[int]]]:
    """Options of a run on the engine, and the sessions of its programs."""
    if name == "spark":
        os.environ["JAVA_TOOL_OPTIONS"] = f"-Xmx{heap}"
        yield ["--runner", "spark", "--workers", "2"], []
        return
    with cluster(folder / "cluster", FLINK_SETTINGS) as running:
        yield options_of(LOOPBACK, running), [each.pid for each in running.task_managers]


def show(name: str, cost: Cost, watch: Watch) -> None:
    print(f"  {name:<6} wall {cost.wall:6.1f} s   CPU {cost.cpu:6.1f} s   shuffled "
          f"{watch.blocks / 1e9:5.2f} GB, parts {watch.parts / 1e9:5.2f} GB   memory of Python "
          f"{cost.memory / 1e9:5.2f} GB, of a TaskManager {watch.resident / 1e6:4.0f} MB",
          flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=["flink", "spark"])
    parser.add_argument("warcs", nargs="+")
    parser.add_argument("--heap", default="1g")
    parser.add_argument("--expected", type=Path)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="beam-reuse-benchmark-", dir=os.environ.get("TMPDIR")))
    try:
        expected = args.expected
        if expected is None:
            expected = folder / LOCAL
            with Watch(expected, []) as watch:
                cost = beam_reuse(args.warcs, expected, ["--workers", "2"])
            show(LOCAL, cost, watch)
        with engine(args.engine, args.heap, folder) as (options, sessions):
            with Watch(folder / "result", sessions) as watch:
                cost = beam_reuse(args.warcs, folder / "result", options)
            show(args.engine, cost, watch)
        if digests(folder / "result") != digests(expected):
            sys.exit("the result differs from that of the local runner")
        print("  the same bytes")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
