"""`--parser html5lib`: the slow reference finds what lexbor finds, wherever HTML is parsed."""

import builtins
import gzip
import importlib.util
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from beam_reuse.cli.main import main
from beam_reuse.core.pages import Kind, RawPage
from beam_reuse.core.settings import HTML5LIB, LEXBOR, ReadSettings, SettingError, require_parser
from beam_reuse.core.text import Document, read_html
from beam_reuse.demo.checks import check_result
from beam_reuse.demo.sample import FILES, sample_crawl
from beam_reuse.detector import Detector
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.io.results import tables
from beam_reuse.io.stored_pages import StoredPage
from beam_reuse.judging.page_texts import read_texts
from beam_reuse.viewer.texts import chunk_settings, parser_of, read_text
from tests.core.real_pages import real_pages
from tests.core.test_text import DIFFERENT_TREES, REOPENED, TEXTAREA, lines_of
from tests.crawl.reading import read_whole

TAGS = ("p", "div")
# html5lib knows no `template`, whose content is no content of the page: here `</div>` ends it.
HIDDEN = "Words that a template hides"
PROBE = f"<div><template></div><p>{HIDDEN} from lexbor</template>"
SHOWN = "A passage that everybody sees, of some words more than a shingle has"


def differences(html: str) -> list[str]:
    """In which respects the parsers differ on a page."""
    one, other = read_html(html, TAGS), read_html(html, TAGS, HTML5LIB)
    found = [name for name in ("text", "base") if getattr(one, name) != getattr(other, name)]
    found += [name for name in ("links", "images") if [*getattr(one, name)] != [
        *getattr(other, name)]]
    return found + ["lines"] * (_lines(one) != _lines(other))


def _lines(document: Document) -> list[str]:
    return lines_of(document.text.decode())


def test_parsers_differ_on_real_pages_for_named_causes_alone(corpora: Path) -> None:
    pages = real_pages(corpora)
    found = Counter((DIFFERENT_TREES[name.partition(" ")[2]], *different)
                    for name, html in pages if (different := differences(html)))
    assert len(pages) > 100
    assert found == {(REOPENED, "links"): 1, (TEXTAREA, "text"): 2}


def test_parsers_agree_on_planted_pages(demo_made: Path) -> None:
    pages = [page for name in FILES for page in read_whole(str(demo_made / "crawl" / name))
             if isinstance(page, RawPage) and page.kind is Kind.HTML]
    assert len(pages) > 300
    assert not [page.fetched_url for page in pages
                if differences(decode_text(page.payload, page.charset))]


def test_template_is_a_named_difference() -> None:
    assert _lines(read_html(PROBE)) == []
    assert _lines(read_html(PROBE, parser=HTML5LIB)) == [f"{HIDDEN} from lexbor"]


def test_html5lib_reads_any_string() -> None:
    assert _lines(read_html("<p>a\ud800<p>\0b", parser=HTML5LIB)) == ["a\ufffd", "b"]


