"""Passages marked as stop chunks: on the disk at once, taken back, and in the stop list."""

import csv
import threading
from pathlib import Path

import pytest

from beam_reuse.core.errors import UserError
from beam_reuse.io.labels.judged_lists import read_judged
from beam_reuse.viewer import judged, judging, marking
from beam_reuse.viewer.sheets import Sheets
from beam_reuse.viewer.view import NotThere, open_view
from tests.judging.results import chunk_row, write_result

HASHES = [f"{n:040x}" for n in range(1, 9)]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return write_result(tmp_path / "result", {"frequent_chunks": [[
        chunk_row(sha1, n, f"=text, {n}\n\"quoted\"") for n, sha1 in enumerate(HASHES, 1)]]})


def test_a_mark_is_on_the_disk_and_taken_back(folder: str, tmp_path: Path) -> None:
    sheets = Sheets(str(tmp_path / "marks"), (), "Ada")
    with open_view(folder, (), sheets) as view:
        assert marking.marked(view)["benign"] == []
        assert marking.mark(view, HASHES[0])["benign"] == HASHES[:1]
        marking.mark(view, HASHES[0])
        marking.mark(view, HASHES[1])
        with open(sheets.marked, newline="") as source:
            rows = list(csv.DictReader(source))
        assert [row["sha1"] for row in rows] == HASHES[:2]
        assert rows[0]["text"] == "'=text, 1\n\"quoted\""  # harmless in a spreadsheet
        assert all(row["who"] == "Ada" and row["when"].endswith("+00:00") for row in rows)
        assert marking.mark(view, HASHES[0], benign=False)["benign"] == HASHES[1:2]
        assert judging.sheets(view)["sheets"] == []  # nothing to judge: nobody has drawn it
    with open_view(folder, (), Sheets(str(tmp_path / "marks"))) as view:
        assert marking.marked(view)["benign"] == HASHES[1:2]


def test_what_is_marked_is_in_the_stop_list(folder: str, tmp_path: Path) -> None:
    with open_view(folder, (), Sheets(str(tmp_path / "marks"))) as view:
        for sha1 in HASHES[:3]:
            marking.mark(view, sha1)
        marking.mark(view, HASHES[1], benign=False)
        sheet = judging.draw(view, "frequent_chunks", 8)["sheet"]
        for row in range(2, 10):
            found = judging.item(view, sheet, row=row)
            if found["values"]["sha1"] == HASHES[2]:  # somebody judges otherwise
                judging.judge(view, sheet, row, found["key"], "correct", "", found["judged"])
        told = judged.stop_list(view)
    assert (told["chunks"], told["files"], told["left_out"]) == (1, 0, 1)
    with open(told["path"], newline="") as source:
        assert [(row["sha1"], row["sheet"]) for row in csv.DictReader(source)] == [
            (HASHES[0], "marked.csv")]
    assert read_judged(told["path"])


def test_windows_that_mark_at_once_lose_nothing(folder: str, tmp_path: Path) -> None:
    sheets = str(tmp_path / "marks")

    def mark(hashes: list[str]) -> None:
        with open_view(folder, (), Sheets(sheets)) as view:
            for sha1 in hashes:
                marking.mark(view, sha1)

    threads = [threading.Thread(target=mark, args=(hashes,))
               for hashes in (HASHES, HASHES[::-1], HASHES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open(Sheets(sheets).marked, newline="") as source:
        assert sorted(row["sha1"] for row in csv.DictReader(source)) == HASHES


def test_only_frequent_chunks_are_marked(folder: str, tmp_path: Path) -> None:
    with open_view(folder, (), Sheets(str(tmp_path / "marks"))) as view:
        with pytest.raises(NotThere, match="No frequent chunk"):
            marking.mark(view, "f" * 40)
        with pytest.raises(UserError, match="SHA-1"):
            marking.mark(view, "../../etc/passwd")
    assert not (tmp_path / "marks").exists()
