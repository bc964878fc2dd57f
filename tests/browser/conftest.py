"""The browser that tests share."""

from collections.abc import Iterator

import pytest

from tests.browser.chromium import Chromium, find_chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Chromium]:
    """Chromium; tests that need it are skipped, and say so, where it is not installed."""
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium: `make browser` installs it, or name one in CHROMIUM")
    with Chromium(path) as started:
        yield started
