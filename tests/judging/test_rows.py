"""Judged rows of any table: precision and its interval by their definitions; what is refused."""

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.cli.main import main
from beam_reuse.io.sheets import SheetError
from beam_reuse.judging.intervals import Drawn, of_strata, wilson
from beam_reuse.judging.measures import Rate
from beam_reuse.judging.rows import evaluate_rows
from tests.judging.results import chunk_row, fill_sheet, page_row, write_result
from tests.oracles import judging as oracle

WORDS = {"correct": ("1", "spam", "Correct"), "incorrect": ("0", "benign"), "undecided": ("?",)}
TEXTS = ("<p>a  b", "=1+1", "one\r\ntwo", "", "'x; -y", "<p>é\tö")


def hash_of(number: int) -> str:
    return f"{number:040x}"


def overlap_row(chunking: str, a: str, b: str, shared: int) -> dict[str, Any]:
    return {"chunking": chunking, "url_a": a, "url_b": b, "shared": shared,
            "containment_a": shared / 97, "containment_b": 1 / 3}


def tables(size: int) -> dict[str, list[Any]]:
    """Tables with one key and with several, texts that spreadsheets change, lists and shares."""
    chunks = [chunk_row(hash_of(i), 10 ** (i % 4), TEXTS[i % len(TEXTS)], [f"http://a/{i}"])
              for i in range(size)]
    pairs = [overlap_row(name, f"http://a/{i}", f"http://b/{i % 3}", i + 1)
             for name in ("2-lines", "4-lines") for i in range(size)]
    rejects = [{"file": "f", "offset": i, "url": None, "reason": ("gzip", "html")[i % 2],
                "detail": "x"} for i in range(size)]
    return {"frequent_chunks": [chunks[:size // 2], chunks[size // 2:]], "page_overlap": [pairs],
            "rejects": [rejects], "page_reuse": [[page_row("http://a/0", 1, 2, True)]]}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_result(tmp_path_factory.mktemp("rows") / "r", tables(60))


@given(st.integers(0, 40), st.integers(1, 40), st.integers(0, 100))
def test_an_interval_holds_every_share_that_is_no_surprise(
    correct: int, judged: int, more: int,
) -> None:
    correct = min(correct, judged)
    found = wilson(Drawn(Rate(correct, judged), judged + more))
    assert found is not None and found.value == pytest.approx(correct / judged)
    low, high = oracle.score_interval(correct, judged, judged + more)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))


