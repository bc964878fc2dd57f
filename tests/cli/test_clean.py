"""`clean`: the corpus that it writes, and the account of what went."""

import gzip
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from warcio.archiveiterator import ArchiveIterator

from beam_reuse.cli.main import main
from beam_reuse.demo.sample import sample_crawl
from beam_reuse.demo.writing import write_crawl
from tests.cli.cleaning import ALL, all_bytes, cleaned, random_rows, removals, rows_of, write_lines
from tests.crawls import random_captures, write_warc
from tests.oracles import clean as oracle


@pytest.mark.parametrize("seed", range(3))
def test_lines_that_stay_are_as_they_were_and_the_others_are_accounted_for(
    tmp_path: Path, seed: int,
) -> None:
    rows = random_rows(seed)
    lines = write_lines(tmp_path / "rows.jsonl", rows)
    listed = [rows[3]["url"], rows[17]["url"], "http://h0.example/absent"]
    (tmp_path / "list.txt").write_text("\n".join(listed) + "\n")
    drop = (ALL[:1], ALL[:2], ALL)[seed]
    out = tmp_path / "out"
    noted = cleaned(tmp_path / "rows.jsonl", out, "--drop", ",".join(drop), "--shard-bytes", "4K",
                    "--drop-table", str(tmp_path / "list.txt"))
    gone = removals(out, drop, listed)
    assert noted["listed-but-absent"] == 1 and len(gone) > 10
    stay = [line for row, line in zip(rows, lines, strict=True) if row["url"] not in gone]
    wanted = {f"part-{number:05d}.jsonl.gz": b"".join(stay[i] + b"\n" for i in members)
              for number, members in oracle.shards([len(line) for line in stay], 4096).items()}
    assert {name: gzip.decompress(content) for name, content in all_bytes(out).items()} == wanted


def test_formats_have_the_same_rows_and_other_columns_stay(tmp_path: Path) -> None:
    rows = random_rows(7)
    lines = write_lines(tmp_path / "rows.jsonl", rows)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet", row_group_size=9)
    gone: dict[str, Any] = {}
    for name, to in (("jsonl", "same"), ("parquet", "same"), ("parquet", "jsonl"),
                     ("jsonl", "parquet"), ("jsonl", "warc")):
        out = tmp_path / f"{name}-{to}"
        cleaned(tmp_path / f"rows.{name}", out, "--to", to)
        gone = removals(out, ALL[:1])
        stay = [row for row in rows if row["url"] not in gone]
        (shard,) = (out / "corpus").iterdir()
        if to == "warc":
            with shard.open("rb") as source:
                found = [(record.rec_headers["WARC-Target-URI"],
                          record.content_stream().read().decode())
                         for record in ArchiveIterator(source, check_digests=True)]
            assert found == [(row["url"], row["text"]) for row in stay]
        elif shard.name.endswith(".parquet"):
            table = pq.read_table(shard).to_pylist()
            assert [row if name == "parquet" else
                    {"url": row["url"], "text": row["text"], **json.loads(row["other"])}
                    for row in table] == stay
        else:
            assert [json.loads(line) for line in gzip.decompress(
                shard.read_bytes()).splitlines()] == stay
    assert gone and len(lines) > len(gone)


def test_rows_of_parquet_become_lines_with_what_they_say(tmp_path: Path) -> None:
    """Content of other encodings as text, times finer than Python's in full."""
    html = "<meta charset=iso-8859-1><p>caf\u00e9"
    table = pa.table({
        "url": ["http://a.example/"], "html": pa.array([html.encode("latin-1")], pa.binary()),
        "timestamp": pa.array([1_600_000_000_123_456_789], pa.timestamp("ns")),
        "nested": pa.array([[{"at": 1}]], pa.list_(pa.struct([("at", pa.time64("ns"))]))),
        "took": pa.array([7], pa.duration("ns")), "far": pa.array([10 ** 7], pa.date32()),
        "word": pa.array(["w"]).dictionary_encode()})
    pq.write_table(table, tmp_path / "rows.parquet")
    cleaned(tmp_path / "rows.parquet", tmp_path / "out", "--drop", "none", "--to", "jsonl")
    (content,) = all_bytes(tmp_path / "out").values()
    assert json.loads(gzip.decompress(content)) == {
        "url": "http://a.example/", "html": html, "timestamp": "2020-09-13 12:26:40.123456789",
        "nested": [{"at": "00:00:00.000000001"}], "took": 7, "far": "29349-01-26", "word": "w"}
    (page,) = rows_of(tmp_path / "out", "pages")
    assert page["timestamp"].isoformat() == "2020-09-13T12:26:40.123456+00:00"


