"""report.html: what it shows is in the tables, it is the same each time, and nothing in it acts."""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

import html5lib
import pytest

from beam_reuse.analyses.reuse.report import readable
from beam_reuse.cli.main import main
from beam_reuse.io.results import tables
from beam_reuse.report.page import REPORT, report_of

SVG = "{http://www.w3.org/2000/svg}"
ATTACKS = (
    "<script>alert(1)</script>", "<img src=http://evil.example/x onerror=alert(1)>",
    "</style></script><svg onload=alert(1)>", "\u202e\u2066 turned", "<meta http-equiv=refresh>",
)


def parsed(report: bytes) -> Element:
    parser = html5lib.HTMLParser(namespaceHTMLElements=False, strict=True)
    return parser.parse(report.decode())


def texts(root: Element, name: str) -> list[str]:
    return ["".join(each.itertext()) for each in root.iter(name)]


def test_a_run_writes_it_and_the_manifest_has_its_hash(result: Path) -> None:
    content = (result / REPORT).read_bytes()
    manifest = tables.read_manifest(str(result))
    assert manifest.files == {REPORT: hashlib.sha256(content).hexdigest()}
    assert report_of(manifest, str(result)) == content
    assert len(content) < 5_000_000


def copiers(result: Path) -> int:
    """Hosts that have a tenth of their chunks from other domains."""
    copied: Counter[str] = Counter()
    for row in tables.read(str(result), "neighbourhood_sources").to_pylist():
        if not f".{row['prefix']}".endswith(f".{row['source']}/"):
            copied[row["prefix"]] += row["matching"]
    return sum(copied[row["prefix"]] * 10 >= row["chunks"] and copied[row["prefix"]] > 0
               for row in tables.read(str(result), "neighbourhoods").to_pylist()
               if row["depth"] == 1)


def test_cards_answer_with_rows_of_the_tables(result: Path) -> None:
    root = parsed((result / REPORT).read_bytes())
    cards = [each for each in root.iter("article") if each.get("class") == "card"]
    assert [texts(card, "h2")[0][:12] for card in cards] == [
        "Which passag", "Which hosts ", "Which hosts ", "What should ", "Which pages ",
        "Which pages "]
    numbers = [int(texts(card, "b")[0].replace(",", "")) for card in cards]
    skippable = tables.read(str(result), "skippable").to_pylist()
    assert numbers == [
        tables.read(str(result), "frequent_chunks").num_rows,
        copiers(result),
        min(sum(row["chunking"] == each for row in skippable)
            for each in {row["chunking"] for row in skippable}),
        sum(not row["keep"] for row in tables.read(str(result), "keep").to_pylist()),
        len(set(tables.read(str(result), "quilt_sources")["url"].to_pylist())),
        len(set(tables.read(str(result), "families")["family"].to_pylist())),
    ]
    assert all(1 <= len(texts(card, "li")) <= 3 for card in cards)


