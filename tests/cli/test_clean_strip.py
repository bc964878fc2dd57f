"""`clean --strip` and `--flag`: what is left of pages, and what records show of it."""

import gzip
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from warcio.archiveiterator import ArchiveIterator

from beam_reuse.cli.main import main
from beam_reuse.io.results.run_folder import WORK_PREFIX
from beam_reuse.io.results.tables import read_manifest
from tests.cli.cleaning import all_bytes, changed_line, cleaned, rows_of, write_lines
from tests.oracles import clean as oracle
from tests.results.test_files import MemoryFileSystem

WORDS = [f"word{i}" for i in range(40)]
ENDS = ("\n", "\n", "\n", "\r\n", "\u2028", "\n\n", "\n \n")
LINES = ("--strip", "boilerplate,frequent-lines", "--strip-pages", "3", "--boilerplate-share",
         "0.3")
EVERYTHING = ("--strip", "boilerplate,frequent-lines,matched", "--strip-pages", "4",
              "--chunk-threshold", "3")


def random_rows(seed: int, n: int = 70) -> list[dict[str, Any]]:
    """Rows of text and of HTML with menus and footers, lines that many have, and copies."""
    rng = random.Random(seed)
    often = [" ".join(rng.choices(WORDS, k=6)) for _ in range(12)]
    bodies = [[" ".join(rng.choices(WORDS, k=9)) for _ in range(rng.randint(0, 7))]
              for _ in range(30)]
    rows: list[dict[str, Any]] = []
    for i in range(n):
        host = f"h{rng.randrange(3)}.example"
        lines = [f"Menu  of {host}", *rng.sample(often, rng.randrange(4)), *rng.choice(bodies),
                 *rng.sample(often, rng.randrange(2)), f"© {host}"][rng.randrange(3):]
        row: dict[str, Any] = {"id": i, "url": f"http://{host}/{rng.randrange(10 ** 6)}"}
        if rows and rng.random() < 0.25:
            earlier = rng.choice(rows)
            row |= {name: earlier[name] + "\n" * rng.randrange(2) for name in ("text", "html")
                    if name in earlier}
        elif rng.random() < 0.5:
            row["text"] = "".join(line + rng.choice(ENDS) for line in lines)
        else:
            row["html"] = "<html><body>" + "".join(
                f"<{tag}>{line} &amp; é</{tag}>{'<br>' * rng.randrange(2)}" for line in lines
                for tag in (rng.choice(("p", "div", "span")),)) + "</body></html>"
        rows.append({**row, "meta": {"score": i / 7, "é": [None, i]}})
    return rows


def page_of(row: Mapping[str, Any]) -> oracle.Page:
    return oracle.Page(row["url"], urlsplit(row["url"]).netloc, row.get("html", row.get("text")),
                       "html" in row)


def left_of(
    rows: list[dict[str, Any]], out: Path, strip: str, most: int,
) -> dict[str, oracle.Left]:
    """What the definition leaves of pages that are not dropped, from the tables of the run."""
    dropped = {row["url"] for row in rows_of(out, "removed") if row["reason"] in (
        "near-duplicate", "drop-table")}
    templates = {(row["host"], row["text"]) for row in (
        rows_of(out, "boilerplate") if "boilerplate" in strip else ())}
    spans: dict[str, list[tuple[int, int]]] = {}
    for row in rows_of(out, "matched_chunks") if "matched" in strip else ():
        spans.setdefault(row["url"], []).append((row["start"], row["end"]))
    pages = [page_of(row) for row in rows]
    often = oracle.frequent(pages, dropped, most) if "frequent" in strip else {}
    return {page.url: oracle.stripped(page, templates, often, spans.get(page.url, []))
            for page in pages if page.url not in dropped}


def changed_row(row: Mapping[str, Any], left: oracle.Left) -> dict[str, Any]:
    """The row as it is to be written."""
    was, now = ("html" if "html" in row else "text"), "html" if left.page.is_html else "text"
    found = {now if name == was else name: left.page.content if name == was else value
             for name, value in row.items()}
    return {**found, "stripped": [{"reason": reason, "text": text} for reason, text in left.gone]}


