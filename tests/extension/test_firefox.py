"""The extension in Firefox, the same modules as in Chromium: learnt, reported, decided."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.extension.firefox import NONE, Firefox, find_firefox
from tests.extension.server import serving
from tests.extension.sites import COPIES, bank

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("extension")]
BAR = "document.querySelector('html > div[popover]')"
SECRET = "input[type=password]"


@pytest.fixture(scope="module")
def firefox(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """A browser that has learnt the bank; skipped, and says so, where there is none."""
    path = find_firefox()
    if path is None:
        pytest.skip(NONE)
    folder = tmp_path_factory.mktemp("firefox")
    extension = built.with_name("beam-reuse-firefox.zip")
    with serving(folder) as web, Firefox(path, extension, web, folder) as started:
        web.put("www.bank.example/login", bank())
        for name, copy in COPIES.items():
            web.put(f"evil.example/{name.replace(' ', '-')}", copy(bank()))
        web.put("other.example/", bank())
        started.go("http://www.bank.example/login")
        time.sleep(1)
        started.type_into(SECRET, "xy")
        time.sleep(1)
        yield started


@pytest.mark.parametrize("name", ["as is", "rewritten", "late", "in a closed shadow tree",
                                  "in a frame without an address", "in a sandbox", "in a blob"])
def test_copies_are_reported(firefox: Firefox, name: str) -> None:
    firefox.go(f"http://evil.example/{name.replace(' ', '-')}")
    firefox.until(f"{BAR}?.matches(':popover-open')")
    assert firefox.run(f"return [{BAR}.shadowRoot, getComputedStyle({BAR}).position]") == [
        None, "fixed"]


def test_fields_wait_and_a_person_decides(firefox: Firefox) -> None:
    firefox.go("http://other.example/")
    firefox.until(BAR)
    firefox.type_into(SECRET, "secret")
    assert firefox.run(f"return document.querySelector('{SECRET}').value") == ""
    time.sleep(1.1)
    firefox.click_at(80, 92)
    end = time.monotonic() + 20
    while firefox.address() != "about:blank":
        assert time.monotonic() < end, firefox.address()
        time.sleep(0.05)


def test_a_page_that_fights_the_bar_is_taken_away(firefox: Firefox) -> None:
    firefox.go("http://other.example/")
    firefox.until(BAR)
    firefox.run(f"setInterval(() => {BAR}?.remove(), 10)")
    end = time.monotonic() + 20
    while not firefox.address().startswith("moz-extension://"):
        assert time.monotonic() < end, firefox.address()
        time.sleep(0.05)
    assert "/pages/warning.html#" in firefox.address()
