"""The command `check`: pages, streams, trusted pages, wrong use; and that it agrees with `run`."""

import hashlib
import io
import json
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from beam_reuse.analyses.reuse.settings import DetectionSettings
from beam_reuse.cli import check_stream
from beam_reuse.cli.main import main
from beam_reuse.cli.runs import execute
from beam_reuse.core.finding import Finding, Match, Source
from beam_reuse.core.settings import ChunkSettings, StopSettings
from beam_reuse.declaring.settings import Settings
from beam_reuse.io.results import tables
from beam_reuse.plan import RunPlan
from tests.analyses.test_reuse import random_labels
from tests.crawls import random_captures, write_warc
from tests.labels.writing import SETTINGS, listed, write_labels

BANK = "<html><p>Welcome to the bank</p><p>Enter your password</p>"
PHISH = "<html><title>x</title><p>Enter  your password</p> <div>now"


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()


ROWS = [(sha1(BANK), "file", "http://bank.com/"),
        (sha1("<p>Enter your password</p>"), "chunk", "http://bank.com/"),
        (sha1("<p>Enter your password</p>"), "chunk", "http://www.shop.co.uk/a")]


@pytest.fixture
def labels(tmp_path: Path) -> str:
    return write_labels(tmp_path / "bank.parquet", ROWS)


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Any:
    def give(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    return give


def page(path: Path, content: str | bytes) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def answers(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_people_read_what_is_known(labels: str, tmp_path: Path,
                                   capsys: pytest.CaptureFixture[str]) -> None:
    phish, bank = page(tmp_path / "mail.html", PHISH), page(tmp_path / "bank.html", BANK)
    none = page(tmp_path / "none.txt", "nothing\n\nknown")
    assert main(["check", phish, bank, none, "--labels", labels]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{phish}: FLAGGED, 1 of 3 chunks known (33.3%)",
        "  from bank.com (1), shop.co.uk (1)",
        "  chunk 1, bytes 22-50: http://bank.com/",
        f"{bank}: FLAGGED, 1 of 3 chunks known (33.3%)",
        "  the whole file is known: http://bank.com/",
        "  from bank.com (1), shop.co.uk (1)",
        "  chunk 2, bytes 32-58: http://bank.com/",
        f"{none}: not flagged, 0 of 2 chunks known (0.0%)",
    ]


def test_long_findings_are_cut_for_people_only(tmp_path: Path,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(sha1(f"<p>{n}"), "chunk", f"http://h{n}.org/") for n in range(30)]
    path = write_labels(tmp_path / "l.parquet", rows)
    name = page(tmp_path / "p.html", "".join(f"<p>{n}" for n in range(30)))
    assert main(["check", "--labels", path, name]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[1].endswith("(1) and 25 more")
    assert shown[-1] == "  ... 20 more; --json shows all"
    assert main(["check", "--labels", path, name, "--json"]) == 0
    (answer,) = answers(capsys)
    assert (len(answer["matches"]), len(answer["sources"])) == (30, 30)


def test_json_has_every_value(labels: str, tmp_path: Path,
                              capsys: pytest.CaptureFixture[str]) -> None:
    phish = page(tmp_path / "mail.html", PHISH)
    assert main(["check", "--labels", labels, phish, "--json", "--url", "HTTP://x.org#a"]) == 0
    assert answers(capsys) == [{
        "url": "http://x.org/", "chunks": 3, "stop_chunks": 0, "matching": 1,
        "distinct_matching": 1, "contains": 1 / 3, "file_match": False, "file_source": None,
        "flagged": True,
        "matches": [{"position": 1, "start": 22, "end": 50, "sha1": ROWS[1][0],
                     "source_url": "http://bank.com/"}],
        "sources": [{"name": "bank.com", "matching": 1}, {"name": "shop.co.uk", "matching": 1}],
    }]


@pytest.mark.parametrize(("options", "flagged"), [
    ([], True), (["--page-threshold", "0.33"], True), (["--page-threshold", "0.34"], False),
    (["--min-chunks", "3"], True), (["--min-chunks", "4"], False),
])
def test_thresholds_decide(options: list[str], flagged: bool, labels: str, stdin: Any,
                           capsys: pytest.CaptureFixture[str]) -> None:
    stdin(PHISH.encode())
    assert main(["check", "--labels", labels, "--json", *options]) == 0
    assert [answer["flagged"] for answer in answers(capsys)] == [flagged]


def test_stop_lists_are_left_out(labels: str, tmp_path: Path, stdin: Any,
                                 capsys: pytest.CaptureFixture[str]) -> None:
    stop = page(tmp_path / "stop.txt", "<p>Enter your password</p>\n")
    stdin(PHISH.encode())
    assert main(["check", "-", "--labels", labels, "--json", "--stop-chunks", stop]) == 0
    (answer,) = answers(capsys)
    assert (answer["matching"], answer["stop_chunks"], answer["url"]) == (0, 1, "")


def test_a_page_that_cannot_be_read_is_told_and_the_others_are_checked(
        labels: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [page(tmp_path / "empty.html", ""), page(tmp_path / "b.html", PHISH)]
    assert main(["check", "--labels", labels, *names]) == 1
    shown = capsys.readouterr()
    assert "empty-file" in shown.err and "FLAGGED" in shown.out
    assert main(["check", "--labels", labels, "--json", *names]) == 1
    bad, good = answers(capsys)
    assert bad == {"url": "", "file": names[0], "offset": 0,
                   "error": "empty-file: the file holds nothing"}
    assert good["flagged"]


def test_a_page_that_no_parser_should_see_is_told_and_the_others_are_checked(
        tmp_path: Path, stdin: Any, capsys: pytest.CaptureFixture[str]) -> None:
    deep = "<div>" * 100_000
    names = [page(tmp_path / "deep.html", deep), page(tmp_path / "bank.html", BANK)]
    known = str(tmp_path / "bank.brl")
    learn = ["check", "--url", "http://bank.com/", "-o", known, "--chunk-normalise", "text",
             "--min-chunk-bytes", "5"]
    assert main([*learn, "--learn", names[0]]) == 2
    assert "nested" in capsys.readouterr().err and not Path(known).exists()
    assert main([*learn, "--learn", names[1]]) == 0
    capsys.readouterr()
    assert main(["check", "--labels", known, "--json", *names]) == 1
    bad, good = answers(capsys)
    assert bad["file"] == names[0] and bad["error"].startswith("nested-too-deep: ")
    assert good["flagged"]
    stdin(b"".join(json.dumps({"url": "http://a/", "html": html}).encode() + b"\n"
                   for html in (deep, PHISH)))
    assert main(["check", "--labels", known, "--jsonl"]) == 0
    bad, good = answers(capsys)
    assert bad["line"] == 1 and "TooDeep" in bad["error"]
    assert good["matching"] == 1


GOOD = json.dumps({"url": "http://x.org", "html": PHISH}).encode()
BAD_LINES = [
    (b"{", "not JSON"),
    (b"\xff\xfe", "not UTF-8 at byte 0"),
    (b'{"url": "http://a/", "html": "\xff"}', "not UTF-8 at byte 30"),
    (b"[1]", "a list, not an object"),
    (b"null", "null, not an object"),
    (b'{"url": "http://a/"}', "neither html nor text"),
    (b'{"url": "http://a/", "html": null}', "neither html nor text"),
    (b'{"url": 1, "html": "x"}', "url is a number, not text"),
    (b'{"url": "http://a/", "html": ["x"]}', "html is a list, not text"),
    (b'{"url": "http://a/", "text": {}}', "text is an object, not text"),
    (b"[" * 100_000, "nested too deep"),
    (b"x" * 5000, "longer than"),
]


def test_a_stream_survives_every_line(labels: str, stdin: Any, capsys: pytest.CaptureFixture[str],
                                      monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_stream, "LONGEST_LINE", 150_000)
    monkeypatch.setattr(check_stream, "_STEP", 1000)
    lines = [line for bad, _ in BAD_LINES for line in (bad, GOOD)]
    lines[-2] = b"x" * 400_000
    stdin(b"\n".join([*lines, b"", b"  ", GOOD]))
    assert main(["check", "--jsonl", "--labels", labels]) == 0
    found = answers(capsys)
    assert len(found) == 2 * len(BAD_LINES) + 1
    for number, (_, said) in enumerate(BAD_LINES):
        bad, good = found[2 * number:2 * number + 2]
        assert bad["line"] == 2 * number + 1
        assert said in bad["error"] and set(bad) == {"line", "error"}
        assert good["flagged"] and good["url"] == "http://x.org/"
    assert found[-1] == found[1]


def test_lines_may_be_odd_but_sound(labels: str, stdin: Any,
                                    capsys: pytest.CaptureFixture[str]) -> None:
    stdin(b"\n".join([
        b"\xef\xbb\xbf" + GOOD, b'{"html": "<p>Enter your password</p>"}',
        b'{"url": "http://a/", "html": null, "text": "Enter\\n\\nmore"}',
        b'{"url": "\\ud800", "html": "\\ud800<p>", "more": 1e999}', GOOD + b"\r",
        b'{"url": "http://n/", "html": "\\ud800<p>", "n": ' + b"9" * 5000 + b"}",
    ]))
    assert main(["check", "--jsonl", "--labels", labels]) == 0
    found = answers(capsys)
    assert [(row["url"], row["chunks"], row["matching"]) for row in found] == [
        ("http://x.org/", 3, 1), ("", 1, 1), ("http://a/", 2, 0), ("\ud800", 1, 0),
        ("http://x.org/", 3, 1), ("http://n/", 1, 0)]


def test_an_error_in_the_detector_does_not_end_the_stream(
        labels: str, stdin: Any, capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch) -> None:
    from beam_reuse.detector import Detector

    check = Detector.check

    def fails_once(self: Detector, content: str, url: str, kind: str) -> Any:
        monkeypatch.setattr(Detector, "check", check)
        raise RuntimeError("odd page")

    monkeypatch.setattr(Detector, "check", fails_once)
    stdin(GOOD + b"\n" + GOOD)
    assert main(["check", "--jsonl", "--labels", labels]) == 0
    bad, good = answers(capsys)
    assert bad == {"line": 1, "error": "RuntimeError: odd page"}
    assert good["flagged"]


def test_streams_from_files(labels: str, tmp_path: Path,
                            capsys: pytest.CaptureFixture[str]) -> None:
    name = page(tmp_path / "a.jsonl", GOOD + b"\n" + GOOD)
    assert main(["check", "--jsonl", "--labels", labels, name, name]) == 0
    assert len(answers(capsys)) == 4
    assert main(["check", "--jsonl", "--labels", labels, str(tmp_path / "none")]) == 2
    assert "none: No such file" in capsys.readouterr().err


def test_every_answer_comes_before_the_next_line_is_given(labels: str) -> None:
    command = [sys.executable, "-m", "beam_reuse", "check", "--jsonl", "--labels", labels]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        for line in (GOOD, b"bad", GOOD):
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            assert ("error" in json.loads(process.stdout.readline())) == (line == b"bad")
        process.stdin.close()
        assert process.wait(30) == 0


def test_a_reader_that_leaves_is_no_traceback(labels: str) -> None:
    command = [sys.executable, "-m", "beam_reuse", "check", "--jsonl", "--labels", labels]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    assert process.stdin and process.stdout and process.stderr
    process.stdout.close()
    process.stdin.write((GOOD + b"\n") * 3)
    process.stdin.close()
    assert process.stderr.read() == b""
    assert process.wait(30) == 1
    process.stderr.close()


def test_a_trusted_page_is_learned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bank, list_ = page(tmp_path / "bank.html", BANK), str(tmp_path / "bank.brl")
    learn = ["check", "--learn", bank, "--url", "http://bank.com", "--min-chunk-bytes", "20"]
    assert main([*learn, "-o", list_]) == 0
    assert capsys.readouterr().out == (
        f"http://bank.com/: 2 chunks and the file added. {list_} has 3 labels.\n")
    other = page(tmp_path / "other.html", BANK + "<p>and some more of it here")
    assert main(["check", "--labels", list_, "--learn", other, "--url", "http://b.org/x"]) == 0
    assert capsys.readouterr().out == (
        f"http://b.org/x: 1 chunk and the file added; 2 were known. {list_} has 5 labels.\n")
    assert main(["check", "--labels", list_, "--json", "--learn", other, "--url", "http://c.org/",
                 "-o", str(tmp_path / "new.parquet")]) == 0
    assert answers(capsys) == [{"url": "http://c.org/", "file": False, "chunks": 0, "known": 3,
                                "labels": 5, "list": str(tmp_path / "new.parquet")}]
    assert listed(list_) == [(*row[:3], None, None) for row in listed(tmp_path / "new.parquet")]
    assert main(["check", "--labels", list_, bank, "--json"]) == 0
    (answer,) = answers(capsys)
    assert (answer["file_source"], answer["matching"], answer["stop_chunks"]) == (
        "http://bank.com/", 2, 1)


def test_a_new_list_leaves_short_chunks_out(tmp_path: Path) -> None:
    long = "<p>" + "word " * 30
    bank, list_ = page(tmp_path / "bank.html", BANK + long), str(tmp_path / "bank.parquet")
    assert main(["check", "--learn", bank, "--url", "http://bank.com", "-o", list_]) == 0
    assert [row[0] for row in listed(list_)] == [sha1(BANK + long), sha1(long.strip())]


@pytest.mark.parametrize(("argv", "said"), [
    (["{page}"], "give what to look for with --labels FILE"),
    (["{page}", "--labels", "{none}"], "no such file"),
    (["{none}", "--labels", "{list}"], "there is no such file"),
    (["{page}", "--labels", "{page}"], "line 1: '<html>.*' is no hash"),
    (["{page}", "--labels", "{list}", "--page-threshold", "auto"], "needs a whole crawl"),
    (["{page}", "--labels", "{list}", "--page-threshold", "2"], "from 0 to 1"),
    (["{page}", "--labels", "{list}", "--min-chunks", "0"], "--min-chunks"),
    (["{page}", "--labels", "{list}", "--chunk-tags", "p"], "--chunk-tags: the labels"),
    (["{page}", "--labels", "{list}", "--classic"], "the labels"),
    (["{page}", "--labels", "{list}", "-o", "x.brl"], "-o FILE is for --learn"),
    (["{page}", "{page}", "--labels", "{list}", "--url", "http://a/"], "single page"),
    (["--jsonl", "--labels", "{list}", "--url", "http://a/"], "single page"),
    (["--learn", "{page}", "-o", "x.brl"], "needs the page's address"),
    (["--learn", "{page}", "--url", "bank", "-o", "{new}"], "is no URL"),
    (["--learn", "{page}", "--url", "http://a/"], "say where the list goes with -o FILE"),
    (["--learn", "{page}", "--url", "http://a/", "-o", "{new}.csv"], "ends in .brl or .parquet"),
    (["--learn", "{page}", "--url", "http://a/", "-o", "{list}"], "exists already"),
    (["--learn", "{stream}", "--url", "http://a/", "-o", "{new}"], "holds 2 pages"),
    (["--learn", "{page}", "{page}", "--url", "http://a/", "-o", "{new}"], "checks no others"),
    (["--learn", "{page}", "--url", "http://a/", "-o", "{list}/x.brl"], "is a file, not a folder"),
    (["--labels", "{list}", "--project", "x"], "unknown option --project"),
    (["--labels", "{list}", "--jsn"], "Did you mean --json"),
])
def test_wrong_use_is_told_and_nothing_is_written(
        argv: list[str], said: str, labels: str, tmp_path: Path,
        capsys: pytest.CaptureFixture[str]) -> None:
    names = {"page": page(tmp_path / "p.html", PHISH), "list": labels,
             "none": str(tmp_path / "absent"), "new": str(tmp_path / "new.brl"),
             "stream": page(tmp_path / "s.jsonl", GOOD + b"\n" + GOOD.replace(b"x.org", b"y.org"))}
    before = sorted(tmp_path.iterdir())
    assert main(["check", *(word.format(**names) for word in argv)]) == 2
    assert re.search(said, capsys.readouterr().err)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("options", [[], ["--jsonl"]])
def test_a_closed_standard_input_is_told(
        options: list[str], labels: str, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["check", "--labels", labels, *options]) == 2
    assert "standard input is closed. Give files" in capsys.readouterr().err


def test_help_names_every_field_of_an_answer_and_where_settings_come_from(
        capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    for of in (Finding, Match, Source):
        assert all(re.search(rf"\b{field.name}\b", told) for field in fields(of)), of
    assert "Settings are adopted from the labels" in told
    assert "(default: as the labels tell, 0 for plain lists of hashes" in told
    assert "what --stop-chunks lists still does not" in told


def test_plain_lists_take_chunk_options(tmp_path: Path, stdin: Any,
                                        capsys: pytest.CaptureFixture[str]) -> None:
    published = page(tmp_path / "list.txt", "69ba91b478b06e8df0a8f4ef3109179fbcc0039f\n")
    stdin(b"<html><P>\n<p>x")
    assert main(["check", "--labels", published, "--classic", "--json"]) == 0
    assert [answer["matching"] for answer in answers(capsys)] == [1]


def test_beam_is_not_imported(labels: str, tmp_path: Path) -> None:
    phish, stream = page(tmp_path / "p.html", PHISH), page(tmp_path / "s.jsonl", GOOD)
    script = f"""
import sys
from beam_reuse.cli.main import main
assert main(["check", {phish!r}, "--labels", {labels!r}]) == 0
assert main(["check", "--jsonl", {stream!r}, "--labels", {labels!r}]) == 0
assert main(["check", "--learn", {phish!r}, "--url", "http://a/", "--labels", {labels!r}]) == 0
assert main(["check", "--labels", {labels!r}, "--unknown"]) == 2
assert "apache_beam" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


@pytest.mark.parametrize(("chunks", "stops", "threshold", "min_chunks"), [
    (ChunkSettings(), StopSettings(), 0.0, 1),
    (ChunkSettings(("p",), "none"), StopSettings(min_chunk_bytes=12), 0.4, 3),
    (ChunkSettings(("p", "b"), "text"), StopSettings(min_chunk_bytes=4), 0.2, 1),
])
def test_check_says_what_run_says(
        chunks: ChunkSettings, stops: StopSettings, threshold: float, min_chunks: int,
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every row of page_reuse, matched_chunks and matched_files, from the same crawl."""
    captures = write_warc(tmp_path / "crawl.warc.gz", random_captures(7, 150))
    known = random_labels(8, captures, Settings(chunks=chunks))
    path = write_labels(
        tmp_path / "l.parquet", [(hash_, kind, source) for kind, hash_, source in known],
        {**SETTINGS, "chunk-tags": list(chunks.tags), "chunk-normalise": chunks.normalise,
         "min-chunk-bytes": stops.min_chunk_bytes})
    settings = Settings(analyses=("detection",), chunks=chunks, stops=stops,
                        detection=DetectionSettings(labels=(path,), page_threshold=threshold,
                                                    min_chunks=min_chunks))
    crawl, result = str(tmp_path / "crawl.warc.gz"), str(tmp_path / "result")
    execute(RunPlan("run", (crawl,), result, settings), [])
    assert main(["check", crawl, "--labels", path, "--json", "--page-threshold", str(threshold),
                 "--min-chunks", str(min_chunks)]) in (0, 1)
    said = defaultdict(list)
    for answer in answers(capsys):
        if "error" not in answer:
            said[answer["url"]].append(_rows_of(answer))
    ran: dict[str, list[list]] = {}
    for row in tables.read(result, "page_reuse").to_pylist():
        ran[row["url"]] = [[*row.values()], [], []]
    for place, name, columns in (
            (1, "matched_chunks", ("url", "position", "start", "end", "sha1", "source_url")),
            (2, "matched_files", ("url", "source_url"))):
        for row in tables.read(result, name).to_pylist():
            ran[row["url"]][place].append([row[column] for column in columns])
    assert len(ran) > 20 and any(rows[1] for rows in ran.values())
    assert any(rows[2] for rows in ran.values())
    for url, rows in ran.items():
        assert rows in said[url]


def _rows_of(answer: dict[str, Any]) -> list[list]:
    """An answer as the rows `run` writes of its page; a file's hash is not told."""
    url = answer["url"]
    columns = ("url", "chunks", "stop_chunks", "matching", "distinct_matching", "contains",
               "file_match", "flagged")
    matches = [[url, *match.values()] for match in answer["matches"]]
    files = [[url, answer["file_source"]]] if answer["file_match"] else []
    return [[answer[name] for name in columns], matches, files]
