"""The command `check`: pages, trusted pages, wrong use."""

import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from beam_reuse.cli.main import main
from beam_reuse.core.finding import Finding, Match, SourceDomain
from tests.cli.checking import BANK, GOOD, PHISH, ROWS, answers, page, sha1
from tests.labels.writing import listed, write_labels


def test_a_file_of_a_mirror_is_hinted_at_its_url(
        labels: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    """Which folder a mirror was made in is not known; the folder itself says all."""
    monkeypatch.chdir(tmp_path)
    for folder in ("mirror/bank.com/a", "pages"):
        Path(folder).mkdir(parents=True)
    files = [page(Path(folder) / "login.html", BANK) for folder in ("pages", "mirror/bank.com/a")]
    assert main(["check", *files, files[1], "--labels", labels]) == 0
    said = capsys.readouterr()
    assert said.out.count(": FLAGGED") == 3
    assert said.err.splitlines() == [
        "The URL of mirror/bank.com/a/login.html is not known, so what is its own counts as a "
        "copy. If it is http://bank.com/a/login.html, give --url with it, or the folder "
        "that has the host's: check FOLDER."]
    for given in (["mirror"], [files[1], "--url", "http://bank.com/a/login.html"]):
        assert main(["check", *given, "--labels", labels]) == 0
        said = capsys.readouterr()
        assert "http://bank.com/a/login.html: not flagged" in said.out and not said.err
    for given in ([files[1], "--count-own"], [files[0], "--json"]):
        assert main(["check", *given, "--labels", labels]) == 0
        assert not capsys.readouterr().err
    assert main(["check", files[0], "--labels", labels]) == 0
    assert capsys.readouterr().err == (
        "The URL of pages/login.html is not known, so what is its own counts as a copy; "
        "--url gives it.\n")


def test_people_read_what_is_known(labels: str, tmp_path: Path,
                                   capsys: pytest.CaptureFixture[str]) -> None:
    phish, bank = page(tmp_path / "mail.html", PHISH), page(tmp_path / "bank.html", BANK)
    none = page(tmp_path / "none.txt", "nothing\n\nknown")
    assert main(["check", phish, bank, none, "--labels", labels]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{phish}: FLAGGED, 1 of 3 chunks known (33.3%)",
        "  from bank.com (1), shop.co.uk (1)",
        "  chunk 1, bytes 22-50: http://bank.com/ and 1 more",
        f"{bank}: FLAGGED, 1 of 3 chunks known (33.3%)",
        "  the whole file is known: http://bank.com/",
        "  from bank.com (1), shop.co.uk (1)",
        "  chunk 2, bytes 32-58: http://bank.com/ and 1 more",
        f"{none}: not flagged, 0 of 2 chunks known (0.0%)",
    ]
    assert main(["check", "--labels", labels, bank, "--url", "https://login.bank.com/"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "https://login.bank.com/: not flagged, 0 of 3 chunks known (0.0%)",
        "  1 chunk of its own domain did not count",
        "  the whole file is its own: http://bank.com/",
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
        "own_matching": 0, "distinct_matching": 1, "contains": 1 / 3, "file_match": False,
        "own_file": False, "file_source": None, "flagged": True,
        "matches": [{"position": 1, "start": 22, "end": 50, "sha1": ROWS[1][0],
                     "source_url": "http://bank.com/", "sources": 2, "own": False,
                     "score": None}],
        "sources": [{"name": "bank.com", "matching": 1}, {"name": "shop.co.uk", "matching": 1}],
    }]


@pytest.mark.parametrize(("options", "flagged"), [
    ([], True), (["--page-threshold", "0.33"], True), (["--page-threshold", "0.34"], False),
    (["--min-chunks", "3"], True), (["--min-chunks", "4"], False),
    (["--min-matching", "2"], False), (["--url", "http://www.bank.com/"], False),
    (["--url", "http://www.bank.com/", "--count-own"], True),
])
def test_thresholds_decide(options: list[str], flagged: bool, labels: str, stdin: Any,
                           capsys: pytest.CaptureFixture[str]) -> None:
    stdin(PHISH.encode())
    assert main(["check", "--labels", labels, "--json", *options]) == 0
    assert [answer["flagged"] for answer in answers(capsys)] == [flagged]


def test_similar_chunks_are_told_with_their_score(
        tmp_path: Path, stdin: Any, capsys: pytest.CaptureFixture[str]) -> None:
    text = "A paragraph that is long enough to be known when a word of it changes. " * 3
    original = page(tmp_path / "a.html", f"<p>{text}</p>")
    known, plain = str(tmp_path / "known.parquet"), str(tmp_path / "plain.parquet")
    assert main(["labels", original, "-o", known, "--matcher", "nilsimsa"]) == 0
    assert main(["labels", original, "-o", plain]) == 0
    copy = page(tmp_path / "b.html", f"<p>{text.replace('long enough', 'quite long', 1)}</p>")
    check = ["check", copy, "--labels"]
    capsys.readouterr()
    for argv, told in [
        ([*check, known], "0 of 1 chunks known"),
        ([*check, known, "--matcher", "nilsimsa", "--nilsimsa-threshold", "128"], "0 of 1 chunks"),
        ([*check, known, "--matcher", "nilsimsa", "--nilsimsa-threshold", "90"], "FLAGGED, 1 of 1"),
        ([*check, known, "--matcher", "nilsimsa", "--nilsimsa-threshold", "90"], "(similar, score"),
    ]:
        assert main(argv) == 0
        assert told in capsys.readouterr().out
    for argv, told in [
        ([*check, plain, "--matcher", "nilsimsa"],
         "plain.parquet have no Nilsimsa digests. Make them from the originals: beam-reuse labels"),
        ([*check, known, "--matcher", "nilsimsa", "--nilsimsa-threshold", "90,100"],
         "give one --nilsimsa-threshold"),
        ([*check, known, "--nilsimsa-threshold", "90"], "together with --matcher nilsimsa"),
        (["check", "--learn", copy, "--url", "http://b.example/", "--labels", plain, "--matcher",
          "nilsimsa"], "--learn adds hashes"),
    ]:
        assert main(argv) == 2
        assert told in capsys.readouterr().err


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
    (["{page}", "--labels", "{list}", "--page-threshold", "auto"], "from 0 to 1"),
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
    for of in (Finding, Match, SourceDomain):
        assert all(re.search(rf"\b{field.name}\b", told) for field in fields(of)), of
    assert "Settings are adopted from the labels" in told
    assert "(default: as the labels say, 0 for plain lists of hashes" in told
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
