"""`decontaminate`: evaluation files as people have them, what is refused, and the summary."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from beam_reuse.cli.main import main
from beam_reuse.io.results import tables

QUESTION = "Which of the rivers that flow through the old town is the longest one, and why?"
PASSAGE = "The longest river of the old town is the one that the bridge crosses by the mill."
ROWS = [
    {"qid": "a", "Question": QUESTION, "choices": {"text": ["yes", "no"], "label": ["A", "B"]}},
    {"qid": "b", "Question": "too short", "answer": PASSAGE},
    {"qid": "c", "Question": None, "n": 3},
]


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    pages = [{"url": "http://a.example/", "text": f"Quiz\n\n{QUESTION.upper().replace(' ', '  ')}"},
             {"url": "http://b.example/", "html": f"<p>{PASSAGE.replace(' the ', ' <i>the</i> ')}"},
             {"url": "http://c.example/", "text": "nothing of that " * 20}]
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in pages))
    return str(path)


def run(corpus: str, evals: Path, *options: str) -> Path:
    out = evals.parent / f"{evals.name}-out"
    assert main(["decontaminate", corpus, "--against", str(evals), "-o", str(out), *options]) == 0
    return out


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tables.read(str(folder), table).to_pylist()
    return found


def pairs(folder: Path) -> list[tuple[str, str, str]]:
    return [(row["id"], row["field"], row["url"]) for row in rows(folder, "contamination")]


def lines(given: list[Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in given).encode()


def test_evaluation_files_in_every_form_have_the_same_items(tmp_path: Path, corpus: str) -> None:
    wanted = [("a", "Question", "http://a.example/"), ("b", "answer", "http://b.example/")]
    zst = zstandard.ZstdCompressor().compress(lines(ROWS))
    for name, content in (("e.jsonl", lines(ROWS)), ("e.jsonl.gz", gzip.compress(lines(ROWS))),
                          ("e.jsonl.zst", zst), ("bom.jsonl", b"\xef\xbb\xbf\n" + lines(ROWS))):
        (tmp_path / name).write_bytes(content)
        assert pairs(run(corpus, tmp_path / name)) == wanted, name
    names = ("qid", "Question", "choices", "answer", "n")
    pq.write_table(pa.Table.from_pylist([{name: row.get(name) for name in names} for row in ROWS]),
                   tmp_path / "e.parquet", row_group_size=1)
    out = run(corpus, tmp_path / "e.parquet")
    assert pairs(out) == wanted
    assert rows(out, "evaluations") == [
        {"eval": "e.parquet", "rows": 3, "rejected": 1, "items": 3, "too_short": 1, "prompts": 0,
         "compared": 2, "contaminated": 2}]
    assert [(row["row"], row["reason"]) for row in rows(out, "eval_rejects")] == [(2, "no-text")]


def test_fields_may_be_named_and_nested(tmp_path: Path, corpus: str) -> None:
    given = [{"meta": {"key": 5}, "turns": [{"role": "user", "content": QUESTION},
                                            {"role": "other", "content": PASSAGE}], "x": QUESTION},
             {"turns": "none", "meta": {}}]
    (tmp_path / "e.jsonl").write_bytes(lines(given))
    out = run(corpus, tmp_path / "e.jsonl", "--eval-id", "meta.key", "--eval-fields",
              "turns.content")
    assert pairs(out) == [("5", "turns.content", "http://a.example/"),
                          ("5", "turns.content", "http://b.example/")]
    shares = [row["share"] for row in rows(out, "contamination")]
    assert 0 < min(shares) < 1
    assert [row["reason"] for row in rows(out, "eval_rejects")] == ["no-text"]


def test_rows_without_usual_names_are_taken_by_all_their_texts(
    tmp_path: Path, corpus: str,
) -> None:
    (tmp_path / "e.jsonl").write_bytes(lines([{"frage": QUESTION}, {"frage": PASSAGE}]))
    assert pairs(run(corpus, tmp_path / "e.jsonl")) == [
        ("0", "frage", "http://a.example/"), ("1", "frage", "http://b.example/")]


NESTED: list[tuple[dict[str, Any], list[tuple[str, str, str]]]] = [
    ({"id": "n", "question": {"stem": QUESTION, "choices": [{"text": "no", "label": "A"}]}},
     [("n", "question.stem", "http://a.example/")]),
    ({"question_id": 8, "category": "writing", "turns": [QUESTION, "And now shorter."]},
     [("8", "turns", "http://a.example/")]),
    ({"messages": [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": "ok"}]},
     [("0", "messages.content", "http://a.example/")]),
    ({"k": 1, "data": {"frage": PASSAGE, "x": [1, {"y": None}]}},
     [("0", "data.frage", "http://b.example/")]),
]


@pytest.mark.parametrize(("row", "wanted"), NESTED)
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_texts_that_are_nested_are_found(
    row: dict[str, Any], wanted: list[tuple[str, str, str]], form: str, tmp_path: Path, corpus: str,
) -> None:
    path = tmp_path / f"e.{form}"
    if form == "jsonl":
        path.write_bytes(lines([row]))
    else:
        row = {**row, "data": {**row.get("data", {}), "x": []}} if "data" in row else row
        pq.write_table(pa.Table.from_pylist([row]), path)
    assert pairs(run(corpus, path)) == wanted


def test_odd_columns_of_parquet_are_read(tmp_path: Path, corpus: str) -> None:
    moment = pa.array([1_600_000_000_123_456_789], pa.timestamp("ns"))
    pq.write_table(pa.table({
        "idx": pa.array([7], pa.uint64()), "question": pa.array([QUESTION], pa.string_view()),
        "answer": pa.array([PASSAGE]).dictionary_encode(),
        "about": pa.StructArray.from_arrays([moment], ["at"])}), tmp_path / "e.parquet")
    assert pairs(run(corpus, tmp_path / "e.parquet")) == [
        ("7", "answer", "http://b.example/"), ("7", "question", "http://a.example/")]


def test_rows_within_a_row_are_rejected_with_the_way_out(tmp_path: Path, corpus: str) -> None:
    (tmp_path / "e.json").write_bytes(lines([{"version": "1", "data": [{"context": QUESTION}]}]))
    (bad,) = rows(run(corpus, tmp_path / "e.json"), "eval_rejects")
    assert bad["reason"] == "nested-rows" and "jq -c '.data[]'" in bad["detail"]


def test_bad_rows_are_rows_of_a_table(
    tmp_path: Path, corpus: str, capsys: pytest.CaptureFixture[str],
) -> None:
    content = b'{"question": 1}\n[1]\n{"question"\n\n' + lines(ROWS[:1]) + b'{"id": 4}\n'
    (tmp_path / "e.jsonl.gz").write_bytes(gzip.compress(content) + gzip.compress(content)[:40])
    out = run(corpus, tmp_path / "e.jsonl.gz")
    found = [(row["row"], row["reason"]) for row in rows(out, "eval_rejects")]
    assert found[:4] == [(0, "no-text"), (1, "bad-json"), (2, "bad-json"), (4, "no-text")]
    assert len(found) == 5 and found[4][0] == 5
    (counts,) = rows(out, "evaluations")
    assert (counts["rows"], counts["rejected"], counts["compared"]) == (6, 5, 1)
    assert pairs(out) == [("a", "Question", "http://a.example/")]
    said = capsys.readouterr().out
    assert "1 of 1 item (100%): 1 whole" in said and "5 rows not read (eval_rejects)" in said


def test_a_damaged_parquet_file_is_counted_by_its_rows(tmp_path: Path, corpus: str) -> None:
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"id": list(map(str, range(3000))), "text": [QUESTION] * 3000}), path,
                   row_group_size=1000, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    group = pq.ParquetFile(path).metadata.row_group(1).column(1)
    content[group.data_page_offset:group.data_page_offset + 60] = bytes(60)
    path.write_bytes(content)
    (tmp_path / "good.jsonl").write_bytes(lines(ROWS[:1]))
    out = run(corpus, path, "--max-items-per-gram", "5000")
    (counts,) = rows(out, "evaluations")
    assert (counts["rows"], counts["rejected"], counts["items"]) == (3000, 2000, 1000)
    assert [row["reason"] for row in rows(out, "eval_rejects")] == ["bad-parquet"]


@pytest.mark.parametrize(("name", "content", "said"), [
    ("e.json", b'[{"question": "x"}]', "this is one JSON array"),
    ("e.json", b'{\n "data": []}', "this is JSON over several lines"),
    ("e.csv", b"id,question\n", "CSV is not read"),
    ("e.txt", b"some words\n", "neither JSON Lines nor Parquet"),
])
def test_files_that_are_no_evaluation_sets_are_refused(
    name: str, content: bytes, said: str, tmp_path: Path, corpus: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / name).write_bytes(content)
    assert main(["decontaminate", corpus, "--against", str(tmp_path / name), "-o",
                 str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert said in error and name in error and not (tmp_path / "out").exists()


def test_wrong_usage_says_what_to_give(
    tmp_path: Path, corpus: str, capsys: pytest.CaptureFixture[str],
) -> None:
    out = str(tmp_path / "out")
    assert main(["decontaminate", corpus, "-o", out]) == 2
    assert "--against" in capsys.readouterr().err
    (tmp_path / "e.jsonl").write_bytes(lines(ROWS))
    for option, value, said in (("--gram-size", "0", "from 1 to 255"),
                                ("--min-share", "2", "from 0 to 1"),
                                ("--max-items-per-gram", "0", "from 1 to")):
        assert main(["decontaminate", corpus, "--against", str(tmp_path / "e.jsonl"), "-o", out,
                     option, value]) == 2
        assert f"{option}: " in (error := capsys.readouterr().err) and said in error


def test_a_config_file_has_the_gram_size_of_this_command(tmp_path: Path, corpus: str) -> None:
    (tmp_path / "e.jsonl").write_bytes(lines(ROWS))
    (tmp_path / "job.yaml").write_text("gram-size: 9\nmin-share: 0.5\n")
    out = run(corpus, tmp_path / "e.jsonl", "--config", str(tmp_path / "job.yaml"))
    settings = tables.read_manifest(str(out)).settings
    assert (settings["gram-size"], settings["min-share"]) == (9, 0.5)
    assert settings["against"][0].startswith("e.jsonl sha256:")
