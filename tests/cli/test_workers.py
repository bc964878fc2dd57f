"""Worker processes of a local run: used, watched, and gone at the end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from beam_reuse.demo.sample import sample_crawl
from beam_reuse.demo.writing import write_crawl

RUN = """
import sys
from beam_reuse import runners
from beam_reuse.cli.main import main
if __name__ == "__main__":
    runners.SMALL_INPUT = 0
    sys.exit(main(sys.argv[1:]))
"""


LEAVE_A_WORKER = """
import multiprocessing, os
from beam_reuse.runners.local_worker import serve
if __name__ == "__main__":
    worker = multiprocessing.get_context("forkserver").Process(
        target=serve, args=("localhost:9", "nobody calls"), daemon=True)
    worker.start()
    print(worker.pid, flush=True)
    os._exit(1)
"""


STOPPED_WHILE_STARTING = """
import os, signal, threading, time
from beam_reuse import runners
from beam_reuse.runners import local_worker
from beam_reuse.cli.main import entry
class Interrupted(threading.Thread):
    def start(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
class Threading:
    Thread = Interrupted
if __name__ == "__main__":
    runners.SMALL_INPUT = 0
    local_worker.threading = Threading
    entry()
"""


def children_of(pid: int) -> list[int]:
    """Processes started by `pid`."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(entry.parent.name))
    return found


def is_alive(pid: int) -> bool:
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def workers_of(pid: int) -> list[int]:
    """Its worker processes: forks of a server that is its child."""
    return [worker for server in children_of(pid) for worker in children_of(server)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(("started", "seconds"), [(1, 0), (2, 0), (2, 1)])
def test_a_killed_worker_ends_the_run_and_leaves_nothing(
    tmp_path: Path, started: int, seconds: float
) -> None:
    """Killed before anything was asked of it, or at work."""
    script = tmp_path / "run.py"
    script.write_text(RUN)
    write_crawl(sample_crawl(), str(tmp_path / "crawl"))
    command = [sys.executable, str(script), "run", str(tmp_path / "crawl"),
               "-o", str(tmp_path / "out"), "--workers", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               text=True)
    deadline = time.monotonic() + 120
    while len(workers := workers_of(process.pid)) < started and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.005)
    time.sleep(seconds)
    os.kill(workers[0], signal.SIGKILL)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "a worker process died (SIGKILL" in errors
    assert not (tmp_path / "out").exists()
    assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()
                and "forkserver" in Path(f"/proc/{worker}/cmdline").read_text()]
    again = subprocess.run(command, check=False, capture_output=True)
    assert again.returncode == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_worker_ends_with_its_driver_even_if_it_was_never_called(tmp_path: Path) -> None:
    script = tmp_path / "leave.py"
    script.write_text(LEAVE_A_WORKER)
    gone = subprocess.run([sys.executable, str(script)], stdout=subprocess.PIPE, timeout=60,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    deadline = time.monotonic() + 20
    while is_alive(int(gone.stdout)):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.usefixtures("ctrl_c_heard")
def test_ctrl_c_while_a_worker_starts(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(STOPPED_WHILE_STARTING)
    write_crawl(sample_crawl(), str(tmp_path / "crawl"))
    stopped = subprocess.run(
        [sys.executable, str(script), "run", str(tmp_path / "crawl"), "-o", str(tmp_path / "out"),
         "--workers", "2"],
        check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60)
    told = [line for line in stopped.stderr.splitlines() if not line[0].isdigit()]
    assert told == ["beam-reuse: stopped; no result was written."]
    assert stopped.returncode == 1
    assert not (tmp_path / "out").exists()
