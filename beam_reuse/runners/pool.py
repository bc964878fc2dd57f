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
    """Starts workers as an engine asks. `deaths` tells of those that were killed; one that ends
    with an error does so after the engine, which tells why."""

    def __init__(self) -> None:
        self.deaths: list[str] = []
        self._workers: set[Any] = set()
        self._lock = threading.Lock()

    def StartWorker(self, request: Any, _: Any) -> Any:
        worker = multiprocessing.get_context("forkserver").Process(
            target=serve_engine, args=(request.control_endpoint.url, request.worker_id),
            daemon=True)
        with self._lock:
            self._workers.add(worker)
            worker.start()
        threading.Thread(target=self._watch, args=(worker,), daemon=True).start()
        return beam_fn_api_pb2.StartWorkerResponse()

    def StopWorker(self, request: Any, _: Any) -> Any:
        """Nothing: a worker ends when its engine hangs up, as it does now. All TaskManagers of a
        machine count their workers from 1, so that the name may be another one's as well, which
        would wait for ever for a worker that was stopped before it had called."""
        return beam_fn_api_pb2.StopWorkerResponse()

    def stop(self) -> None:
        """End all workers."""
        with self._lock:
            workers, self._workers = self._workers, set()
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join(_SECONDS_TO_END)
            worker.kill()

    def _watch(self, worker: Any) -> None:
        worker.join()
        with self._lock:
            was_wanted = worker in self._workers
            self._workers.discard(worker)
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
