"""Sheets that are judged by several at once, and whose judges are ended at any moment."""

import csv
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.core.errors import UserError
from beam_reuse.io.sheets import SheetError, read_sheet
from beam_reuse.judging.judged_sheet import (
    Judged,
    JudgedMeanwhile,
    JudgedSheet,
    judged_of,
    key_of,
)

ROWS = 60
JUDGE_ALL = """
import sys
from beam_reuse.judging.judged_sheet import Judged, JudgedSheet, judged_of, key_of
sheet = JudgedSheet(sys.argv[1])
for number in range(2, 10_000):
    row = sheet.read().row(number)
    sheet.judge(number, key_of(row), judged_of(row), Judged("correct", "n" * 200, "me", "now"))
    print(number, flush=True)
"""


def write(path: Path, rows: int = ROWS) -> JudgedSheet:
    """A sheet as `sample` draws it."""
    with path.open("w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["url", "text", "label", "reason"])
        writer.writerows([f"http://a.example/{n}", f"line {n}\nand, \"more\"", "", ""]
                         for n in range(rows))
    return JudgedSheet(str(path))


def say(sheet: JudgedSheet, number: int, label: str, reason: str = "", who: str = "me") -> Judged:
    row = sheet.read().row(number)
    return sheet.judge(number, key_of(row), judged_of(row), Judged(label, reason, who, "now"))


def labels(path: Path) -> list[str]:
    return [row.cells.get("label", "") for row in read_sheet(str(path), ("label",)).rows]


def test_a_judgement_is_in_the_columns_of_sample_with_who_and_when(tmp_path: Path) -> None:
    sheet = write(tmp_path / "s.csv", 3)
    say(sheet, 3, "incorrect", "form", "Ada")
    with (tmp_path / "s.csv").open(newline="") as source:
        rows = list(csv.DictReader(source))
    assert list(rows[0]) == ["url", "text", "label", "reason", "who", "when"]
    assert [tuple(row.values())[2:] for row in rows] == [
        ("", "", None, None), ("incorrect", "form", "Ada", "now"), ("", "", None, None)]
    assert rows[1]["text"] == "line 1\nand, \"more\""


def test_what_others_have_judged_meanwhile_stays(tmp_path: Path) -> None:
    one, two = write(tmp_path / "s.csv"), JudgedSheet(str(tmp_path / "s.csv"))
    row = two.read().row(5)
    say(one, 5, "correct", who="Ada")
    with pytest.raises(JudgedMeanwhile, match="correct by Ada"):
        two.judge(5, key_of(row), judged_of(row), Judged("incorrect"))
    say(two, 6, "incorrect")
    say(one, 7, "undecided")
    assert labels(tmp_path / "s.csv")[3:6] == ["correct", "incorrect", "undecided"]


def test_a_row_that_is_another_by_now_is_not_judged(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    sheet = write(path)
    row = sheet.read().row(9)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], *lines[3:]]))  # somebody has deleted the first row
    with pytest.raises(JudgedMeanwhile, match="another row"):
        sheet.judge(9, key_of(row), judged_of(row), Judged("correct"))
    with pytest.raises(JudgedMeanwhile, match="no row 99"):
        sheet.judge(99, key_of(row), judged_of(row), Judged("correct"))
    assert set(labels(path)) == {""}


def _judge_each(path: str, mine: int, of: int) -> None:
    sheet = JudgedSheet(path)
    for number in range(2 + mine, ROWS + 2, of):
        say(sheet, number, "correct", f"by {mine}")


def test_two_processes_with_two_threads_each_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    write(path)
    started = [multiprocessing.get_context("spawn").Process(
        target=_judge_threads, args=(str(path), half)) for half in (0, 2)]
    for process in started:
        process.start()
    for process in started:
        process.join(120)
        assert process.exitcode == 0
    reasons = [row.cells["reason"] for row in read_sheet(str(path), ("label",)).rows]
    assert reasons == [f"by {n % 4}" for n in range(ROWS)]


