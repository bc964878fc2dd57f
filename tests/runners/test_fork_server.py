"""Workers that an engine starts one by one are forks of one server, which comes and goes."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from apache_beam.portability.api import (
    beam_fn_api_pb2_grpc,
    beam_provision_api_pb2,
    beam_provision_api_pb2_grpc,
)

from tests.runners.test_processes import is_alive, soon

CALL = """
import sys
from beam_reuse import boot
boot.SECONDS_IDLE = 2
sys.exit(boot.main(sys.argv[1:]))
"""
SECONDS = 120  # a server without compiled kernels takes long to start


class Engine(beam_fn_api_pb2_grpc.BeamFnControlServicer,
             beam_provision_api_pb2_grpc.ProvisionServiceServicer):
    """Has workers come, and keeps them until it is `over`."""

    def __init__(self) -> None:
        self.workers: list[str] = []
        self.over = threading.Event()
        self.address = ""

    def GetProvisionInfo(self, request: Any, context: Any) -> Any:
        found = beam_provision_api_pb2.GetProvisionInfoResponse()
        found.info.control_endpoint.url = self.address
        return found

    def Control(self, answers: Any, context: Any) -> Iterator[Any]:
        self.workers.append(dict(context.invocation_metadata())["worker_id"])
        self.over.wait()
        yield from ()


@contextmanager
def running_engine() -> Iterator[Engine]:
    found = Engine()
    server = grpc.server(ThreadPoolExecutor(8))
    found.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    beam_fn_api_pb2_grpc.add_BeamFnControlServicer_to_server(found, server)
    beam_provision_api_pb2_grpc.add_ProvisionServiceServicer_to_server(found, server)
    server.start()
    try:
        yield found
    finally:
        found.over.set()
        server.stop(None)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with running_engine() as found:
        yield found


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name: that of a socket has a hundred bytes at most, and pytest's
    grow with the number of its runs."""
    with tempfile.TemporaryDirectory(prefix="reuse-", ignore_cleanup_errors=True) as made:
        yield Path(made)


def call(engine: Engine, folder: Path, name: str) -> subprocess.Popen[bytes]:
    """What an engine starts; it has a worker when this returns."""
    boot = subprocess.Popen(
        [sys.executable, "-c", CALL, "--id", name, "--provision_endpoint", engine.address],
        env={**os.environ, "XDG_RUNTIME_DIR": str(folder)})
    assert soon(lambda: name in engine.workers, SECONDS)
    return boot


def servers_and_workers(folder: Path) -> tuple[list[int], list[int]]:
    """Processes of `folder`: those that began there, and forks of these."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            parent = int((process / "stat").read_text().rpartition(") ")[2].split()[1])
        except OSError:
            continue
        if str(folder).encode() in words and is_alive(int(process.name)):
            found[int(process.name)] = parent
    return ([each for each, parent in found.items() if parent not in found],
            [each for each, parent in found.items() if parent in found])


def test_calls_share_a_server_which_goes_away(engine: Engine, folder: Path) -> None:
    boots = [call(engine, folder, name) for name in ("one", "two")]
    servers, workers = servers_and_workers(folder)
    assert (len(servers), len(workers)) == (1, 2)
    private = next(folder.rglob("socket")).parent
    assert private.stat().st_mode & 0o777 == private.parent.stat().st_mode & 0o777 == 0o700
    engine.over.set()
    assert [boot.wait(SECONDS) for boot in boots] == [0, 0]
    assert soon(lambda: servers_and_workers(folder) == ([], []))
    assert not list(folder.rglob("socket"))


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_worker_ends_with_the_process_that_asked_for_it(
    engine: Engine, folder: Path, how: signal.Signals,
) -> None:
    killed, other = (call(engine, folder, name) for name in ("killed", "other"))
    killed.send_signal(how)
    assert killed.wait() == -how
    assert soon(lambda: len(servers_and_workers(folder)[1]) == 1)
    assert other.poll() is None
    other.kill()
    other.wait()


def test_a_worker_that_is_killed_is_told(engine: Engine, folder: Path) -> None:
    boot = call(engine, folder, "killed")
    _, [worker] = servers_and_workers(folder)
    os.kill(worker, signal.SIGKILL)
    assert boot.wait(SECONDS) == 256 - signal.SIGKILL


def test_a_dead_server_is_replaced_and_its_workers_live_on(engine: Engine, folder: Path) -> None:
    first = call(engine, folder, "first")
    [server], [worker] = servers_and_workers(folder)
    os.kill(server, signal.SIGKILL)
    assert soon(lambda: not is_alive(server))
    second = call(engine, folder, "second")
    assert is_alive(worker) and first.poll() is None
    engine.over.set()
    assert second.wait(SECONDS) == 0
    assert first.wait(SECONDS) == 1  # nobody was left to report the status to


def test_without_a_private_folder_a_worker_starts_the_slow_way(
    engine: Engine, folder: Path,
) -> None:
    (folder / f"beam-reuse-{os.getuid()}").mkdir(mode=0o755)
    boot = call(engine, folder, "slow")
    assert servers_and_workers(folder) == ([], [])
    engine.over.set()
    assert boot.wait(SECONDS) == 0