def test_nothing_is_known_of_what_was_not_drawn() -> None:
    assert wilson(Drawn(Rate(0, 0), 5)) is None and of_strata([Drawn(Rate(0, 0), 5)]) is None
    one = Drawn(Rate(3, 4), 50)
    assert of_strata([one, Drawn(Rate(0, 0), 5)]) == of_strata([one]) == wilson(one)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Strata of other sizes and shares, sampled a thousand times."""
    rng = random.Random(5)
    strata = [[True] * 180 + [False] * 20, [True] * 30 + [False] * 270]
    truth = 210 / 500
    hits = 0
    for _ in range(1000):
        drawn = [Drawn(Rate(sum(rng.sample(rows, 20)), 20), len(rows)) for rows in strata]
        found = of_strata(drawn)
        assert found is not None
        hits += found.low <= truth <= found.high
    assert 930 <= hits <= 985


@pytest.mark.parametrize(("table", "by"), [
    ("frequent_chunks", ("--by", "occurrences", "--bins", "3")),
    ("page_overlap", ("--by", "chunking")), ("rejects", ("--by", "reason")),
    ("page_overlap", ("--where", "shared > 20")), ("frequent_chunks", ()),
])
def test_precision_equals_its_definition(
    table: str, by: tuple[str, ...], result: str, tmp_path: Path,
) -> None:
    """A sheet is drawn, judged at random as people write, some of it not, and read back."""
    rng = random.Random(len(table) + len(by))
    path, out = tmp_path / "s.csv", tmp_path / "out"
    assert main(["sample", result, "--of", table, "-n", "40", *by, "-o", str(path)]) == 0
    judged: list[tuple[str, str]] = []
    sizes: dict[str, int] = {}

    def verdict(row: dict[str, str]) -> tuple[str, str]:
        if rng.random() < 0.2:
            return "", ""
        word = rng.choice(list(WORDS))
        stratum = row.get("stratum", "")
        judged.append((stratum, word))
        sizes[stratum] = int(row.get("stratum_rows", 0)) or (120 if table == "page_overlap" else 60)
        return rng.choice(WORDS[word]), f"why {rng.randrange(3)}"

    fill_sheet(path, verdict)
    assert main(["evaluate", result, "--judged", str(path), "-o", str(out)]) == 0
    told = json.loads((out / "evaluation.json").read_text())["judged"]
    assert (told["table"], told["judged"], told["absent"]) == (table, len(judged), 0)
    whole, *strata = told["precision"]
    assert len(strata) == (len(sizes) if by else 0)
    for row, names in [(whole, set(sizes)), *((row, {row["value"]}) for row in strata)]:
        mine = [(stratum, word) for stratum, word in judged if stratum in names]
        words = [word for _, word in mine]
        assert [row[word] for word in WORDS] == [words.count(word) for word in WORDS]
        expected = oracle.row_precision(mine, sizes)
        assert row["table_rows"] == expected["rows"]
        for name in ("precision", "low", "high"):
            assert row[f"table_{name}"] == pytest.approx(expected[name], abs=1e-9)
    assert sum(row["judged"] for row in told["classes"]) == len(judged)
    assert {row["reason"] for row in told["classes"]} == {"why 0", "why 1", "why 2"}
    assert (out / "judged-outcomes.csv").read_text().count("true") == len(judged)


def sheet(folder: Path, columns: str, *rows: str) -> str:
    path = folder / "sheet.csv"
    path.write_text("\n".join([columns, *rows]) + "\n")
    return str(path)


def test_columns_may_be_missing_and_written_as_spreadsheets_write(
    result: str, tmp_path: Path,
) -> None:
    path = sheet(tmp_path, "sha1,occurrences,text,label", f"{hash_of(0)},1,<p>a b ,1",
                 f'{hash_of(2)}, 100,"one\ntwo",0', f"{hash_of(1)},11,'=1+1,0")
    found = evaluate_rows(result, path, "frequent_chunks")
    assert [j.key and j.key[0] for j in found.found] == [hash_of(0), hash_of(2)]
    assert [j.row.number for j in found.absent] == [4]
    path = sheet(tmp_path, "sha1,label", f"{hash_of(1)},1")
    assert len(evaluate_rows(result, path, "frequent_chunks").found) == 1


def test_what_every_row_of_a_small_table_says_is_exact(result: str, tmp_path: Path) -> None:
    path = sheet(tmp_path, "url,chunks,flagged,label", "http://a/0,2,TRUE,1")
    (row,) = evaluate_rows(result, path, "page_reuse").precision()
    assert (row["table_low"], row["table_precision"], row["table_high"]) == (1, 1, 1)


@pytest.mark.parametrize(("columns", "row", "table", "told"), [
    ("sha1,label", "a,1", None, r"not those of any table.*--of TABLE"),
    ("sha1,label", "a,1", "frequent_chunks", "has none of its 1 judged rows in frequent_chunks"),
    ("sha1,label", "a,1", "quilts", "no table 'quilts'"),
    ("text,label", "a,1", "frequent_chunks", "has no column 'sha1'"),
    ("sha1,text", "a,1", "frequent_chunks", "has no column 'label'"),
    ("sha1,label", "a,", "frequent_chunks", "no row has a label yet"),
    ("sha1,label", ",1", "frequent_chunks", "row 2 has a label and no sha1"),
    ("sha1,occurrences,label", "a,1e5,1", "frequent_chunks",
     "row 2: occurrences '1e5' is no value of this column"),
    ("chunking,url_a,url_b,shared,containment_a,containment_b,label", "x,a,b,1,0,0,1",
     "frequent_chunks", "has the columns of page_overlap, not of frequent_chunks"),
])
def test_sheets_that_are_refused(columns: str, row: str, table: str | None, told: str,
                                 result: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=told) as refused:
        evaluate_rows(result, sheet(tmp_path, columns, row), table)
    assert isinstance(refused.value, SheetError) or table == "quilts"


def test_two_rows_that_differ_are_refused_and_equal_ones_count_once(
    result: str, tmp_path: Path,
) -> None:
    rows = [f"2-lines,http://a/1,http://b/1,{label}" for label in ("1", "spam", "0")]
    path = sheet(tmp_path, "chunking,url_a,url_b,label", *rows[:2])
    found = evaluate_rows(result, path, "page_overlap")
    assert (len(found.found), found.judgements.repeated) == (1, 1)
    path = sheet(tmp_path, "chunking,url_a,url_b,label", *rows)
    with pytest.raises(SheetError, match="rows 2 and 4 judge 2-lines and http://a/1 and"):
        evaluate_rows(result, path, "page_overlap")


def test_it_is_shown_and_of_what_is_asked(
    result: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "s.csv"
    assert main(["sample", result, "--of", "frequent_chunks", "-n", "60", "--by", "occurrences:10",
                 "-o", str(path)]) == 0
    assert f"evaluate {result} --judged {path}" in " ".join(capsys.readouterr().out.split())
    fill_sheet(path, lambda row: ("1", "[red]") if row["occurrences"] == "1" else ("0", ""))
    with path.open() as source:
        rare = sum(row["occurrences"] == "1" for row in csv.DictReader(source))
    assert main(["evaluate", result, "--judged", str(path), "--by", "reason,hosts"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "60 judged rows of frequent_chunks" in told
    assert f"stratum occurrences 1 to 9 {rare} {rare} 0 0 100.0 100.0 {rare} 100.0 100.0 100.0" in (
        told)
    assert f"correct [red] 1 {rare} 100.0" in told
    assert f"incorrect (none) 1 {60 - rare} 100.0" in told
    assert main(["evaluate", result, "--pages", str(path), "--of", "pages"]) == 2
    assert "--of is for --judged" in capsys.readouterr().err
