"""Flink: embedded in the job server, or a session cluster that is there already."""

import json
import os
import shutil
import sys
import urllib.request
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.error import URLError

from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    PipelineOptions,
    PortableOptions,
)

from beam_reuse.core.errors import UserError
from beam_reuse.plan import RunPlan
from beam_reuse.runners.engine import Engine, fused_here, pipeline_of, worker_trouble
from beam_reuse.runners.job_server import JobServer, class_path, job_server
from beam_reuse.runners.kits import FLINK

DRIVER = "org.apache.beam.runners.flink.FlinkJobServerDriver"
EMBEDDED = ("[auto]", "[local]")
LOOPBACK, PROCESS, EXTERNAL = "LOOPBACK", "PROCESS", "EXTERNAL"
BOOT = "beam-reuse-worker"
_HERE = ("localhost", "127.", "[::1]")
_SECONDS = 20


@dataclass(frozen=True)
class Cluster:
    """What a session cluster says of itself."""

    master: str
    version: str
    slots: int
    slots_per_worker: int

    @property
    def is_here(self) -> bool:
        """Whether its address is one of this machine alone."""
        return self.master.startswith(_HERE)


@contextmanager
def flink(plan: RunPlan) -> Iterator[Engine]:
    """A job server of ours and, by default, workers of ours, both on this machine; with
    `--flink_master HOST:PORT` the graph runs on that cluster."""
    options = PipelineOptions(list(plan.beam_args))
    given, portable = options.view_as(FlinkRunnerOptions), options.view_as(PortableOptions)
    master = given.flink_master.removeprefix("http://").rstrip("/")
    cluster = None if master in EMBEDDED else look_at(master)
    if cluster is not None and given.flink_job_server_jar is None:
        refuse_other_version(cluster)
    with ExitStack() as stack:
        deaths, environment = stack.enter_context(_environment(portable, cluster))
        server = None
        if portable.job_endpoint is None:
            server = stack.enter_context(job_server(
                DRIVER, class_path("flink", given.flink_job_server_jar, plan.engines), (),
                [f"--flink-master={master if cluster else '[local]'}"]))

        def trouble() -> None:
            worker_trouble(deaths)
            if server is not None:
                server.check()

        pipeline = pipeline_of([
            *_parallelism(plan, cluster), *plan.beam_args, *fused_here(plan.beam_args),
            *environment, *_endpoint(server),
            f"--job_name=beam-reuse-{uuid.uuid4().hex[:12]}", "--runner=PortableRunner",
        ])
        yield Engine(pipeline, trouble, is_remote=True)


def _endpoint(server: JobServer | None) -> Sequence[str]:
    return [f"--job_endpoint={server.endpoint}"] if server else []


def _parallelism(plan: RunPlan, cluster: Cluster | None) -> Sequence[str]:
    """As many subtasks as there are slots, and as many Python processes."""
    slots, each = (cluster.slots, cluster.slots_per_worker) if cluster else (
        plan.workers, plan.workers)
    return [f"--parallelism={slots}", f"--sdk_worker_parallelism={each}"]


@contextmanager
def _environment(
    portable: Any, cluster: Cluster | None,
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Where Python workers come from, as Beam's options; also the list of workers that died, as
    far as they are ours."""
    asked = portable.environment_type or (
        LOOPBACK if cluster is None or cluster.is_here else PROCESS)
    if asked == LOOPBACK:
        if cluster is not None and not cluster.is_here:
            raise UserError(
                f"--environment_type LOOPBACK: workers of this machine cannot serve the cluster at "
                f"{cluster.master}. Use PROCESS, with beam-reuse installed on all its machines.")
        from beam_reuse.runners.pool import worker_pool

        with worker_pool() as (address, pool):
            yield pool.deaths, ["--environment_type=EXTERNAL", f"--environment_config={address}"]
        return
    if asked == PROCESS and not (portable.environment_config or portable.environment_options):
        config = json.dumps({"command": boot_command()})
        yield (), ["--environment_type=PROCESS", f"--environment_config={config}"]
        return
    if asked == EXTERNAL and not (portable.environment_config or portable.environment_options):
        raise UserError("--environment_type EXTERNAL needs the address of the worker pool that "
                        "runs beside each TaskManager: --environment_config HOST:PORT")
    yield (), [f"--environment_type={asked}"]


def boot_command() -> str:
    """The program that starts a worker, at the same place on every machine."""
    beside = os.path.join(os.path.dirname(sys.executable), BOOT)
    found = beside if os.path.exists(beside) else shutil.which(BOOT)
    if found is None:
        raise UserError(
            f"--environment_type PROCESS: there is no {BOOT} beside {sys.executable}. Install "
            "beam-reuse with pip on every machine of the cluster, or name the program with "
            """--environment_config '{"command": "/path/to/""" + BOOT + """"}'.""")
    return found


def look_at(master: str) -> Cluster:
    """What the cluster at `master` has; UserError if none answers there."""
    try:
        overview = ask(master, "overview")
        managers = ask(master, "taskmanagers")["taskmanagers"]
        version, slots = str(overview["flink-version"]), int(overview["slots-total"])
    except (OSError, ValueError, KeyError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise UserError(
            f"--flink_master {master}: no Flink cluster answers there ({reason}). Give HOST:PORT "
            "of its REST service (usually port 8081), or [local] to run Flink embedded.") from None
    if not slots:
        raise UserError(f"--flink_master {master}: the cluster has no slots. Start its "
                        "TaskManagers.")
    return Cluster(master, version, slots, max(int(each["slotsNumber"]) for each in managers))


def refuse_other_version(cluster: Cluster) -> None:
    """Refuse a cluster that does not understand our job server."""
    if cluster.version.split(".")[:2] != FLINK.split("."):
        raise UserError(
            f"--flink_master {cluster.master} runs Flink {cluster.version}, and the job server is "
            f"for {FLINK}. Use a cluster of Flink {FLINK}, or name a job server for yours with "
            "--flink_job_server_jar.")


def ask(master: str, path: str) -> Any:
    """An answer of the cluster's REST service."""
    with urllib.request.urlopen(f"http://{master}/{path}", timeout=_SECONDS) as answer:
        return json.load(answer)
