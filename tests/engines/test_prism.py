"""Prism: the same bytes as the local run.

Part of `make test-engines`, not of `make test`.
"""

from pathlib import Path

import pytest

from tests.engines.conftest import kit
from tests.engines.running import ACCOUNTED, digests, run

pytestmark = [pytest.mark.engines, pytest.mark.xdist_group("prism")]


def test_all_analyses_give_the_same_bytes(
    crawl: list[str], local: dict[str, str], tmp_path: Path,
) -> None:
    kit("prism")
    done = run("run", *crawl, "-o", tmp_path / "prism", "--runner", "prism")
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "prism") == local
    assert ACCOUNTED in done.stdout
    assert "reading" in done.stderr or "writing" in done.stderr  # workers reported
