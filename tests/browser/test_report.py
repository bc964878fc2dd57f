"""report.html in Chromium, opened as a file is: light and dark, on a phone, on paper, by keys."""

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from beam_reuse.cli.main import main
from beam_reuse.report.page import REPORT
from tests.browser.accessibility import axe_script, barriers
from tests.browser.attacks import write_attacks
from tests.browser.chromium import Chromium, Message, find_chromium
from tests.browser.conftest import NONE
from tests.browser.visiting import Visitor, nothing_happened
from tests.experiments import sites

pytestmark = pytest.mark.browser
ADDRESS = "http://report.example/"
LOOKS = [(1280, False), (1280, True), (390, False), (390, True)]


class Reader(Visitor):
    """A browser in which nothing but one report can be had."""

    def open(self, result: Path) -> None:
        self.load((result / REPORT).read_text(), scripts=True, url=ADDRESS)

    def _serve(self, asked: Message) -> None:
        if asked["request"]["url"] == ADDRESS:
            Chromium._serve(self, asked)
        else:
            super()._serve(asked)


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    path = find_chromium()
    if path is None:
        pytest.skip(NONE)
    with Reader(path, "http://nowhere.example/") as started:
        yield started


@pytest.fixture(scope="module")
def results(demo_made: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The demo, a hostile crawl, an empty one, and an experiment."""
    folder = tmp_path_factory.mktemp("reports")
    (folder / "none.jsonl").write_text("")
    write_attacks(folder / "hostile.jsonl")
    site = sites.write(folder, "site", sites.pages(1, "site.example"))
    assert main(["run", str(folder / "hostile.jsonl"), "-o", str(folder / "hostile"), "--workers",
                 "1", "--chunk-threshold", "3"]) == 0
    assert main(["run", str(folder / "none.jsonl"), "-o", str(folder / "none"), "--workers", "1",
                 "--max-rejects", "1"]) == 0
    assert main(["experiment", "mutate", site, "--multiples", "0,1,4", "-o",
                 str(folder / "experiment")]) == 0
    return [demo_made / "result", *(folder / name for name in (
        "hostile", "none", "experiment"))]


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_nobody_is_shut_out(
    width: int, dark: bool, reader: Reader, results: list[Path],
) -> None:
    script = axe_script()
    reader.look(width, 800, dark)
    for result in results:
        reader.open(result)
        nothing_happened(reader)
        reader.run("document.querySelectorAll('details').forEach(each => { each.open = true })")
        assert not barriers(reader, script), result
        assert reader.run("document.documentElement.scrollWidth <= innerWidth"), result


def test_axe_finds_what_is_wrong(reader: Reader) -> None:
    reader.load("<html><title>t</title><button></button><img src=x>", scripts=True, url=ADDRESS)
    assert {"button-name", "image-alt"} <= {
        found["id"] for found in barriers(reader, axe_script())}
    reader.requests.clear()
    reader.complaints.clear()


def test_keys_reach_everything(reader: Reader, results: list[Path]) -> None:
    """Tab goes to each command, figure and table; the one with focus is seen."""
    reader.look()
    reader.open(results[0])
    wanted = reader.run("document.querySelectorAll('button, summary').length")
    assert wanted > 15
    reached = set()
    for _ in range(3 * wanted):
        reader.key("Tab", 9)
        at = reader.run("[...document.querySelectorAll('button, summary, .scroll')].indexOf("
                        "document.activeElement)")
        if at < 0 or at in reached:
            break
        reached.add(at)
        assert reader.run("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert len(reached) >= wanted
    reader.run("document.querySelector('button.copy').focus()")
    reader.key("Enter", 13, "\r")
    reader.until("['Copied', 'Selected'].includes(document.activeElement.textContent)")
    reader.run("document.querySelector('figure summary').focus()")
    reader.key("Enter", 13, "\r")
    assert reader.run("document.querySelector('figure details').open")


def test_it_prints(reader: Reader, results: list[Path]) -> None:
    """Black on white whatever the screen is like, without buttons, nothing cut off."""
    reader.look(dark=True)
    reader.open(results[0])
    reader._ask("Emulation.setEmulatedMedia", media="print", features=[
        {"name": "prefers-color-scheme", "value": "dark"}])
    assert reader.run("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert reader.run("[...document.querySelectorAll('button')].every(b => !b.offsetParent)")
    assert reader.run("[...document.querySelectorAll('.scroll')].every("
                      "e => getComputedStyle(e).overflowY === 'visible')")
    pdf = base64.b64decode(reader._ask("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)[
        "data"])
    assert pdf.startswith(b"%PDF") and 3 <= pdf.count(b"/Type /Page\n") <= 7
    reader._ask("Emulation.setEmulatedMedia", media="")
