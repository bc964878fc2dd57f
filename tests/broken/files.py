"""One file for each way to be broken, with what reading it must give.

An expected outcome is `page`, or `skipped:REASON`, or `rejected:REASON`, one for each
record in the order of offsets. `write_all` puts the files into a folder.
"""

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import brotli
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from tests.broken.writing import (
    HTML,
    arc,
    arc_start,
    flipped,
    gz,
    http,
    info,
    page,
    stored,
    warc,
)

PAGE = "page"


@dataclass(frozen=True)
class Broken:
    """A file and the outcomes of reading it with default settings."""

    name: str
    content: Callable[[], bytes]
    outcomes: tuple[str, ...]


def write_all(folder: Path) -> list[Path]:
    """Write every broken file into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in BROKEN:
        (folder / file.name).write_bytes(file.content())
    return [folder / file.name for file in BROKEN]


def _rejected(*reasons: str) -> tuple[str, ...]:
    return tuple(f"rejected:{reason}" for reason in reasons)


def _gz(*records: bytes) -> bytes:
    return b"".join(gz(record) for record in records)


def _response(*headers: str, body: bytes = HTML, content_type: str | None = "text/html") -> bytes:
    return gz(warc(http(body, "200 OK", content_type, *headers)))


def _lines(*rows: object) -> bytes:
    return b"".join(
        (row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)


def _parquet(rows: list[dict[str, object]]) -> bytes:
    sink = BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


def _bomb() -> bytes:
    """A gzip member of 68 KB that holds a record of 70 million zeros."""
    return gz(warc(http(bytes(70_000_000))), 9)


ROW = {"url": "http://a.example/", "html": HTML.decode()}
NO_HEAD = warc(b"").replace(b"Content-Length: 0\r\n", b"")

FRAMING = (
    Broken("empty.warc.gz", lambda: b"", _rejected("empty-file")),
    Broken("not-a-crawl.warc", lambda: b"crawl-data/one\ncrawl-data/two\n", _rejected("garbage")),
    Broken("not-a-crawl.warc.gz", lambda: bytes(range(256)) * 40, _rejected("garbage")),
    Broken("gzip-of-nothing-known.warc.gz", lambda: gz(b"hello\n"), _rejected("garbage")),
    Broken("truncated.warc.gz", lambda: _gz(info(), page(1)) + gz(page(2))[:-20],
           ("skipped:warcinfo", PAGE, *_rejected("truncated"))),
    Broken("truncated-in-header.warc.gz", lambda: gz(page(1)) + gz(page(2))[:14],
           (PAGE, *_rejected("truncated"))),
    Broken("truncated-in-trailer.warc.gz", lambda: gz(page(1)) + gz(page(2))[:-1],
           (PAGE, *_rejected("truncated"))),
    Broken("truncated.warc", lambda: page(1) + page(2)[:-30], (PAGE, *_rejected("truncated"))),
    Broken("truncated-header.warc", lambda: page(1) + page(2)[:60],
           (PAGE, *_rejected("truncated"))),
    Broken("corrupt-middle.warc.gz",
           lambda: gz(page(1)) + flipped(gz(page(2)), 60, 30) + gz(page(3)),
           (PAGE, *_rejected("bad-gzip"), PAGE)),
    Broken("corrupt-first.warc.gz", lambda: flipped(gz(page(1)), 11, 20) + gz(page(2)),
           (*_rejected("bad-gzip"), PAGE)),
    Broken("corrupt-checksum.warc.gz", lambda: gz(page(1)) + flipped(gz(page(2)), -8) + gz(page(3)),
           (PAGE, *_rejected("bad-gzip"), PAGE)),
    Broken("corrupt-length.warc.gz", lambda: gz(page(1)) + flipped(gz(page(2)), -1) + gz(page(3)),
           (PAGE, *_rejected("bad-gzip"), PAGE)),
    Broken("garbage-between.warc.gz", lambda: gz(page(1)) + b"garbage" * 900 + gz(page(2)),
           (PAGE, *_rejected("garbage"), PAGE)),
    Broken("garbage-at-start.warc.gz", lambda: b"garbage" * 9 + gz(page(1)),
           (*_rejected("garbage"), PAGE)),
    Broken("zeros-at-end.warc.gz", lambda: gz(page(1)) + bytes(5000),
           (PAGE, *_rejected("garbage"))),
    Broken("garbage-between.warc", lambda: page(1) + b"garbage\n" * 900 + page(2),
           (PAGE, *_rejected("garbage"), PAGE)),
    Broken("member-without-record.warc.gz", lambda: _gz(page(1), b"hello", b"world", page(2)),
           (PAGE, *_rejected("garbage"), PAGE)),
    Broken("one-member.warc.gz", lambda: gz(info() + page(1) + page(2)),
           ("skipped:warcinfo", PAGE, PAGE)),
    Broken("one-member-bad-length.warc.gz",
           lambda: gz(page(1) + warc(http(), length=3) + page(2)),
           (PAGE, *_rejected("bad-length"), PAGE)),
    Broken("one-member-truncated.warc.gz", lambda: gz(page(1) + page(2) + page(3))[:-15],
           (PAGE, PAGE, *_rejected("truncated"))),
    Broken("one-member-garbage-behind.warc.gz", lambda: gz(page(1) + b"garbage"),
           (PAGE, *_rejected("garbage"))),
    Broken("record-in-two-members.warc.gz",
           lambda: gz(page(1)[:200]) + gz(page(1)[200:]) + gz(page(2)),
           (*_rejected("bad-length"), PAGE)),
    Broken("stored-crawl-in-broken-record.warc.gz",
           lambda: flipped(stored(warc(http(_gz(page(8), page(9)), "200 OK", "application/x-gz"))),
                           -8) + gz(page(2)),
           (*_rejected("bad-gzip"), PAGE, PAGE, *_rejected("garbage"), PAGE)),
    Broken("length-too-small.warc.gz", lambda: _gz(warc(http(), length=20), page(2)),
           (*_rejected("bad-length"), PAGE)),
    Broken("length-too-big.warc.gz", lambda: _gz(warc(http(), length=20_000), page(2)),
           (*_rejected("bad-length"), PAGE)),
    Broken("length-too-small.warc", lambda: warc(http(), length=20) + page(2),
           (*_rejected("bad-length"), PAGE)),
    Broken("length-too-big.warc", lambda: warc(http(), length=200) + page(2),
           (*_rejected("bad-length"), PAGE)),
    Broken("length-beyond-the-file.warc", lambda: warc(http(), length=10**9) + page(2),
           (*_rejected("bad-length"), PAGE)),
    Broken("length-huge.warc.gz", lambda: _gz(warc(http(), length=10**17), page(2)),
           (*_rejected("bad-length"), PAGE)),
    Broken("length-no-number.warc", lambda: warc(http(), length="many") + page(2),
           (*_rejected("bad-header"), PAGE)),
    Broken("length-negative.warc.gz", lambda: _gz(warc(http(), length=-1), page(2)),
           (*_rejected("bad-header"), PAGE)),
    Broken("length-missing.warc.gz", lambda: _gz(NO_HEAD, page(2)),
           (*_rejected("bad-header"), PAGE)),
    Broken("header-without-end.warc.gz", lambda: _gz(page(1)[:100], page(2)),
           (*_rejected("bad-length"), PAGE)),
    Broken("header-too-large.warc.gz",
           lambda: _gz(warc(http(), WARC_X="x" * 1_200_000), page(2)),
           (*_rejected("header-too-large"), PAGE)),
    Broken("truncated.warc.zst",
           lambda: zstandard.compress(page(1)) + zstandard.compress(page(2))[:-9],
           (PAGE, *_rejected("truncated"))),
    Broken("corrupt-middle.warc.zst",
           lambda: zstandard.compress(page(1)) + flipped(zstandard.compress(page(2)), 30, 60)
           + zstandard.compress(page(3)),
           (PAGE, *_rejected("bad-zstd"), PAGE)),
    Broken("truncated.arc", lambda: arc_start() + arc(http()) + arc(http())[:-20],
           ("skipped:filedesc", PAGE, *_rejected("truncated"))),
    Broken("length-wrong.arc", lambda: arc_start() + arc(http(), length=5) + arc(http()),
           ("skipped:filedesc", *_rejected("bad-length"), PAGE)),
    Broken("length-no-number.arc.gz",
           lambda: _gz(arc_start(), arc(http(), length="x"), arc(http())),
           ("skipped:filedesc", *_rejected("bad-header"), PAGE)),
    Broken("no-first-record.arc.gz", lambda: _gz(arc(http()), arc(http())), (PAGE, PAGE)),
)

RECORDS = (
    Broken("bomb.warc.gz", lambda: _bomb() + gz(page(2)),
           (*_rejected("too-large"), PAGE)),
    Broken("no-url.warc.gz", lambda: _gz(warc(http(), None), page(2)),
           (*_rejected("bad-url"), PAGE)),
    Broken("no-status-line.warc.gz", lambda: _gz(warc(b"<html>hello"), warc(b""), page(2)),
           (*_rejected("bad-http", "bad-http"), PAGE)),
    Broken("http-header-too-large.warc.gz",
           lambda: _gz(warc(http(HTML, "200 OK", "text/html", "X: " + "x" * 1_200_000)), page(2)),
           (*_rejected("header-too-large"), PAGE)),
    Broken("http-head-only.warc.gz",
           lambda: gz(warc(b"HTTP/1.1 200 OK\r\nContent-Type: text/html")),
           (PAGE,)),
    Broken("encoding-absent.warc.gz",
           lambda: b"".join(_response(f"Content-Encoding: {name}")
                            for name in ("gzip", "deflate", "br", "zstd", "who-knows")),
           (PAGE,) * 5),
    Broken("chunks-absent.warc.gz", lambda: _response("Transfer-Encoding: chunked"), (PAGE,)),
    Broken("encoding-truncated.warc.gz",
           lambda: _response("Content-Encoding: gzip", body=gzip.compress(HTML * 90)[:-40])
           + _response("Content-Encoding: br", body=brotli.compress(HTML * 90)[:-9])
           + _response("Content-Encoding: zstd", body=zstandard.compress(HTML * 90)[:-9]),
           _rejected(*["truncated-encoding"] * 3)),
    Broken("encoding-corrupt.warc.gz",
           lambda: _response("Content-Encoding: gzip", body=flipped(gzip.compress(HTML), 20, 20)),
           _rejected("bad-encoding")),
    Broken("encoding-bomb.warc.gz",
           lambda: _response("Content-Encoding: gzip", body=gzip.compress(bytes(70_000_000)))
           + _response("Content-Encoding: gzip, gzip",
                       body=gzip.compress(gzip.compress(bytes(70_000_000)))),
           _rejected("too-large", "too-large")),
    Broken("undecodable-text.warc.gz",
           lambda: _response(body=b"<p>\xff\xfe\x81<p>", content_type="text/html; charset=utf-8")
           + _response(body=b"<p>\xe9t\xe9", content_type="text/html; charset=no-such-charset"),
           (PAGE, PAGE)),
    Broken("url-not-utf8.warc.gz",
           lambda: gz(warc(http(), "http://a.example/\udce9\x01")), (PAGE,)),
)

ROWS = (
    Broken("bad-lines.jsonl",
           lambda: _lines(ROW, b'{"url": "http://a.example/b", "html"', b"", b"[1]",
                          {"html": "x"}, {"url": "http://a.example/c"}, {"url": 7, "text": "x"},
                          {"url": "http://a.example/d", "html": None, "text": 5}, ROW),
           (PAGE, *_rejected("bad-json", "bad-json", "missing-url", "missing-content",
                             "missing-url", "missing-content"), PAGE)),
    Broken("not-utf8.jsonl",
           lambda: _lines(ROW, b'{"url": "http://a.example/\xe9", "text": "\xe9"}'),
           (PAGE, PAGE)),
    Broken("lone-surrogate.jsonl",
           lambda: _lines(b'{"url": "http://a.example/", "text": "a\\ud800b"}'), (PAGE,)),
    Broken("nested.jsonl", lambda: _lines(ROW, b'{"url":' + b"[" * 200_000),
           (PAGE, *_rejected("bad-json"))),
    Broken("truncated.jsonl.gz", lambda: gzip.compress(_lines(ROW, ROW), mtime=0)[:-12],
           (PAGE, *_rejected("truncated"))),
    Broken("corrupt.jsonl.gz", lambda: gzip.compress(_lines(ROW), mtime=0) + b"garbage",
           (PAGE, *_rejected("garbage"))),
    Broken("truncated.parquet", lambda: _parquet([ROW])[:-30], _rejected("bad-parquet")),
    Broken("no-url.parquet", lambda: _parquet([{"html": "x"}]), _rejected("missing-url")),
    Broken("missing-values.parquet",
           lambda: _parquet([ROW, {"url": None, "html": "x"}, {"url": "http://a.example/e"}]),
           (PAGE, *_rejected("missing-url", "missing-content"))),
)

FILES = (
    Broken("empty.html", lambda: b"", _rejected("empty-file")),
    Broken("truncated.html.gz", lambda: gzip.compress(HTML, mtime=0)[:-9], _rejected("truncated")),
    Broken("no-text.bin", lambda: bytes(range(256)), ("skipped:content-type",)),
    Broken("nested-100000-deep.html", lambda: b"<div>" * 100_000, (PAGE,)),
)

BROKEN = FRAMING + RECORDS + ROWS + FILES
