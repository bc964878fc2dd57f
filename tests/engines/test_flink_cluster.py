"""A Flink cluster of a JobManager and two TaskManagers: the same bytes as the local run.

Part of `make test-engines`, not of `make test`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from beam_reuse.core.errors import UserError
from beam_reuse.runners.processes import Follower
from beam_reuse.runners.python_workers import boot_command
from beam_reuse.runners.rest import free_port
from tests.engines.conftest import kit
from tests.engines.flink_cluster import FlinkCluster, flink_cluster
from tests.engines.running import digests, environment, run

pytestmark = [pytest.mark.engines, pytest.mark.xdist_group("flink")]
SETTINGS = {
    "env.java.opts.jobmanager": "-Xss16m", "taskmanager.network.sort-shuffle.min-buffers": 16,
}


@pytest.fixture(scope="module")
def cluster(
    flink_job_server: Path, tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[FlinkCluster]:
    folder = tmp_path_factory.mktemp("flink")
    with flink_cluster(kit("flink-cluster"), folder, settings=SETTINGS) as running:
        yield running


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a worker pool, as it runs on each machine of a cluster."""
    port = free_port()
    program = Follower(
        [sys.executable, "-m", "beam_reuse.boot", "--pool", str(port)],
        tmp_path_factory.mktemp("pool") / "log", **environment())
    yield f"localhost:{port}"
    program.stop()


@pytest.mark.parametrize("workers", ["LOOPBACK", "EXTERNAL", "PROCESS"])
def test_all_analyses_give_the_same_bytes(
    cluster: FlinkCluster, pool: str, crawl: list[str], local: dict[str, str], tmp_path: Path,
    workers: str,
) -> None:
    if workers == "PROCESS":
        require_boot_command()
    config = ["--environment_config", pool] if workers == "EXTERNAL" else []
    done = run("run", *crawl, "-o", tmp_path / "flink", "--runner", "flink", "--flink_master",
               cluster.master, "--environment_type", workers, *config, seconds=1200)
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "flink") == local
    assert "473  = pages + skipped + rejected" in done.stdout
    assert " tasks done" in done.stderr
    assert cluster.ask("overview")["slots-available"] == 2


def require_boot_command() -> None:
    """Skip a test whose workers Flink starts where the program for it is not installed."""
    try:
        boot_command()
    except UserError as missing:
        pytest.skip(str(missing))
