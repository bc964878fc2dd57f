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
from beam_reuse.runners.portable import portable_engine
from beam_reuse.runners.python_workers import is_here, python_workers

DRIVER = "org.apache.beam.runners.spark.SparkJobServerDriver"
STANDALONE = "spark://"
_OPENED = ("java.lang", "java.lang.invoke", "java.net", "java.nio", "java.util",
           "java.util.concurrent", "sun.nio.ch")
JAVA_OPTIONS = tuple(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED)
# The job server tells where it listens; of Spark only warnings are of use.
LOGGING = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
           "-Dorg.slf4j.simpleLogger.log.org.apache.beam=info")
_SECONDS = 10


@contextmanager
def spark(plan: RunPlan) -> Iterator[Engine]:
    """A job server of ours with a Spark inside; with `--spark_master_url spark://HOST:PORT` the
    graph runs on that cluster."""
    options = PipelineOptions(list(plan.beam_args))
    given, portable = options.view_as(SparkRunnerOptions), options.view_as(PortableOptions)
    is_given = any(argument.startswith("--spark_master_url") for argument in plan.beam_args)
    master = given.spark_master_url if is_given else f"local[{plan.workers}]"
    cluster = master.removeprefix(STANDALONE) if master.startswith(STANDALONE) else None
    if cluster is not None:
        require_answer(cluster)
    jars = class_path("spark", given.spark_job_server_jar, plan.engines)
    with (python_workers(portable, cluster) as workers,
          job_server(DRIVER, jars, [*JAVA_OPTIONS, *_properties(cluster)],
                     [f"--spark-master-url={master}"]) as server):
        processes = plan.workers if cluster is None else 1
        yield portable_engine(plan, [f"--sdk_worker_parallelism={processes}"], workers, server)


def _properties(cluster: str | None) -> Sequence[str]:
    """What Spark is told: nothing of it listens to other machines unless the cluster does."""
    here = [] if cluster is not None and not is_here(cluster) else [
        "-Dspark.driver.host=127.0.0.1", "-Dspark.driver.bindAddress=127.0.0.1"]
    return ["-Dspark.ui.enabled=false", *LOGGING, *here]


def require_answer(cluster: str) -> None:
    """Refuse a cluster at whose address nobody listens."""
    host, _, port = cluster.rpartition(":")
    try:
        socket.create_connection((host, int(port)), _SECONDS).close()
    except (OSError, ValueError) as error:
        raise UserError(
            f"--spark_master_url spark://{cluster}: no Spark master answers there ({error}). Give "
            "spark://HOST:PORT (usually port 7077), or local[N] to run Spark on this machine."
        ) from None
