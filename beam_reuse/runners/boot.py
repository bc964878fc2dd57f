"""`beam-reuse-worker`: starts one Python worker of an engine (environment PROCESS).

The engine calls it with an id and the address of its provision service, which tells the rest.
Beam's own boot program is part of its container images only.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

SECONDS = 60


def entry() -> NoReturn:
    """The installed program."""
    sys.exit(main(sys.argv[1:]))


def main(argv: Sequence[str]) -> int:
    """Serve the engine until it hangs up."""
    parser = argparse.ArgumentParser(prog="beam-reuse-worker", description=__doc__)
    parser.add_argument("--id", required=True, help="the worker's name")
    parser.add_argument("--provision_endpoint", required=True, help="HOST:PORT that tells the rest")
    given, _ = parser.parse_known_args(argv)
    with tempfile.TemporaryDirectory(prefix="beam-reuse-worker-") as folder:
        os.environ.update(environment(given.id, provided(given.provision_endpoint), folder))
        import beam_reuse.runners.preloaded  # noqa: F401
        from beam_reuse.runners.local import keep_freed_memory

        keep_freed_memory()
        from apache_beam.runners.worker import sdk_worker_main

        sdk_worker_main.main([])
    return 0


def provided(endpoint: str) -> Any:
    """What the engine provides: addresses of its services, and the run's options."""
    import grpc
    from apache_beam.portability.api import beam_provision_api_pb2, beam_provision_api_pb2_grpc

    with grpc.insecure_channel(endpoint) as channel:
        service = beam_provision_api_pb2_grpc.ProvisionServiceStub(channel)
        request = beam_provision_api_pb2.GetProvisionInfoRequest()
        return service.GetProvisionInfo(request, timeout=SECONDS, wait_for_ready=True).info


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
