"""A pool of workers: each serves its own engine, and ends when that hangs up."""

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from apache_beam.portability.api import beam_fn_api_pb2, beam_fn_api_pb2_grpc

from beam_reuse.runners.pool import WorkerPool, worker_pool
from tests.runners.test_fork_server import Engine, running_engine
from tests.runners.test_processes import soon

SECONDS = 120  # without compiled kernels, what workers are forked from takes long to start


@pytest.fixture(scope="module")
def pool() -> Iterator[tuple[Any, WorkerPool]]:
    """What engines call, and what is behind it."""
    with worker_pool() as (address, behind), grpc.insecure_channel(address) as channel:
        yield beam_fn_api_pb2_grpc.BeamFnExternalWorkerPoolStub(channel), behind


def start_worker(calls: Any, engine: Engine, name: str) -> None:
    request = beam_fn_api_pb2.StartWorkerRequest(worker_id=name)
    request.control_endpoint.url = engine.address
    calls.StartWorker(request)
    assert soon(lambda: name in engine.workers, SECONDS)


def test_an_engine_stops_its_own_worker_and_no_other_of_the_same_name(
    pool: tuple[Any, WorkerPool],
) -> None:
    calls, behind = pool
    with running_engine() as one, running_engine() as other:
        start_worker(calls, one, "1-1")
        [first] = behind._workers
        start_worker(calls, other, "1-1")
        [second] = behind._workers - {first}
        one.over.set()
        calls.StopWorker(beam_fn_api_pb2.StopWorkerRequest(worker_id="1-1"))
        assert soon(lambda: first.exitcode == 0)
        assert not soon(lambda: not second.is_alive(), 1)
        other.over.set()
        assert soon(lambda: second.exitcode == 0)
    assert not behind.deaths


def test_a_worker_that_is_killed_is_told_and_replaced(pool: tuple[Any, WorkerPool]) -> None:
    calls, behind = pool
    with running_engine() as engine:
        start_worker(calls, engine, "1-1")
        [worker] = behind._workers
        worker.kill()
        assert soon(lambda: behind.deaths)
        assert behind.deaths == ["a worker process died (SIGKILL: perhaps out of memory)"]
        assert soon(lambda: engine.workers == ["1-1", "1-1"], SECONDS)
