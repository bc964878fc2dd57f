"""The viewer in Chromium: each screen shows what the tables say, and nothing of a crawl acts."""

import json
from pathlib import Path

import pytest

from beam_reuse.core.wording import percent
from beam_reuse.io.results import tables
from tests.browser.visiting import Visitor, at, first, nothing_happened

pytestmark = pytest.mark.browser


def test_the_overview_is_the_report(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    visitor.go("#/")
    visitor.until("document.querySelectorAll('.card').length > 4")
    accounting = json.loads(Path(result, "manifest.json").read_text())["accounting"]
    assert f"{accounting['records']} records = {accounting['pages']} pages" in visitor.text()
    led = visitor.run("[...document.querySelectorAll('.card .more a')].map(a => a.hash)")
    most = "#/passages?sort=occurrences&descending=true&f=letters.min.60&f=hosts.min.2"
    assert set(led) == {most, "#/sites", "#/table?name=skippable&f=chunking.is.whole",
                        "#/families", "#/table?name=keep&f=keep.is.false",
                        "#/quilts?sort=sources&descending=true"}
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
    visitor.click(".tree button.toggle")
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
        names = visitor.run("[...document.querySelectorAll('.text mark')].flatMap("
                            "m => m.dataset.names.split(' '))")
        assert {name for name in names if name.isdigit()} == mine
    visitor.click(".text mark.known")
    assert "Known content" in visitor.text(".why")
    assert not visitor.run("!!document.querySelector('.outside a')")
    visitor.click(".outside button")
    assert visitor.run("document.querySelector('.outside a').rel") == "noreferrer noopener"
    visitor.press("t")
    visitor.until("!location.hash.includes('as=source')")
    steps = "[...document.querySelectorAll('.stepper button')].map(b => b.disabled)"
    assert visitor.run(steps) == [False, False]
    visitor.press("r")
    visitor.until("location.hash.includes('as=rendered') && document.querySelector('.notice')")
    assert visitor.run(steps) == [True, True]
    nothing_happened(visitor)


def test_pairs_side_by_side(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    rows = tables.read(result, "near_duplicates").to_pylist()
    visitor.go(at("pairs", f="same_site.is.false"))
    visitor.until("!document.querySelector('.pages').innerText.includes('counting')")
    assert f"{sum(not row['same_site'] for row in rows)} row" in visitor.text(".pages")
    row = max(rows, key=lambda row: row["c_similarity"])
    visitor.go(at("pair", a=row["url_a"], b=row["url_b"]))
    assert (f"B-similarity {row['b_similarity']} of 6, C-similarity {row['c_similarity']} of 384"
            in visitor.text())
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
    part, sources_of_it = percent(quilt["patch_fraction"] * quilt["covered"]), len(sources)
    assert f"{part} of its text is from {sources_of_it} sources, which have" in visitor.text()
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
    assert not visitor.run("!!document.querySelector('tbody a')")  # no page has such a URL
    visitor.click("td button")
    visitor.until("document.querySelector('pre.bytes')")
    assert visitor.run("(() => { const b = document.querySelector('pre.bytes'); "
                       "return b.scrollWidth <= b.clientWidth; })()")
    visitor.click("td button")
    visitor.until("!document.querySelector('pre.bytes')")
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
