"""The command `check --jsonl`: a stream of pages, of which no line ends it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from beam_reuse.cli import check_stream
from beam_reuse.cli.main import main
from tests.cli.checking import GOOD, answers, page

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


def test_a_line_with_its_address_may_hold_what_is_its_own(
        labels: str, stdin: Any, capsys: pytest.CaptureFixture[str]) -> None:
    stdin(b"\n".join([GOOD.replace(b"x.org", b"www.bank.com"), GOOD]))
    assert main(["check", "--jsonl", "--labels", labels]) == 0
    assert [(row["matching"], row["own_matching"], row["flagged"]) for row in answers(capsys)] == [
        (0, 1, False), (1, 0, True)]


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