def accounted(
    rows: list[dict[str, Any]], out: Path, left: Mapping[str, oracle.Left], least: int,
) -> None:
    """`removed` and the sums are those of the definition."""
    what = {"as-text": "markup"}
    wanted = []
    for row in rows:
        found = left.get(row["url"])
        if found is None or not found.gone:
            continue
        size = len(page_of(row).content.encode())
        if found.tokens < least:
            wanted.append((row["url"], "page", "too-little-left", size))
        else:
            wanted += [(row["url"], what.get(reason, "lines"), reason, number)
                       for reason, number in found.sizes.items()]
    there = [(row["url"], row["what"], row["reason"], row["bytes"])
             for row in rows_of(out, "removed") if row["url"] in left]
    assert sorted(there) == sorted(wanted)
    noted = read_manifest(str(out)).accounting.noted
    gone = sum(row["bytes"] for row in rows_of(out, "removed"))
    assert noted["kept-bytes"] + gone == sum(len(page_of(row).content.encode()) for row in rows)


@pytest.mark.parametrize(("seed", "options", "least"), [
    (1, ("--strip", "boilerplate", "--boilerplate-share", "0.2"), 1),
    (2, ("--strip", "frequent-lines", "--strip-pages", "2", "--min-left", "0"), 0),
    (3, (*LINES, "--min-left", "20"), 20),
    (4, EVERYTHING, 1), (5, (*EVERYTHING, "--drop", "none", "--min-left", "25"), 25),
])
def test_random_corpora_are_stripped_by_the_definition(
    tmp_path: Path, seed: int, options: tuple[str, ...], least: int,
) -> None:
    rows = random_rows(seed)
    lines = write_lines(tmp_path / "rows.jsonl", rows)
    out = tmp_path / "out"
    cleaned(tmp_path / "rows.jsonl", out, *options, "--shard-bytes", "3K")
    most = int(options[options.index("--strip-pages") + 1]) if "--strip-pages" in options else 0
    left = left_of(rows, out, options[1], most)
    accounted(rows, out, left, least)
    stay, sizes = [], []
    for row, line in zip(rows, lines, strict=True):
        found = left.get(row["url"])
        if found is None or (found.gone and found.tokens < least):
            continue
        stay.append(changed_line(changed_row(row, found), ("html", "text", "stripped"))
                    if found.gone else line)
        sizes.append(len(found.page.content.encode()) if found.gone else len(line))
    assert {name: gzip.decompress(content) for name, content in all_bytes(out).items()} == {
        f"part-{number:05d}.jsonl.gz": b"".join(stay[i] + b"\n" for i in members)
        for number, members in oracle.shards(sizes, 3 << 10).items()}
    reasons = {reason for found in left.values() for reason, _ in found.gone}
    assert reasons == set(options[1].split(",")), "the corpus is too tame to say anything"


ODD = (b'"big": 123456789012345678901234567890', b'"nan": [NaN, -Infinity]', b'"x": "a\\ud800b"',
       b'"dup": 1, "dup" :2', b'"f": 0.12345678901234567890123', b'"e": 1E400', b'"n": -0.0',
       b'"deep": ' + b"[" * 900 + b"]" * 900, b'"bytes": "\xff\xe9"', b'"text": null')


