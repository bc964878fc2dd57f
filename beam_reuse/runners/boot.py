"""`beam-reuse-worker`: Python workers on a machine of a cluster.

With --pool PORT it stays, and forks workers as the engine on this machine asks for them
(environment EXTERNAL); starting one takes a moment. Otherwise the engine starts it, once for each
worker (environment PROCESS), with an id and the address of its provision service, which tells the
rest; that takes seconds. Beam's own boot program is part of its container images only.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from beam_reuse.core.errors import UserError

SECONDS = 60


def entry() -> NoReturn:
    """The installed program."""
    sys.exit(main(sys.argv[1:]))


def main(argv: Sequence[str]) -> int:
    """Serve the engine until it hangs up; a pool, until it is stopped."""
    parser = argparse.ArgumentParser(
        prog="beam-reuse-worker", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pool", type=int, metavar="PORT", help="fork workers as they are asked "
                        "for at this port, which only programs of this machine reach")
    parser.add_argument("--id", help="the worker's name, from the engine")
    parser.add_argument("--provision_endpoint", metavar="HOST:PORT", help="from the engine")
    given, _ = parser.parse_known_args(argv)
    if given.pool is not None:
        return serve_pool(given.pool)
    if given.id is None or given.provision_endpoint is None:
        parser.error("give --pool PORT, or let an engine start it (environment PROCESS)")
    with tempfile.TemporaryDirectory(prefix="beam-reuse-worker-") as folder:
        info = provided(given.provision_endpoint, given.id)
        os.environ.update(environment(given.id, info, folder))
        import beam_reuse.runners.preloaded  # noqa: F401
        from beam_reuse.runners.local import keep_freed_memory

        keep_freed_memory()
        from apache_beam.runners.worker import sdk_worker_main

        sdk_worker_main.main([])
    return 0


def serve_pool(port: int) -> int:
    """Fork workers until SIGTERM or Ctrl-C."""
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    from beam_reuse.runners.pool import worker_pool

    try:
        with worker_pool(port) as (address, _):
            print(f"beam-reuse-worker: forking workers at {address}", flush=True)
            stopped.wait()
    except UserError as error:
        print(f"beam-reuse-worker: {error}", file=sys.stderr)
        return 2
    return 0


def provided(endpoint: str, worker_id: str) -> Any:
    """What the engine provides: addresses of its services, and the run's options."""
    import grpc
    from apache_beam.portability.api import beam_provision_api_pb2, beam_provision_api_pb2_grpc

    with grpc.insecure_channel(endpoint) as channel:
        service = beam_provision_api_pb2_grpc.ProvisionServiceStub(channel)
        request = beam_provision_api_pb2.GetProvisionInfoRequest()
        return service.GetProvisionInfo(
            request, timeout=SECONDS, wait_for_ready=True, metadata=[("worker_id", worker_id)]).info


def environment(worker_id: str, info: Any, folder: str) -> Mapping[str, str]:
    """The variables by which Beam's worker is told what to do; options go to a file."""
    from google.protobuf import json_format, text_format

    options = os.path.join(folder, "options.json")
    with open(options, "w") as target:
        json.dump(json_format.MessageToDict(info.pipeline_options), target)
    found = {
        "WORKER_ID": worker_id,
        "PIPELINE_OPTIONS_FILE": options,
        "CONTROL_API_SERVICE_DESCRIPTOR": text_format.MessageToString(info.control_endpoint),
        "RUNNER_CAPABILITIES": " ".join(info.runner_capabilities),
    }
    if info.logging_endpoint.url:
        found["LOGGING_API_SERVICE_DESCRIPTOR"] = text_format.MessageToString(
            info.logging_endpoint)
    return found


if __name__ == "__main__":
    entry()
