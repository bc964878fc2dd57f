"""What is refused before anything is started on Flink, and how a worker learns what to do."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from beam_reuse.core.errors import UserError
from beam_reuse.declaring.settings import Settings
from beam_reuse.plan import RunPlan
from beam_reuse.runners import engine_for
from beam_reuse.runners.flink import Cluster, cancel_jobs, look_at, names_for, tasks_of
from beam_reuse.runners.flink_versions import job_server_for
from beam_reuse.runners.rest import free_port
from beam_reuse.workers.provisioned_worker import environment
from tests.runners.answering import Answering, answering


class Cancelling(Answering):
    """Cancels jobs, too."""

    def do_PATCH(self) -> None:
        [job] = [each for each in self.answers["/jobs/overview"]["jobs"]
                 if self.path == f"/jobs/{each['jid']}"]
        job["state"] = "CANCELED"
        self.answer(202, {})


@pytest.fixture
def cluster() -> Iterator[tuple[str, dict[str, Any]]]:
    """Something that answers as a Flink cluster does, and its answers, which may be changed."""
    answers: dict[str, Any] = {
        "/overview": {"flink-version": "1.19.3", "slots-total": 6, "taskmanagers": 2},
        "/jobs/overview": {"jobs": [
            {"jid": "1", "name": "other", "tasks": {"finished": 1, "total": 2}, "state": "RUNNING"},
            {"jid": "2", "name": "ours", "tasks": {"finished": 3, "total": 9}, "state": "RUNNING"},
            {"jid": "3", "name": "ours", "tasks": {"finished": 9, "total": 9}, "state": "FAILED"},
        ]},
        "/taskmanagers": {"taskmanagers": [{"slotsNumber": 2}, {"slotsNumber": 4}]},
    }

    with answering(answers, Cancelling) as service:
        yield service


def opened(*beam_args: str, kits: str = "/nowhere") -> None:
    plan = RunPlan("run", ("x",), "y", Settings(), "flink", 2, beam_args, engines=kits)
    with engine_for(plan, 0):
        pass


def test_a_cluster_tells_what_it_has(cluster) -> None:
    assert look_at(cluster[0]) == Cluster(cluster[0], "1.19.3", 6, 4)


def test_a_cluster_tells_of_a_jobs_tasks(cluster) -> None:
    assert tasks_of(cluster[0], "ours") == (3, 9)
    assert tasks_of(cluster[0], "nobody's") is None


def test_jobs_are_cancelled_by_name(cluster) -> None:
    cancel_jobs(cluster[0], "our")
    cancel_jobs("127.0.0.1:9", "our")  # nobody is there
    assert [job["state"] for job in cluster[1]["/jobs/overview"]["jobs"]] == [
        "RUNNING", "CANCELED", "FAILED"]


def test_jobs_are_named_by_the_folder_they_write_to(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert names_for("x") == names_for(str(tmp_path / "x")) != names_for("y")
    remote = names_for("gs://x/y")
    monkeypatch.setattr("socket.gethostname", lambda: "another")
    assert names_for("gs://x/y") == remote
    assert names_for("x") != names_for("gs://x/y")


def test_a_cluster_that_does_not_answer_is_told() -> None:
    with pytest.raises(UserError, match=r"--flink_master 127.0.0.1:9: no Flink cluster answers"):
        opened("--flink_master=127.0.0.1:9")


def test_a_server_that_is_no_flink_is_told(cluster) -> None:
    cluster[1]["/overview"] = {"name": "something else"}
    with pytest.raises(UserError, match="no Flink cluster answers there"):
        opened(f"--flink_master=http://{cluster[0]}/")


def test_a_cluster_of_an_unknown_version_is_refused(cluster) -> None:
    cluster[1]["/overview"]["flink-version"] = "1.17.2"
    with pytest.raises(UserError, match=r"runs Flink 1.17.2, .* job servers for 1.19, 1.20, 2.0, "):
        opened(f"--flink_master={cluster[0]}")


@pytest.mark.parametrize(("version", "kit"), [("1.20.5", "flink-1.20"), ("2.0.1", "flink-2.0"),
                                              ("2.2-SNAPSHOT", "flink-2.2")])
def test_each_version_has_its_job_server(cluster, tmp_path: Path, version: str, kit: str) -> None:
    cluster[1]["/overview"]["flink-version"] = version
    with pytest.raises(UserError, match=f"beam-reuse engines {kit} .* --flink_job_server_jar FILE"):
        opened(f"--flink_master={cluster[0]}", kits=str(tmp_path))


def test_a_jar_for_another_version_is_refused(cluster, tmp_path: Path) -> None:
    jar = tmp_path / "job-server.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr(".flink-runtime.version.properties", "# x\nproject.version=2.0.1\n")
    told = rf"{jar} is for Flink 2.0.1, and the cluster at {cluster[0]} runs 1.19.3. Name .* 1.19"
    with pytest.raises(UserError, match=told):
        opened(f"--flink_master={cluster[0]}", f"--flink_job_server_jar={jar}")


def test_a_jar_that_does_not_say_its_version_is_tried(tmp_path: Path) -> None:
    for jar in ("text.jar", "empty.jar"):
        (tmp_path / jar).write_text("no jar")
        assert job_server_for("x:1", "1.18.1", str(tmp_path / jar), "") == str(tmp_path / jar)
        with zipfile.ZipFile(tmp_path / "empty.jar", "w"):
            pass


def test_a_job_server_of_ones_own_is_taken_for_any_version(cluster) -> None:
    cluster[1]["/overview"]["flink-version"] = "1.17.2"
    opened(f"--flink_master={cluster[0]}", "--job_endpoint=127.0.0.1:9")


def test_a_cluster_without_slots_is_refused(cluster) -> None:
    cluster[1]["/overview"]["slots-total"] = 0
    with pytest.raises(UserError, match="has no slots"):
        opened(f"--flink_master={cluster[0]}")


def test_more_parallel_tasks_than_slots_are_refused(cluster) -> None:
    with pytest.raises(UserError, match=r"--parallelism 7: the cluster at .* has 6 slots"):
        opened(f"--flink_master={cluster[0]}", "--parallelism=7")


def test_an_unknown_kind_of_workers_is_refused() -> None:
    with pytest.raises(UserError, match=r"DOCKERR: there is no such kind .* LOOPBACK, PROCESS"):
        opened("--environment_type=DOCKERR")


def test_a_pool_that_is_not_there_is_told() -> None:
    port = free_port()
    with pytest.raises(UserError, match=f"localhost:{port}: no worker pool answers there"):
        opened("--environment_type=EXTERNAL", f"--environment_config=localhost:{port}")


def test_external_workers_need_an_address() -> None:
    with pytest.raises(UserError, match="localhost:PORT, after beam-reuse-worker --pool"):
        opened("--environment_type=EXTERNAL")


def test_loopback_workers_do_not_serve_a_cluster_elsewhere(monkeypatch) -> None:
    monkeypatch.setattr("beam_reuse.runners.flink.look_at",
                        lambda master: Cluster(master, "1.19.3", 2, 1))
    with pytest.raises(UserError, match="LOOPBACK: workers of this machine cannot serve"):
        opened("--flink_master=flink.example:8081", "--environment_type=LOOPBACK")


def test_paths_that_a_clusters_workers_would_not_find_are_refused(cluster) -> None:
    with pytest.raises(UserError, match=r"-o y: workers of a cluster do not start in this folder. "
                                        r"Give the whole path: /.*/y"):
        opened(f"--flink_master={cluster[0]}", "--environment_type=PROCESS")


def test_a_job_server_that_was_not_fetched_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Fetch it with: beam-reuse engines flink"):
        opened("--environment_type=PROCESS", """--environment_config={"command": "x"}""",
               kits=str(tmp_path))


def test_a_jar_that_is_not_there_is_told() -> None:
    with pytest.raises(UserError, match=r"--flink_job_server_jar /no/such.jar: there is no such"):
        opened("--environment_type=PROCESS", """--environment_config={"command": "x"}""",
               "--flink_job_server_jar=/no/such.jar")


def test_a_worker_is_told_addresses_and_options() -> None:
    from apache_beam.portability.api import endpoints_pb2
    from google.protobuf import struct_pb2

    options = struct_pb2.Struct()
    options.update({"beam:option:parallelism:v1": "2"})
    info = SimpleNamespace(
        pipeline_options=options, runner_capabilities=["a", "b"],
        control_endpoint=endpoints_pb2.ApiServiceDescriptor(url="c:1"),
        logging_endpoint=endpoints_pb2.ApiServiceDescriptor(url="l:2"))
    told = environment("7", info)
    assert told["WORKER_ID"] == "7" and told["RUNNER_CAPABILITIES"] == "a b"
    assert 'url: "c:1"' in told["CONTROL_API_SERVICE_DESCRIPTOR"]
    assert 'url: "l:2"' in told["LOGGING_API_SERVICE_DESCRIPTOR"]
    assert json.loads(told["PIPELINE_OPTIONS"]) == {"beam:option:parallelism:v1": "2"}