@pytest.mark.parametrize("to", ["jsonl", "parquet"])
def test_whatever_other_columns_say_they_say_it_afterwards(tmp_path: Path, to: str) -> None:
    written = [b'{"url": "http://a.example/%d" , "html": "<p>Menu<p>one%d page%d", %s}' %
               (i, i, i, odd) for i, odd in enumerate(ODD)]
    (tmp_path / "rows.jsonl").write_bytes(b"\xef\xbb\xbf" + b"\r\n".join(written))
    cleaned(tmp_path / "rows.jsonl", tmp_path / "out", "--drop", "none", "--strip", "boilerplate",
            "--boilerplate-pages", "2", "--to", to)
    (shard,) = (tmp_path / "out" / "corpus").iterdir()
    if to == "jsonl":
        found = gzip.decompress(shard.read_bytes()).splitlines()
        wanted = [b'{"url":"http://a.example/%d","text":"one%d page%d",%s,"stripped":[{"reason":'
                  b'"boilerplate","text":"Menu"}]}' % (
                      i, i, i, odd.replace(b'": ', b'":').replace(b'" :', b'":')
                      .replace(b", \"dup", b',"dup'))
                  for i, odd in enumerate(ODD[:-1])]
        assert found[:-1] == wanted
        assert json.loads(found[-1])["text"] == f"one{len(ODD) - 1} page{len(ODD) - 1}"
    else:
        rows = pq.read_table(shard).to_pylist()
        assert [row["text"] for row in rows] == [f"one{i} page{i}" for i in range(len(ODD))]
        assert '"big":123456789012345678901234567890' in rows[0]["other"]
        assert '"nan":[NaN, -Infinity]' in rows[1]["other"]


def test_afterwards_no_line_is_on_more_pages_than_asked_for(tmp_path: Path) -> None:
    rows = random_rows(8, 90)
    write_lines(tmp_path / "rows.jsonl", rows)
    cleaned(tmp_path / "rows.jsonl", tmp_path / "out", "--strip", "frequent-lines",
            "--strip-pages", "3", "--to", "jsonl")
    pages = [page_of(json.loads(line)) for content in all_bytes(tmp_path / "out").values()
             for line in gzip.decompress(content).splitlines()]
    assert oracle.frequent([page_of(row) for row in rows], (), 3)
    assert not oracle.frequent(pages, (), 3)


@pytest.mark.parametrize("text", [pa.large_string(), pa.string_view()])
def test_rows_of_parquet_keep_their_columns_and_types(tmp_path: Path, text: pa.DataType) -> None:
    rows = random_rows(6)
    schema = pa.schema([("id", pa.int16()), ("url", pa.string()), ("html", text),
                        ("meta", pa.struct([("score", pa.float32()), ("é", pa.list_(pa.int8()))])),
                        ("text", pa.string()), ("stripped", pa.bool_())])
    table = pa.Table.from_pylist(rows, schema)
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=9)
    out = tmp_path / "out"
    cleaned(tmp_path / "rows.parquet", out, *LINES)
    left = left_of(rows, out, LINES[1], 3)
    (shard,) = (out / "corpus").iterdir()
    found = pq.read_table(shard)
    assert found.schema.names == [*schema.names, "stripped_"]
    assert found.schema.remove(6).equals(schema)
    wanted = []
    for row in table.to_pylist():
        mine = left.get(row["url"])
        if mine is None or (mine.gone and not mine.tokens):
            continue
        row["stripped_"] = None
        if mine.gone:
            row["stripped_"] = changed_row(rows[row["id"]], mine)["stripped"]
            html = mine.page.is_html
            row |= {"html": mine.page.content if html else None,
                    "text": None if html else mine.page.content}
        wanted.append(row)
    assert found.to_pylist() == wanted


def test_other_pages_become_rows_that_say_what_was_stripped(tmp_path: Path) -> None:
    rows = random_rows(9)
    write_lines(tmp_path / "rows.jsonl", rows)
    cleaned(tmp_path / "rows.jsonl", tmp_path / "lines", *LINES)
    cleaned(tmp_path / "rows.jsonl", tmp_path / "parquet", *LINES, "--to", "parquet")
    (shard,) = (tmp_path / "parquet" / "corpus").iterdir()
    found = []
    for row in pq.read_table(shard).to_pylist():
        other = json.loads(row.pop("other"))
        found.append({name: value for name, value in {**row, **other}.items() if value is not None})
    (content,) = all_bytes(tmp_path / "lines").values()
    assert found == [json.loads(line) for line in gzip.decompress(content).splitlines()]


