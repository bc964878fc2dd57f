"""A worker of the local runner: a fork of a process that has everything imported."""

import logging
import multiprocessing
import os
import threading
from typing import Any

from apache_beam.portability.api import beam_fn_api_pb2
from apache_beam.runners.portability.fn_api_runner import worker_handlers
from apache_beam.runners.worker import sdk_worker
from apache_beam.transforms import environments

from beam_reuse.core import stopping
from beam_reuse.runners.forks import FORKED_WORKER, QUIET, deaths, keep_freed_memory
from beam_reuse.runners.processes import cause

_STATE_CACHE_BYTES = 100 << 20
_SECONDS_TO_END = 20


def serve(
    control_address: str, worker_id: str,
    capabilities: frozenset[str] = worker_handlers.FNAPI_RUNNER_CAPABILITIES,
) -> None:
    """Run bundles for the runner at `control_address`, which has these `capabilities`, until it
    hangs up or dies. What goes wrong is reported to the runner; what Beam prints besides, with a
    traceback, is not for the standard error of a driver that wants workers QUIET."""
    if os.environ.get(QUIET):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
    threading.Thread(target=_follow_driver, daemon=True).start()
    keep_freed_memory()
    logging.getLogger("apache_beam").setLevel(logging.ERROR)
    sdk_worker.SdkHarness(
        control_address,
        worker_id=worker_id,
        state_cache_size=_STATE_CACHE_BYTES,
        runner_capabilities=capabilities,
    ).run()


def _follow_driver() -> None:
    """End with the driver: one that is stopped while a worker starts never calls it, and the
    worker would wait a minute for it."""
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
        os._exit(0)


class ForkedEnvironment(environments.Environment):
    """Names the worker processes below to the runner."""

    def to_runner_api_parameter(self, context: Any) -> tuple[str, bytes]:
        return FORKED_WORKER, b""

    @classmethod
    def default(cls) -> "ForkedEnvironment":
        return cls(
            capabilities=environments.python_sdk_capabilities(),
            artifacts=(),
        )


@worker_handlers.WorkerHandler.register_environment(FORKED_WORKER, bytes)
class ForkedWorkerHandler(worker_handlers.GrpcWorkerHandler):
    """Starts one forked worker, watches it, and ends it."""

    def __init__(self, _: bytes, state: Any, provision_info: Any, grpc_server: Any) -> None:
        super().__init__(state, provision_info, grpc_server)
        self._watcher: threading.Thread | None = None
        self._death: str | None = None
        self._is_stopped = False
        self._ask = self.control_conn.push
        self.control_conn.push = self._ask_the_living

    def start_worker(self) -> None:
        context = multiprocessing.get_context("forkserver")
        self._process = context.Process(
            target=serve, args=(self.control_address, self.worker_id), daemon=True)
        self._process.start()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def stop_worker(self) -> None:
        """Wait for the worker, which was asked to end; one that was asked before it could hear
        is killed, and so is one that is at work when the user stops the run."""
        self._is_stopped = True
        # None or not alive: stopped while the worker was starting. It ends with this process.
        if self._watcher is not None and self._watcher.is_alive():
            self._watcher.join(0 if stopping.was_asked() else _SECONDS_TO_END)
            self._process.kill()
            self._watcher.join()

    def _ask_the_living(self, request: Any) -> Any:
        """Ask the worker; a dead one's answer is an error. The runner would wait for ever,
        for what it asked before the death and for what it asks after."""
        future = self._ask(request)
        if future is not None and self._death is not None:
            _fail(future, self._death)
        return future

    def _watch(self) -> None:
        self._process.join()
        if self._process.exitcode == 0 or self._is_stopped:
            return
        self._death = f"a worker process died ({cause(self._process.exitcode)})"
        deaths.append(self._death)
        for future in list(self.control_conn._futures_by_id.values()):
            _fail(future, self._death)


def _fail(future: Any, error: str) -> None:
    future.set(beam_fn_api_pb2.InstructionResponse(
        instruction_id=future.instruction_id, error=error))
