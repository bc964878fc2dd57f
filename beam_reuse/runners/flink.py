"""Flink: embedded in the job server, or a session cluster that is there already."""

import getpass
import hashlib
import os
import re
import socket
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from urllib.error import URLError

from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    PipelineOptions,
    PortableOptions,
)

from beam_reuse.core.errors import UserError
from beam_reuse.plan import RunPlan
from beam_reuse.runners.engine import Engine
from beam_reuse.runners.flink_versions import embedded_job_server, job_server_for
from beam_reuse.runners.job_server import JobServer, job_server
from beam_reuse.runners.portable import portable_engine, remedy, words_of
from beam_reuse.runners.python_workers import kind_of, python_workers
from beam_reuse.runners.rest import ask

DRIVER = "org.apache.beam.runners.flink.FlinkJobServerDriver"
EMBEDDED = ("[auto]", "[local]")
# Flink keeps 512 buffers for each result that waits on disk, of which a graph of many steps has
# many at once. Ours are references, and small.
SETTINGS = {
    "taskmanager.network.sort-shuffle.min-buffers": "16",
    "taskmanager.memory.network.min": "256m",
    "taskmanager.memory.network.max": "256m",
}
# A death takes several tasks with it, which only this strategy counts as one failure.
_AGAIN = ("Run again. Flink does so itself with 'restart-strategy.type: exponential-delay' and "
          "'restart-strategy.exponential-delay.initial-backoff: 20 s' in its config.yaml.")
_LOST = f"one of its TaskManagers died, or cannot be reached; its log says why. {_AGAIN}"
_WORKER = ("one of its Python workers died, perhaps for lack of memory; the logs of its "
           f"TaskManagers say more. {_AGAIN}")
_GONE = ("its JobManager died, or cannot be reached; its log says why. Run again when the cluster "
         "is back.")
_SORTING = (
    "its TaskManagers have too little managed memory for a graph of this size, of which every sort "
    "has an equal share. Raise taskmanager.memory.managed.size in its config.yaml and start it "
    "again, or ask for fewer --analyses at a time.")
# What a cluster may lack, by what it says then.
REMEDIES = {
    "StackOverflowError":
        "its JobManager has too little stack for a graph of this size. Put the line "
        "'env.java.opts.jobmanager: -Xss16m' into its config.yaml and start it again, or ask for "
        "fewer --analyses at a time.",
    "Record too large": _SORTING,
    "Too little memory provided to sorter": _SORTING,
    "direct buffer memory":
        "its TaskManagers have too little direct memory. Raise "
        "taskmanager.memory.framework.off-heap.size in its config.yaml and start it again.",
    "Java heap space":
        "a Java program of it has too little heap. Raise taskmanager.memory.process.size (or "
        "jobmanager.memory.process.size, by whose log has the error) in its config.yaml and start "
        "it again.",
    "Insufficient number of network buffers":
        "its TaskManagers have too few network buffers for a graph of this size. Put the line "
        "'taskmanager.network.sort-shuffle.min-buffers: 16' into its config.yaml and start it "
        "again, or raise taskmanager.memory.network.max.",
    "call already cancelled": _WORKER,
    "recvAddress(..) failed": _LOST,
    "remote task manager": _LOST,
    "no longer reachable": _LOST,
    "Heartbeat of TaskManager": _LOST,
    "TaskExecutorLocalStateStoresManager is already closed": _LOST,
}
_REST = re.compile(r"http://(\S+:\d+) was granted leadership")
_SECONDS_TO_CANCEL = 20
_OVER = ("FINISHED", "CANCELED", "FAILED", "SUSPENDED")


@dataclass(frozen=True)
class Cluster:
    """What a session cluster says of itself."""

    master: str
    version: str
    slots: int
    slots_per_worker: int


def require(plan: RunPlan) -> None:
    """Refuse a plan that cannot work, without asking the cluster."""
    options = PipelineOptions(list(plan.beam_args))
    master = _master_of(options.view_as(FlinkRunnerOptions))
    kind_of(plan, options.view_as(PortableOptions), None if master in EMBEDDED else master)


def _master_of(given: FlinkRunnerOptions) -> str:
    return str(given.flink_master).removeprefix("http://").rstrip("/")


