"""Every way to be broken gives exactly the outcomes declared beside it."""

from pathlib import Path

import pytest

from tests.broken.files import BROKEN, Broken
from tests.crawl.reading import read_cut, read_whole, shape


@pytest.mark.parametrize("file", BROKEN, ids=lambda file: file.name)
def test_declared_outcomes(file: Broken, tmp_path: Path) -> None:
    path = tmp_path / file.name
    path.write_bytes(file.content())
    outcomes = read_whole(path)
    assert shape(outcomes) == file.outcomes
    offsets = [outcome.offset for outcome in outcomes]
    assert offsets == sorted(set(offsets))
    for size in (97, 1000):
        if path.stat().st_size < 100 * size:
            assert read_cut(path, size) == outcomes
