"""Rows of other people's pipelines as pages: found is what files with the same rows give."""

import datetime
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that
from apache_beam.transforms.window import FixedWindows, TimestampedValue
from apache_beam.utils.timestamp import Timestamp

from beam_reuse import AsRows, FindQuilts, ListPages, PagesOf, QuiltSettings, ReadPages
from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import ReadSettings, SettingError
from beam_reuse.pages.pages_of import pack
from tests.analyses import patchwork

WHERE = {"file", "offset", "record_length", "crawl"}


class Fetched(NamedTuple):
    url: str
    html: str


def rows_of_a_crawl() -> list[dict[str, Any]]:
    """Pages and what is none: several captures, without URL or content, of another status."""
    rows: list[dict[str, Any]] = [
        json.loads(document.line) for document in patchwork.patchworks(5, 60)]
    rows += [row | {"timestamp": "2020-01-02T03:04:05Z"} for row in rows[:5]]
    rows += [{"text": "nowhere"}, {"url": "http://a.example/none"}, {"url": "no url", "text": "a"},
             {"url": "http://a.example/404", "text": "a", "status": 404}]
    return rows


def found_in(read: Any, label: str) -> dict[str, beam.PCollection]:
    """What is found of pages, as plain values without where they are from."""
    settings = QuiltSettings(min_sources=2)
    tables = {**(read | f"Quilts of {label}" >> FindQuilts(settings)),
              **(read | f"Pages of {label}" >> ListPages()), "rejects": read.rejects,
              "skipped": read.skipped, "depth_histogram": read.depth_histogram}
    found = {name: each | f"{label} {name}" >> beam.FlatMap(
        lambda batch: [{k: v for k, v in row.items() if k not in WHERE}
                       for row in batch.to_pylist()])
        for name, each in tables.items() if name not in ("counts", "values")}
    found["counts"] = (
        read.counts | f"{label} sums" >> beam.CombinePerKey(sum)
        | f"{label} kept" >> beam.Filter(lambda pair: not pair[0].startswith("measured/")))
    return found


@pytest.mark.parametrize("expected_bytes", [1000, 30 << 20])
def test_rows_are_what_files_are(expected_bytes: int, tmp_path: Path) -> None:
    rows = rows_of_a_crawl()
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    random.Random(expected_bytes).shuffle(rows)

    def the_same(groups: Any) -> None:
        found = dict(groups)
        assert {"quilts", "pages", "rejects", "skipped", "counts"} <= found.keys()
        for name, of in found.items():
            files, given = (sorted(map(str, of[which])) for which in ("files", "rows"))
            assert files == given, name
            assert files or name == "depth_histogram", name

    with beam.Pipeline(runner=FnApiRunner()) as p:
        files = found_in(p | ReadPages(str(tmp_path / "a.jsonl")), "files")
        windows = beam.WindowInto(FixedWindows(1)) if expected_bytes > 1000 else beam.Map(dict)
        given = found_in(
            p | beam.Create([(at, row) for at, row in enumerate(rows)], reshuffle=False)
            | beam.MapTuple(lambda at, row: TimestampedValue(row, at))
            | windows | PagesOf(expected_bytes=expected_bytes), "rows")
        keyed = {which: tuple(each | f"{which} by {name}" >> beam.Map(lambda row, n=name: (n, row))
                              for name, each in some.items())
                 | f"{which} all" >> beam.Flatten()
                 for which, some in (("files", files), ("rows", given))}
        assert_that(keyed | beam.CoGroupByKey(), the_same)


def test_rows_of_beam_and_named_tuples_and_bytes() -> None:
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
    html = "<meta charset=latin1><p>caf\xe9"
    one = pack({"url": "http://a.example/", "html": html, "timestamp": moment})
    assert one == pack(beam.Row(html=html, timestamp=Timestamp.from_utc_datetime(moment),
                                url="http://a.example/"))
    assert pack(Fetched("http://a.example/", html)) == pack(Fetched("http://a.example/", html))
    assert pack({"url": "http://a.example/", "html": html.encode()}) != pack(
        Fetched("http://a.example/", html))  # of bytes the charset is found
    rows = [beam.Row(url=b"http://a.example/", html=html.encode("latin-1")),
            beam.Row(url=b"http://b.example/", html=html.encode("latin-1"))]

    def check(pages: Iterable[Any]) -> None:
        assert sorted((page.url, page.charset, page.file, page.offset) for page in pages) == [
            ("http://a.example/", "windows-1252", "rows-0", 0),
            ("http://b.example/", "windows-1252", "rows-0", 1)]

    with beam.Pipeline(runner=FnApiRunner()) as p:
        pages = p | beam.Create(rows) | PagesOf(expected_bytes=100)
        assert_that(pages | ListPages() | AsRows("pages"), check)


def test_what_is_no_row_is_refused() -> None:
    with pytest.raises(UserError, match=r"takes rows with `url`.* not str"):
        pack("http://a.example/")
    with pytest.raises(UserError, match="takes a PCollection of rows"):
        _ = beam.Pipeline(runner=FnApiRunner()) | PagesOf()
    p = beam.Pipeline(runner=FnApiRunner())
    stream = p | beam.Create([{"url": "a"}])
    stream.is_bounded = False
    with pytest.raises(UserError, match="rows that end; these come from a stream"):
        _ = stream | PagesOf()
    with pytest.raises(SettingError, match="PagesOf takes ReadSettings, not QuiltSettings"):
        PagesOf(QuiltSettings())
    assert PagesOf(ReadSettings(captures="all")).read.captures == "all"
