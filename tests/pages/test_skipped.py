"""Every skipped record is counted; those that hold a document have a row, also from an index."""

from collections import Counter
from pathlib import Path

from beam_reuse.cli.main import main
from beam_reuse.io.results import tables
from tests.broken.writing import HTML, gz, http, info, warc

WITHOUT_ROW = [
    info(), warc(b"GET / HTTP/1.0\r\n\r\n", kind="request"), warc(b"x: y", kind="metadata"),
    warc(http(), kind="continuation"),
    warc(b"20200102\n", "dns:a.example", content_type="text/dns"),
    warc(http(), None, kind="revisit"), warc(http(), None, kind="something-new"),
]
TRAP = "http://A.example/" + "a/b/" * 5
WITH_ROW = [
    (warc(http(), "http://A.example/R", kind="revisit"), "http://A.example/R", "revisit", None),
    (warc(http(), "http://a.example/n", kind="new"), "http://a.example/n", "record-type", None),
    (warc(http(), WARC_Segment_Number="1"), "http://a.example/", "segmented", None),
    (warc(b"x", "ftp://a.example/f", content_type="text/html"), "ftp://a.example/f", "no-http",
     None),
    (warc(http(HTML, "404 Not Found")), "http://a.example/", "status", None),
    (warc(http(HTML, "200 OK", "image/png"), "http://a.example/i"), "http://a.example/i",
     "content-type", None),
    (warc(http(), TRAP), TRAP, "path-repeats", None),
    (warc(http(b"User-agent: *", content_type="text/plain"), "http://A.example/robots.txt?1#top"),
     "http://A.example/robots.txt?1#top", "robots-txt", None),
    (warc(http(b"<p>old"), "http://A.example#part", WARC_Date="2019-01-01T00:00:00Z"),
     "http://A.example#part", "older-capture", "http://a.example/"),
]
KEPT = [warc(http(), f"http://{rest}") for rest in (
    "a.example/", "b.example/", "b.example/a/robots.txt", "b.example/robots.txt/",
    "b.example/?/robots.txt")]


def test_rows_and_those_without_one_are_all_that_was_skipped(tmp_path: Path) -> None:
    crawl = tmp_path / "a.warc.gz"
    expected, content = [], b"".join(map(gz, WITHOUT_ROW))
    for record, url, reason, because_of in WITH_ROW:
        expected.append({"file": crawl.name, "offset": len(content), "url": url,
                         "reason": reason, "because_of": because_of})
        content += gz(record)
    crawl.write_bytes(content + b"".join(map(gz, KEPT)))
    assert main(["index", str(crawl), "-o", str(tmp_path / "index")]) == 0
    for given in (crawl, tmp_path / "index"):
        out = tmp_path / f"of {given.name}"
        assert main(["run", str(given), "-o", str(out), "--analyses", "discovery"]) == 0
        assert tables.read(str(out), "skipped").to_pylist() == expected
        accounting = tables.read_manifest(str(out)).accounting
        without = Counter(("warcinfo", "request", "metadata", "continuation", "dns", "revisit",
                           "record-type"))
        assert accounting.skipped == without + Counter(row["reason"] for row in expected)
        assert (accounting.pages, accounting.rejected_total) == (len(KEPT), 0)


def test_of_each_capture_the_one_with_the_same_payload_stays(tmp_path: Path) -> None:
    """Further payloads of a moment have names of their own, up to `~10`, which is before `~2`."""
    crawl = tmp_path / "a.warc.gz"
    crawl.write_bytes(b"".join(
        gz(warc(http(b"<p>%d" % n), "http://A.example/")) for n in (*range(11), *range(11))))
    assert main(["run", str(crawl), "-o", str(tmp_path / "out"), "--captures", "all",
                 "--analyses", "discovery"]) == 0
    by_offset = {row["offset"]: row["url"]
                 for row in tables.read(str(tmp_path / "out"), "pages").to_pylist()}
    assert "http://a.example/#20200102030405~10" in by_offset.values()
    skipped = tables.read(str(tmp_path / "out"), "skipped").to_pylist()
    assert {(row["url"], row["reason"]) for row in skipped} == {
        ("http://A.example/", "same-capture")}
    starts = sorted([*by_offset, *(row["offset"] for row in skipped)])
    assert {row["offset"]: row["because_of"] for row in skipped} == {
        again: by_offset[first] for first, again in zip(starts[:11], starts[11:], strict=True)}
