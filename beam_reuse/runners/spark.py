"""Spark: inside the job server, or a standalone cluster that is there already."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from apache_beam.options.pipeline_options import (
    PipelineOptions,
    PortableOptions,
    SparkRunnerOptions,
)

from beam_reuse.core.errors import UserError
from beam_reuse.plan import RunPlan
from beam_reuse.runners.engine import Engine
from beam_reuse.runners.job_server import class_path, job_server
from beam_reuse.runners.portable import portable_engine, remedy, words_of
from beam_reuse.runners.python_workers import is_here, kind_of, python_workers
from beam_reuse.runners.rest import LOOPBACK_ADDRESS, ask, free_port

DRIVER = "org.apache.beam.runners.spark.SparkJobServerDriver"
STANDALONE = "spark://"
_OPENED = ("java.lang", "java.lang.invoke", "java.net", "java.nio", "java.util",
           "java.util.concurrent", "sun.nio.ch")
JAVA_OPTIONS = tuple(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED)
# The job server says where it listens; of Spark only warnings are of use.
LOGGING = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
           "-Dorg.slf4j.simpleLogger.log.org.apache.beam=info")
# The service that shows how far a run is may also stop it: for this machine alone.
STATUS_IS_HERE = {"SPARK_LOCAL_IP": LOOPBACK_ADDRESS}
NOTHING_FREE = "Initial job has not accepted any resources"
WAITING = "waiting for the cluster, of which no worker has a free core and memory"
_SECONDS = 10
_HEAP = ("one of its Java programs has too little memory. Give more with "
         "JAVA_TOOL_OPTIONS=-Dspark.executor.memory=2g before the command (executors of a "
         "cluster), or JAVA_TOOL_OPTIONS=-Xmx2g (a Spark inside the job server).")
_GONE = ("its master died, or cannot be reached; its log says why. Run again when the cluster is "
         "back.")
# What a cluster may lack, by what Spark says then.
REMEDIES = {
    "Java heap space": _HEAP,
    "GC overhead limit exceeded": _HEAP,
    "ExecutorLostFailure":
        "executors died again and again while they had the same task. Their logs say why; if "
        "memory is short, give them more with JAVA_TOOL_OPTIONS=-Dspark.executor.memory=2g before "
        "the command.",
    "Master removed our application":
        "its executors could not be started again and again (the logs of its workers say why), or "
        "somebody ended the application.",
    "masters are unresponsive": _GONE,
}


def require(plan: RunPlan) -> None:
    """Refuse a plan that cannot work, without asking the cluster."""
    options = PipelineOptions(list(plan.beam_args))
    portable = options.view_as(PortableOptions)
    kind_of(plan, portable, portable.job_endpoint or _cluster_at(_master_of(plan, options)))


def _master_of(plan: RunPlan, options: PipelineOptions) -> str:
    is_given = any(argument.startswith("--spark_master_url") for argument in plan.beam_args)
    given = options.view_as(SparkRunnerOptions).spark_master_url
    return str(given) if is_given else f"local[{plan.workers}]"


def _cluster_at(master: str) -> str | None:
    """HOST:PORT of a standalone cluster; None if Spark is inside the job server."""
    return master.removeprefix(STANDALONE) if master.startswith(STANDALONE) else None


@contextmanager
def engine(plan: RunPlan) -> Iterator[Engine]:
    """A job server of ours with a Spark inside; with `--spark_master_url spark://HOST:PORT` the
    graph runs on that cluster, with `--job_endpoint HOST:PORT` where that job server has it run."""
    options = PipelineOptions(list(plan.beam_args))
    given, portable = options.view_as(SparkRunnerOptions), options.view_as(PortableOptions)
    if where := portable.job_endpoint:
        require_server(where)
        with python_workers(plan, portable, where) as workers:
            yield portable_engine(plan, ["--sdk_worker_parallelism=1"], workers, None,
                                  lambda error: explained(error, where, "--job_endpoint"))
        return
    master = _master_of(plan, options)
    cluster = _cluster_at(master)
    driver = LOOPBACK_ADDRESS if cluster is None else address_for(cluster)
    jars = class_path("spark", given.spark_job_server_jar, plan.engines)
    status = free_port()
    with (python_workers(plan, portable, cluster) as workers,
          job_server(DRIVER, jars, [*JAVA_OPTIONS, *LOGGING, *_properties(driver, status)],
                     [f"--spark-master-url={master}"], environment=STATUS_IS_HERE) as server):
        processes = plan.workers if cluster is None else 1

        def tasks() -> tuple[int, int] | None:
            return tasks_of(f"{LOOPBACK_ADDRESS}:{status}")

        yield portable_engine(
            plan, [f"--sdk_worker_parallelism={processes}"], workers, server,
            lambda error: explained(error, master), tasks,
            waits=lambda: waits_for(server.program.words(), tasks()))


def explained(error: Exception, master: str, option: str = "--spark_master_url") -> str:
    """Why a run failed, and what to do about it where that is known."""
    known = remedy(error, REMEDIES)
    return f"{option} {master}: {known}" if known else words_of(error)


def require_server(endpoint: str) -> None:
    """Refuse a job server that is not there; Beam would wait for it."""
    host, _, port = endpoint.rpartition(":")
    try:
        socket.create_connection((host, int(port)), _SECONDS).close()
    except (OSError, ValueError) as error:
        raise UserError(f"--job_endpoint {endpoint}: no job server answers there ({error}). Give "
                        "HOST:PORT of one (usually port 8099).") from None


def _properties(driver: str, status: int) -> Sequence[str]:
    """What Spark has to know: where executors find the driver, and at which port to show how far it
    is. Nothing that is finished need be remembered, but sums."""
    return [
        f"-Dspark.driver.host={driver}", f"-Dspark.driver.bindAddress={driver}",
        "-Dspark.ui.enabled=true", f"-Dspark.ui.port={status}", "-Dspark.ui.retainedJobs=100000",
        "-Dspark.ui.retainedStages=1", "-Dspark.ui.retainedTasks=1",
    ]


def tasks_of(status: str) -> tuple[int, int] | None:
    """How many tasks are done of those of all jobs so far, by the application that shows it at
    `status`. A graph is several jobs, of which Spark learns one after the other."""
    for application in ask(status, "api/v1/applications"):
        jobs = ask(status, f"api/v1/applications/{application['id']}/jobs")
        return (sum(job["numCompletedTasks"] + job["numSkippedTasks"] for job in jobs),
                sum(job["numTasks"] for job in jobs))
    return None


def waits_for(words: str, tasks: tuple[int, int] | None) -> str:
    """What a run waits for that has not begun, by the words of its job server."""
    has_begun = tasks is not None and tasks[0] > 0
    return WAITING if NOTHING_FREE in words and not has_begun else ""


def address_for(cluster: str) -> str:
    """Our address as the cluster sees it; UserError if nobody listens at the cluster's."""
    host, _, port = cluster.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), _SECONDS) as connection:
            return LOOPBACK_ADDRESS if is_here(cluster) else str(connection.getsockname()[0])
    except (OSError, ValueError) as error:
        raise UserError(
            f"--spark_master_url spark://{cluster}: no Spark master answers there ({error}). Give "
            "spark://HOST:PORT (usually port 7077), or local[N] to run Spark on this machine."
        ) from None
