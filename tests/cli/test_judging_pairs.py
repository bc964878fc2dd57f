"""`evaluate` on near-duplicates from the command line: pairs, graph, term differences."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from beam_reuse.cli.main import main
from tests.judging.results import crawl_row, fill_sheet, pair_row, write_result
from tests.judging.test_differences import random_texts, written


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def result(tmp_path: Path) -> str:
    """40 pairs: B returns all, C those above 371; every other pair is on one site."""
    rows, pages = [], []
    for i in range(40):
        site = "x.org" if i % 2 else f"s{i}.org"
        a, b = f"http://a.x.org/{i:02d}", f"http://b.{site}/{i:02d}"
        c = 345 + i
        names = {"b", *(["combined"] if c >= 355 else []), *(["c"] if c >= 372 else [])}
        hybrid = "combined" if i % 2 else "c"
        rows.append(pair_row(a, b, 2 + i % 5, c, bool(i % 2),
                             names | ({"hybrid"} if hybrid in names else set())))
        pages += [crawl_row(a), crawl_row(b)]
    degrees = [{"algorithm": name, "degree": d, "pages": n}
               for name in ("b", "c")
               for d, n in ((0, 20), (1, 60), (2, 5), *((d, 1) for d in range(3, 13)), (150, 5))]
    sites = [{"algorithm": "b", "site_a": "x.org", "site_b": "x.org", "pairs": 20},
             {"algorithm": "b", "site_a": "s0.org", "site_b": "x.org", "pairs": 1}]
    return write_result(tmp_path / "result", {
        "near_duplicates": [rows[:7], rows[7:]], "pages": [pages], "identity_sets": [[]],
        "near_duplicate_degrees": [degrees], "site_pairs": [sites]}, captures="latest")


def judge(path: Path) -> None:
    """Fill the labels: above 360 correct, every tenth undecided."""
    def verdict(row: dict[str, str]) -> tuple[str, str]:
        c = int(row["c_similarity"])
        return ("?" if c % 10 == 0 else "correct" if c > 360 else "incorrect",
                "form" if c % 10 == 0 else "[red] =shop")

    fill_sheet(path, verdict)


def test_pairs_are_drawn_judged_and_read_back(
    result: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "pairs.csv"
    assert main(["sample", result, "--of", "near_duplicates", "-n", "60",
                 "--by", "b,c,c_similarity", "-o", str(path)]) == 0
    told = words(capsys.readouterr().out)
    assert f"evaluate {result} --pairs {path}" in told
    assert "b true, c true, c_similarity 372 to 375 4 4 1" in told
    judge(path)
    out = tmp_path / "out"
    argv = ["evaluate", result, "--pairs", str(path), "--min-r", "0.9", "-o", str(out)]
    assert main(argv) == 0
    told = words(capsys.readouterr().out)
    assert "40 judged pairs" in told
    # 24 of 40 are above 360, two of them undecided (370, 380); also 350 and 360.
    assert "b 40 55.0 % 35.0 % 10.0 % 61.1 % 100.0 %" in told
    assert "combined 30 73.3 % 16.7 % 10.0 % 81.5 % 100.0 % 100.0 %" in told
    assert "c 13 92.3 % 0.0 % 7.7 % 100.0 % 54.5 %" in told
    assert "C-similarity 372-375 4 100.0 %" in told and "B-similarity 6 8" in told
    assert "b undecided form 4 100.0 4 100.0" in told and "[red] =shop" in told
    assert "combined: C-similarity >= 355 30 73.3 % 81.5 % 100.0 % as this run" in told
    assert "the highest precision at R >= 0.9" in told
    assert "C returns fewer correct pairs than B" in told and "(12 against 22 at 372)" in told
    document = json.loads((out / "evaluation.json").read_text())["pairs"]
    assert document["judged"] == 40 and document["thresholds"]["combined_threshold"] == 355
    first = next(row for row in document["precision"] if row["algorithm"] == "b")
    assert (first["correct"], first["precision"], first["recall"]) == (22, 0.55, 1.0)
    files = {path.name for path in out.iterdir()}
    assert {"pairs-precision.csv", "pairs-sweep.csv", "pairs-outcomes.csv", "pairs-reasons.csv",
            "pairs-thresholds.png", "pairs-thresholds.svg"} <= files
    with (out / "pairs-reasons.csv").open() as source:
        assert {row["reason"] for row in csv.DictReader(source)} == {"form", "[red] =shop"}
    assert main(argv) == 2
    assert "--overwrite" in capsys.readouterr().err


def test_a_sheet_of_other_rows_is_told(
    result: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    """Estimates are for the rows that the sheet was drawn from: nothing to report where these are
    the table."""
    sheet = tmp_path / "pairs.csv"
    for where, told in (([], False), (["--where", "c = true"], True)):
        assert main(["sample", result, "--of", "near_duplicates", *where, "--by", "same_site",
                     "-o", str(sheet), "--overwrite"]) == 0
        judge(sheet)
        capsys.readouterr()
        assert main(["evaluate", result, "--pairs", str(sheet)]) == 0
        assert ("The sheet was drawn from 13 rows, near_duplicates of this result has 40"
                in words(capsys.readouterr().out)) is told


def test_with_all_captures_a_url_needs_its_moment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    urls = [f"http://a.x.org/{n}#20200101000000" for n in range(2)]
    folder = write_result(tmp_path / "result", {
        "near_duplicates": [[pair_row(*urls, 6, 384, True, {"b"})]],
        "pages": [[crawl_row(url) for url in urls]], "identity_sets": [[]]}, captures="all")
    sheet = tmp_path / "pairs.csv"
    sheet.write_text("url_a,url_b,label\nhttp://a.x.org/0,http://a.x.org/1,correct\n")
    assert main(["evaluate", folder, "--pairs", str(sheet)]) == 2
    assert "with each URL its #YYYYMMDDhhmmss" in capsys.readouterr().err


def test_many_b_similarities_are_cut_into_intervals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [pair_row(f"http://a.x.org/{b}", f"http://b.x.org/{b}", b, 380, True, {"b", "c"})
            for b in range(3, 81)]
    pages = [crawl_row(row[side]) for row in rows for side in ("url_a", "url_b")]
    folder = write_result(tmp_path / "result", {
        "near_duplicates": [rows], "pages": [pages], "identity_sets": [[]]},
        supershingles=80, b_threshold=33)
    path = tmp_path / "pairs.csv"
    assert main(["sample", folder, "--of", "near_duplicates", "-n", "27", "--by", "b_similarity",
                 "-o", str(path)]) == 0
    told = words(capsys.readouterr().out)
    assert "b_similarity 0 to 32 30 3 10" in told and "b_similarity 33 to 38 6 3 2" in told
    judge(path)
    assert main(["evaluate", folder, "--pairs", str(path)]) == 0
    told = words(capsys.readouterr().out)
    assert "B-similarity 75-80 3" in told and "B-similarity 76 " not in told


def test_the_graph_is_shown_and_drawn(
    result: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    assert main(["evaluate", result, "--graph", "-o", str(out)]) == 0
    told = words(capsys.readouterr().out)
    assert "0 pages; 100 with text" in told
    assert "b 40 50.0 80 80.0 11.19 6.2 -0.29 -1.97" in told
    assert "B-similarity 2 8 20.0 362.50" in told
    assert "b x.org 20 1 52.5" in told
    document = json.loads((out / "evaluation.json").read_text())["graph"]
    assert document["algorithms"][0]["mean_degree"] == 895 / 80
    assert {"graph-degrees.png", "graph-sites.csv"} <= {path.name for path in out.iterdir()}


def test_without_matplotlib_there_are_tables(
    result: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out = tmp_path / "out"
    assert main(["evaluate", result, "--graph", "-o", str(out)]) == 0
    assert "Tables only: " in capsys.readouterr().out
    assert {path.suffix for path in out.iterdir()} == {".csv", ".json"}


def test_differences_of_drawn_and_of_judged_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    texts = random_texts(6, 7)
    folder, crawl = written(tmp_path, texts)
    out = tmp_path / "out"
    assert main(["evaluate", folder, "--differences", "5", "--crawl", crawl, "-o", str(out)]) == 0
    told = words(capsys.readouterr().out)
    assert "pairs compared" in told and "b other" in told
    with (out / "differences-pairs.csv").open() as source:
        rows = list(csv.DictReader(source))
    assert sum("b" in row["counts_for"].split(",") for row in rows) == 5
    urls = sorted(texts)
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("url_a,url_b,label\n" + "".join(
        f"{a},{b},{'correct' if a == urls[0] else 'incorrect'}\n"
        for i, a in enumerate(urls) for b in urls[i + 1:]))
    assert main(["evaluate", folder, "--pairs", str(sheet), "--differences", "99",
                 "--crawl", crawl]) == 0
    told = words(capsys.readouterr().out)
    assert "b correct" in told and "c incorrect" in told
    assert "judged pairs" in told and "recall" not in told


@pytest.mark.parametrize(("rows", "told"), [
    ("http://a.x.org/00,http://b.s0.org/00,\n", "no row has a label yet"),
    ("", "there is no row below the first"),
    ("http://elsewhere.org/1,http://elsewhere.org/2,correct\n", "of none of its 1 judged pairs"),
    ("no url,http://elsewhere.org/2,correct\n", "of none of its 1 judged pairs"),
])
def test_a_sheet_that_says_nothing_of_the_result_is_refused(
    rows: str, told: str, result: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("url_a,url_b,label\n" + rows)
    assert main(["evaluate", result, "--pairs", str(path)]) == 2
    shown = capsys.readouterr()
    assert told in shown.err and not shown.out


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["DIR", "--differences", "5"], "--crawl FILE"),
        (["DIR", "--graph", "--crawl", "x"], "--crawl is for --differences"),
        (["DIR", "--pairs", "x.csv", "--by", "host"], "--by is for --pages and --neighbourhoods"),
        (["DIR", "--graph", "--seed", "3"], "--seed is for --pairs and --differences"),
        (["DIR", "--differences", "0", "--crawl", "x"], "--differences: 0 is not allowed"),
        (["DIR", "--differences", "5", "--crawl", "no-such"], "no-such: there is no such file"),
        (["DIR", "--differences", "5", "--crawl", __file__], f"--crawl: {__file__} has both pages "
         "of none of"),
        (["DIR", "--differences", "5", "--crawl", "DIR"], "is a result, not an index"),
        (["DIR", "--graph", "-o", "DIR"], "the result itself. Give a place outside it."),
        (["DIR", "--pairs", "no-such.csv"], "no-such.csv"),
        (["DIR", "--pairs", "no-such.csv", "--min-r", "2"], "--min-r: 2.0 is not allowed"),
        (["DIR", "--pairs", "no-such.csv", "--bins", "0"], "--bins: 0 is not allowed"),
    ],
)
def test_wrong_usage_is_exit_status_2(
    argv: list[str], told: str, result: str, capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["evaluate", *(result if word == "DIR" else word for word in argv)]) == 2
    shown = capsys.readouterr()
    assert told in shown.err and not shown.out
    assert shown.err.strip().count("\n") <= 1


def test_none_of_it_needs_beam(result: str, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    folder, crawl = written(tmp_path / "texts", random_texts(7, 4))
    script = (
        "import sys; from beam_reuse.cli.main import main\n"
        "assert main(['evaluate', sys.argv[1], '--graph']) == 0\n"
        "argv = ['evaluate', sys.argv[2], '--differences', '3', '--crawl', sys.argv[3]]\n"
        "assert main(argv) == 0\n"
        "assert 'apache_beam' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script, result, folder, crawl], check=True,
                   capture_output=True, timeout=120)


@pytest.mark.parametrize("below", ["", "figures", "near_duplicates/x"])
def test_nothing_is_written_into_the_result(
    below: str, result: str, capsys: pytest.CaptureFixture[str],
) -> None:
    before = sorted(Path(result).rglob("*"))
    assert main(["evaluate", result, "--graph", "--overwrite", "-o", f"{result}/{below}"]) == 2
    assert "the result itself" in capsys.readouterr().err
    argv = ["sample", f"{result}/", "--of", "near_duplicates", "-o", f"{result}/{below}/s.csv"]
    assert main(argv) == 2
    assert "Give a place outside it" in capsys.readouterr().err
    assert sorted(Path(result).rglob("*")) == before
