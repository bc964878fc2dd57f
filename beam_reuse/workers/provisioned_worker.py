"""A worker of an engine that gave it only the address to ask (environment PROCESS)."""

import json
import os
from collections.abc import Mapping
from typing import Any

import grpc
from apache_beam.portability.api import beam_provision_api_pb2, beam_provision_api_pb2_grpc
from apache_beam.runners.worker import sdk_worker_main
from google.protobuf import json_format, text_format

import beam_reuse.workers.preloaded  # noqa: F401
from beam_reuse.runners.forks import keep_freed_memory
from beam_reuse.runners.proxies import go_round_proxies

SECONDS = 60


def work(worker_id: str, endpoint: str) -> None:
    """Serve the engine whose provision service is at `endpoint` until it hangs up."""
    keep_freed_memory()
    go_round_proxies()
    os.environ.update(environment(worker_id, provided(endpoint, worker_id)))
    sdk_worker_main.main([])


def provided(endpoint: str, worker_id: str) -> Any:
    """What the engine provides: addresses of its services, and the run's options."""
    with grpc.insecure_channel(endpoint) as channel:
        service = beam_provision_api_pb2_grpc.ProvisionServiceStub(channel)
        request = beam_provision_api_pb2.GetProvisionInfoRequest()
        return service.GetProvisionInfo(
            request, timeout=SECONDS, wait_for_ready=True, metadata=[("worker_id", worker_id)]).info


def environment(worker_id: str, info: Any) -> Mapping[str, str]:
    """The variables by which Beam's worker knows what to do. No file is needed, which a worker
    that is killed would leave behind."""
    found = {
        "WORKER_ID": worker_id,
        "PIPELINE_OPTIONS": json.dumps(json_format.MessageToDict(info.pipeline_options)),
        "CONTROL_API_SERVICE_DESCRIPTOR": text_format.MessageToString(info.control_endpoint),
        "RUNNER_CAPABILITIES": " ".join(info.runner_capabilities),
    }
    if info.logging_endpoint.url:
        found["LOGGING_API_SERVICE_DESCRIPTOR"] = text_format.MessageToString(
            info.logging_endpoint)
    return found
