"""Workers for an engine on this machine: forks of a process that has everything imported.

Beam's own LOOPBACK runs all workers as threads of the driver, which share one interpreter.
"""

import logging
import multiprocessing
import os
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
from beam_reuse.runners.proxies import go_round_proxies

_SECONDS_TO_END = 5
_ATTEMPTS = 3


def serve_engine(control_address: str, worker_id: str) -> None:
    """Serve an engine until it hangs up, which Beam's worker and its threads take for an error and
    report; then end at once, whatever this process is still at."""
    logging.getLogger("apache_beam.runners.worker.data_plane").setLevel(logging.CRITICAL)
    threading.excepthook = lambda _: None
    with suppress(grpc.RpcError):
        serve(control_address, worker_id, frozenset())
    os._exit(0)


class WorkerPool(beam_fn_api_pb2_grpc.BeamFnExternalWorkerPoolServicer):
    """Starts workers as engines ask, and ends those that are left. `deaths` lists workers that
    were killed; one that ends with an error does so after the engine, which says why."""

    def __init__(self) -> None:
        self.deaths: list[str] = []
        self._workers: set[Any] = set()
        self._lock = threading.Lock()

    def StartWorker(self, request: Any, _: Any) -> Any:
        self._start(request, _ATTEMPTS)
        return beam_fn_api_pb2.StartWorkerResponse()

    def _start(self, request: Any, attempts: int) -> None:
        worker = multiprocessing.get_context("forkserver").Process(
            target=serve_engine, args=(request.control_endpoint.url, request.worker_id),
            daemon=True)
        with self._lock:
            self._workers.add(worker)
            worker.start()
        threading.Thread(
            target=self._watch, args=(worker, request, attempts - 1), daemon=True).start()

    def StopWorker(self, request: Any, _: Any) -> Any:
        """Nothing is to be done: an engine hangs up on a worker that it stops. Nor could it be: the
        TaskManagers of one machine give their workers the same names."""
        return beam_fn_api_pb2.StopWorkerResponse()

    def stop(self) -> None:
        """End all workers."""
        with self._lock:
            left, self._workers = self._workers, set()
        for worker in left:
            worker.terminate()
        for worker in left:
            worker.join(_SECONDS_TO_END)
            worker.kill()

    def _watch(self, worker: Any, request: Any, attempts: int) -> None:
        """Wait for the worker's end, and replace one that was killed: an engine that it has not
        called yet waits for it for ever. Others have noticed, and hang up on the new one."""
        worker.join()
        with self._lock:
            was_wanted = worker in self._workers
            self._workers.discard(worker)
        if was_wanted and (worker.exitcode or 0) < 0:
            self.deaths.append(f"a worker process died ({cause(worker.exitcode)})")
            if attempts:
                self._start(request, attempts)


@contextmanager
def worker_pool(port: int = 0) -> Iterator[tuple[str, WorkerPool]]:
    """A pool for programs of this machine alone, at `port` or a free one, and its address."""
    go_round_proxies()
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