def _judge_threads(path: str, half: int) -> None:
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(_judge_each, path, half + each, 4) for each in (0, 1)]:
            done.result()


@pytest.mark.parametrize("judged", [3, 40, 90])
def test_what_was_stored_survives_kill_9(tmp_path: Path, judged: int) -> None:
    path = tmp_path / "s.csv"
    sheet = write(path, 2_000)
    with subprocess.Popen([sys.executable, "-c", JUDGE_ALL, str(path)], text=True,
                          stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout
        said = [int(process.stdout.readline()) for _ in range(judged)]
        time.sleep(0.003)
        os.kill(process.pid, signal.SIGKILL)
        last = max([*said, *map(int, process.stdout.read().split())])
    found = labels(path)
    many = found.count("correct")
    assert len(found) == 2_000 and last - 1 <= many <= last  # the last may have had no time to say
    assert found == ["correct"] * many + [""] * (2_000 - many)
    say(sheet, 2_001, "incorrect")
    assert labels(path)[-1] == "incorrect"


@pytest.mark.parametrize("ends", ["corr", "correct,\"a note tha", "correct,\"ä", ""])
def test_a_torn_last_line_is_judged_again(tmp_path: Path, ends: str) -> None:
    path = tmp_path / "s.csv"
    content = ("url,label,reason\nhttp://a/1,correct,\nhttp://a/2," + ends).encode()
    path.write_bytes(content[:-1] if ends.endswith("ä") else content)
    sheet = JudgedSheet(str(path))
    assert [row.cells["url"] for row in sheet.read().sheet.rows] == ["http://a/1", "http://a/2"]
    say(sheet, 3, "incorrect", "whole")
    assert path.read_text() == ("url,label,reason,who,when\nhttp://a/1,correct,\n"
                                "http://a/2,incorrect,whole,me,now\n")


@given(note=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"),
                    max_size=30),
       sign=st.sampled_from(["", "=1+1", "@SUM(A1)", "-2\n=3", "';=x", "\t+", '"', ",", ";",
                             "\uff1d1"]))
def test_notes_stay_text(tmp_path_factory: pytest.TempPathFactory, note: str, sign: str) -> None:
    path = tmp_path_factory.mktemp("notes") / "s.csv"
    sheet = write(path, 3)
    assert say(sheet, 3, "correct", sign + note, "=who").reason == sign + note
    row = read_sheet(str(path), ("label",)).rows[1]
    assert (row.cells["reason"], row.cells["who"]) == (sign + note, "=who")
    assert [each.cells["url"] for each in sheet.read().sheet.rows] == [
        f"http://a.example/{n}" for n in range(3)]
    with path.open(newline="") as source:
        cells = [cell for row in csv.reader(source) for cell in row]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\n", "\uff1d")) for cell in cells)


def test_cells_of_others_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "s.tsv"
    path.write_text("\ufeffURL;Label;extra\nhttp://a/1;;=1+1\n\nhttp://a/2;ham;'-3\n")
    say(JudgedSheet(str(path)), 2, "benign")
    assert path.read_text() == ("\ufeffURL;Label;extra;reason;who;when\n"
                                "http://a/1;benign;=1+1;;me;now\n\nhttp://a/2;ham;'-3\n")


def test_what_cannot_be_judged_says_why(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("url,reason\n1,2\n")
    with pytest.raises(SheetError, match="no column 'label'"):
        JudgedSheet(str(tmp_path / "a.csv")).read()
    (tmp_path / "b.csv").write_bytes("url,label\n1,2\n".encode("utf-16"))
    with pytest.raises(SheetError, match="UTF-16"):
        JudgedSheet(str(tmp_path / "b.csv")).read()
    with pytest.raises(SheetError, match="No such file"):
        JudgedSheet(str(tmp_path / "c.csv")).read()


def test_a_disk_that_takes_nothing_keeps_what_was_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    sheet = write(tmp_path / "s.csv")
    say(sheet, 2, "correct")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="was not stored: No space left"):
        say(sheet, 3, "correct")
    assert labels(tmp_path / "s.csv").count("correct") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["s.csv"]
