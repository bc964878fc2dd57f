"""Commands of the containers in deploy/, run without containers: the bytes of a local run.

Only places differ: names of hosts, ports, and the folder that all see. Pods of one kind share this
machine's network, so that one pool of Python workers stands for those of all pods. Part of
`make test-engines`, not of `make test`.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from beam_reuse.runners.processes import Follower
from beam_reuse.runners.rest import free_port
from tests.deploy.recipes import (
    COMPOSE,
    commands_of_the_readme,
    container,
    entry_point,
    found,
    here,
    read,
)
from tests.engines.conftest import kit
from tests.engines.flink_cluster import FlinkCluster, flink_cluster
from tests.engines.kubernetes_api import kubernetes_api
from tests.engines.running import ACCOUNTED, command, digests, environment, run
from tests.engines.spark_cluster import spark_cluster

pytestmark = [pytest.mark.engines]
FLINK = pytest.mark.xdist_group("flink")
POOL_PORT = "50000"
RPC = "jobmanager.rpc.address"
SECONDS_TO_START = 120


def installed(words: Sequence[str]) -> list[str]:
    """A command of ours by the program that was installed with this Python."""
    program = Path(sys.executable).parent / words[0]
    if not program.exists():
        pytest.skip(f"{program} is not installed")
    return [str(program), *words[1:]]


@contextmanager
def running(words: Sequence[str], folder: Path, name: str, **more: str) -> Iterator[Follower]:
    """A program that a container runs until it is stopped."""
    program = Follower(words, folder / f"{name}.log", **{**environment(), **more})
    try:
        yield program
    finally:
        program.stop()


@contextmanager
def python_workers(words: Sequence[str], folder: Path) -> Iterator[str]:
    """The port of a pool, by a container's command."""
    port = str(free_port())
    with running(installed(here(words, {POOL_PORT: port})), folder, "pool") as pool:
        wait_until(lambda: "forking workers" in pool.words(), pool)
        yield port


def wait_until(condition: Any, program: Follower) -> None:
    until = time.monotonic() + SECONDS_TO_START
    while not condition():
        assert time.monotonic() < until and program.is_alive, program.words()[-3000:]
        time.sleep(0.2)


def submitted(
    words: Sequence[str], places: Mapping[str, str], crawl: list[str],
) -> subprocess.CompletedProcess[str]:
    """What the submitter's image does with these arguments."""
    program, *arguments = here([*entry_point("submitter"), *words], places, crawl)
    assert program == "beam-reuse"
    return run(*arguments, seconds=1200)


@pytest.fixture
def shared(crawl: list[str]) -> Iterator[Path]:
    """What containers see as /shared: the sample crawl is in it."""
    folder = Path(crawl[0]).parents[1]
    assert {Path(file).parent.parent for file in crawl} == {folder}
    before = set(folder.iterdir())
    yield folder
    for made in set(folder.iterdir()) - before:
        shutil.rmtree(made)


def told_what_is_right(done: subprocess.CompletedProcess[str], result: Path,
                       local: dict[str, str]) -> None:
    assert done.returncode == 0, done.stderr
    assert ACCOUNTED in done.stdout
    assert digests(result) == local


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return dict(read(COMPOSE)[0]["services"])


@pytest.fixture(scope="module")
def composed(
    services: dict[str, Any], flink_job_server: Path, tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[FlinkCluster, dict[str, str]]]:
    """The services of docker-compose.yaml, and places of its containers on this machine. Flink's
    own image starts what its command names, with FLINK_PROPERTIES in the settings."""
    folder = tmp_path_factory.mktemp("compose")
    programs = [tuple(each["command"]) for each in services.values() if "flink:" in each["image"]]
    assert sorted(programs) == [("jobmanager",), ("taskmanager",), ("taskmanager",)]
    settings = [yaml.safe_load(each["environment"]["FLINK_PROPERTIES"])
                for each in services.values() if "flink:" in each["image"]]
    assert settings[0] == settings[1] == settings[2] and settings[0].pop(RPC) == "jobmanager"
    with (flink_cluster(kit("flink-cluster"), folder, 2, settings[0]) as cluster,
          python_workers(services["workers-1"]["command"], folder) as port):
        yield cluster, {"jobmanager:8081": cluster.master, POOL_PORT: port}


