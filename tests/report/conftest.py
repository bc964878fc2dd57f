"""A result that all tests of reports look at."""

from pathlib import Path

import pytest

from beam_reuse.cli.main import main
from beam_reuse.demo.sample import sample_crawl
from beam_reuse.demo.writing import write_crawl


@pytest.fixture(scope="session")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    crawl = write_crawl(sample_crawl(), str(folder / "crawl"))
    assert main(["run", *crawl, "-o", str(folder / "result"), "--workers", "1",
                 "--min-sources", "4,2", "--min-patch-fraction", "0.5,0.2"]) == 0
    return folder / "result"
