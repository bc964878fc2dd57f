"""`beam-reuse sql`: the tables of a result, read and nothing else."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from beam_reuse.cli.main import main
from beam_reuse.io.results import tables
from beam_reuse.io.results.database import distinct_names


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("it's a result")
    pages = "".join(json.dumps({"url": f"http://h{n}.example/", "html": f"<p>{'a b ' * 40}<p>{n}"})
                    + "\n" for n in range(15))
    (folder / "crawl.jsonl").write_text(pages)
    assert main(["run", str(folder / "crawl.jsonl"), "-o", str(folder / "r"), "--workers", "1",
                 "--analyses", "discovery"]) == 0
    return folder / "r"


def answer(result: Path, capfd: pytest.CaptureFixture[str], *more: str) -> str:
    capfd.readouterr()
    assert main(["sql", str(result), *more]) == 0
    return capfd.readouterr().out


def test_rows_in_each_format(
    result: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str],
) -> None:
    query = "select sha1, occurrences, sample_urls from frequent_chunks order by all"
    expected = [{name: row[name] for name in ("sha1", "occurrences", "sample_urls")}
                for row in tables.read(str(result), "frequent_chunks").to_pylist()]
    assert len(expected) == 1
    lines = answer(result, capfd, query, "--to", "json").splitlines()
    assert [json.loads(line) for line in lines] == expected
    rows = list(csv.DictReader(io.StringIO(answer(result, capfd, query, "--to", "csv"))))
    assert [(row["sha1"], int(row["occurrences"]), json.loads(row["sample_urls"])) for row in rows
            ] == [tuple(row.values()) for row in expected]
    path = tmp_path / "rows.parquet"
    answer(result, capfd, query, "--to", "parquet", "-o", str(path))
    assert pq.read_table(path).to_pylist() == expected
    assert str(expected[0]["sha1"]) in answer(result, capfd, query)
    assert main(["sql", str(result), query, "-o", str(path)]) == 2
    assert "--overwrite" in capfd.readouterr().err


def test_names_that_occur_twice_lose_nothing(
    result: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str],
) -> None:
    query = "select 1 as a, 2 as a, 3 as A, 4 as a_1"
    assert distinct_names(["a", "a", "A", "a_1"]) == ["a", "a_2", "A_3", "a_1"]
    expected = dict(zip(["a", "a_2", "A_3", "a_1"], (1, 2, 3, 4), strict=True))
    assert json.loads(answer(result, capfd, query, "--to", "json")) == expected
    assert answer(result, capfd, query, "--to", "csv") == "a,a_2,A_3,a_1\n1,2,3,4\n"
    path = tmp_path / "rows.parquet"
    answer(result, capfd, query, "--to", "parquet", "-o", str(path))
    assert pq.read_table(path).to_pylist() == [expected]


@pytest.mark.parametrize("query", [
    "copy (select 1) to '{}'", "explain analyze copy (select 1) to '{}'", "create table t (n int)",
    "select 1; drop view pages", "attach '{}' as other", "install httpfs", "set threads = 4",
    "export database '{}'", "pragma enable_profiling", "call pragma_version()",
])
def test_statements_that_are_no_queries_are_refused(
    result: Path, tmp_path: Path, query: str, capfd: pytest.CaptureFixture[str],
) -> None:
    target = tmp_path / "written"
    assert main(["sql", str(result), query.format(target)]) == 2
    assert "only queries" in capfd.readouterr().err
    assert not target.exists()


@pytest.mark.parametrize("query", [
    "select * from read_csv('{}')", "select * from read_text('{}')", "from '{}'",
    "select * from glob('/*')", "from 'http://127.0.0.1:1/x.parquet'",
])
def test_nothing_but_the_tables_is_read(
    result: Path, tmp_path: Path, query: str, capfd: pytest.CaptureFixture[str],
) -> None:
    other = tmp_path / "secret.csv"
    other.write_text("a,b\n1,2\n")
    assert main(["sql", str(result), query.format(other)]) == 2
    printed = capfd.readouterr()
    assert not printed.out.strip() and printed.err.startswith("beam-reuse: ")


def test_errors_say_where(result: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", str(result), "select nothing from pages"]) == 2
    assert "nothing" in capfd.readouterr().err
    assert main(["sql", str(result), "  "]) == 2
    assert main(["sql", str(result.parent), "select 1"]) == 2
    assert main(["sql", str(result), "select", "1"]) == 2


@pytest.mark.parametrize(("wrong", "named"), [
    ("frequent_chunk", "Did you mean frequent_chunks"), ("PAGE", "Did you mean pages"),
    ("enum", "The result has depth_histogram, "),
])
def test_a_table_that_is_not_there_has_its_neighbours_named(
    result: Path, wrong: str, named: str, capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(["sql", str(result), f"select * from {wrong}"]) == 2
    error = capfd.readouterr().err
    assert f"There is no table {wrong}. {named}" in error and "pg_" not in error
    assert "pages" in answer(result, capfd, "show tables")


def test_the_prompt_goes_on_after_an_error(
    result: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.StringIO(
        ".tables\nselect * from nope;\nselect count(*)\n as many from pages;\n"))
    capfd.readouterr()
    assert main(["sql", str(result)]) == 1
    printed = capfd.readouterr()
    assert "frequent_chunks: sha1, occurrences" in printed.out
    assert "many" in printed.out and "15" in printed.out and "nope" in printed.err


def piped(result: Path, text: str, capfd: pytest.CaptureFixture[str],
          monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    capfd.readouterr()
    status = main(["sql", str(result)])
    printed = capfd.readouterr()
    return status, printed.out, printed.err


def test_a_pipe_needs_no_semicolon_and_gets_rows_alone(
    result: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert piped(result, "select 40 + 2\n as found", capfd, monkeypatch) == (
        0, "found\n   42\n", "1 row\n")
    assert piped(result, "", capfd, monkeypatch) == (0, "", "")


@pytest.mark.parametrize("text", ["select nothing", "select nothing;\nselect 1;\n",
                                  "select cast(url as int) from pages", ".table\nselect 1;\n"])
def test_what_fails_in_a_pipe_is_a_failure(
    result: Path, text: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    status, out, err = piped(result, text, capfd, monkeypatch)
    assert status == 1 and ("nothing" in err or "no command .table" in err or "INT32" in err)
    assert "Traceback" not in err and (("1" in out) == ("select 1" in text))


def test_what_json_and_text_do_not_have(
    result: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str],
) -> None:
    query = ("select 'nan'::double as a, -'inf'::double as b, "
             "[{'c': 'inf'::double, 'd': 1.5::double}] "
             "as e, '\\x00\\xFFa'::blob as f, interval 14 month + interval '3:00:01' as h, "
             "1.0::float as g")
    text = {"f": "00ff61", "h": "1 year 2 months 03:00:01"}
    (line,) = answer(result, capfd, query, "--to", "json").splitlines()
    assert json.loads(line, parse_constant=lambda name: pytest.fail(name)) == {
        "a": None, "b": None, "e": [{"c": None, "d": 1.5}], **text, "g": 1.0}
    rows = list(csv.DictReader(io.StringIO(answer(result, capfd, query, "--to", "csv"))))
    assert {name: rows[0][name] for name in text} == text
    assert all(value in answer(result, capfd, query) for value in text.values())
    path = tmp_path / "rows.parquet"
    answer(result, capfd, query, "--to", "parquet", "-o", str(path))
    row = pq.read_table(path).to_pylist()[0]
    assert (row["f"], row["h"]) == (b"\x00\xffa", text["h"])


def test_one_query_at_a_time(result: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", str(result), "select 1; select 2"]) == 2
    assert "these are 2 queries" in capfd.readouterr().err
    assert answer(result, capfd, "select 1 as a;", "--to", "csv") == "a\n1\n"


@pytest.mark.parametrize("query", ["-- why\nselect 1 as a", "--why\nselect 1 as a",
                                   "/* why */ select 1 as a -- because"])
def test_a_query_may_begin_with_a_comment(
    result: Path, query: str, capfd: pytest.CaptureFixture[str],
) -> None:
    assert answer(result, capfd, query, "--to", "csv") == "a\n1\n"


def test_rows_go_to_a_folder_that_is_there_outside_of_the_result(
    result: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str],
) -> None:
    before = sorted(result.rglob("*"))
    for path in (result / "rows.csv", result / "pages" / "rows.csv"):
        assert main(["sql", str(result), "select 1", "--to", "csv", "-o", str(path)]) == 2
        assert "the result itself" in capfd.readouterr().err
    assert sorted(result.rglob("*")) == before
    path = tmp_path / "none" / "deep" / "rows.csv"
    assert main(["sql", str(result), "select 1", "--to", "csv", "-o", str(path)]) == 2
    assert "there is no folder" in capfd.readouterr().err
    assert not (tmp_path / "none").exists()


def test_a_reader_that_has_gone_is_no_error(result: Path) -> None:
    program = [sys.executable, "-m", "beam_reuse", "sql", str(result)]
    query = "select a.url, b.url from pages a, pages b, range(100)"  # a megabyte, for any pipe
    for how in ("csv", "json", "table"):
        process = subprocess.Popen([*program, query, "--to", how], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read(), how
        assert process.wait() == 0, how
