"""The extension as it is built, and a browser that has it."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from extension.build import build
from tests.browser.chromium import find_chromium
from tests.browser.conftest import NONE
from tests.extension.browsing import Browsing
from tests.extension.server import Web, serving


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that Chromium loads."""
    folder = tmp_path_factory.mktemp("extension")
    build(folder)
    return folder / "chromium"


class Kept:
    """One browser for all tests, started again if a test has left it unusable."""

    def __init__(self, path: str, extension: Path, web: Web) -> None:
        self._how = path, extension, web
        self._now: Browsing | None = None

    def ready(self) -> Browsing:
        """The browser, whose extension has learnt nothing."""
        if self._now is not None:
            with suppress(RuntimeError, TimeoutError, OSError):
                return self._cleared(self._now)
            self.close()
        self._now = Browsing(*self._how).__enter__()
        self._now.look()
        return self._cleared(self._now)

    def close(self) -> None:
        if self._now is not None:
            self._now.__exit__(None, None, None)
        self._now = None

    def _cleared(self, browsing: Browsing) -> Browsing:
        browsing.go("about:blank")
        browsing.forget_all()
        return browsing


@pytest.fixture(scope="session")
def kept(built: Path) -> Iterator[Kept]:
    """Tests are skipped, and say so, where there is no browser."""
    path = find_chromium()
    if path is None:
        pytest.skip(NONE)
    with serving(built.parent) as web:
        browsers = Kept(path, built, web)
        yield browsers
        browsers.close()


@pytest.fixture
def browsing(kept: Kept) -> Browsing:
    return kept.ready()
