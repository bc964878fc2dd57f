"""Runs a command and reports wall time, CPU and memory of all processes it started."""

import ctypes
import os
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_SAMPLE_SECONDS = 1.0  # to look takes milliseconds for each GB, from what is looked at


@dataclass(frozen=True)
class Cost:
    """What a command took. `memory` is the peak of all its processes together, shared pages
    counted once (PSS); `resident` the same with shared pages counted for each (RSS)."""

    wall: float
    cpu: float
    memory: int
    resident: int


def run(command: Sequence[str]) -> Cost:
    """Run `command` to its end; raises if it fails.

    Orphaned grandchildren come back to this process, so their CPU time counts too.
    """
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before, started = _cpu_of_children(), time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               start_new_session=True)
    peak = _Peak(process.pid)
    assert process.stderr is not None
    errors = process.stderr.read()
    if process.wait() != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{errors.decode()[-2000:]}")
    wall = time.monotonic() - started
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    peak.stop()
    return Cost(wall, _cpu_of_children() - before, peak.memory, peak.resident)


def _cpu_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


class _Peak:
    """Watches the memory of a session."""

    def __init__(self, session: int) -> None:
        self.memory = self.resident = 0
        self._session = session
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(_SAMPLE_SECONDS):
            memory = resident = 0
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    fields = (process / "stat").read_text().rpartition(") ")[2].split()
                    if int(fields[3]) != self._session:
                        continue
                    rollup = (process / "smaps_rollup").read_text()
                except (OSError, IndexError):
                    continue
                memory += _kilobytes(rollup, "Pss:") << 10
                resident += _kilobytes(rollup, "Rss:") << 10
            self.memory = max(self.memory, memory)
            self.resident = max(self.resident, resident)


def _kilobytes(rollup: str, name: str) -> int:
    return sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith(name))
