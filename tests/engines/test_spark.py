"""Spark, inside the job server and as a cluster of a master and two workers: the same bytes as
the local run.

Part of `make test-engines`, not of `make test`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.conftest import kit
from tests.engines.pools import environment_of, pool, told_of_blind_workers
from tests.engines.running import ACCOUNTED, digests, run
from tests.engines.spark_cluster import spark_cluster

pytestmark = [pytest.mark.engines, pytest.mark.xdist_group("spark")]


def test_all_analyses_give_the_same_bytes_inside_the_job_server(
    spark_job_server: Path, crawl: list[str], local: dict[str, str], tmp_path: Path,
) -> None:
    done = run("run", *crawl, "-o", tmp_path / "spark", "--runner", "spark", "--workers", 2,
               seconds=1200)
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "spark") == local
    assert ACCOUNTED in done.stdout
    assert " tasks done" in done.stderr


@pytest.fixture(scope="module")
def master(
    spark_job_server: Path, tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    with spark_cluster(kit("spark-cluster"), tmp_path_factory.mktemp("spark")) as running:
        yield running


@pytest.mark.parametrize("kind", ["LOOPBACK", "EXTERNAL", "PROCESS"])
def test_all_analyses_give_the_same_bytes_on_a_cluster(
    master: str, crawl: list[str], local: dict[str, str], tmp_path: Path, kind: str,
) -> None:
    with pool(tmp_path) as workers:
        done = run("run", *crawl, "-o", tmp_path / "spark", "--runner", "spark",
                   "--spark_master_url", master, *environment_of(kind, workers), seconds=1200)
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "spark") == local
    assert " tasks done" in done.stderr


def test_workers_that_do_not_see_the_output_folder_are_told(
    master: str, crawl: list[str], tmp_path: Path,
) -> None:
    told_of_blind_workers(crawl, tmp_path, "--runner", "spark", "--spark_master_url", master)
