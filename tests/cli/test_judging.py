"""`sample` and `evaluate` from the command line: a table is drawn from, judged and read back."""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from beam_reuse.cli.judged_tables import some_of
from beam_reuse.cli.main import main
from beam_reuse.judging.measures import Confusion, SweepStep
from tests.judging.results import fill_sheet, page_row, prefix_row, write_result


@pytest.fixture
def result(tmp_path: Path) -> str:
    """100 pages, those with an even number clones with a share of 1, each tenth other 1/4."""
    rows = [page_row(f"http://h{i % 3}.example/{i}", *((4, 4, True) if i % 2 == 0 else
                     (1, 4, True) if i % 10 == 1 else (0, 4, False))) for i in range(100)]
    places = [prefix_row("[b]h0.example/", 1, 4, 0.25, True),
              prefix_row("h1.example/", 0, 4, 0, False)]
    return write_result(
        tmp_path / "result", {"page_reuse": [rows[:30], rows[30:]], "neighbourhoods": [places]},
        min_chunks=1, captures="latest")


def words(text: str) -> str:
    return " ".join(text.split())


def judge(path: Path) -> None:
    """Fill the label: pages with an even number are clones, of number 0 nobody is sure."""
    def verdict(row: dict[str, str]) -> tuple[str, str]:
        number = int(row["url"].rsplit("/", 1)[1])
        return ("?" if number == 0 else "clone" if number % 2 == 0 else "original",
                "even" if number % 2 == 0 else "odd")

    fill_sheet(path, verdict)


def test_a_sample_is_judged_and_read_back(
    result: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "sheet.csv"
    assert main(["sample", result, "--of", "page_reuse", "-n", "60", "--by", "flagged",
                 "-o", str(path)]) == 0
    shown = words(capsys.readouterr().out)
    for told in ("60 of 100 rows of page_reuse, seed 0", "flagged false 40 30 1.333",
                 "flagged true 60 30 2", f"evaluate {result} --pages {path}"):
        assert told in shown
    judge(path)
    assert main(["evaluate", result, "--pages", str(path), "-o", str(tmp_path / "out")]) == 0
    shown = words(capsys.readouterr().out)
    told = json.loads((tmp_path / "out" / "evaluation.json").read_text())["pages"]
    confusion = told["confusion"]
    assert confusion["fn"] == 0 and confusion["fp"] > 0
    decided = 60 - sum(told["undecided"].values())
    assert f"{decided} judged pages" in shown
    part, whole = confusion["precision"]["part"], confusion["precision"]["whole"]
    assert f"precision {part / whole:.4f} {part}/{whole} TP / (TP + FP)" in shown
    assert told["weighted"]["tn"] == 40
    assert told["weighted"]["tp"] + told["weighted"]["fp"] == pytest.approx(60)
    assert re.search(r"> 0\.000000 \d+ \d+ 0 \d+ [\d.]+ 1\.0000 [\d.]+ [\d.]+ as this run", shown)
    assert re.search(r"positive even \d+ 100\.0 \d+ 100\.0", shown)
    assert "pages-sweep.csv" in shown


def test_without_a_file_the_sheet_goes_to_standard_output(
    result: str, capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["sample", "--of", "page_reuse", "--where", "flagged = true",
                 "--where", "contains < 1", result, "-n", "1000"]) == 0
    shown = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(shown.out)))
    assert len(rows) == 10 and {row["contains"] for row in rows} == {"0.25"}
    assert list(rows[0])[-2:] == ["label", "reason"]
    assert "10 of 10 rows of page_reuse where flagged = true and contains < 1" in shown.err
    assert "1,000 were asked for; these are all there are" in shown.err


