"""Workers for an engine on this machine: forks of a process that has everything imported.

Beam's own LOOPBACK runs all workers as threads of the driver, which share one interpreter.
"""

import logging
import multiprocessing
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import grpc
from apache_beam.portability.api import beam_fn_api_pb2, beam_fn_api_pb2_grpc

from beam_reuse.core.errors import UserError
from beam_reuse.runners.local import start_fork_server
from beam_reuse.runners.local_worker import serve
from beam_reuse.runners.processes import cause

_SECONDS_TO_END = 5


def serve_engine(control_address: str, worker_id: str) -> None:
    """Serve an engine until it hangs up, which Beam's worker takes for an error and tells."""
    logging.getLogger("apache_beam.runners.worker.data_plane").setLevel(logging.CRITICAL)
    with suppress(grpc.RpcError):
        serve(control_address, worker_id, frozenset())


class WorkerPool(beam_fn_api_pb2_grpc.BeamFnExternalWorkerPoolServicer):
    """Starts and stops workers as an engine asks. `deaths` tells of those that were killed; one
    that ends with an error does so after the engine, which tells why."""

    def __init__(self) -> None:
        self.deaths: list[str] = []
        self._workers: dict[str, Any] = {}
        self._lock = threading.Lock()

    def StartWorker(self, request: Any, _: Any) -> Any:
        worker = multiprocessing.get_context("forkserver").Process(
            target=serve_engine, args=(request.control_endpoint.url, request.worker_id),
            daemon=True)
        with self._lock:
            self._workers[request.worker_id] = worker
            worker.start()
        threading.Thread(target=self._watch, args=(request.worker_id, worker), daemon=True).start()
        return beam_fn_api_pb2.StartWorkerResponse()

    def StopWorker(self, request: Any, _: Any) -> Any:
        self._stop(request.worker_id)
        return beam_fn_api_pb2.StopWorkerResponse()

    def stop(self) -> None:
        """End all workers."""
        for worker_id in list(self._workers):
            self._stop(worker_id)

    def _stop(self, worker_id: str) -> None:
        with self._lock:
            worker = self._workers.pop(worker_id, None)
        if worker is not None:
            worker.terminate()
            worker.join(_SECONDS_TO_END)
            worker.kill()

    def _watch(self, worker_id: str, worker: Any) -> None:
        worker.join()
        with self._lock:
            was_wanted = self._workers.pop(worker_id, None) is not None
        if was_wanted and (worker.exitcode or 0) < 0:
            self.deaths.append(f"a worker process died ({cause(worker.exitcode)})")


@contextmanager
def worker_pool(port: int = 0) -> Iterator[tuple[str, WorkerPool]]:
    """A pool for programs of this machine alone, at `port` or a free one, and its address."""
    start_fork_server()
    pool = WorkerPool()
    server = grpc.server(ThreadPoolExecutor(4), options=[("grpc.so_reuseport", 0)])
    try:
        address = f"127.0.0.1:{server.add_insecure_port(f'127.0.0.1:{port}')}"
    except RuntimeError:
        raise UserError(f"--pool {port}: the port is taken. Choose another.") from None
    beam_fn_api_pb2_grpc.add_BeamFnExternalWorkerPoolServicer_to_server(pool, server)
    server.start()
    try:
        yield address, pool
    finally:
        server.stop(None)
        pool.stop()
