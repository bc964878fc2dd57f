"""Parts of a run on a Flink cluster are killed at random moments: it ends with the same bytes, or
says why not and works the next time.

Part of `make test-engines`, not of `make test`. BEAM_REUSE_FAULTS is the number of kills, and
BEAM_REUSE_FAULTS_SEED the seed of their moments, which a test that fails has printed.
"""

import os
import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from random import Random

import pytest

from tests.disks import mounted, remount
from tests.engines.conftest import kit
from tests.engines.faults import Run, marked, strike
from tests.engines.flink_cluster import FlinkCluster, flink_cluster
from tests.engines.pools import environment_of
from tests.engines.running import digests
from tests.runners.test_processes import soon

pytestmark = [pytest.mark.engines, pytest.mark.xdist_group("flink")]
KILLS = [
    (victim, workers) for workers in ("PROCESS", "LOOPBACK")
    for victim in ("TaskManager", "worker", "job-server", "command")
]
ROUNDS = list(islice(cycle(KILLS), int(os.environ.get("BEAM_REUSE_FAULTS", "10"))))
SEED = int(os.environ.get("BEAM_REUSE_FAULTS_SEED") or time.time_ns() % 10**9)
RESTARTS = {
    "restart-strategy.type": "exponential-delay",
    "restart-strategy.exponential-delay.initial-backoff": "20 s",
    "restart-strategy.exponential-delay.attempts-before-reset-backoff": 3,
}
SECONDS_TO_CLEAR = 60
SECONDS_OF_A_FORK_SERVER = 120


@pytest.fixture(scope="module")
def cluster(
    flink_job_server: Path, tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[FlinkCluster]:
    folder = tmp_path_factory.mktemp("flink")
    with flink_cluster(kit("flink-cluster"), folder, settings={**RESTARTS}) as running:
        yield running
    assert soon(lambda: not marked(running.mark), SECONDS_OF_A_FORK_SERVER)


def arguments(
    cluster: FlinkCluster, crawl: list[str], out: Path, workers: str,
) -> list[object]:
    """All analyses. A result that was published before its command was killed is replaced."""
    return ["run", *crawl, "-o", out, "--overwrite", "--runner", "flink", "--flink_master",
            cluster.master, *environment_of(workers, "")]


@pytest.fixture(scope="module")
def seconds(
    cluster: FlinkCluster, crawl: list[str], local: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> float:
    """How long an undisturbed run takes."""
    folder = tmp_path_factory.mktemp("undisturbed")
    run = Run(folder / "run", arguments(cluster, crawl, folder / "out", "LOOPBACK"))
    started = time.monotonic()
    run.start()
    assert run.end() == 0, run.message
    assert digests(folder / "out") == local
    return time.monotonic() - started


@pytest.mark.parametrize(("number", "victim", "workers"), [
    pytest.param(number, *kill, id=f"{number}-{'-'.join(kill)}")
    for number, kill in enumerate(ROUNDS)
])
def test_a_run_of_which_something_is_killed(
    cluster: FlinkCluster, crawl: list[str], local: dict[str, str], tmp_path: Path,
    seconds: float, number: int, victim: str, workers: str,
) -> None:
    """It has the same bytes, or says why not; the same command again has them."""
    rng = Random(f"{SEED} {number}")
    moment = seconds * rng.random()
    out = tmp_path / "out"
    asked = arguments(cluster, crawl, out, workers)
    runs: list[Run] = []

    def start() -> Run:
        runs.append(Run(tmp_path / f"run-{len(runs)}", asked))
        runs[-1].start()
        return runs[-1]

    print(f"BEAM_REUSE_FAULTS_SEED={SEED}: {victim} is killed after {moment:.1f} s")
    while not strike(victim, run := start(), cluster, moment, rng):
        assert run.end() == 0, run.message  # it was faster than the undisturbed one
        shutil.rmtree(out)
        moment /= 2
    status = run.end()
    print(f"exit status {status}: {run.message}")
    if victim == "command":
        assert status == -signal.SIGKILL
    elif status:
        assert_told(run, out)
    if status:
        again = start()
        assert again.end() == 0, again.message
    assert digests(out) == local
    assert not list(out.glob(".*"))
    assert_nothing_is_left(cluster, runs)


@pytest.mark.parametrize("workers", ["LOOPBACK", "PROCESS"])
def test_a_full_disk_is_told(
    cluster: FlinkCluster, crawl: list[str], local: dict[str, str], tmp_path: Path, workers: str,
) -> None:
    """After all restarts; the same command again, with room, has the same bytes."""
    with mounted(tmp_path / "disk", "size=256k") as disk:
        asked = arguments(cluster, crawl, disk / "out", workers)
        runs = [Run(tmp_path / name, asked) for name in ("full", "with-room")]
        runs[0].start()
        assert runs[0].end() == 1
        assert_told(runs[0], disk / "out")
        assert f"no room is left on the disk of {disk / 'out'}" in runs[0].message[0]
        remount(disk, "size=64m")
        runs[1].start()
        assert runs[1].end() == 0, runs[1].message
        assert digests(disk / "out") == local
        assert_nothing_is_left(cluster, runs)


def test_a_read_only_disk_is_told(
    cluster: FlinkCluster, crawl: list[str], tmp_path: Path,
) -> None:
    with mounted(tmp_path / "disk", "ro") as disk:
        run = Run(tmp_path / "run", arguments(cluster, crawl, disk / "out", "LOOPBACK"))
        run.start()
        assert run.end() == 2
        assert run.message == [
            f"beam-reuse: -o {disk / 'out'}: the disk of {disk} is read-only. Choose another "
            "place, or have it mounted for writing."]
        assert_nothing_is_left(cluster, [run])


def assert_told(run: Run, out: Path) -> None:
    """The run failed, in a line or two, and left nothing."""
    assert run.process.returncode == 1
    assert 1 <= len(run.message) <= 2, run.message
    assert run.message[0].startswith("beam-reuse: ")
    assert "Traceback" not in "".join(run.message)
    assert not out.exists() or not os.listdir(out)


def assert_nothing_is_left(cluster: FlinkCluster, runs: Sequence[Run]) -> None:
    """All slots are free, and what the runs have started has ended. Not so what Flink has started:
    a TaskManager may keep workers of a job that failed while others started (Beam 2.62), and ends
    them with itself, as the fixture `cluster` sees."""
    def is_free() -> bool:
        told = cluster.ask("overview")
        return (told["slots-available"], told["slots-total"], told["jobs-running"]) == (2, 2, 0)

    assert soon(is_free, SECONDS_TO_CLEAR), cluster.ask("overview")
    assert soon(lambda: not [pid for run in runs for pid in marked(run.mark)], SECONDS_TO_CLEAR)
