"""The viewer in Chromium: each screen shows what the tables say, and nothing of a crawl acts."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from beam_reuse.cli.main import main
from beam_reuse.io.results import tables
from tests.browser.attacks import urls, write_attacks
from tests.browser.chromium import find_chromium
from tests.browser.visiting import Visitor
from tests.viewer.serving import viewing

pytestmark = pytest.mark.browser


def visiting(result: str) -> Iterator[tuple[Visitor, str]]:
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium: `make browser` installs it, or name one in CHROMIUM")
    with viewing(result) as server, Visitor(path, server.guard.address) as visitor:
        visitor.look()
        visitor.go(server.guard.address)
        yield visitor, result


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Visitor, str]]:
    folder = tmp_path_factory.mktemp("viewer")
    assert main(["demo", "-o", str(folder), "--workers", "1"]) == 0
    yield from visiting(str(folder / "result"))


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Visitor, str]]:
    folder = tmp_path_factory.mktemp("attacked")
    write_attacks(folder / "crawl.jsonl")
    assert main(["run", str(folder / "crawl.jsonl"), "-o", str(folder / "result"), "--workers",
                 "1", "--chunk-threshold", "3"]) == 0
    yield from visiting(str(folder / "result"))


def nothing_happened(visitor: Visitor) -> None:
    assert not visitor.requests and not visitor.complaints


def at(screen: str, **parameters: str) -> str:
    return f"#/{screen}?{urlencode(parameters)}"


def first(result: str, table: str) -> dict[str, object]:
    row: dict[str, object] = tables.read(result, table).to_pylist()[0]
    return row


def test_the_overview_is_the_report(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    visitor.until("document.querySelectorAll('.card').length > 4")
    accounting = json.loads(Path(result, "manifest.json").read_text())["accounting"]
    assert f"{accounting['records']} records = {accounting['pages']} pages" in visitor.text()
    visitor.run("document.querySelector('.figures').scrollIntoView()")
    visitor.until("[...document.querySelectorAll('figure img')].some(i => i.naturalWidth > 100)")
    nothing_happened(visitor)


def test_passages_and_where_they_occur(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    rows = tables.read(result, "frequent_chunks").to_pylist()
    most = max(rows, key=lambda row: row["hosts"])
    visitor.go("#/passages")
    assert visitor.run("document.querySelectorAll('tbody tr').length") == len(rows)
    visitor.go(at("passages", f="hosts.min." + str(most["hosts"])))
    assert visitor.run("document.querySelectorAll('tbody tr').length") == sum(
        row["hosts"] == most["hosts"] for row in rows)
    visitor.go(at("passage", sha1=most["sha1"]))
    on = {row["url"] for row in tables.read(result, "matched_chunks").to_pylist()
          if row["sha1"] == most["sha1"]}
    assert f"{most['occurrences']} times" in visitor.text()
    assert all(url in visitor.text() for url in sorted(on)[:20])
    nothing_happened(visitor)


def test_sites_as_a_tree_and_one_host(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    visitor.go("#/sites")
    hosts = [row for row in tables.read(result, "neighbourhoods").to_pylist() if row["depth"] == 1]
    assert visitor.run("document.querySelectorAll('.tree > li').length") == len(hosts)
    visitor.click(".tree details summary")
    visitor.until("document.querySelector('.tree .tree li')")
    host = first(result, "server_overlap")["host_a"]
    visitor.go(at("site", host=str(host)))
    assert "Hosts it shares content with" in visitor.text()
    assert str(first(result, "server_overlap")["host_b"]) in visitor.text()
    nothing_happened(visitor)


def test_a_page_with_its_known_chunks_marked(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    chunks = tables.read(result, "matched_chunks").to_pylist()
    url = max({row["url"] for row in chunks}, key=lambda url: sum(
        row["url"] == url for row in chunks))
    mine = {str(row["position"]) for row in chunks if row["url"] == url}
    for source in ("", "source"):
        visitor.go(at("page", url=url, **({"as": source} if source else {})))
        names = visitor.run("[...document.querySelectorAll('mark')].map(m => m.dataset.name)")
        assert set(names) == mine
    visitor.click("mark")
    assert "Known content" in visitor.text(".why")
    assert not visitor.run("!!document.querySelector('.outside a')")
    visitor.click(".outside button")
    assert visitor.run("document.querySelector('.outside a').rel") == "noreferrer noopener"
    visitor.press("t")
    visitor.until("!location.hash.includes('as=source')")
    nothing_happened(visitor)


def test_pairs_side_by_side(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    rows = tables.read(result, "near_duplicates").to_pylist()
    visitor.go(at("pairs", f="same_site.is.false"))
    visitor.until("!document.querySelector('.pages').innerText.includes('counting')")
    assert f"{sum(not row['same_site'] for row in rows)} row" in visitor.text(".pages")
    row = max(rows, key=lambda row: row["c_similarity"])
    visitor.go(at("pair", a=row["url_a"], b=row["url_b"]))
    assert f"B {row['b_similarity']}, C {row['c_similarity']}" in visitor.text()
    assert visitor.run("document.querySelectorAll('del, ins').length") > 0
    visitor.press("n")
    visitor.until("document.querySelector('.current[data-stop]')")
    assert visitor.text("[data-place]").startswith("1 of ")
    nothing_happened(visitor)


def test_a_quilt_and_the_passage_in_its_source(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    quilt = first(result, "quilts")
    sources = [row for row in tables.read(result, "quilt_sources").to_pylist()
               if row["url"] == quilt["url"]]
    visitor.go(at("quilt", url=str(quilt["url"])))
    names = visitor.run("[...document.querySelectorAll('.quilt > .text mark')].map("
                        "m => m.dataset.name)")
    assert set(names) == {str(row["rank"]) for row in sources}
    patch = visitor.run("document.querySelector('mark').lastChild.textContent")
    visitor.click("mark")
    visitor.until("document.querySelector('.beside mark.chosen')")
    assert str(patch) in visitor.text(".beside")
    nothing_happened(visitor)


def test_tables_and_records(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    for name in json.loads(Path(result, "manifest.json").read_text())["tables"]:
        visitor.go(at("table", name=name))
        assert name in visitor.text("h1")
        assert not visitor.run("!!document.querySelector('.error')")
    visitor.go(at("table", name="pages"))
    seen = visitor.run("document.querySelector('tbody td').innerText")
    visitor.press("]")
    visitor.until(f"document.querySelector('tbody td').innerText !== {json.dumps(seen)}")
    visitor.press("[")
    visitor.until(f"document.querySelector('tbody td').innerText === {json.dumps(seen)}")
    visitor.go("#/records?of=rejects")
    assert str(first(result, "rejects")["reason"]) in visitor.text()
    visitor.click("td button")
    visitor.until("document.querySelector('pre.bytes')")
    visitor.press("?")
    assert visitor.run("document.getElementById('help').open")
    visitor.run("document.getElementById('help').close()")
    nothing_happened(visitor)


def test_no_screen_is_wider_than_a_phone(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    pair, quilt = first(result, "near_duplicates"), first(result, "quilts")
    visitor.look(390, 800, dark=True)
    for hash in ("#/", "#/passages", "#/sites", "#/pages", "#/pairs", "#/quilts", "#/records",
                 at("pair", a=str(pair["url_a"]), b=str(pair["url_b"])),
                 at("quilt", url=str(quilt["url"])), at("page", url=str(quilt["url"]))):
        visitor.go(hash)
        assert visitor.run("document.documentElement.scrollWidth <= innerWidth"), hash
    visitor.look()
    nothing_happened(visitor)


def test_nothing_of_a_hostile_crawl_acts(attacked: tuple[Visitor, str]) -> None:
    visitor, result = attacked
    there = tables.read(result, "pages")["url"].to_pylist()
    assert len(there) == len(urls())
    chunk = max(tables.read(result, "frequent_chunks").to_pylist(), key=lambda row: row["bytes"])
    screens = ["#/", "#/passages", "#/sites", "#/pages", "#/pairs", "#/quilts", "#/records",
               at("passage", sha1=chunk["sha1"]), at("site", host="bad.example"),
               at("shared", a="bad.example", b="worse.example"), "#/nowhere<script>"]
    screens += [at("page", url=url, **more) for url in there for more in ({}, {"as": "source"})]
    pairs = tables.read(result, "near_duplicates").to_pylist()
    assert pairs
    screens += [at("pair", a=row["url_a"], b=row["url_b"]) for row in pairs[:8]]
    screens += [at("table", name=name) for name in (
        "pages", "frequent_chunks", "rejects", "labels")]
    for hash in screens:
        visitor.go(hash)
        assert not visitor.run("!!document.querySelector('#screen script, #screen iframe, "
                               "#screen svg, #screen style, #screen [onload], #screen [onerror]')")
        assert visitor.run("[...document.querySelectorAll('#screen a')].every("
                           "a => a.getAttribute('href').startsWith('#'))"), hash
        assert "\u202e" not in visitor.text(), hash
        assert "nullnull" not in visitor.text() and "undefined" not in visitor.text(), hash
    visitor.go(at("page", url=there[0], **{"as": "source"}))
    assert "<script>alert(1)" in visitor.text() and "\\u202e" in visitor.text()
    nothing_happened(visitor)
