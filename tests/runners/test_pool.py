"""Workers that an engine asks a pool for, and the names it has for them."""

import multiprocessing
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import Queue
from typing import Any

import grpc
from apache_beam.portability.api import beam_fn_api_pb2, beam_fn_api_pb2_grpc

from beam_reuse.runners.pool import worker_pool

SECONDS = 120


class Engine(beam_fn_api_pb2_grpc.BeamFnControlServicer):
    """An engine that waits for a worker, and hangs up when it is told to."""

    def __init__(self, stack: ExitStack) -> None:
        self.callers: Queue[str] = Queue()
        self._end: Queue[None] = Queue()
        server = grpc.server(ThreadPoolExecutor(4))
        self.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        beam_fn_api_pb2_grpc.add_BeamFnControlServicer_to_server(self, server)
        server.start()
        stack.callback(server.stop, None)

    def Control(self, _: Any, context: Any) -> Any:
        self.callers.put(dict(context.invocation_metadata())["worker_id"])
        yield from iter(self._end.get, None)

    def hang_up(self) -> None:
        self._end.put(None)


def test_a_worker_that_is_stopped_is_not_another_engines_of_the_same_name() -> None:
    with ExitStack() as stack:
        one, other = Engine(stack), Engine(stack)
        address, pool = stack.enter_context(worker_pool())
        channel = stack.enter_context(grpc.insecure_channel(address))
        workers = beam_fn_api_pb2_grpc.BeamFnExternalWorkerPoolStub(channel)
        for engine in (one, other):
            workers.StartWorker(beam_fn_api_pb2.StartWorkerRequest(
                worker_id="1-1", control_endpoint={"url": engine.address}))
            if engine is one:
                assert one.callers.get(timeout=SECONDS) == "1-1"
        one.hang_up()
        workers.StopWorker(beam_fn_api_pb2.StopWorkerRequest(worker_id="1-1"))

        assert other.callers.get(timeout=SECONDS) == "1-1"
        other.hang_up()
        until = time.monotonic() + SECONDS
        while pool._workers:
            assert time.monotonic() < until, "workers go on without their engines"
            time.sleep(0.05)
        assert not pool.deaths
    assert not multiprocessing.active_children()