def test_a_whole_run_gives_the_same_tables(demo_made: Path, tmp_path: Path) -> None:
    crawl, result = demo_made / "crawl", str(tmp_path / "result")
    inputs = [str(path) for path in sorted(crawl.iterdir())]
    assert main(["run", *inputs, "-o", result, "--workers", "1", "--min-containment", "0.8",
                 "--parser", "html5lib"]) == 0
    found, usual = (tables.read_manifest(each) for each in (result, str(demo_made / "result")))
    assert (found.settings["parser"], usual.settings["parser"]) == (HTML5LIB, LEXBOR)
    assert all(check.passed for check in check_result(result, sample_crawl().planted()))
    assert {name: [part.checksum for part in parts] for name, parts in found.tables().items()} == {
        name: [part.checksum for part in parts] for name, parts in usual.tables().items()}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of three hosts on which the parsers differ, and an index of them by html5lib."""
    folder = tmp_path_factory.mktemp("probes")
    with (folder / "pages.jsonl").open("w") as lines:
        for host in "abc":
            for number in range(3):
                own = f"<p>{SHOWN} {host}{number}"
                row = {"url": f"http://{host}.example/{number}", "html": PROBE + own}
                lines.write(json.dumps(row) + "\n")
    assert main(["index", str(folder / "pages.jsonl"), "-o", str(folder / "index"),
                 "--parser", "html5lib"]) == 0
    return folder


def read(result: Path, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tables.read(str(result), table).to_pylist()
    return rows


@pytest.mark.parametrize("source", ["pages.jsonl", "index"])
def test_pages_that_are_parsed_again_are_parsed_alike(
    crawl: Path, tmp_path: Path, source: str,
) -> None:
    """Where features are computed, where an index is cut anew, and where texts are read again."""
    result = tmp_path / "result"
    assert main(["run", str(crawl / source), "-o", str(result), "--parser", "html5lib",
                 "--chunk-normalise", "text", "--analyses", "discovery,boilerplate",
                 "--chunk-threshold", "1", "--boilerplate-pages", "2"]) == 0
    assert [row["text"] for row in read(result, "frequent_chunks")] == [f"{HIDDEN} from lexbor"]
    assert {row["text"] for row in read(result, "boilerplate")} == {f"{HIDDEN} from lexbor"}
    url = "http://a.example/0"
    assert HIDDEN.encode() in read_texts(str(result), [url], [str(crawl / source)])[url].text


@pytest.mark.parametrize(("parser", "gone"), [("lexbor", False), ("html5lib", True)])
def test_cleaning_takes_out_lines_that_the_parser_sees(
    crawl: Path, tmp_path: Path, parser: str, gone: bool,
) -> None:
    assert main(["clean", str(crawl / "pages.jsonl"), "-o", str(tmp_path / "out"),
                 "--strip", "frequent-lines", "--strip-pages", "3", "--parser", parser]) == 0
    [shard] = (tmp_path / "out" / "corpus").iterdir()
    rows = [json.loads(line) for line in gzip.decompress(shard.read_bytes()).splitlines()]
    assert all(SHOWN in (row.get("html") or row["text"]) for row in rows)
    # A frequent line stays where it is first; a page without it is text, no longer HTML.
    assert sum(HIDDEN in row.get("html", "") for row in rows) == (1 if gone else len(rows))
    assert not any(HIDDEN in row.get("text", "") for row in rows)


def test_an_index_is_refused_by_a_run_with_the_other_parser(
    crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", str(crawl / "index"), "-o", str(tmp_path / "out")]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert "was indexed with --parser html5lib, this run has lexbor" in message
    assert "Give --parser html5lib, or index again" in message


def test_an_index_made_before_the_option_was_there_is_one_of_lexbor(
    crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    index = tmp_path / "index"
    assert main(["index", str(crawl / "pages.jsonl"), "-o", str(index)]) == 0
    manifest = json.loads((index / "manifest.json").read_text())
    assert manifest["settings"].pop("parser") == LEXBOR
    (index / "manifest.json").write_text(json.dumps(manifest))
    arguments = ["run", str(index), "-o", str(tmp_path / "out"), "--dry-run"]
    assert main(arguments) == 0
    assert main([*arguments, "--parser", "html5lib"]) == 2
    assert "indexed with --parser lexbor" in " ".join(capsys.readouterr().err.split())


def test_the_detector_cuts_with_the_parser_it_is_given(tmp_path: Path) -> None:
    settings = {"chunk-normalise": "text"}
    page = StoredPage("http://a.example/", Kind.HTML, "utf-8", PROBE.encode())
    for parser, seen in ((LEXBOR, 0), (HTML5LIB, 1)):
        detector = Detector((), chunks=chunk_settings(settings), parser=parser)
        assert detector.check(PROBE).chunks == seen
        by_viewer = read_text(page, chunk_settings(settings), parser=parser)
        assert (HIDDEN in by_viewer.text) is bool(seen)
    assert [parser_of(each) for each in ({}, {"parser": HTML5LIB})] == [LEXBOR, HTML5LIB]
    with pytest.raises(SettingError, match=r"parser: 'html' is not allowed; it must be lexbor or"):
        Detector((), parser="html")


def test_html5lib_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr("beam_reuse.core.settings.find_spec",
                        lambda name: None if name == "html5lib" else there(name))
    with pytest.raises(SettingError, match=r"parser html5lib: it is not installed"):
        ReadSettings(parser=HTML5LIB)
    require_parser(LEXBOR)


def test_a_run_by_lexbor_does_not_import_html5lib(monkeypatch: pytest.MonkeyPatch) -> None:
    imported, usual = [], builtins.__import__
    monkeypatch.setattr(builtins, "__import__", lambda name, *rest: (
        imported.append(name), usual(name, *rest))[1])
    read_html(PROBE)
    assert "html5lib" not in imported
    read_html(PROBE, parser=HTML5LIB)
    assert "html5lib" in imported
