"""What tests of Rows share: a folder for spilled blocks that outlives Hypothesis' examples."""

import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def folder() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as path:
        yield path
