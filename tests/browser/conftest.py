"""The browser that tests share, and results that it looks at."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from beam_reuse.cli.main import main
from tests.browser.attacks import write_attacks
from tests.browser.chromium import Chromium, find_chromium
from tests.browser.visiting import Visitor
from tests.conftest import demo_copy
from tests.viewer.serving import viewing

NONE = "no Chromium: `make browser` installs it, or name one in CHROMIUM"


@pytest.fixture(scope="session")
def browser() -> Iterator[Chromium]:
    """Chromium; tests that need it are skipped, and say so, where it is not installed."""
    path = find_chromium()
    if path is None:
        pytest.skip(NONE)
    with Chromium(path) as started:
        yield started


def visiting(result: str) -> Iterator[tuple[Visitor, str]]:
    path = find_chromium()
    if path is None:
        pytest.skip(NONE)
    with viewing(result) as server, Visitor(path, server.guard.address) as visitor:
        visitor.look()
        visitor.go(server.guard.address)
        yield visitor, result


@pytest.fixture(scope="session")
def demo(
    demo_made: Path, tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Visitor, str]]:
    """The viewer of the demo."""
    yield from visiting(str(demo_copy(demo_made, tmp_path_factory.mktemp("viewer"))))


@pytest.fixture(scope="session")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Visitor, str]]:
    """The viewer of a crawl in which everything is an attack."""
    folder = tmp_path_factory.mktemp("attacked")
    write_attacks(folder / "crawl.jsonl")
    assert main(["run", str(folder / "crawl.jsonl"), "-o", str(folder / "result"), "--workers",
                 "1", "--chunk-threshold", "3"]) == 0
    yield from visiting(str(folder / "result"))
