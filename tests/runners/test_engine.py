"""A run on an engine: reported, given up, explained."""

import tempfile
import threading
from types import SimpleNamespace

import pytest

from beam_reuse.core.errors import UserError
from beam_reuse.declaring.settings import Settings
from beam_reuse.plan import RunPlan
from beam_reuse.runners import engine, engine_for
from beam_reuse.runners.engine import Engine, WorkerDiedError, worker_trouble
from beam_reuse.runners.flink import Cluster, explained
from beam_reuse.runners.portable import words_of
from tests.engines.flink_cluster import free_port


class Progress:
    """Records what is reported of tasks."""

    def __init__(self) -> None:
        self.told: list[tuple[int, int]] = []
        self.stages: list[str] = []
        self.was_told = threading.Event()

    def expect(self, total_bytes: int) -> None: ...

    def stage(self, name: str) -> None:
        self.stages.append(name)

    def tasks(self, done: int, total: int) -> None:
        self.told.append((done, total))
        self.was_told.set()


class Result:
    """What a pipeline's `run` gives: it waits for `wait`, and records that it was cancelled."""

    def __init__(self, wait) -> None:
        self.wait_until_finish = wait
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


def pipeline(result: Result) -> SimpleNamespace:
    return SimpleNamespace(run=lambda: result, local_tempdir=tempfile.gettempdir())


def test_progress_is_told_of_tasks_while_a_run_goes_on(monkeypatch) -> None:
    monkeypatch.setattr(engine, "SECONDS_BETWEEN_LOOKS", 0.01)
    progress = Progress()
    result = Result(lambda: progress.was_told.wait(10))
    Engine(pipeline(result), tasks=lambda: (3, 7), waits=lambda: "waiting").run(progress)
    assert progress.told[0] == (3, 7) and set(progress.stages) <= {"waiting"}
    assert not result.is_cancelled


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError("failed")])
def test_a_run_that_is_given_up_is_cancelled_elsewhere(error) -> None:
    def wait() -> None:
        raise error

    result = Result(wait)
    with pytest.raises((KeyboardInterrupt, RuntimeError)):
        Engine(pipeline(result), is_remote=True).run(Progress())
    assert result.is_cancelled


def test_what_is_known_better_is_told_instead_of_the_error() -> None:
    def wait() -> None:
        raise RuntimeError("something with a stream")

    with pytest.raises(WorkerDiedError, match=r"a worker died; no result was written"):
        Engine(pipeline(Result(wait)), lambda _: worker_trouble(["a worker died"])).run(Progress())


def test_names_of_java_classes_are_left_out() -> None:
    assert words_of(RuntimeError(
        "Pipeline a-b_1 failed in state FAILED: java.io.IOException: org.x.FooException: no disk: x"
    )) == "no disk: x"
    told = "Error received: Traceback (most recent call last):\nbeam_reuse.a.StoreError: gone"
    assert words_of(RuntimeError(told)) == told


@pytest.mark.parametrize(("error", "remedy"), [
    ("Pipeline x failed in state FAILED: java.lang.StackOverflowError", "-Xss16m"),
    ("java.io.IOException: Insufficient number of network buffers: required 512",
     "sort-shuffle.min-buffers: 16"),
    ("java.io.IOException: Cannot write record to fresh sort buffer. Record too large.",
     "taskmanager.memory.managed.size"),
    ("java.lang.RuntimeException: Too little memory provided to sorter to perform task.",
     "taskmanager.memory.managed.size"),
    ("java.lang.OutOfMemoryError: Cannot reserve 65536 bytes of direct buffer memory",
     "framework.off-heap.size"),
    ("java.lang.OutOfMemoryError: Java heap space", "taskmanager.memory.process.size"),
    ("StatusRuntimeException: CANCELLED: call already cancelled. Use ServerCallStreamObserver",
     "Python workers died, perhaps for lack of memory"),
    ("IllegalStateException: TaskExecutorLocalStateStoresManager is already closed and cannot",
     "TaskManagers died"),
    ("NativeIoException: recvAddress(..) failed: Connection reset by peer", "TaskManagers died"),
])
def test_what_a_cluster_lacks_is_told(error: str, remedy: str) -> None:
    told = explained(RuntimeError(error), Cluster("flink:8081", "1.19.3", 2, 1))
    assert told.startswith("--flink_master flink:8081: ") and remedy in told
    assert explained(RuntimeError("else"), None) == "else"


def test_a_cluster_that_is_gone_is_told() -> None:
    gone = Cluster(f"127.0.0.1:{free_port()}", "1.19.3", 2, 1)
    told = explained(RuntimeError("java.net.ConnectException: Connection refused"), gone)
    assert told.startswith(f"--flink_master {gone.master}: its JobManager died, or cannot be")


@pytest.mark.parametrize(("runner", "arguments", "told"), [
    ("spark", ["--spark_master_url=spark://127.0.0.1:9"], "no Spark master answers there"),
    ("spark", ["--spark_master_url=spark://nonsense"], "no Spark master answers there"),
    ("spark", ["--spark_job_server_jar=/no/such.jar"], "there is no such file"),
    ("spark", [], "Fetch it with: beam-reuse engines spark .*--spark_job_server_jar FILE"),
    ("prism", [], r"Prism .* not found .*: beam-reuse engines prism .*--prism_location FILE"),
    ("prism", ["--prism_location=/no/such"], "there is no such file.* beam-reuse engines prism"),
    ("prism", [f"--prism_location={__file__}"], r"no program that may be run.*chmod \+x"),
])
def test_what_is_missing_is_told_before_anything_starts(
    tmp_path, runner: str, arguments: list[str], told: str,
) -> None:
    plan = RunPlan("run", ("x",), "y", Settings(), runner, 2, tuple(arguments),
                   engines=str(tmp_path))
    with pytest.raises(UserError, match=told), engine_for(plan, 0):
        pass
