"""`check --trust first-use`: a store that learns by itself, from the command line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from beam_reuse.cli.main import main
from tests.cli.checking import answers, page

BANK = ("<title>Bank</title><p>Welcome to the bank of the northern lights.</p>"
        "<p>Never tell anybody your secret number, not even us.</p><input type=password>")
COPY = BANK.replace("<p>", "<p class=x>").replace("Bank", "Safe")


def check(store: Path, *words: str) -> int:
    return main(["check", "--trust", "first-use", "--store", str(store), *words])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def bank(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The bank's page, which the store has learnt."""
    path = page(tmp_path / "bank.html", BANK)
    assert check(store, path, "--url", "https://bank.example/login?x=1") == 0
    assert "not flagged" in (said := capsys.readouterr().out) and "learnt: 2 new passages" in said
    return path


def test_people_read_whose_content_it_is(
        store: Path, bank: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = page(tmp_path / "copy.html", COPY)
    assert check(store, copy, "--url", "http://evil.example/") == 0
    assert capsys.readouterr().out.splitlines() == [
        "http://evil.example/: FLAGGED, 2 of 2 chunks known (100.0%)",
        "  2 passages of bank.example, and this page is not there:",
        "  https://bank.example/login: Welcome to the bank of the northern lights.",
        "  https://bank.example/login: Never tell anybody your secret number, not even us.",
    ]


@pytest.mark.parametrize(("html", "words", "said"), [
    (BANK, [], "not learnt: its http or https URL is not known; give it with --url"),
    ("<p>Log in<input type=password>", ["--url", "http://a.example/"], "no passage of five words"),
])
def test_a_login_page_that_is_not_learnt_says_why(
        html: str, words: list[str], said: str, store: Path, tmp_path: Path,
        capsys: pytest.CaptureFixture[str]) -> None:
    assert check(store, page(tmp_path / "page.html", html), *words) == 0
    assert said in capsys.readouterr().out


def test_a_stream_is_learnt_from_and_answered(
        store: Path, stdin: Any, capsys: pytest.CaptureFixture[str]) -> None:
    visits = [("https://bank.example/", BANK), ("http://evil.example/", COPY),
              ("https://bank.example/", BANK)]
    stdin(b"".join(json.dumps({"url": url, "html": html}).encode() + b"\n" for url, html in visits))
    assert check(store, "--jsonl") == 0
    found = [answer["first_use"] for answer in answers(capsys)]
    assert [(one["flagged"], one["learnt"], one["domain"]) for one in found] == [
        (False, True, None), (True, False, "bank.example"), (False, True, None)]


def test_a_person_decides(
        store: Path, bank: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = page(tmp_path / "copy.html", COPY)
    assert check(store, "--join", "bank.example,www.bank.test") == 0
    assert "bank.example: 2 passages of 1 page, seen on 1 day; one owner with bank.test" in (
        capsys.readouterr().out)
    assert check(store, copy, "--url", "http://bank.test/", "--json") == 0
    assert [answer["flagged"] for answer in answers(capsys)] == [False]
    assert check(store, "--forget", "bank.example,bank.test") == 0
    assert capsys.readouterr().out == "0 sites learnt\n"
    assert check(store, "--learn", bank, "--url", "https://bank.example/", "--json") == 0
    assert answers(capsys)[0]["first_use"]["new"] == 2
    assert check(store, "--sites", "--json") == 0
    assert answers(capsys) == [{
        "domain": "bank.example", "owner": ["bank.example"], "days": 3, "seen": pytest.approx(
            20000, abs=10000), "chunks": 2, "pages": ["https://bank.example/"]}]


def test_settings_are_options(
        store: Path, bank: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = "<p>Nobody else has written this.</p><p>Nor this, which comes after it.</p>"
    copy = page(tmp_path / "copy.html", COPY.replace("<input type=password>", own))
    for words, flagged in (([], True), (["--min-evidence", "3"], False)):
        assert check(store, copy, "--url", "http://evil.example/", "--json", *words) == 0
        assert [answer["flagged"] for answer in answers(capsys)] == [flagged]
    stops = tmp_path / "stops.txt"
    stops.write_text("Welcome to the bank of the northern lights.\n")
    assert check(store, copy, "--url", "http://evil.example/", "--json",
                 "--stop-chunks", str(stops)) == 0
    assert [answer["flagged"] for answer in answers(capsys)] == [False]
    assert check(tmp_path / "new", copy, "--url", "http://evil.example/in", "--json",
                 "--learn-pages", "*/out,*/in") == 0
    assert answers(capsys)[0]["first_use"]["learnt"]


@pytest.mark.parametrize(("words", "said"), [
    (["--trust", "first-use", "{page}"], "--store FILE"),
    (["--store", "{store}", "{page}"], "--trust first-use"),
    (["--min-evidence", "2", "--labels", "x"], "--trust first-use"),
    (["--trust", "first-use", "--store", "{store}", "--labels", "x", "{page}"], "--labels does"),
    (["--trust", "first-use", "--store", "{store}", "--page-threshold", "1"], "--page-threshold"),
    (["--trust", "first-use", "--store", "{store}", "--min-evidence", "0"], "--min-evidence.*1 or"),
    (["--trust", "first-use", "--store", "{store}", "--join", "a.example"], "two domains"),
    (["--trust", "first-use", "--store", "{store}", "--join", "a.example,a b"], "no domain"),
    (["--trust", "first-use", "--store", "{store}", "--sites", "{page}"], "alone"),
    (["--trust", "first-use", "--store", "{store}", "--learn", "{page}"], "address"),
    (["--trust", "first-use", "--store", "{store}", "--learn", "{page}", "--url", "x"], "no http"),
    (["--trust", "first-use", "--store", "{page}", "--sites"], "no store of learnt sites"),
    (["--trust", "never", "--store", "{store}"], "lists or first-use"),
])
def test_wrong_use_is_named(words: list[str], said: str, tmp_path: Path,
                            capsys: pytest.CaptureFixture[str]) -> None:
    names = {"page": page(tmp_path / "p.html", BANK * 50), "store": str(tmp_path / "store")}
    assert main(["check", *(word.format(**names) for word in words)]) == 2
    assert re.search(said, capsys.readouterr().err)