def test_warc_records_that_are_stripped_are_conversions_with_an_account(tmp_path: Path) -> None:
    rows = random_rows(10)
    write_lines(tmp_path / "rows.jsonl", rows)
    cleaned(tmp_path / "rows.jsonl", tmp_path / "warc", "--drop", "none", "--to", "warc")
    (source,) = (tmp_path / "warc" / "corpus").iterdir()
    before = {record.rec_headers["WARC-Target-URI"]: record.rec_headers["WARC-Record-ID"]
              for record in records_in(source)}
    assert len(before) == len(rows)
    out = tmp_path / "out"
    cleaned(source, out, *LINES)
    left = left_of(rows, out, LINES[1], 3)
    (shard,) = (out / "corpus").iterdir()
    expected = [row for row in rows if row["url"] in left and not (
        left[row["url"]].gone and not left[row["url"]].tokens)]
    there = [(record.rec_type, record.rec_headers, content)
             for record in records_in(shard) for content in [record.text]]
    at = 0
    for row in expected:
        mine, (kind, headers, content) = left[row["url"]], there[at]
        assert (headers["WARC-Target-URI"], content) == (row["url"], mine.page.content)
        at += 1
        assert kind == ("conversion" if mine.gone else "resource")
        if mine.gone:
            assert headers["WARC-Refers-To"] == before[row["url"]]
            about, account = there[at][1], json.loads(there[at][2])
            assert there[at][0] == "metadata"
            assert about["WARC-Refers-To"] == headers["WARC-Record-ID"]
            assert account == {"stripped": changed_row(row, mine)["stripped"]}
            at += 1
    assert at == len(there) > len(expected)
    assert main(["index", str(shard), "-o", str(tmp_path / "index")]) == 0
    assert read_manifest(str(tmp_path / "index")).accounting.pages == len(expected)


def records_in(path: Path) -> list[Any]:
    """The records of a WARC file, with their content as `text`."""
    found = []
    with path.open("rb") as source:
        for record in ArchiveIterator(source, check_digests=True):
            record.text = record.content_stream().read().decode()
            found.append(record)
    return found


@pytest.mark.parametrize("to", ["jsonl", "parquet", "warc"])
def test_marked_pages_stay_and_say_why(tmp_path: Path, to: str) -> None:
    rows = random_rows(11)
    lines = write_lines(tmp_path / "rows.jsonl", rows)
    (tmp_path / "list.txt").write_text(rows[3]["url"])
    options = ("--drop-table", str(tmp_path / "list.txt"), "--to", to)
    cleaned(tmp_path / "rows.jsonl", tmp_path / "dropped", *options)
    gone = {row["url"]: {name: row[name] for name in ("reason", "because_of", "containment")}
            for row in rows_of(tmp_path / "dropped", "removed")}
    out = tmp_path / "out"
    noted = cleaned(tmp_path / "rows.jsonl", out, *options, "--flag")
    assert noted["kept-pages"] == len(rows) and len(gone) > 3
    assert noted["marked-pages-drop-table"] == 1
    marked = rows_of(out, "removed")
    assert {row["url"] for row in marked} == set(gone) and {row["what"] for row in marked} == {
        "flag"}
    (shard,) = (out / "corpus").iterdir()
    if to == "jsonl":
        assert gzip.decompress(shard.read_bytes()).splitlines() == [
            changed_line({**row, "flag": gone[row["url"]]}, ("flag",)) if row["url"] in gone
            else line
            for row, line in zip(rows, lines, strict=True)]
    elif to == "parquet":
        assert [(row["url"], row["flag"]) for row in pq.read_table(shard).to_pylist()] == [
            (row["url"], gone.get(row["url"])) for row in rows]
    else:
        found = [(record.rec_headers["WARC-Target-URI"], record.rec_type, record.text)
                 for record in records_in(shard)]
        wanted: list[tuple[str, str, str]] = []
        for row in rows:
            wanted.append((row["url"], "resource", row.get("html", row.get("text"))))
            if row["url"] in gone:
                wanted.append((row["url"], "metadata", orjson.dumps(
                    {"flag": gone[row["url"]]}).decode()))
        assert found == wanted


