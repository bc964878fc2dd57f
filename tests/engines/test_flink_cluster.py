"""Flink clusters of a JobManager and two TaskManagers: the same bytes as the local run.

Part of `make test-engines`, not of `make test`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from beam_reuse.runners.kits import flink_kit
from tests.engines.conftest import kit
from tests.engines.flink_cluster import FlinkCluster, flink_cluster
from tests.engines.pools import environment_of, pool, told_of_blind_workers
from tests.engines.running import ACCOUNTED, digests, run

pytestmark = [pytest.mark.engines, pytest.mark.xdist_group("flink")]


@pytest.fixture(scope="module", params=["1.19", "1.20"])
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[FlinkCluster]:
    """Of each version for which there is a job server, with the settings that Flink is shipped
    with."""
    job_server = flink_kit(request.param)
    kit(job_server)
    with flink_cluster(kit(f"{job_server}-cluster"), tmp_path_factory.mktemp("flink")) as running:
        assert running.ask("overview")["flink-version"].startswith(request.param)
        yield running


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a worker pool."""
    with pool(tmp_path_factory.mktemp("pool")) as address:
        yield address


@pytest.mark.parametrize("kind", ["LOOPBACK", "EXTERNAL", "PROCESS"])
def test_all_analyses_give_the_same_bytes(
    cluster: FlinkCluster, workers: str, crawl: list[str], local: dict[str, str], tmp_path: Path,
    kind: str,
) -> None:
    done = run("run", *crawl, "-o", tmp_path / "flink", "--runner", "flink", "--flink_master",
               cluster.master, *environment_of(kind, workers), seconds=1200)
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "flink") == local
    assert ACCOUNTED in done.stdout
    assert " tasks done" in done.stderr
    assert cluster.ask("overview")["slots-available"] == 2


def test_workers_that_do_not_see_the_output_folder_are_told(
    cluster: FlinkCluster, crawl: list[str], tmp_path: Path,
) -> None:
    told_of_blind_workers(crawl, tmp_path, "--runner", "flink", "--flink_master", cluster.master)
