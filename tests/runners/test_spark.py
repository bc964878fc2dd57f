"""What Spark reports while it runs, and where its cluster finds us."""

from collections.abc import Iterator
from typing import Any

import pytest

from beam_reuse.core.errors import UserError
from beam_reuse.declaring.settings import Settings
from beam_reuse.plan import RunPlan
from beam_reuse.runners import engine_for, require
from beam_reuse.runners.spark import address_for, explained, tasks_of, waits_for
from tests.runners.answering import answering


@pytest.fixture
def status() -> Iterator[tuple[str, dict[str, Any]]]:
    """Something that answers as the driver of a Spark application does, and its answers."""
    answers: dict[str, Any] = {
        "/api/v1/applications": [{"id": "app-1"}],
        "/api/v1/applications/app-1/jobs": [
            {"numTasks": 20, "numCompletedTasks": 3, "numSkippedTasks": 6, "numActiveTasks": 2},
            {"numTasks": 10, "numCompletedTasks": 10, "numSkippedTasks": 0, "numActiveTasks": 0},
        ],
    }

    with answering(answers) as service:
        yield service


def test_tasks_of_all_jobs_are_counted_and_what_is_skipped_is_done(status) -> None:
    assert tasks_of(status[0]) == (19, 30)


def test_what_a_run_waits_for_is_told_until_it_begins() -> None:
    words = "WARN TaskSchedulerImpl: Initial job has not accepted any resources; check your cluster"
    assert "no worker has a free core" in waits_for(words, (0, 6))
    assert "no worker has a free core" in waits_for(words, None)
    assert waits_for(words, (1, 6)) == waits_for("", (0, 6)) == ""


def test_no_application_has_no_tasks(status) -> None:
    status[1]["/api/v1/applications"] = []
    assert tasks_of(status[0]) is None


def test_a_cluster_of_this_machine_finds_us_at_home(status) -> None:
    assert address_for(status[0]) == "127.0.0.1"


def test_a_cluster_at_which_nobody_listens_is_told() -> None:
    with pytest.raises(UserError, match=r"spark://127.0.0.1:9: no Spark master answers there"):
        address_for("127.0.0.1:9")


def test_a_job_server_that_is_not_there_is_told() -> None:
    plan = RunPlan("run", ("x",), "/y", Settings(), "spark", 2, ("--job_endpoint=127.0.0.1:9",))
    told = r"--job_endpoint 127.0.0.1:9: no job server answers there .*usually port 8099"
    with pytest.raises(UserError, match=told), engine_for(plan, 0):
        pass


def test_workers_of_a_job_server_elsewhere_are_its_own() -> None:
    plan = RunPlan("run", ("x",), "/y", Settings(), "spark", 2, (
        "--job_endpoint=spark.example:8099", "--environment_type=LOOPBACK"))
    with pytest.raises(UserError, match=r"LOOPBACK: .* cannot serve the cluster at spark.example"):
        require(plan)


@pytest.mark.parametrize(("error", "told"), [
    ("Pipeline x failed in state FAILED: java.lang.OutOfMemoryError: Java heap space",
     "too little memory. Give more with JAVA_TOOL_OPTIONS=-Dspark.executor.memory=2g"),
    ("SparkException: Job aborted: Lost task 0.3: ExecutorLostFailure (executor 3 exited)",
     "executors died again and again"),
    ("SparkException: Job aborted due to stage failure: Master removed our application: KILLED",
     "executors could not be started"),
    ("SparkException: All masters are unresponsive! Giving up.", "its master died"),
])
def test_what_a_cluster_lacks_is_told(error: str, told: str) -> None:
    words = explained(RuntimeError(error), "spark://here:7077")
    assert words.startswith("--spark_master_url spark://here:7077: ") and told in words
    assert explained(RuntimeError("java.lang.IllegalStateException: else"), "local[2]") == "else"
