"""The sample crawl on Flink embedded in the job server: the same bytes as the local run."""

from pathlib import Path

import pytest

from tests.engines.running import ACCOUNTED, digests, run


@pytest.mark.xdist_group("flink")
def test_all_analyses_give_the_same_bytes(
    flink_job_server: Path, crawl: list[str], local: dict[str, str], tmp_path: Path,
) -> None:
    done = run("run", *crawl, "-o", tmp_path / "flink", "--runner", "flink", "--workers", 2)
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "flink") == local
    assert ACCOUNTED in done.stdout
    assert "reading" in done.stderr or "writing" in done.stderr  # workers told how far they were