def test_queries_of_cards_give_all_of_what_they_show(
    result: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    """As many rows, or pages, as the number says, beginning with the first example; mirrors are
    another table than pages to skip."""
    root = parsed((result / REPORT).read_bytes())
    cards = [each for each in root.iter("article") if each.get("class") == "card"]
    for card in cards:
        (code,) = texts(card, "code")
        query = re.fullmatch(r'beam-reuse sql \. "(.*)"', code)
        assert query is not None
        assert main(["sql", str(result), query[1], "--to", "json"]) == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        named = [next(row[name].rstrip("/") if name == "prefix" else readable(row[name])
                      for name in ("prefix", "family", "because_of", "url", "text") if name in row)
                 for row in rows]
        title = texts(card, "h2")[0]
        number = int(texts(card, "b")[0].replace(",", ""))
        assert number == len(set(named) if "stitched" in title else rows)
        if "mirrors" not in title:
            assert named[0].startswith(texts(card, "q")[0].removesuffix("…"))


def test_each_figure_has_its_numbers_as_a_table(result: Path) -> None:
    root = parsed((result / REPORT).read_bytes())
    figures = list(root.iter("figure"))
    titles = [texts(figure, "h3")[0] for figure in figures]
    assert len(titles) == len(set(titles)) >= 11
    assert any("sources at least" in title for title in titles)
    for figure in figures:
        (drawing,) = figure.iter(f"{SVG}svg")
        assert drawing.get("role") == "img" and drawing.get("aria-label")
        assert len(texts(figure, "tr")) > 1
        for each in drawing.iter():
            for name in {"x", "y", "cx", "cy", "width", "height"} & set(each.attrib):
                assert float(each.attrib[name]) >= 0
    (plot,) = (figure for figure in figures if texts(figure, "h3") == ["How often chunks occur"])
    histogram = {(row["occurrences"], row["distinct"])
                 for row in tables.read(str(result), "frequency_histogram").to_pylist()
                 if row["kind"] == "chunk"}
    cells = texts(plot, "td")
    assert {(int(x.replace(",", "")), int(y.replace(",", "")))
            for x, y in zip(cells[1::3], cells[2::3], strict=True)} == histogram


def test_at_most_counts_what_is_at_the_edge(result: Path) -> None:
    """Also pages of which nothing is known, and shares that a bin begins with."""
    root = parsed((result / REPORT).read_bytes())
    (figure,) = (each for each in root.iter("figure")
                 if texts(each, "h3") == ["How much of a page is known content"])
    cells = texts(figure, "td")
    shown = {x: y for name, x, y in zip(cells[::3], cells[1::3], cells[2::3], strict=True)
             if name == "at most"}
    shares = [each for each in tables.read(str(result), "page_reuse")["contains"].to_pylist()
              if each is not None]
    assert shares.count(0) > len(shares) / 3 and len(shown) == 21
    for edge in range(21):
        least = sum(each <= edge / 20 + 1e-12 for each in shares) / len(shares)
        said = float(shown[f"{5 * edge} %"].removesuffix(" %"))
        assert said == pytest.approx(100 * least, abs=0.01)


def test_depths_are_whole_numbers(result: Path) -> None:
    root = parsed((result / REPORT).read_bytes())
    (figure,) = (each for each in root.iter("figure") if texts(each, "h3") == ["Depth of URLs"])
    cells = texts(figure, "td")
    assert [*zip(map(int, cells[1::3]), map(int, cells[2::3]), strict=True)] == [
        (row["depth"], row["records"])
        for row in tables.read(str(result), "depth_histogram").to_pylist()]


def nothing_acts(report: bytes) -> None:
    """Only our own script and style, by their hashes; no address is fetched or followed."""
    root = parsed(report)
    (policy,) = (each.get("content") or "" for each in root.iter("meta")
                 if each.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    for name in ("script", "style"):
        (content,) = texts(root, name)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    allowed = {"html", "head", "body", "meta", "title", "style", "script", "header", "main",
               "section", "article", "h1", "h2", "h3", "p", "b", "strong", "ul", "li", "q", "span",
               "code", "button", "div", "figure", "figcaption", "details", "summary", "table",
               "thead", "tbody", "tr", "th", "td", "caption", "svg", "g", "line", "text", "rect",
               "circle", "polyline", "polygon"}
    for each in root.iter():
        if isinstance(each.tag, str):
            assert each.tag.rpartition("}")[2] in allowed, each.tag
            assert not any(name.startswith("on") or name in ("href", "src", "style", "action")
                           for name in each.attrib), each.attrib


def write_pages(path: Path, pages: Mapping[str, str]) -> None:
    path.write_text("".join(
        json.dumps({"url": url, "html": html}) + "\n" for url, html in pages.items()))


def test_nothing_in_it_acts(result: Path, tmp_path: Path) -> None:
    nothing_acts((result / REPORT).read_bytes())
    chunk = "".join(f"<p>{attack}{'some words of a passage ' * 8}</p>" for attack in ATTACKS)
    urls = [f"http://h{n}.example/%3Cscript%3E<script>'\"{n}" for n in range(15)]
    write_pages(tmp_path / "crawl.jsonl", {url: f"<html>{chunk}</html>" for url in urls})
    assert main(["run", str(tmp_path / "crawl.jsonl"), "-o", str(tmp_path / "r"),
                 "--workers", "1"]) == 0
    report = (tmp_path / "r" / REPORT).read_bytes()
    nothing_acts(report)
    assert b"some words of a passage" in report


def test_an_empty_crawl_has_a_report(tmp_path: Path) -> None:
    write_pages(tmp_path / "crawl.jsonl", {})
    assert main(["run", str(tmp_path / "crawl.jsonl"), "-o", str(tmp_path / "r"),
                 "--workers", "1", "--max-rejects", "1"]) == 0
    root = parsed((tmp_path / "r" / REPORT).read_bytes())
    assert "1 record = 0 pages + 0 skipped + 1 rejected" in texts(root, "strong")
    assert "crawl.jsonl at byte 0 (empty-file)" in "".join(root.itertext())


def test_what_was_not_asked_for_is_said(tmp_path: Path) -> None:
    write_pages(tmp_path / "crawl.jsonl", {"http://a.example/": "<p>words</p>"})
    assert main(["run", str(tmp_path / "crawl.jsonl"), "-o", str(tmp_path / "r"), "--workers", "1",
                 "--analyses", "discovery"]) == 0
    said = "".join(parsed((tmp_path / "r" / REPORT).read_bytes()).itertext())
    assert "Add quilts to --analyses" in said and "Add discovery" not in said


def test_it_can_be_written_again(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, manifest = (result / REPORT).read_bytes(), (result / "manifest.json").read_bytes()
    (result / REPORT).unlink()
    assert main(["report", str(result)]) == 0
    assert (result / REPORT).read_bytes() == before
    assert (result / "manifest.json").read_bytes() == manifest
    assert main(["report", str(result.parent / "crawl")]) == 2
    assert "manifest" in capsys.readouterr().err
