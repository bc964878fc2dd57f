"""Workers that an engine starts one by one are forks of one server, which comes and goes."""

import os
import signal
import subprocess
import sys
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
    """Tells workers to come, and keeps them until it is `over`."""

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


def test_calls_share_a_server_which_goes_away(engine: Engine, tmp_path: Path) -> None:
    boots = [call(engine, tmp_path, name) for name in ("one", "two")]
    servers, workers = servers_and_workers(tmp_path)
    assert (len(servers), len(workers)) == (1, 2)
    folder = next(tmp_path.rglob("socket")).parent
    assert folder.stat().st_mode & 0o777 == folder.parent.stat().st_mode & 0o777 == 0o700
    engine.over.set()
    assert [boot.wait(SECONDS) for boot in boots] == [0, 0]
    assert soon(lambda: servers_and_workers(tmp_path) == ([], []))
    assert not list(tmp_path.rglob("socket"))


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_worker_ends_with_the_process_that_asked_for_it(
    engine: Engine, tmp_path: Path, how: signal.Signals,
) -> None:
    killed, other = (call(engine, tmp_path, name) for name in ("killed", "other"))
    killed.send_signal(how)
    assert killed.wait() == -how
    assert soon(lambda: len(servers_and_workers(tmp_path)[1]) == 1)
    assert other.poll() is None
    other.kill()
    other.wait()


def test_a_worker_that_is_killed_is_told(engine: Engine, tmp_path: Path) -> None:
    boot = call(engine, tmp_path, "killed")
    _, [worker] = servers_and_workers(tmp_path)
    os.kill(worker, signal.SIGKILL)
    assert boot.wait(SECONDS) == 256 - signal.SIGKILL


def test_a_dead_server_is_replaced_and_its_workers_live_on(engine: Engine, tmp_path: Path) -> None:
    first = call(engine, tmp_path, "first")
    [server], [worker] = servers_and_workers(tmp_path)
    os.kill(server, signal.SIGKILL)
    assert soon(lambda: not is_alive(server))
    second = call(engine, tmp_path, "second")
    assert is_alive(worker) and first.poll() is None
    engine.over.set()
    assert second.wait(SECONDS) == 0
    assert first.wait(SECONDS) == 1  # nobody was left to tell the status


def test_without_a_private_folder_a_worker_starts_the_slow_way(
    engine: Engine, tmp_path: Path,
) -> None:
    (tmp_path / f"beam-reuse-{os.getuid()}").mkdir(mode=0o755)
    boot = call(engine, tmp_path, "slow")
    assert servers_and_workers(tmp_path) == ([], [])
    engine.over.set()
    assert boot.wait(SECONDS) == 0