def test_marking_and_stripping_together_drop_nothing(tmp_path: Path) -> None:
    rows = random_rows(12)
    write_lines(tmp_path / "rows.jsonl", rows)
    options = (*LINES, "--min-left", "20")
    cleaned(tmp_path / "rows.jsonl", tmp_path / "dropped", *options)
    noted = cleaned(tmp_path / "rows.jsonl", tmp_path / "out", *options, "--flag")
    assert noted["kept-pages"] == len(rows)
    gone = {row["url"]: row["reason"] for row in rows_of(tmp_path / "dropped", "removed")
            if row["what"] == "page"}
    assert set(gone.values()) == {"near-duplicate", "too-little-left"}
    (content,) = all_bytes(tmp_path / "out").values()
    there = [json.loads(line) for line in gzip.decompress(content).splitlines()]
    assert {row["url"]: row["flag"]["reason"] for row in there if "flag" in row} == gone
    (kept,) = all_bytes(tmp_path / "dropped").values()
    assert [json.loads(line) for line in gzip.decompress(kept).splitlines()] == [
        row for row in there if "flag" not in row]


def test_a_result_any_workers_and_ranges_strip_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = tmp_path / "rows.jsonl"
    write_lines(source, random_rows(13, 120))
    found = ("--chunk-threshold", "3", "--boilerplate-share", "0.3")
    strip = ("--strip", "boilerplate,frequent-lines,matched", "--strip-pages", "4",
             "--shard-bytes", "4K", "--flag")
    cleaned(source, tmp_path / "one", *strip, *found)
    monkeypatch.setattr("beam_reuse.runners.SMALL_INPUT", 0)
    monkeypatch.setattr("beam_reuse.pages.inputs.LEAST_RANGE", 1 << 12)
    cleaned(source, tmp_path / "cut", *strip, *found, "--workers", "2")
    assert main(["run", str(source), "-o", str(tmp_path / "result"), "--min-containment", "0.8",
                 *found]) == 0
    cleaned(source, tmp_path / "from", *strip, "--result", str(tmp_path / "result"))
    for name in ("cut", "from"):
        assert all_bytes(tmp_path / name) == all_bytes(tmp_path / "one")
        assert rows_of(tmp_path / name, "removed") == rows_of(tmp_path / "one", "removed")
    assert (tmp_path / "one" / "manifest.json").read_bytes() == (
        tmp_path / "cut" / "manifest.json").read_bytes()


@pytest.mark.parametrize(("options", "told"), [
    (("--strip", "menus"), "--strip"), (("--strip-pages", "3"), "--strip frequent-lines"),
    (("--min-left", "3"), "--min-left does nothing without --strip"),
    (("--strip", "matched", "--chunk-normalise", "text"), "--chunk-normalise text"),
    (("--strip", "frequent-lines", "--strip-pages", "0"), "--strip-pages"),
])
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], told: str,
) -> None:
    write_lines(tmp_path / "rows.jsonl", random_rows(1, 3))
    assert main(["clean", str(tmp_path / "rows.jsonl"), "-o", str(tmp_path / "o"), *options]) == 2
    assert told in capsys.readouterr().err


def test_a_corpus_goes_to_an_object_store_as_results_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MemoryFileSystem, "objects", {})
    source = tmp_path / "rows.jsonl"
    write_lines(source, random_rows(14))
    options = (*EVERYTHING, "--shard-bytes", "4K", "--flag")
    cleaned(source, tmp_path / "out", *options)
    assert main(["clean", str(source), "-o", "mem://bucket/out", *options]) == 0
    assert main(["clean", str(source), "-o", "mem://bucket/again", *LINES[:4], "--result",
                 "mem://bucket/out"]) == 0
    # A report of a worker that comes late may be left behind, in a folder that is no result's.
    there = {name.removeprefix("mem://bucket/out/"): content
             for name, content in MemoryFileSystem.objects.items()
             if "/out/" in name and WORK_PREFIX not in name}
    local = {str(path.relative_to(tmp_path / "out")): path.read_bytes()
             for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert sorted(there) == sorted(local)
    for name, content in there.items():
        assert name == "run.json" or content == local[name], name
