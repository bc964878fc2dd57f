"""What each format and each type of record becomes."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from beam_reuse.core.pages import Kind, Outcome, RawPage, Rejected
from beam_reuse.core.settings import ReadSettings
from tests.broken.writing import HTML, arc, arc_start, gz, http, info, page, warc
from tests.crawl.reading import read_cut, read_whole, shape

MOMENT = int(datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()) * 1_000_000


def _read(folder: Path, name: str, content: bytes, settings: ReadSettings | None = None
          ) -> list[Outcome]:
    path = folder / name
    path.write_bytes(content)
    return read_whole(path, settings)


def _only_page(outcomes: list[Outcome]) -> RawPage:
    (found,) = outcomes
    assert isinstance(found, RawPage)
    return found


def test_every_field_of_a_page(tmp_path: Path) -> None:
    record = gz(warc(http(HTML, "200 OK", "text/html; charset=latin1"), "<http://a.example/x y>",
                     WARC_IP_Address="10.0.0.9"))
    found = _only_page(_read(tmp_path, "a.warc.gz", record))
    assert found == RawPage(
        file=str(tmp_path / "a.warc.gz"), offset=0, record_length=len(record),
        record_id="urn:uuid:1", fetched_url="http://a.example/x y", timestamp=MOMENT, status=200,
        ip="10.0.0.9", kind=Kind.HTML, content_type="text/html", charset="windows-1252",
        payload=HTML)


@pytest.mark.parametrize(("record", "expected"), [
    (info(), "skipped:warcinfo"),
    (warc(b"GET / HTTP/1.0\r\n\r\n", kind="request"), "skipped:request"),
    (warc(b"x: y", kind="metadata"), "skipped:metadata"),
    (warc(http(), kind="revisit"), "skipped:revisit"),
    (warc(http(), kind="continuation"), "skipped:continuation"),
    (warc(http(), kind="response", WARC_Segment_Number="1"), "skipped:segmented"),
    (warc(http(), kind="something-new"), "skipped:record-type"),
    (warc(b"20200102\n", "dns:a.example", content_type="text/dns"), "skipped:dns"),
    (warc(b"x", "ftp://a.example/", content_type="text/html"), "skipped:no-http"),
    (warc(http(HTML, "404 Not Found")), "skipped:status"),
    (warc(http(HTML, "200 OK", "image/png")), "skipped:content-type"),
    (warc(http(b"\x00\x01", "200 OK", None)), "skipped:content-type"),
    (warc(http(HTML, "200 OK", None)), "page"),
    (warc(http(HTML, "200 OK", "application/octet-stream")), "page"),
    (warc(HTML, kind="resource", content_type="text/html"), "page"),
    (warc(HTML, kind="resource", content_type="video/mp4"), "skipped:content-type"),
    (warc(http(), kind="resource"), "page"),
    (warc(b"plain", kind="conversion", content_type="text/plain"), "page"),
    (warc(http(HTML, "200 OK", "text/css")), "page"),
])
def test_types_of_records(record: bytes, expected: str, tmp_path: Path) -> None:
    assert shape(_read(tmp_path, "a.warc", record)) == (expected,)
    assert shape(_read(tmp_path, "a.warc.gz", gz(record))) == (expected,)
    assert shape(_read(tmp_path, "a.warc.zst", zstandard.compress(record))) == (expected,)


def test_settings_decide(tmp_path: Path) -> None:
    records = warc(http(HTML, "404 Not Found")) + warc(http(b"x{}", "200 OK", "text/css")) + warc(
        http(b"\x89PNG", "200 OK", "image/png"))
    assert shape(_read(tmp_path, "a.warc", records)) == (
        "skipped:status", "page", "skipped:content-type")
    every = ReadSettings(statuses=None, content_types=("document", "code", "other"))
    assert shape(_read(tmp_path, "a.warc", records, every)) == ("page",) * 3
    documents = ReadSettings(statuses=(404,), content_types=("document",))
    assert shape(_read(tmp_path, "a.warc", records, documents)) == (
        "page", "skipped:status", "skipped:status")


def test_conversion_is_plain_text(tmp_path: Path) -> None:
    record = warc("grüße".encode(), kind="conversion", content_type="text/plain")
    found = _only_page(_read(tmp_path, "a.wet", record))
    assert (found.kind, found.charset, found.status) == (Kind.TEXT, "utf-8", None)


def test_size_limit(tmp_path: Path) -> None:
    small = ReadSettings(max_record_bytes=2048)
    block = http(b"x" * (2048 - len(http(b""))))
    for name, wrap in (("a.warc", bytes), ("a.warc.gz", gz), ("a.warc.zst", zstandard.compress)):
        content = wrap(warc(block)) + wrap(warc(block + b"x")) + wrap(page(1))
        assert shape(_read(tmp_path, name, content, small)) == (
            "page", "rejected:too-large", "page")
        skipped = wrap(warc(http(bytes(9999), "200 OK", "video/mp4"))) + wrap(page(1))
        assert shape(_read(tmp_path, name, skipped, small)) == ("skipped:content-type", "page")
    inside = gz(warc(block + b"x" * 9_000_000) + page(1))
    assert shape(_read(tmp_path, "b.warc.gz", inside, small)) == ("rejected:too-large", "page")


def test_zstd_dictionary(tmp_path: Path) -> None:
    samples = [page(n) for n in range(300)]
    dictionary = zstandard.train_dictionary(4096, samples)
    compressor = zstandard.ZstdCompressor(dict_data=dictionary)
    frames = b"".join(compressor.compress(sample) for sample in samples[:50])
    for data in (dictionary.as_bytes(), zstandard.compress(dictionary.as_bytes())):
        head = b"\x5d\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data
        outcomes = _read(tmp_path, "a.warc.zst", head + frames)
        assert shape(outcomes) == ("page",) * 50
        assert outcomes[0].offset == len(head)
        assert read_cut(tmp_path / "a.warc.zst", 900) == outcomes


@pytest.mark.parametrize("version", [1, 2])
def test_arc(version: int, tmp_path: Path) -> None:
    records = [arc_start(version), arc(b"20200102\n", "dns:a.example", version=version),
               arc(http(), "http://a.example/a b", version=version),
               arc(http(HTML, "404 Not Found"), version=version)]
    expected = ("skipped:filedesc", "skipped:dns", "page", "skipped:status")
    for name, content in (("a.arc", b"".join(records)), ("a.arc.gz", b"".join(map(gz, records)))):
        outcomes = _read(tmp_path, name, content)
        assert shape(outcomes) == expected
        found = _only_page(outcomes[2:3])
        assert (found.fetched_url, found.ip, found.timestamp, found.payload) == (
            "http://a.example/a b", "10.0.0.1", MOMENT, HTML)


def test_content_tells_the_format_before_the_name(tmp_path: Path) -> None:
    row = json.dumps({"url": "http://a.example/", "html": HTML.decode()}).encode() + b"\n"
    for content in (page(1), gz(page(1)), zstandard.compress(page(1)), row, gzip.compress(row),
                    arc_start() + arc(http())):
        for name in ("a.warc", "a.warc.gz", "a.arc", "a.jsonl", "a.parquet", "unnamed", "a.dat"):
            assert shape(_read(tmp_path, name, content))[-1] == "page", name
    for name, text in (("package.json", b'{\n "url": "x"\n}\n'), ("data.json", b'{"a": 1}')):
        assert _only_page(_read(tmp_path, name, text)).kind is Kind.CODE


def test_a_text_is_no_archive_for_what_its_first_line_looks_like(tmp_path: Path) -> None:
    """A caption with a colon, a date of eight digits and three words after it."""
    text = b"image:westminster parliament copyright 20030922 kaihsu tai.jpg\n" + b"words " * 50
    for name in ("a.txt", "a.html", "a", "a.txt.gz"):
        content = gzip.compress(text) if name.endswith(".gz") else text
        assert _only_page(_read(tmp_path, name, content)).payload == text
    for name in ("a.arc", "a.arc.gz"):
        records = arc(http(), "http://a.example/1") + arc(http(), "http://a.example/2")
        assert shape(_read(tmp_path, name, records)) == ("page", "page")
    (bad,) = _read(tmp_path, "b.arc", text)
    assert isinstance(bad, Rejected) and "the length is 'tai.jpg', not a number" in bad.detail


def test_pages_that_are_files(tmp_path: Path) -> None:
    site = tmp_path / "My Site"
    (site / "sub").mkdir(parents=True)
    (site / "index.html").write_bytes(HTML)
    (site / "sub" / "ü 1.txt").write_bytes("grüße".encode("cp1252"))
    (site / "sub" / "no-extension").write_bytes(b"<!doctype html><p>x")
    (site / "a.css").write_bytes(b"p {}")
    (site / "b.html.gz").write_bytes(gzip.compress(HTML))
    (site / "image.png").write_bytes(b"\x89PNG\x00")
    (site / ".hidden.html").write_bytes(HTML)
    outcomes = read_whole(site)
    pages = [o for o in outcomes if isinstance(o, RawPage)]
    assert [(p.fetched_url, p.kind) for p in pages] == [
        ("file://my-site/a.css", Kind.CODE), ("file://my-site/b.html.gz", Kind.HTML),
        ("file://my-site/index.html", Kind.HTML),
        ("file://my-site/sub/no-extension", Kind.HTML),
        ("file://my-site/sub/%C3%BC%201.txt", Kind.TEXT)]
    assert pages[1].payload == pages[2].payload == HTML
    assert pages[4].charset == "windows-1252"
    assert shape(outcomes).count("skipped:content-type") == 1
    alone = _only_page(read_whole(site / "index.html"))
    assert alone.fetched_url == "file://my-site/index.html"


ROWS = [
    {"url": "http://a.example/1", "html": "<p>é", "timestamp": "2020-01-02T03:04:05Z",
     "status": 200, "ip": "10.0.0.1", "content_type": "application/xhtml+xml; charset=latin1"},
    {"url": "http://a.example/2", "text": "plain", "html": None, "timestamp": None, "status": None,
     "ip": None, "content_type": None},
    {"url": "http://a.example/3", "html": "", "text": "x", "status": 404},
]


def _check_rows(outcomes: list[Outcome]) -> None:
    first, second, third = outcomes
    assert isinstance(first, RawPage) and isinstance(second, RawPage)
    assert (first.kind, first.payload, first.charset, first.timestamp, first.ip, first.status) == (
        Kind.HTML, "<p>é".encode(), "utf-8", MOMENT, "10.0.0.1", 200)
    assert first.content_type == "application/xhtml+xml"
    assert (second.kind, second.payload, second.timestamp) == (Kind.TEXT, b"plain", None)
    assert shape([third]) == ("skipped:status",)


def test_json_lines(tmp_path: Path) -> None:
    lines = b"".join(json.dumps(row).encode() + b"\r\n" for row in ROWS)
    plain = _read(tmp_path, "a.jsonl", b"\xef\xbb\xbf" + lines)
    _check_rows(plain)
    assert [o.offset for o in plain][:2] == [0, 3 + lines.index(b"\n") + 1]
    two_members = gzip.compress(lines[:100]) + gzip.compress(lines[100:])
    for name, content in (("a.jsonl.gz", two_members),
                          ("a.jsonl.zst", zstandard.compress(lines))):
        compressed = _read(tmp_path, name, content)
        _check_rows(compressed)
        assert read_cut(tmp_path / name, 40) == compressed


@pytest.mark.parametrize(("column", "given", "kind"), [
    ("text", "text/plain", Kind.TEXT), ("text", "text/html", Kind.TEXT),
    ("text", "application/pdf", Kind.TEXT), ("text", "text/css", Kind.CODE),
    ("text", "application/json", Kind.CODE), ("html", "text/plain", Kind.HTML),
    ("html", "application/json", Kind.HTML)])
def test_the_content_type_of_a_row(
    column: str, given: str, kind: Kind, tmp_path: Path,
) -> None:
    """It is in the table; text is code if it says so."""
    row = {"url": "http://a.example/", column: "x { y }", "content_type": f"{given}; a=b"}
    line = json.dumps(row).encode()
    found = _only_page(_read(tmp_path, "a.jsonl", line))
    assert (found.kind, found.content_type) == (kind, given)
    code = _read(tmp_path, "a.jsonl", line, ReadSettings(content_types=("code",)))
    assert shape(code) == ("page" if kind is Kind.CODE else "skipped:content-type",)


def test_long_lines(tmp_path: Path) -> None:
    small = ReadSettings(max_record_bytes=1024)
    row = json.dumps({"url": "http://a.example/", "text": "x" * 1025})
    huge = json.dumps({"url": "http://a.example/", "text": "x" * 5_000_000})
    fits = json.dumps({"url": "http://a.example/", "text": "x" * 1024})
    content = "\n".join([fits, row, huge, fits]).encode()
    assert shape(_read(tmp_path, "a.jsonl", content, small)) == (
        "page", "rejected:too-large", "rejected:too-large", "page")


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(
    pa.int32(), pa.string())])
def test_parquet(kind: pa.DataType, tmp_path: Path) -> None:
    names = [*ROWS[0], "text"]
    columns = {name: [row.get(name) for row in ROWS] for name in names}
    table = pa.table(columns)
    for name in ("html", "text"):
        column = table.column(name).cast(pa.string()).cast(kind)
        table = table.set_column(table.schema.get_field_index(name), name, column)
    stamps = pa.array([datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC), None, None])
    for moments in (table.column("timestamp"), stamps, stamps.cast(pa.timestamp("ns", "UTC")),
                    pa.array([MOMENT // 1000, None, None])):
        table = table.set_column(table.schema.get_field_index("timestamp"), "timestamp", moments)
        pq.write_table(table, tmp_path / "a.parquet", row_group_size=2)
        _check_rows(read_whole(tmp_path / "a.parquet"))


def test_parquet_bytes_have_a_charset_of_their_own(tmp_path: Path) -> None:
    html = "<meta charset=koi8-r><p>привет".encode("koi8-r")
    pq.write_table(pa.table({"url": ["http://a.example/"], "html": [html]}), tmp_path / "a.parquet")
    found = _only_page(read_whole(tmp_path / "a.parquet"))
    assert (found.charset, found.payload) == ("koi8-r", html)


def test_urls_are_clean_text(tmp_path: Path) -> None:
    record = warc(http(), "http://a.example/\udce9\udcff\x07\x7f").replace(b"\x07", b"\t\x01")
    found = _only_page(_read(tmp_path, "a.warc", record))
    assert found.fetched_url == "http://a.example/%E9%FF%09%01%7F"
    row = b'{"url": "http://a.example/\\ud800\\n", "text": "a\\udc00b"}'
    found = _only_page(_read(tmp_path, "a.jsonl", row))
    assert found.fetched_url == "http://a.example/%ED%A0%80"
    assert found.payload.decode() == "a\ufffdb"


@pytest.mark.parametrize(("raw", "url"), [
    (b"http://b.example/x\xe9", "http://b.example/x%E9"),
    (b"http://b.example/x\xe8", "http://b.example/x%E8"),
    (b"http://b.example/\\u00e9\\ud800\xff", "http://b.example/\u00e9%ED%A0%80%FF"),
    ("http://b.example/\ufffd".encode(), "http://b.example/\ufffd"),
])
def test_bytes_of_a_url_that_are_no_utf8_are_escaped_as_in_a_warc(
    tmp_path: Path, raw: bytes, url: str,
) -> None:
    row = b'{"url":"' + raw + b'","text":"a \xe9 b"}'
    found = _only_page(_read(tmp_path, "a.jsonl", row))
    assert (found.fetched_url, found.payload) == (url, "a \ufffd b".encode())