def test_labels_are_not_written_over(
    result: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "sheet.tsv"
    argv = ["sample", result, "--of", "page_reuse", "-o", str(path)]
    assert main(argv) == 0
    before = path.read_bytes()
    assert b"\tlabel\treason\n" in before
    path.write_bytes(before + b"mine")
    assert main(argv) == 2
    assert "sheet.tsv is there already (it may hold labels already)" in capsys.readouterr().err
    assert path.read_bytes() == before + b"mine"
    assert main([*argv, "--overwrite"]) == 0
    assert path.read_bytes() == before


def test_figures_are_not_written_over(
    result: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    sheet = tmp_path / "p.csv"
    sheet.write_text("url,label\nhttp://h0.example/0,1\nhttp://gone.example/,1\n")
    argv = ["evaluate", result, "--pages", str(sheet), "-o", str(tmp_path / "out")]
    assert main(argv) == 0
    shown = words(capsys.readouterr().out)
    assert "1 not in the result not in the result: http://gone.example/" in shown
    assert main(argv) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main([*argv, "--overwrite"]) == 0


def test_names_that_look_like_markup_are_shown_as_they_are(
    result: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    sheet = tmp_path / "n.csv"
    sheet.write_text("prefix,label,reason\nh1.example,1,[red]\nhttp://[/,0,x\n")
    assert main(["evaluate", result, "--neighbourhoods", str(sheet)]) == 0
    shown = words(capsys.readouterr().out)
    assert "positive [red] 1 100.0 0 0.0" in shown
    assert "not in the result: http://[/" in shown
    assert main(["sample", result, "--of", "neighbourhoods", "--by", "prefix"]) == 0
    assert "prefix [b]h0.example/" in words(capsys.readouterr().err)


def test_a_sweep_is_thinned_for_people() -> None:
    steps = [SweepStep(share, Confusion()) for share in range(1000)]
    shown = some_of(steps, 20, lambda step: step.share == 777)
    assert len(shown) <= 20 and shown[0] is steps[0] and shown[-1] is steps[-1]
    assert steps[777] in shown
    assert some_of(steps[:20], 20, lambda _: False) == steps[:20]


def test_an_evaluation_replaces_all_of_an_earlier_one_and_nothing_else(
    result: str, tmp_path: Path,
) -> None:
    pages, places, out = tmp_path / "p.csv", tmp_path / "n.csv", tmp_path / "out"
    pages.write_text("url,label,reason\nhttp://h0.example/0,clone,even\n")
    places.write_text("prefix,label\nh1.example/,original\n")
    assert main(["evaluate", result, "--pages", str(pages), "-o", str(out)]) == 0
    (out / "neighbourhoods-notes.csv").write_text("mine")
    (out / "neighbourhoods-absent.csv").write_text("mine too, but overwritten")
    argv = ["evaluate", result, "--neighbourhoods", str(places), "-o", str(out), "--overwrite"]
    assert main(argv) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "evaluation.json", "neighbourhoods-absent.csv", "neighbourhoods-notes.csv",
        "neighbourhoods-outcomes.csv", "neighbourhoods-sweep.csv"]
    (out / "pages-sweep.csv").write_text("not of the evaluation that is here")
    assert main(argv) == 0
    assert (out / "pages-sweep.csv").exists()


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["sample", "DIR"], "--of TABLE"),
        (["sample", "--of", "pages"], "give one DIR"),
        (["sample", "DIR", "DIR", "--of", "pages"], "give one DIR"),
        (["sample", "DIR", "--of", "pages"], "no table 'pages'; it has neighbourhoods, page_reuse"),
        (["sample", "DIR", "--of", "page_reuse", "-o", "x.xlsx"], ".csv or .tsv"),
        (["sample", "DIR", "--of", "page_reuse", "-n", "0"], "--rows: 0 is not allowed"),
        (["sample", "DIR", "--of", "page_reuse", "--where", "x"], "COLUMN OP VALUE"),
        (["sample", "DIR", "--of", "page_reuse", "--project", "p"], "unknown option --project"),
        (["sample", "DIR", "--off", "page_reuse"], "Did you mean --of?"),
        (["evaluate", "DIR"], "--pages FILE"),
        (["evaluate", "--pages", "x.csv"], "give one DIR"),
        (["evaluate", "DIR", "--pages", "no-such.csv"],
         "no-such.csv: No such file or directory. Give CSV"),
        (["sample", "DIR", "--of", "page_reuse", "-o", "DIR/manifest.json/x.csv"],
         "manifest.json is a file, not a folder"),
        (["evaluate", "DIR", "--pages", "x.csv", "-o", "DIR/manifest.json/x"],
         "manifest.json is a file, not a folder"),
        (["evaluate", "DIR", "--pages", "x.csv", "-o", "DIR/manifest.json"],
         "manifest.json is a file. Give a folder"),
        (["evaluate", "no-such-dir", "--pages", "/dev/null"], "no column 'url'"),
    ],
)
def test_wrong_usage_is_exit_status_2(
    argv: list[str], told: str, result: str, capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([word.replace("DIR", result) for word in argv]) == 2
    shown = capsys.readouterr()
    assert told in shown.err and not shown.out
    assert shown.err.strip().count("\n") <= 1


def test_help_needs_no_database() -> None:
    script = ("import sys; from beam_reuse.cli.main import main\n"
              "assert main(['--help']) == 0 and main(['sample', '--help']) == 0\n"
              "import beam_reuse.cli.judging\n"
              "assert 'duckdb' not in sys.modules")
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, timeout=120)


def test_neither_command_needs_beam(result: str, tmp_path: Path) -> None:
    sheet = tmp_path / "p.csv"
    sheet.write_text("url,label\nhttp://h0.example/0,1\n")
    script = (
        "import sys; from beam_reuse.cli.main import main\n"
        "assert main(['sample', sys.argv[1], '--of', 'page_reuse', '--by', 'contains']) == 0\n"
        "assert main(['evaluate', sys.argv[1], '--pages', sys.argv[2]]) == 0\n"
        "assert main(['evaluate', sys.argv[1], '--pagse', sys.argv[2]]) == 2\n"
        "assert 'apache_beam' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script, result, str(sheet)], check=True,
                   capture_output=True, timeout=120)
