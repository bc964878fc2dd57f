"""A worker of the local runner: a fork of a process that has everything imported."""

import logging
import multiprocessing
from typing import Any

from apache_beam.runners.portability.fn_api_runner import worker_handlers
from apache_beam.runners.worker import sdk_worker
from apache_beam.transforms import environments

from beam_reuse.runners.local import FORKED_WORKER, keep_freed_memory

_STATE_CACHE_BYTES = 100 << 20


def serve(control_address: str, worker_id: str) -> None:
    """Run bundles for the runner at `control_address` until it hangs up."""
    keep_freed_memory()
    logging.getLogger("apache_beam").setLevel(logging.ERROR)
    sdk_worker.SdkHarness(
        control_address,
        worker_id=worker_id,
        state_cache_size=_STATE_CACHE_BYTES,
        runner_capabilities=worker_handlers.FNAPI_RUNNER_CAPABILITIES,
    ).run()


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
    """Starts one forked worker and waits for its end."""

    def __init__(self, _: bytes, state: Any, provision_info: Any, grpc_server: Any) -> None:
        super().__init__(state, provision_info, grpc_server)

    def start_worker(self) -> None:
        context = multiprocessing.get_context("forkserver")
        self._process = context.Process(
            target=serve, args=(self.control_address, self.worker_id), daemon=True)
        self._process.start()

    def stop_worker(self) -> None:
        self._process.join()
