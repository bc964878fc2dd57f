"""Where contents of pages come from: the crawl wherever it is now, and why they cannot be had."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import zstandard

from beam_reuse.cli.main import main
from beam_reuse.core.chunking import file_sha1
from beam_reuse.demo.warc import gzip_member, http_response, warc_record
from beam_reuse.io.results.tables import read
from beam_reuse.viewer.contents import NoContent
from beam_reuse.viewer.view import open_view

RECORD = warc_record("response", b"HTTP/1.1 200 OK\r\n\r\n" + bytes(range(256)) * 20,
                     "http://a.example/")
URLS = [f"http://h{n}.example/" for n in range(4)]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A result of two files, in folders of their own, in a folder."""
    for name, urls in (("a/x.warc.gz", URLS[:2]), ("b/x.warc.gz", URLS[2:])):
        path = tmp_path / "crawl" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(_warc(urls))
    assert main(["run", *map(str, sorted((tmp_path / "crawl").rglob("*.gz"))), "-o",
                 str(tmp_path / "r"), "--workers", "1", "--analyses", "discovery"]) == 0
    return tmp_path


def _warc(urls: list[str]) -> bytes:
    return b"".join(gzip_member(warc_record("response", http_response(
        f"<p>This is {url}".encode(), "text/html"), url)) for url in urls)


def contents(made: Path, *inputs: Path) -> dict[str, str]:
    """What is had of each page, or why it is not."""
    found = {}
    with open_view(str(made / "r"), list(map(str, inputs))) as view:
        for row in read(str(made / "r"), "pages").to_pylist():
            found[row["url"]] = _content(view, row)
    return found


def _content(view: Any, row: dict[str, Any]) -> str:
    try:
        page = view.contents.of(row)
    except NoContent as error:
        return str(error)
    assert file_sha1(page.payload).hex() == row["sha1"]
    return "had"


def test_the_crawl_may_have_moved(made: Path) -> None:
    assert set(contents(made).values()) == {"had"}
    (made / "crawl").rename(made / "elsewhere")
    assert all("there is no such file" in why for why in contents(made).values())
    assert set(contents(made, made / "elsewhere").values()) == {"had"}
    shutil.copytree(made / "elsewhere", made / "deep" / "down" / "there")
    assert set(contents(made, made / "deep").values()) == {"had"}


def test_what_cannot_be_had_says_why(made: Path) -> None:
    one = made / "crawl" / "a" / "x.warc.gz"
    only_a = contents(made, one)
    assert [only_a[url] == "had" for url in URLS] == [True, True, False, False]
    shutil.copy(one, made / "y.warc.gz")
    assert all("has no" in why and "x.warc.gz" in why
               for why in contents(made, made / "y.warc.gz").values())
    one.write_bytes(_warc(["http://other.example/a", "http://other.example/b"]))
    other = contents(made, made / "crawl")
    assert [other[url] == "had" for url in URLS] == [False, False, True, True]
    assert "other content at this place" in other[URLS[0]]
    one.write_bytes(b"no archive at all")
    damaged = contents(made, made / "crawl")
    assert "no page can be read at byte" in damaged[URLS[1]] and damaged[URLS[2]] == "had"


def test_bytes_at_a_place_of_a_file_that_has_moved(made: Path) -> None:
    row = read(str(made / "r"), "pages").to_pylist()[0]
    (made / "crawl").rename(made / "elsewhere")
    with open_view(str(made / "r"), [str(made / "elsewhere")]) as view:
        found, unit = view.contents.bytes_at(row["file"], row["offset"])
        assert found.startswith(b"WARC/1.0\r\n") and b"This is " in found
        assert unit == "gzip member"
        with pytest.raises(NoContent, match="not among the crawl files"):
            view.contents.bytes_at("nowhere.warc.gz", 0)


@pytest.mark.parametrize(("content", "shown", "unit"), [
    (gzip_member(RECORD), RECORD, "gzip member"),
    (gzip_member(RECORD)[:-20], RECORD[:40], "gzip member"),  # what is there of a truncated one
    (zstandard.compress(RECORD), RECORD, "zstd frame"),
    (RECORD, RECORD, ""), (gzip_member(RECORD)[:7], gzip_member(RECORD)[:7], ""),
    (b"\x1f\x8b\x08" + b"\xff" * 50, b"\x1f\x8b\x08" + b"\xff" * 50, ""), (b"", b"", ""),
])
def test_bytes_of_a_record_are_inflated_where_they_can_be(
    made: Path, content: bytes, shown: bytes, unit: str,
) -> None:
    path = made / "crawl" / "a" / "x.warc.gz"
    path.write_bytes(b"before" + content)
    with open_view(str(made / "r"), [str(path)]) as view:
        found = view.contents.bytes_at(str(path), 6)
    assert found[0].startswith(shown[:2048]) and found[1] == unit
    assert len(found[0]) <= min(2048, len(RECORD) if unit else len(content))


def test_where_the_viewer_is_started_does_not_matter(
    made: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(made)
    assert main(["run", "crawl", "-o", "deep/r", "--workers", "1"]) == 0
    shutil.rmtree(made / "r")
    shutil.copytree(made / "deep" / "r", made / "r")
    info = made / "r" / "run.json"
    stored = json.loads(info.read_text())
    assert stored["inputs"] == [str(made / "crawl")]
    monkeypatch.chdir("/")
    assert set(contents(made).values()) == {"had"}
    info.write_text(json.dumps({**stored, "inputs": ["crawl"], "output": "r"}))
    assert set(contents(made).values()) == {"had"}
    info.write_text(json.dumps({**stored, "inputs": ["crawl"], "output": "deep/r"}))
    assert "had" not in contents(made).values()