def test_records_of_warc_files_stay_byte_for_byte(tmp_path: Path) -> None:
    source, out = tmp_path / "crawl.warc.gz", tmp_path / "out"
    write_warc(source, random_captures(5, 120))
    content = source.read_bytes()
    cleaned(source, out, "--shard-bytes", "2K", "--drop", "near-duplicates,exact-copies")
    gone = removals(out, ALL[:2])
    stay = sorted((row["offset"], row["record_length"], row["url"])
                  for row in rows_of(out, "pages") if row["url"] not in gone)
    assert b"".join(all_bytes(out).values()) == b"".join(
        content[offset : offset + length] for offset, length, _ in stay)
    assert len(all_bytes(out)) > 1
    records = 0
    for path in sorted((out / "corpus").iterdir()):
        with path.open("rb") as opened:
            records += sum(1 for _ in ArchiveIterator(opened, check_digests=True))
    assert records == len(stay)


def test_any_workers_ranges_and_an_index_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = tmp_path / "rows.jsonl"
    write_lines(source, random_rows(11, 150))
    options = ("--shard-bytes", "8K", "--to", "jsonl", "--drop", "near-duplicates,exact-copies")
    cleaned(source, tmp_path / "one", *options)
    cleaned(source, tmp_path / "two", *options, "--workers", "2")
    monkeypatch.setattr("beam_reuse.pages.inputs.LEAST_RANGE", 1 << 12)
    cleaned(source, tmp_path / "cut", *options)
    assert all_bytes(tmp_path / "one") == all_bytes(tmp_path / "two") == all_bytes(tmp_path / "cut")
    assert len({(tmp_path / name / "manifest.json").read_bytes()
                for name in ("one", "two", "cut")}) == 1
    assert main(["index", str(source), "-o", str(tmp_path / "index")]) == 0
    cleaned(tmp_path / "index", tmp_path / "of-index", *options)
    assert rows_of(tmp_path / "of-index", "removed") == rows_of(tmp_path / "one", "removed")


def test_wrong_options_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    source = tmp_path / "rows.jsonl"
    write_lines(source, random_rows(1, 5))
    assert main(["clean", str(source), "-o", str(tmp_path / "o"), "--drop", "copies"]) == 2
    assert "--drop" in capsys.readouterr().err
    (tmp_path / "list.csv").write_text("a,b\n1,2\n")
    assert main(["clean", str(source), "-o", str(tmp_path / "o"), "--drop", "none", "--drop-table",
                 str(tmp_path / "list.csv")]) == 2
    assert "it has no column url" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()
    assert main(["run", str(source), "-o", str(tmp_path / "o"), "--analyses", "clean"]) == 2


def test_a_corpus_is_an_input_again_by_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    source, out = tmp_path / "rows.jsonl", tmp_path / "out"
    write_lines(source, random_rows(1, 30))
    cleaned(source, out)
    assert main(["clean", str(out), "-o", str(tmp_path / "again")]) == 2
    assert f"whose records are in {out / 'corpus'}. Give that folder" in capsys.readouterr().err
    cleaned(out / "corpus", tmp_path / "again", "--drop", "none")
    assert all_bytes(tmp_path / "again") == all_bytes(out)


def test_the_commands_of_the_page_of_docs_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "clean.md").read_text()
    commands = re.findall(r"^\$ beam-reuse (.*)$", page, re.M)
    assert len(commands) == 7
    monkeypatch.chdir(tmp_path)
    write_crawl(sample_crawl(), "crawl")
    Path("unwanted.txt").write_text("http://patchwork.example/best-of.html\n")
    for command in commands:
        assert main(shlex.split(command)) == 0
    assert rows_of(Path("cleaned"), "removed") and len(rows_of(Path("listed"), "removed")) == 1
