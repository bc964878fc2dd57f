"""Random crawls with much reuse in them, written as WARC files."""

import datetime
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from beam_reuse.demo.warc import gzip_member, http_response, warc_record
from tests.oracles.crawl import Capture

HOSTS = ["a.example", "www.a.example", "b.example", "deep.c.co.uk", "c.co.uk", "D.Example"]
PATHS = [
    "", "/", "/x", "/x/", "/x/y?q=1", "/robots.txt", "/z/z/z/z/z/z/p", "/é",
    "/long/way/down/to/a/page",
]
CHUNKS = [
    b"<p>copied", b"<p>  copied ", b"<div>shared <b>text</b>\n", b"<p>\n", b"<DIV/>caps", b"<p>",
    b"<div\tclass=x>caf\xc3\xa9", b"<p>" + b"long " * 400, b"tail", b"\n\nblank lines\n\n",
]
TIMES = [
    None, *(datetime.datetime(2020, 1, day, 12, tzinfo=datetime.UTC) for day in (1, 2, 2, 3)),
    *(datetime.datetime(2020, 1, 2, 12, 0, 0, us, datetime.UTC) for us in (100_000, 250_000)),
]
HEADS = [
    b"", b"", b"<link rel=canonical href=/x>", b"",
    b"<base href=/x/><link rel=canonical href=y?q=1>",
    b"<meta property=article:published_time content=2019-05-0%d>", b"",
    b'<script type="application/ld+json">[{"datePublished": "2019-05-04T01:00:00+02:00"}]</script>',
]
LINKS = ["", "", "", "<http://b.example/>; rel=canonical", "", '</x/>; rel="canonical"']
MODIFIED = [None, datetime.datetime(2018, 1, 1, tzinfo=datetime.UTC), None, None, TIMES[1]]


def random_captures(seed: int, n: int = 60) -> list[Capture]:
    """Captures of few URLs from few chunks: copies, ties, several captures of a page."""
    rng = random.Random(seed)
    return [_capture(rng, i) for i in range(n)]


def _capture(rng: random.Random, i: int) -> Capture:
    head = HEADS[i % len(HEADS)]
    body = head.replace(b"%d", b"%d" % (i % 7 + 1)) + b"".join(
        rng.choices(CHUNKS, k=rng.randint(0, 6)))
    if rng.random() < 0.5:
        body += b"<p>own %d" % i
    return Capture(
        url=f"http://{rng.choice(HOSTS)}{rng.choice(PATHS)}",
        body=body,
        time=rng.choice(TIMES),
        status=rng.choice([200] * 9 + [404]),
        content_type=rng.choice(
            ["text/html"] * 6 + ["text/plain", "text/css", "image/png"]),
        link=LINKS[i % len(LINKS)], modified=MODIFIED[i % len(MODIFIED)],
    )


def write_warc(path: Path, captures: Sequence[Capture]) -> list[Capture]:
    """Write the captures as one .warc.gz; they come back knowing where they are."""
    written = []
    with path.open("wb") as target:
        for capture in captures:
            written.append(replace(capture, file=path.name, offset=target.tell()))
            charset = "; charset=utf-8" if capture.kind.has_text else ""
            block = http_response(
                capture.body, capture.content_type + charset, f"{capture.status} X",
                _headers(capture))
            target.write(gzip_member(_record(capture, block)))
    return written


def _headers(capture: Capture) -> dict[str, str]:
    modified = capture.modified and f"{capture.modified:%a, %d %b %Y %H:%M:%S GMT}"
    given = {"Link": capture.link, "Last-Modified": modified or ""}
    return {name: value for name, value in given.items() if value}


def _record(capture: Capture, block: bytes) -> bytes:
    record = warc_record("response", block, capture.url, capture.time)
    date = record.index(b"WARC-Date: ")
    rest = record[record.index(b"\r\n", date) + 2 :]
    if capture.time is None:
        return record[:date] + rest
    stamp = f"{capture.time:%Y-%m-%dT%H:%M:%S.%fZ}"
    return record[:date] + f"WARC-Date: {stamp}\r\n".encode() + rest
