"""Judging in Chromium, with keys, to the end; and what the commands make of it."""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from beam_reuse.cli.main import main
from beam_reuse.io.results import tables
from tests.browser.chromium import find_chromium
from tests.browser.visiting import Visitor
from tests.conftest import demo_copy
from tests.viewer.serving import viewing

pytestmark = pytest.mark.browser
ASKED = "new URLSearchParams(location.hash.split('?')[1])"
ROW = f"{ASKED}.get('row')"


class Judge:
    """A browser at a viewer, and the folders of its result and its sheets."""

    def __init__(self, visitor: Visitor, folder: Path) -> None:
        self.visitor, self.folder = visitor, folder
        self.result, self.sheets = str(folder / "result"), folder / "result.judgements"

    def draw(self, table: str, rows: int, **more: str) -> str:
        """Draw a sheet on its screen; gives its name."""
        self.visitor.go(f"#/judge?of={table}")
        for name, value in {"rows": str(rows), **more}.items():
            self.visitor.run(f"document.querySelector('form [name={name}]').value = "
                             f"{json.dumps(value)}")
        self.visitor.click("form.filters button")
        self.visitor.until("location.hash.startsWith('#/judging?') && "
                           "document.querySelector('.judge-bar')")
        return str(self.visitor.run(f"{ASKED}.get('sheet')"))

    def rows(self, sheet: str) -> list[dict[str, str]]:
        with (self.sheets / sheet).open(newline="") as source:
            return list(csv.DictReader(source))

    def press(self, key: str) -> None:
        """Press a key that leads to another row, and wait for it."""
        self._leave_row()
        self.visitor.press(key)
        self._await_row()

    def press_at_once(self, keys: str) -> None:
        """Press keys so fast that no row comes between them, and wait for the one that does."""
        self._leave_row()
        self.visitor.run(f"for (const key of {json.dumps(keys)}) document.body.dispatchEvent("
                         "new KeyboardEvent('keydown', {key, bubbles: true}))")
        self._await_row()

    def _leave_row(self) -> None:
        self.visitor.run("document.querySelector('.judge-bar')?.setAttribute('data-old', '')")

    def _await_row(self) -> None:
        self.visitor.until("document.querySelector('.judge-bar:not([data-old]), .done') && "
                           "!document.getElementById('screen').hasAttribute('aria-busy')")

    def nothing_happened(self) -> None:
        assert not self.visitor.requests and not self.visitor.complaints


def chromium() -> str:
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium: `make browser` installs it, or name one in CHROMIUM")
    return path


