"""Judging in the viewer, as its pages ask for it; what comes of it is what the commands say."""

import csv
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from beam_reuse.cli.arguments import parse
from beam_reuse.cli.main import main
from beam_reuse.core.errors import UserError
from beam_reuse.io.labels.judged_lists import read_judged
from beam_reuse.judging.judged_sheet import JudgedMeanwhile
from beam_reuse.viewer import judged, judging
from beam_reuse.viewer.sheets import Sheets
from beam_reuse.viewer.view import View, open_view
from tests.judging.results import chunk_row, page_row, pair_row, write_result


def result(tmp_path: Path) -> str:
    return write_result(tmp_path / "result", {
        "page_reuse": [[page_row(f"http://a.example/{n}", n, 20, n > 12) for n in range(20)]],
        "near_duplicates": [[pair_row(f"http://a/{n}", f"http://b/{n}", n % 7, 370 + n % 9, False,
                                      ["b", "c"][:1 + n % 2]) for n in range(30)]],
        "frequent_chunks": [[chunk_row(f"{n:040x}", n, f"=text {n}") for n in range(1, 9)]],
    })


def say(view: View, sheet: str, label: str, reason: str = "", **where: Any) -> dict[str, Any]:
    """Judge the next row that nobody has judged; gives the row as it was shown."""
    found = judging.item(view, sheet, **({"state": "unjudged"} | where))
    judging.judge(view, sheet, found["row"], found["key"], label, reason, found["judged"])
    return found


def test_a_sheet_is_drawn_and_judged_to_its_end(tmp_path: Path) -> None:
    folder = result(tmp_path)
    with open_view(folder, (), Sheets(str(tmp_path / "j"), (), "Ada")) as view:
        sheet = judging.draw(view, "page_reuse", 6, by=["flagged"])["sheet"]
        for label in ("copied", "original", "undecided") * 2:
            assert say(view, sheet, label, "a\r\nb ")["words"]["positive"] == "copied"
        found = judging.item(view, sheet, state="unjudged")
        assert found["row"] is None
        assert found["counts"] == {"rows": 6, "left": 0, "labels": {
            "copied": 2, "original": 2, "undecided": 2}}
        assert judging.item(view, sheet, state="original")["judged"][:3] == ["original", "a\nb",
                                                                            "Ada"]
        assert judging.sheets(view)["sheets"][0]["table"] == "page_reuse"
    with open(found["path"], newline="") as source:
        rows = list(csv.DictReader(source))
    assert list(rows[0])[-7:] == ["stratum", "stratum_rows", "weight", "label", "reason", "who",
                                  "when"]
    assert all(row["who"] == "Ada" and row["when"].endswith("+00:00") for row in rows)


def test_next_and_previous_go_round_in_a_state(tmp_path: Path) -> None:
    with open_view(result(tmp_path), (), Sheets(str(tmp_path / "j"))) as view:
        sheet = judging.draw(view, "frequent_chunks", 4)["sheet"]
        say(view, sheet, "benign", row=3)
        rows = [judging.item(view, sheet, after=n, state="unjudged")["row"] for n in (0, 2, 4, 5)]
        assert rows == [2, 4, 5, 2]
        assert judging.item(view, sheet, before=2, state="unjudged")["row"] == 5
        assert judging.item(view, sheet, after=3)["row"] == 4
        assert judging.item(view, sheet, state="judged")["row"] == 3


def test_undo_gives_back_what_was_said_before(tmp_path: Path) -> None:
    with open_view(result(tmp_path), (), Sheets(str(tmp_path / "j"))) as view:
        sheet = judging.draw(view, "frequent_chunks", 4)["sheet"]
        say(view, sheet, "benign", "first", row=2)
        before = judging.item(view, sheet, row=2)
        say(view, sheet, "correct", row=2)
        now = judging.item(view, sheet, row=2)
        judging.undo(view, sheet, 2, now["key"], now["judged"], before["judged"])
        assert judging.item(view, sheet, row=2)["judged"] == before["judged"]
        with pytest.raises(JudgedMeanwhile):
            judging.undo(view, sheet, 2, now["key"], now["judged"], before["judged"])


@pytest.mark.parametrize(("label", "reason"), [("maybe", ""), ("correct", "x" * 10_001)])
def test_what_is_no_judgement_is_refused(tmp_path: Path, label: str, reason: str) -> None:
    with open_view(result(tmp_path), (), Sheets(str(tmp_path / "j"))) as view:
        sheet = judging.draw(view, "frequent_chunks", 4)["sheet"]
        with pytest.raises(UserError):
            say(view, sheet, label, reason)
        assert judging.item(view, sheet)["counts"]["left"] == 4


