"""The sample crawl, what the local runner makes of it, and the engines that are there."""

from pathlib import Path

import pytest

from beam_reuse.core.errors import UserError
from beam_reuse.demo.sample import sample_crawl
from beam_reuse.demo.writing import write_crawl
from beam_reuse.runners.fetching import find, kits_folder
from beam_reuse.runners.kits import KITS
from beam_reuse.runners.processes import java_version
from tests.engines.running import digests, run


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Files of the sample crawl."""
    return write_crawl(sample_crawl(), str(tmp_path_factory.mktemp("sample") / "crawl"))


@pytest.fixture(scope="session")
def local(crawl: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Digests of the local run of the sample crawl, the same with one worker and with two."""
    folder = tmp_path_factory.mktemp("local")
    found = []
    for workers in (1, 2):
        result = folder / str(workers)
        done = run("run", *crawl, "-o", result, "--workers", workers)
        assert done.returncode == 0, done.stderr
        found.append(digests(result))
    assert found[0] == found[1]
    return found[0]


def kit(name: str) -> Path:
    """The folder of a kit; the test is skipped, and says what to fetch, if it is not there."""
    try:
        if KITS[name].needs_java:
            java_version()
        return find(KITS[name], kits_folder())
    except UserError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def flink_job_server() -> Path:
    return kit("flink")


@pytest.fixture(scope="session")
def spark_job_server() -> Path:
    return kit("spark")