@contextmanager
def engine(plan: RunPlan) -> Iterator[Engine]:
    """A job server of ours and, by default, workers of ours, both on this machine; with
    `--flink_master HOST:PORT` the graph runs on that cluster."""
    options = PipelineOptions(list(plan.beam_args))
    given, portable = options.view_as(FlinkRunnerOptions), options.view_as(PortableOptions)
    master = _master_of(given)
    cluster = None if master in EMBEDDED else look_at(master)
    if cluster is not None and (asked := given.parallelism or 0) > cluster.slots:
        raise UserError(f"--parallelism {asked}: the cluster at {cluster.master} has "
                        f"{cluster.slots} slots, and a job waits for as many as it asks for. Ask "
                        "for fewer, or start more TaskManagers.")
    with ExitStack() as stack:
        workers = stack.enter_context(python_workers(
            plan, portable, cluster.master if cluster else None))
        server = None
        if portable.job_endpoint is None:
            server = stack.enter_context(
                _job_server(cluster, given.flink_job_server_jar, plan.engines))

        def tasks() -> tuple[int, int] | None:
            where = cluster.master if cluster else _rest_of(server)
            return tasks_of(where, name) if where else None

        named = names_for(plan.output)
        name = f"{named}{uuid.uuid4().hex[:12]}"
        if cluster is not None:
            cancel_jobs(cluster.master, named)  # whose command was killed: we hold the lock now
        try:
            yield portable_engine(plan, _parallelism(plan, cluster), workers, server,
                                  lambda error: explained(error, cluster), tasks, name)
        except BaseException:
            if cluster is not None:
                cancel_jobs(cluster.master, name)
            raise


def _job_server(
    cluster: Cluster | None, jar: str | None, kits: str,
) -> AbstractContextManager[JobServer]:
    """A job server for the cluster, or with a Flink inside."""
    if cluster is not None:
        jars = job_server_for(cluster.master, cluster.version, jar, kits)
        return job_server(DRIVER, jars, (), [f"--flink-master={cluster.master}"])
    settings = "".join(f"{name}: {value}\n" for name, value in SETTINGS.items())
    return job_server(DRIVER, embedded_job_server(jar, kits), (),
                      ["--flink-master=[local]", "--flink-conf-dir={folder}"],
                      {"config.yaml": settings})


def explained(error: Exception, cluster: Cluster | None) -> str:
    """Why a run failed, and what to do about it where that is known."""
    where = f"--flink_master {cluster.master}" if cluster else "Flink"
    if known := remedy(error, REMEDIES):
        return f"{where}: {known}"
    if cluster is not None and not answers(cluster.master):
        return f"{where}: {_GONE}"
    return words_of(error)


def answers(master: str) -> bool:
    """Whether a cluster is still there."""
    try:
        ask(master, "overview")
    except (OSError, ValueError):
        return False
    return True


def _rest_of(server: JobServer | None) -> str | None:
    """Where a Flink inside the job server answers, once it has said so."""
    told = _REST.search(server.program.words()) if server else None
    return told[1] if told else None


def tasks_of(master: str, name: str) -> tuple[int, int] | None:
    """How many tasks of the job with this name are finished, and of how many."""
    for job in ask(master, "jobs/overview")["jobs"]:
        if job["name"] == name:
            return int(job["tasks"]["finished"]), int(job["tasks"]["total"])
    return None


def names_for(output: str) -> str:
    """What names of jobs that write to the folder `output` begin with. A path is this user's on
    this machine, an address of remote storage is everybody's."""
    where = [output] if "://" in output else [
        socket.gethostname(), getpass.getuser(), os.path.realpath(output)]
    return f"beam-reuse-{hashlib.sha256(repr(where).encode()).hexdigest()[:12]}-"


def cancel_jobs(master: str, named: str) -> None:
    """Cancel jobs whose names begin so, and wait for their end, but not long. The job server does
    so with a run that is given up, unless it has died."""
    until = time.monotonic() + _SECONDS_TO_CANCEL
    asked = set[str]()
    with suppress(OSError, ValueError, KeyError):
        while time.monotonic() < until:
            left = {job["jid"] for job in ask(master, "jobs/overview")["jobs"]
                    if job["name"].startswith(named) and job["state"] not in _OVER}
            for job in left - asked:
                ask(master, f"jobs/{job}", "PATCH")
            if not left:
                return
            asked |= left
            time.sleep(0.2)


def _parallelism(plan: RunPlan, cluster: Cluster | None) -> Sequence[str]:
    """As many subtasks as there are slots, and as many Python processes."""
    slots, each = (cluster.slots, cluster.slots_per_worker) if cluster else (
        plan.workers, plan.workers)
    return [f"--parallelism={slots}", f"--sdk_worker_parallelism={each}"]


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
