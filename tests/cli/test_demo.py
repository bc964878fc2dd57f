"""The sample crawl is what it claims to be, and the demo finds what is planted in it."""

import dataclasses
import hashlib
import io
import re
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from beam_reuse.cli import demonstration
from beam_reuse.cli.main import main
from beam_reuse.demo.cases import CASES
from beam_reuse.demo.checks import Check, check_result
from beam_reuse.demo.planted import FILE, MIRROR, PASSAGES, REPORT, REWRITE, THEFT
from beam_reuse.demo.prose import Prose
from beam_reuse.demo.sample import FILES, rewritten_pages, sample_crawl


def decoded_pages() -> dict[str, bytes]:
    """Payloads of the sound responses with status 200, as warcio reads them; the last of each
    URL in time."""
    pages: dict[str, tuple[str, bytes]] = {}
    crawl = sample_crawl()
    for name, content in crawl.files().items():
        cut = min([p.offset for p in crawl.damaged if p.file == name], default=len(content))
        for record in ArchiveIterator(io.BytesIO(content[:cut])):
            if record.rec_type == "response" and record.http_headers.get_statuscode() == "200":
                url = record.rec_headers["WARC-Target-URI"]
                found = (record.rec_headers["WARC-Date"], record.content_stream().read())
                pages[url] = max(pages.get(url, found), found)
    return {url: payload for url, (_, payload) in pages.items()}


def test_the_crawl_is_the_same_every_time() -> None:
    assert sample_crawl().files() == sample_crawl().files()
    assert set(sample_crawl().files()) == set(FILES)


def test_prose_reads_well() -> None:
    text = Prose("any").paragraph(50)
    assert not re.search(r"\ba [aeiou]|\{|\}|  ", text)
    assert re.fullmatch(r"([A-Z][^.]*\. )*[A-Z][^.]*\.", text)


def test_passages_stand_where_they_are_said_to_be() -> None:
    """warcio, and a search for the paragraph's bytes, against the planted figures."""
    pages = decoded_pages()
    planted = sample_crawl().planted()
    for passage in PASSAGES:
        wanted = passage.html.encode()
        holding = {url: payload.count(wanted) for url, payload in pages.items()
                   if wanted in payload}
        hosts = {url.split("/")[2] for url in holding}
        assert (sum(holding.values()), len(holding), len(hosts)) == (
            passage.occurrences, passage.pages, passage.hosts)
        assert set(holding) <= planted.page_urls


def test_nothing_else_occurs_twice() -> None:
    """Chunks cut by the definition, on the payloads as warcio decodes them; planted cases have
    pages of their own."""
    counts: Counter[str] = Counter()
    planted = sample_crawl().planted()
    cases = {url for case in CASES for url in case.pages()}
    for url, payload in decoded_pages().items():
        if url in planted.page_urls - cases:
            html = url.endswith((".html", "/"))
            pieces = re.split(rb"(?=<(?:p|div)[\s/>])" if html else rb"\n\n", payload)
            counts.update(hashlib.sha1(b" ".join(p.split())).hexdigest() for p in pieces)
    repeated = {sha1: n for sha1, n in counts.items() if n > 1}
    chapters = [" ".join(text.split()).encode() for text in MIRROR.texts()]
    assert repeated == {
        **{hashlib.sha1(chapter).hexdigest(): 2 for chapter in chapters},
        FILE.sha1: FILE.hosts, **dict.fromkeys(THEFT.sha1s, THEFT.pages + 1),
        **{passage.sha1: passage.occurrences for passage in PASSAGES},
    }


def test_there_is_a_passage_on_each_side_of_the_threshold() -> None:
    assert {p.occurrences for p in PASSAGES} >= {10, 11}
    assert [p.is_frequent for p in PASSAGES].count(False) == 1


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    with redirect_stdout(io.StringIO()) as printed:
        assert main(["demo", "-o", str(folder), "--workers", "1"]) == 0
    folder.with_suffix(".txt").write_text(printed.getvalue())
    return folder


def test_the_demo_ends_with_what_to_look_at(demo: Path) -> None:
    lines = demo.with_suffix(".txt").read_text().splitlines()
    assert lines[-2:] == [f"report in {demo / 'result' / 'report.html'}",
                          f"To look at it: beam-reuse view {demo / 'result'}"]
    assert (demo / "result" / "report.html").stat().st_size > 10_000


def test_the_demo_finds_everything(demo: Path) -> None:
    checks = check_result(str(demo / "result"), sample_crawl().planted())
    assert [check for check in checks if not check.passed] == []
    assert len(checks) > 10


def test_the_checks_notice_what_is_missing(demo: Path) -> None:
    planted = sample_crawl().planted()
    more = dataclasses.replace(
        planted,
        page_urls=planted.page_urls | {"http://nowhere.example/"},
        passages=(*PASSAGES[1:], dataclasses.replace(PASSAGES[0], name="never planted")),
        theft=dataclasses.replace(THEFT, directory="elsewhere"),
        file=dataclasses.replace(FILE, hosts=13),
        report=dataclasses.replace(REPORT, path="/other.txt"),
        mirror=dataclasses.replace(MIRROR, chapters=6, quoted=50),
    )
    failed = {c.what for c in check_result(str(demo / "result"), more) if not c.passed}
    assert {"records read", "pages", "no page missing",
            "nothing reported that was not planted", "each of its copies",
            f"taken from {THEFT.source}", "one version of it kept",
            f"{MIRROR.digest} quotes 50 lines of it, and no other page"} <= failed
    assert any(what.startswith("never planted") for what in failed)


def test_a_page_in_other_markup_is_in_the_crawl_and_found_by_its_text() -> None:
    pages, planted = decoded_pages(), sample_crawl().planted()
    for url, html in rewritten_pages().items():
        assert pages[url] == html.encode()
    assert [check.found for check in demonstration.check_rewritten(planted)] == [2, 0]
    more = dataclasses.replace(planted, rewrite=dataclasses.replace(REWRITE, paragraphs=3))
    assert [check.passed for check in demonstration.check_rewritten(more)] == [False, True]


def test_the_demo_does_not_overwrite_unasked(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "-o", str(demo)]) == 2
    assert "--overwrite" in capsys.readouterr().err


def test_a_folder_of_others_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "mine.warc.gz").write_bytes(b"x")
    assert main(["demo", "-o", str(tmp_path)]) == 2
    assert "mine.warc.gz" in capsys.readouterr().err
    assert [p.name for p in tmp_path.rglob("*")] == ["crawl", "mine.warc.gz"]


def test_a_failed_check_is_shown_with_both_sides_and_fails(
    demo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demonstration, "check_rewritten", lambda _: [])
    monkeypatch.setattr(demonstration, "check_result",
                        lambda *_: [Check("sound", 1, 1), Check("lost", {"a": 1}, {"a": 2})])
    assert main(["demo", "-o", str(demo), "--overwrite", "--workers", "1"]) == 1
    shown = capsys.readouterr().out
    for words in ("✓ sound", "✗ lost", "planted {'a': 1}", "found   {'a': 2}", "1 of 2 checks"):
        assert words in shown