@pytest.mark.parametrize(("table", "option", "words"), [
    ("page_reuse", "--pages", ("copied", "original")),
    ("near_duplicates", "--pairs", ("correct", "incorrect")),
    ("frequent_chunks", "--judged", ("correct", "benign")),
])
def test_figures_are_those_that_evaluate_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str, option: str,
    words: tuple[str, str],
) -> None:
    folder = result(tmp_path)
    with open_view(folder, (), Sheets(str(tmp_path / "j"))) as view:
        sheet = judging.draw(view, table, 8)["sheet"]
        for at in range(7):
            say(view, sheet, words[at % 3 == 0], "why")
        told = judged.evaluation(view, sheet)
        live = judged.precision(view, sheet)
    assert shlex.split(told["command"])[:4] == ["beam-reuse", "evaluate", folder, option]
    figures = tmp_path / "figures"
    assert main([*shlex.split(told["command"])[1:], "-o", str(figures)]) == 0
    printed = capsys.readouterr().out
    written = json.loads((figures / "evaluation.json").read_text())
    first = told["reports"][0]
    named = written.get(first["name"], written)
    assert first["facts"].items() <= named.items()
    for each in first["tables"]:
        with (figures / f"{first['name']}-{each['name']}.csv").open(newline="") as source:
            rows = list(csv.reader(source))
        assert rows[0] == each["columns"] and len(rows) - 1 == len(each["rows"])
    assert live["low"] <= live["value"] <= live["high"] and live["judged"] <= 7
    if table == "page_reuse":
        assert named["table_precision"] == {name: live[name] for name in ("value", "low", "high")}
    assert f"{100 * live['value']:.1f}"[:3] in printed


def test_benign_chunks_become_a_stop_list(tmp_path: Path) -> None:
    with open_view(result(tmp_path), (), Sheets(str(tmp_path / "j"))) as view:
        with pytest.raises(UserError, match="judged benign yet"):
            judged.stop_list(view)
        one = judging.draw(view, "frequent_chunks", 8)["sheet"]
        two = judging.draw(view, "frequent_chunks", 8)["sheet"]
        assert (one, two) == ("frequent_chunks.csv", "frequent_chunks-2.csv")
        benign = {say(view, one, "benign", "=note")["values"]["sha1"] for _ in range(3)}
        say(view, one, "correct")
        benign -= {say(view, two, "correct")["values"]["sha1"]}
        told = judged.stop_list(view)
    assert (told["chunks"], told["files"], told["left_out"]) == (2, 0, 1)
    assert shlex.split(told["command"])[-2:] == ["--stop-chunks", told["path"]]
    taken = read_judged(told["path"])
    assert {each.tobytes().hex() for each in taken.hashes} == benign


@pytest.mark.parametrize(("words", "inputs", "stop_lists"), [
    (["run", "crawl/*.gz", "-o", "out", "--overwrite"], ["crawl/*.gz"], []),
    (["run", "--labels", "a", "--overwrite", "in.gz", "--output=out"], ["in.gz"], []),
    (["run", "-o", "out", "--stop-chunks", "old.csv", "--", "in.gz"], ["in.gz"], ["old.csv"]),
    (["demo", "-o", "out"], ["out/crawl"], []),
])
def test_the_run_again_is_typed_anywhere_and_replaces_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], inputs: list[str],
    stop_lists: list[str],
) -> None:
    folder = result(tmp_path)
    (tmp_path / "result" / "run.json").write_text(json.dumps(
        {"command": ["beam-reuse", *words], "inputs": inputs, "directory": "/some where"}))
    monkeypatch.chdir(tmp_path)
    with open_view("result", (), Sheets("j")) as view:
        say(view, judging.draw(view, "frequent_chunks", 8)["sheet"], "benign")
        told = judged.stop_list(view)
    typed = shlex.split(told["command"])
    assert typed[:4] == ["cd", "/some where", "&&", "beam-reuse"]
    again = parse(typed[4:])
    assert (again.command, again.inputs) == ("run", tuple(inputs))
    assert again.values["output"] == f"{folder}.again" and "overwrite" not in again.values
    assert again.values["stop-chunks"] == (*stop_lists, str(tmp_path / "j" / "stop-list.csv"))


def test_where_the_viewer_opens(tmp_path: Path) -> None:
    one, two = str(tmp_path / "a b&.csv"), str(tmp_path / "c.csv")
    assert Sheets(str(tmp_path)).first_screen == ""
    assert Sheets(str(tmp_path), [one]).first_screen == (
        "#/judging?sheet=a+b%26.csv&state=unjudged")
    assert Sheets(str(tmp_path), [one, two]).first_screen == "#/judge"


def test_a_row_cut_in_the_middle_of_its_label_is_left_to_judge(tmp_path: Path) -> None:
    folder = result(tmp_path)
    path = tmp_path / "own.csv"
    path.write_text("url_a,url_b,label\nhttp://a/1,http://b/1,correct\nhttp://a/2,http://b/2,corr")
    with open_view(folder, (), Sheets(str(tmp_path / "j"), [str(path)])) as view:
        found = judging.item(view, "own.csv", state="unjudged")
        assert (found["table"], found["row"], found["counts"]["left"]) == ("near_duplicates", 3, 1)
        assert "row 3" in judged.precision(view, "own.csv")["why_not"]
        say(view, "own.csv", "incorrect")
        assert "low" in judged.precision(view, "own.csv")


def test_a_sheet_is_named_never_a_file(tmp_path: Path) -> None:
    with open_view(result(tmp_path), (), Sheets(str(tmp_path / "j"))) as view:
        for name in ("/etc/passwd", "../result/manifest.json", "", "stop-list.csv"):
            with pytest.raises(UserError, match="no sheet"):
                judging.item(view, name)


@pytest.mark.parametrize("options", [
    ["--judgements", "IN/x"], ["--judge", "IN/manifest.json"], ["--judge", "not-there.csv"],
])
def test_judgements_are_not_in_the_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str],
) -> None:
    folder = result(tmp_path)
    given = [each.replace("IN", folder) for each in options]
    assert main(["view", folder, "--no-browser", *given]) != 0
    error = capsys.readouterr().err
    assert "the result itself" in error or "No such file" in error
