"""Spark, inside the job server and as a cluster of a master and two workers: the same bytes as
the local run.

Part of `make test-engines`, not of `make test`.
"""

from pathlib import Path

import pytest

from tests.engines.conftest import kit
from tests.engines.running import digests, run
from tests.engines.spark_cluster import spark_cluster

pytestmark = [pytest.mark.engines, pytest.mark.xdist_group("spark")]


def test_all_analyses_give_the_same_bytes_inside_the_job_server(
    spark_job_server: Path, crawl: list[str], local: dict[str, str], tmp_path: Path,
) -> None:
    done = run("run", *crawl, "-o", tmp_path / "spark", "--runner", "spark", "--workers", 2,
               seconds=1200)
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "spark") == local
    assert "473  = pages + skipped + rejected" in done.stdout
    assert " tasks done" in done.stderr


def test_all_analyses_give_the_same_bytes_on_a_cluster(
    spark_job_server: Path, crawl: list[str], local: dict[str, str], tmp_path: Path,
) -> None:
    with spark_cluster(kit("spark-cluster"), tmp_path) as master:
        done = run("run", *crawl, "-o", tmp_path / "spark", "--runner", "spark",
                   "--spark_master_url", master, seconds=1200)
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "spark") == local
    assert " tasks done" in done.stderr