def test_each_task_manager_of_compose_has_a_pool(services: dict[str, Any]) -> None:
    beside = {name: each["network_mode"] for name, each in services.items()
              if each["image"] == "beam-reuse-workers"}
    assert beside == {f"workers-{n}": f"service:taskmanager-{n}" for n in (1, 2)}
    assert services["workers-1"]["command"] == services["workers-2"]["command"]


@FLINK
def test_compose_submits_when_all_have_registered(
    services: dict[str, Any], composed: tuple[FlinkCluster, dict[str, str]],
) -> None:
    kind, check = services["jobmanager"]["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    if shutil.which("wget") is None:
        pytest.skip("wget is not installed")
    for address, status in ((composed[0].master, 0), ("127.0.0.1:9", 1)):
        asked = check.replace("jobmanager:8081", address)
        assert subprocess.run(["sh", "-c", asked], check=False).returncode == status


@FLINK
def test_compose_runs_the_demo(
    services: dict[str, Any], composed: tuple[FlinkCluster, dict[str, str]], shared: Path,
) -> None:
    done = submitted(services["submit"]["command"], {**composed[1], "/shared": str(shared)}, [])
    assert done.returncode == 0, done.stderr
    assert "checks passed" in done.stdout


@FLINK
def test_compose_runs_what_the_readme_says(
    composed: tuple[FlinkCluster, dict[str, str]], shared: Path, crawl: list[str],
    local: dict[str, str], tmp_path: Path,
) -> None:
    (words,) = (words for words in commands_of_the_readme("docker compose") if "--config" in words)
    config = tmp_path / "flink.yaml"
    places = {**composed[1], "/shared": str(shared), "/etc/beam-reuse/flink.yaml": str(config)}
    (mounted,) = (each for each in read(COMPOSE)[0]["services"]["submit"]["volumes"]
                  if "/etc/beam-reuse/flink.yaml" in each)
    ours = Path(COMPOSE).parent / mounted.partition(":")[0]
    (lines,) = read(str(ours))
    config.write_text(yaml.safe_dump({key: here([value], places)[0] for key, value in
                                      lines.items()}))
    done = submitted(words[words.index("submit") + 1:], places, crawl)
    told_what_is_right(done, shared / "result", local)


@FLINK
def test_the_flink_operators_cluster(
    flink_job_server: Path, shared: Path, crawl: list[str], local: dict[str, str], tmp_path: Path,
) -> None:
    spec = found("kubernetes/flink.yaml", "FlinkDeployment")["spec"]
    pod = spec["taskManager"]["podTemplate"]["spec"]
    job = found("kubernetes/flink-run.yaml", "Job")["spec"]["template"]["spec"]
    settings = {
        **spec["flinkConfiguration"],
        "jobmanager.memory.process.size": spec["jobManager"]["resource"]["memory"],
        "taskmanager.memory.process.size": spec["taskManager"]["resource"]["memory"],
    }
    with (flink_cluster(kit("flink-cluster"), tmp_path / "flink", spec["taskManager"]["replicas"],
                        settings) as cluster,
          python_workers(container(pod, "workers")["command"], tmp_path) as port):
        done = submitted(container(job, "submit")["args"], {
            "beam-reuse-flink-rest:8081": cluster.master, POOL_PORT: port,
            "/shared": str(shared)}, crawl)
    told_what_is_right(done, shared / "result", local)


@dataclass(frozen=True)
class SparkApplication:
    """The application of spark.yaml with its places on this machine."""

    folder: Path
    job_server: Path
    spark: Path
    spec: Mapping[str, Any]
    places: Mapping[str, str]

    @contextmanager
    def driver(self, master: str, **settings: str) -> Iterator[Follower]:
        """The driver, as the operator has spark-submit start it, with other settings of where
        things are."""
        executor, own = self.spec["executor"], self.spec["driver"]
        conf = {**self.spec["sparkConf"], "spark.executor.cores": executor["cores"],
                "spark.executor.memory": executor["memory"],
                "spark.executor.instances": executor["instances"],
                "spark.driver.host": "127.0.0.1", **settings}
        words = here([
            str(self.spark / "bin" / "spark-submit"), "--master", master,
            "--class", self.spec["mainClass"], "--driver-memory", own["memory"],
            "--driver-java-options", own["javaOptions"],
            *(word for name, value in conf.items() for word in ("--conf", f"{name}={value}")),
            self.spec["mainApplicationFile"], *self.spec["arguments"]], self.places)
        with running(words, self.folder, "driver", SPARK_HOME=str(self.spark),
                     SPARK_LOCAL_IP="127.0.0.1") as server:
            wait_until(lambda: "JobService started" in server.words(), server)
            yield server


@pytest.fixture
def application(spark_job_server: Path, shared: Path, tmp_path: Path) -> SparkApplication:
    ports = found("kubernetes/spark.yaml", "Service")["spec"]["ports"]
    assert {each["name"]: each["port"] for each in ports} == {"jobs": 8099, "artifacts": 8098}
    jobs, artifacts = str(free_port()), str(free_port())
    (jar,) = (spark_job_server / "lib").glob("beam-runners-spark-3*.jar")
    return SparkApplication(
        tmp_path, spark_job_server, kit("spark-cluster"),
        found("kubernetes/spark.yaml", "SparkApplication")["spec"], {
            "local:///opt/beam-reuse/job-server.jar": str(jar),
            "/opt/beam-reuse/job-server/*": str(spark_job_server / "lib" / "*"),
            "beam-reuse-spark:8099": f"127.0.0.1:{jobs}", "8099": jobs,
            "beam-reuse-spark:8098": f"127.0.0.1:{artifacts}", "8098": artifacts,
            "/tmp/beam-artifacts": str(tmp_path / "artifacts"), "/shared": str(shared),
        })


@pytest.fixture
def spark_job() -> list[str]:
    """Arguments of the submitter's container."""
    pod = found("kubernetes/spark-run.yaml", "Job")["spec"]["template"]["spec"]
    return list(container(pod, "submit")["args"])


@pytest.mark.xdist_group("spark")
def test_the_spark_operators_application(
    application: SparkApplication, spark_job: list[str], shared: Path, crawl: list[str],
    local: dict[str, str], tmp_path: Path,
) -> None:
    """On a standalone cluster."""
    (sidecar,) = application.spec["executor"]["sidecars"]
    with (spark_cluster(application.spark, tmp_path, application.spec["executor"]["instances"]
                        ) as master,
          python_workers(sidecar["command"], tmp_path) as port,
          application.driver(master) as server):
        done = submitted(spark_job, {**application.places, POOL_PORT: port}, crawl)
        assert done.returncode == 0, done.stderr + server.words()[-3000:]
        assert "Connected to Spark cluster" in server.words()
    told_what_is_right(done, shared / "result", local)


@pytest.mark.xdist_group("spark")
def test_the_driver_asks_kubernetes_for_executors(
    application: SparkApplication, spark_job: list[str], crawl: list[str], tmp_path: Path,
) -> None:
    """Its libraries and Beam's get along. No executor runs here, so the run is given up."""
    (sidecar,) = application.spec["executor"]["sidecars"]
    instances = application.spec["executor"]["instances"]
    with (kubernetes_api() as (address, made), python_workers(sidecar["command"], tmp_path) as port,
          application.driver(f"k8s://http://{address}", **{
              "spark.kubernetes.container.image": application.spec["image"]}) as server):
        words = [*entry_point("submitter"), *spark_job]
        _, *arguments = here(words, {**application.places, POOL_PORT: port}, crawl)
        with running(command(*arguments), tmp_path, "submitted"):
            wait_until(lambda: len(made.get("pods", [])) == instances, server)
    assert not [line for line in server.words().splitlines() if "NoSuchMethod" in line
                or "NoClassDefFound" in line]
    for pod in made["pods"]:
        (executor,) = pod["spec"]["containers"]
        assert executor["image"] == application.spec["image"]
        variables = {each["name"]: each.get("value") for each in executor["env"]}
        assert variables["SPARK_CLASSPATH"] == str(application.job_server / "lib" / "*")