@pytest.fixture(scope="module")
def judge(demo_made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    path = chromium()
    folder = tmp_path_factory.mktemp("judging")
    demo_copy(demo_made, folder)
    with viewing(str(folder / "result")) as server, Visitor(path, server.guard.address) as visitor:
        visitor.look()
        visitor.go(server.guard.address)
        yield Judge(visitor, folder)


def test_pairs_to_the_end_and_into_evaluate(
    judge: Judge, capsys: pytest.CaptureFixture[str],
) -> None:
    visitor, sheet = judge.visitor, judge.draw("near_duplicates", 5)
    for at, key in enumerate("jfjdj"):
        row = judge.rows(sheet)[at]
        assert row["url_a"] in visitor.text() and row["url_b"] in visitor.text()
        assert visitor.run("!!document.querySelector('.item ins, .item del, .item .sides, "
                           ".item table')")
        judge.press(key)
        assert judge.rows(sheet)[at]["label"]  # on the disk before the next one shows
    assert "All 5 rows are judged" in visitor.text()
    labels = ["correct", "incorrect", "correct", "undecided", "correct"]
    assert [row["label"] for row in judge.rows(sheet)] == labels
    assert all(row["who"] and row["when"] for row in judge.rows(sheet))
    visitor.click(".done a")
    visitor.until("document.querySelector('[data-table=\"judged-precision\"]')")
    shown = visitor.text()
    assert main(["evaluate", judge.result, "--judged", str(judge.sheets / sheet), "-o",
                 str(judge.folder / "figures")]) == 0
    capsys.readouterr()
    with (judge.folder / "figures" / "judged-precision.csv").open(newline="") as source:
        first = next(csv.DictReader(source))
    assert first["correct"] == "3"
    for name in ("table_precision", "table_low", "table_high"):
        assert f"{100 * float(first[name]):.1f}\u00a0%" in shown
    assert f"beam-reuse evaluate {judge.result} --pairs" in shown
    judge.nothing_happened()


def test_undo_note_states_and_reload(judge: Judge) -> None:
    visitor, sheet = judge.visitor, judge.draw("frequent_chunks", 6)
    judge.press("f")
    judge.press("j")
    assert visitor.run(ROW) == "4"
    judge.press("u")
    assert visitor.run(ROW) == "3" and judge.rows(sheet)[1]["label"] == ""
    visitor.press("e")
    assert visitor.run("document.activeElement.id") == "note"
    for letter in "=juf?":  # keys are letters while one writes
        visitor.press(letter)
    visitor.run("document.getElementById('note').value += '\\n<b>2'")
    judge.press("Escape")
    visitor.until("document.getElementById('note')?.value === '=juf?\\n<b>2'")
    assert judge.rows(sheet)[1]["reason"] == "'=juf?\n<b>2" and judge.rows(sheet)[1]["label"] == ""
    judge.press("f")
    assert judge.rows(sheet)[1]["label"] == "benign"
    judge.press("1")  # the same note again
    assert judge.rows(sheet)[2]["reason"] == "'=juf?\n<b>2"
    before = visitor.run(ROW)
    visitor.run("window.before = true; location.reload()")
    visitor.until("!window.before && document.querySelector('.judge-bar')")
    assert visitor.run(ROW) == before
    judge.press("u")  # of what was done before it was reloaded
    assert judge.rows(sheet)[2]["reason"] == ""
    visitor.click(".states a[href*='state=benign']")
    visitor.until("document.querySelector('[aria-pressed=true]')?.innerText.includes('benign')")
    assert "benign (2)" in visitor.text(".states") and visitor.run(ROW) == "2"
    judge.press(".")
    assert visitor.run(ROW) == "3"
    judge.press(",")
    assert visitor.run(ROW) == "2"
    judge.press("x")
    assert judge.rows(sheet)[0]["label"] == ""
    assert "1 of 6 rows judged, 5 left" in visitor.text(".progress")
    visitor.press("?")
    assert visitor.run("document.getElementById('help').open")
    assert "undo the last judgement" in visitor.text("#help")
    visitor.run("document.getElementById('help').close()")
    judge.nothing_happened()


def test_keys_mean_the_row_that_comes(judge: Judge) -> None:
    visitor, sheet = judge.visitor, judge.draw("near_duplicates", 4)
    judge.press("f")
    for keys, row, label in (("uj", "2", ""), ("jf", "3", "correct"), (".f", "4", "correct"),
                             (",d", "3", "correct"), (".x", "4", "correct")):
        judge.press_at_once(keys)
        assert visitor.run(ROW) == row, keys
        assert [each["label"] for each in judge.rows(sheet)] == [label, "", "", ""], keys
    judge.press_at_once(",e")
    visitor.until("document.activeElement.id === 'note'")
    assert visitor.run(ROW) == "3"
    judge.nothing_happened()


def test_precision_says_when_it_is_older_than_the_counts(judge: Judge) -> None:
    visitor = judge.visitor
    judge.draw("near_duplicates", 5)
    visitor.run("""window.seen = []; new MutationObserver(() => {
        const text = document.querySelector('.progress')?.innerText;
        if (text) seen.push(text); }).observe(document.body, {childList: true, subtree: true})""")
    for key in "jfj":
        judge.press(key)
    visitor.until("document.querySelector('.live').innerText.endsWith('from 3 judged')")
    seen = visitor.run("seen")
    counts = [re.findall(r"\d+(?= of 5 rows)|(?<=from )\d+(?= judged)", text) for text in seen]
    assert ["3", "3"] in counts
    assert all(len({*both}) == 1 or "counting" in text
               for both, text in zip(counts, seen, strict=True)), seen
    judge.nothing_happened()


def test_who_was_slower_is_told_so(judge: Judge) -> None:
    visitor, sheet = judge.visitor, judge.draw("quilts", 2)
    path = judge.sheets / sheet
    rows = judge.rows(sheet)
    rows[0] |= {"label": "correct", "reason": "from elsewhere"}
    with path.open("w", newline="") as target:
        writer = csv.DictWriter(target, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    visitor.run("document.getElementById('note').value = 'mine'")
    judge.press("f")
    assert visitor.run("document.getElementById('note').value") == "from elsewhere"
    assert "judged elsewhere" in visitor.text(".stored .error")
    assert "Your note was: mine" in visitor.text(".stored .error")
    assert judge.rows(sheet)[0]["label"] == "correct"
    judge.press("f")  # again, as the row is now
    assert judge.rows(sheet)[0]["label"] == "incorrect" and visitor.run(ROW) == "3"
    assert not visitor.text(".stored .error")
    # A refused POST is an error of the network to the console; it is the only one.
    said = [each for each in visitor.complaints if "409" not in json.dumps(each)]
    assert not said and not visitor.requests
    visitor.complaints.clear()


def test_every_table_has_a_screen_to_judge_on(judge: Judge) -> None:
    visitor = judge.visitor
    listed = json.loads(Path(judge.result, "manifest.json").read_text())["tables"]
    for table in sorted(listed):
        if not tables.read(judge.result, table).num_rows:
            continue
        sheet = judge.draw(table, 2)
        assert not visitor.run("!!document.querySelector('.error')"), table
        assert "undefined" not in visitor.text() and "[object" not in visitor.text(), table
        judge.press("j")
        assert judge.rows(sheet)[0]["label"] in ("correct", "copied"), table
        visitor.until("!document.querySelector('.judge-bar') || "
                      "/right|judged yet/.test(document.querySelector('.live').innerText)")
    visitor.go("#/table?name=quilts&f=sources.min.1")
    visitor.run("[...document.querySelectorAll('.pages a')].at(-1).click()")
    visitor.until("document.querySelector('form [name=where]')")
    assert visitor.run("document.querySelector('form [name=where]').value") == "sources >= 1"
    judge.nothing_happened()


def test_benign_chunks_become_stop_chunks_of_a_run(
    judge: Judge, capsys: pytest.CaptureFixture[str],
) -> None:
    visitor = judge.visitor
    for name in os.listdir(judge.sheets):
        (judge.sheets / name).unlink()
    sheet = judge.draw("frequent_chunks", 4)
    for key in "ffjf":
        judge.press(key)
    visitor.go("#/judge")
    visitor.run("[...document.querySelectorAll('button')].find("
                "b => b.innerText === 'Make a stop list').click()")
    visitor.until("document.querySelector('pre.command')")
    assert "3 chunks and 0 files" in visitor.text()
    words = shlex.split(visitor.text("pre.command"))
    assert words[:3] == ["cd", os.getcwd(), "&&"]
    del words[:3]
    judge.nothing_happened()
    capsys.readouterr()
    assert main([*words[1:], "--workers", "1", "--analyses", "discovery,detection"]) == 0
    benign = {row["sha1"] for row in judge.rows(sheet) if row["label"] == "benign"}
    assert len(benign) == 3
    again = words[words.index("-o") + 1]
    assert benign.isdisjoint(tables.read(again, "matched_chunks")["sha1"].to_pylist())
    assert not benign.isdisjoint(tables.read(judge.result, "matched_chunks")["sha1"].to_pylist())


def test_no_screen_of_judging_is_wider_than_a_phone(judge: Judge) -> None:
    visitor = judge.visitor
    visitor.look(390, 800, dark=True)
    for table in ("near_duplicates", "frequent_chunks", "quilts", "page_reuse", "server_overlap"):
        sheet = judge.draw(table, 3)
        assert visitor.run("document.documentElement.scrollWidth <= innerWidth"), table
        judge.press("j")
        visitor.go(f"#/judged?sheet={sheet}")
        assert visitor.run("document.documentElement.scrollWidth <= innerWidth"), table
    visitor.go("#/judge")
    assert visitor.run("document.documentElement.scrollWidth <= innerWidth")
    visitor.look()
    judge.nothing_happened()


def test_a_phone_has_room_for_the_differences(judge: Judge) -> None:
    visitor = judge.visitor
    visitor.look(390, 844)
    judge.draw("near_duplicates", 2)
    judge.press("j")
    judge.press(",")
    assert visitor.run("document.querySelector('.judge-bar').getBoundingClientRect().top - "
                       "document.querySelector('.sides').getBoundingClientRect().top") >= 250
    visitor.look()
    judge.nothing_happened()


def test_figures_are_for_people(judge: Judge) -> None:
    visitor, sheet = judge.visitor, judge.draw("near_duplicates", 7, by="same_site")
    for key in "jfjdj":
        judge.press(key)
    visitor.look(390, 844)
    visitor.go(f"#/judged?sheet={sheet}")
    numbers = visitor.run("[...document.querySelectorAll('.counts b, .figures-table[open] td')]"
                          ".map(each => each.innerText)")
    assert "60.0\u00a0%" in numbers  # three of five are correct
    assert not [each for each in numbers if re.search(r"\.\d{3}|\d{4}", each)]
    assert visitor.run("[...document.querySelectorAll('.figures-table[open] .scroll')].map("
                       "each => each.scrollWidth - each.clientWidth)") == [0] * visitor.run(
                           "document.querySelectorAll('.figures-table[open]').length")
    visitor.look()
    judge.nothing_happened()


def test_a_viewer_that_was_killed(demo_made: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "some pairs.csv"
    assert main(["sample", str(demo_made / "result"), "--of", "near_duplicates", "--rows", "3",
                 "-o", str(sheet)]) == 0
    command = [sys.executable, "-m", "beam_reuse", "view", str(demo_made / "result"),
               "--no-browser", "--judge", str(sheet)]
    with started(command) as (address, process), Visitor(chromium(), address) as visitor:
        visitor.go(address)
        assert visitor.text("h1") == "Judging some pairs.csv" and visitor.run(ROW) == "2"
        process.kill()
        process.wait()
        visitor.press("j")
        visitor.until("document.querySelector('.stored .error')")
        assert "is not known" in visitor.text(".stored")
        with started([*command, "--port", str(urlsplit(address).port)]) as (new, _):
            visitor.run("location.reload()")
            visitor.until("document.querySelector('h1')?.innerText === 'Not opened'")
            assert "Open the address that beam-reuse view has printed" in visitor.text("body")
            visitor.go(new)
            assert visitor.text("h1") == "Judging some pairs.csv"


@contextmanager
def started(command: Sequence[str]) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A viewer in a process of its own, and its address."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


def test_a_passage_is_marked_as_a_stop_chunk(judge: Judge) -> None:
    visitor = judge.visitor
    for name in os.listdir(judge.sheets):
        (judge.sheets / name).unlink()
    visitor.go("#/passages")
    visitor.until("document.querySelector('button.stop')")
    pressed = "[...document.querySelectorAll('button.stop[aria-pressed=true]')].length"
    visitor.click("button.stop")
    visitor.until(f"{pressed} === 1")
    (row,) = judge.rows("marked.csv")
    visitor.go(f"#/passage?sha1={row['sha1']}")
    assert visitor.run(pressed) == 1  # as the list has it
    visitor.click("button.stop")
    visitor.until(f"{pressed} === 0")
    assert judge.rows("marked.csv")[0]["label"] == ""
    visitor.click("button.stop")
    visitor.until(f"{pressed} === 1")
    visitor.click("main a[href='#/judge']")
    visitor.until("location.hash === '#/judge' && document.querySelector('h1').innerText === "
                  "'Judging'")
    visitor.run("[...document.querySelectorAll('button')].find("
                "b => b.innerText === 'Make a stop list').click()")
    visitor.until("document.querySelector('pre.command')")
    assert "1 chunk and 0 files" in visitor.text()
    judge.nothing_happened()
