"""Lists of the viewer: lines, words, pairs of other sites, and what two hosts have."""

import json

import pytest

from beam_reuse.io.results import tables
from tests.browser.visiting import Visitor, at, first, nothing_happened

pytestmark = pytest.mark.browser
ROWS = "document.querySelectorAll('tbody tr').length"


def test_lines_of_templates_and_their_hosts(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    rows = tables.read(result, "boilerplate").to_pylist()
    visitor.go("#/passages?of=lines")
    lines = {row["fingerprint"] for row in rows}
    visitor.until(f"{ROWS} === 50 && document.querySelector('.pages').innerText.includes("
                  f"'{len(lines)} rows')")
    visitor.go(at("passages", of="lines", f=["text.has." + rows[0]["text"][:20]]))
    visitor.click("tbody a")
    visitor.until("location.hash.startsWith('#/line')")
    visitor.until("document.querySelector('blockquote')")
    assert rows[0]["text"][:20] in visitor.text("blockquote")
    assert any(row["host"] in visitor.text() for row in rows)
    nothing_happened(visitor)


def test_pages_by_words(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    chunk = max(tables.read(result, "frequent_chunks").to_pylist(), key=lambda row: row["hosts"])
    words = " ".join(chunk["text"].split(">")[1].split("<")[0].split()[:4])
    visitor.go("#/pages")
    visitor.run(f"document.querySelector('.words input').value = {json.dumps(words)}")
    visitor.click(".words button")
    visitor.until("document.querySelector('.found')")
    on = {row["url"] for row in tables.read(result, "matched_chunks").to_pylist()
          if row["sha1"] == chunk["sha1"]}
    assert on and all(url in visitor.text() for url in on)
    visitor.go(at("pages", words=", ".join(words.upper().split())))
    assert on and all(url in visitor.text() for url in on)
    visitor.go(at("pages", words="nobody has written this"))
    assert "No frequent chunk" in visitor.text()
    nothing_happened(visitor)


def test_overlapping_pairs_of_other_sites_from_a_cutoff_on(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    rows = tables.read(result, "page_overlap").to_pylist()
    visitor.go("#/pairs?of=page_overlap")
    visitor.until("document.querySelector('.bars a')")
    visitor.run("[...document.querySelectorAll('.bars a')].at(-1).click()")
    visitor.until("location.hash.includes('larger.min')")
    least = float(str(visitor.run("location.hash")).partition("larger.min.")[2].partition("&")[0])
    many = sum(max(row["containment_a"], row["containment_b"]) >= least for row in rows)
    visitor.until(f"{ROWS} === {min(50, many)}")
    visitor.go(at("pairs", of="page_overlap", f=["same_site.is.true"]))
    assert visitor.run(ROWS) < min(50, len(rows))
    nothing_happened(visitor)


def test_pairs_of_one_site_are_hidden_at_once(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    rows = tables.read(result, "near_duplicates").to_pylist()
    visitor.go("#/pairs?of=near_duplicates")
    for others, many in ((True, sum(not row["same_site"] for row in rows)), (False, len(rows))):
        assert many != len(rows) or not others
        visitor.click("[name='same_site.is']")
        visitor.until(f"{ROWS} === {min(50, many)}")
        assert visitor.run("location.hash.includes('same_site.is.false')") is others
        visitor.until("document.activeElement.name === 'same_site.is'")
    nothing_happened(visitor)


def test_only_reasons_that_records_have_are_offered(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    visitor.go("#/records?of=skipped")
    offered = visitor.run("[...document.querySelectorAll(\"[name='reason.is'] option\")]"
                          ".map(o => o.value).filter(Boolean)")
    assert offered == sorted({row["reason"] for row in tables.read(result, "skipped").to_pylist()})
    assert "request" in visitor.text() and "request" not in offered
    nothing_happened(visitor)


def test_the_map_of_a_pair_leads_to_differences(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    row = max(tables.read(result, "near_duplicates").to_pylist(),
              key=lambda row: row["c_similarity"])
    visitor.go(at("pair", a=row["url_a"], b=row["url_b"]))
    visitor.until("document.querySelector('.minimap b').style.height")
    differing = "document.querySelectorAll('.row:not(.same)').length"
    assert visitor.run("document.querySelectorAll('.minimap i').length") == visitor.run(differing)
    visitor.look(1280, 200)
    visitor.run("scrollTo(0, 0)")
    visitor.run("(() => { const m = document.querySelector('.minimap'), b = "
                "m.getBoundingClientRect(); m.dispatchEvent(new MouseEvent('click', {bubbles: "
                "true, clientY: b.bottom - 1})); })()")
    visitor.until("(() => { const r = [...document.querySelectorAll('.row:not(.same)')].at(-1)"
                  ".getBoundingClientRect(); return r.top < innerHeight && r.bottom > 0; })()")
    visitor.look()
    nothing_happened(visitor)


def test_what_two_hosts_have(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    row = first(result, "server_overlap")
    visitor.go(at("site", host=row["host_a"]))
    visitor.click("a[href^='#/shared']")
    visitor.until("document.querySelector('.two')")
    assert "Pages that overlap" in visitor.text() and "share something" in visitor.text(".two")
    assert visitor.run("document.querySelectorAll('.two h2').length") == 2
    nothing_happened(visitor)


def test_who_has_content_of_a_host(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    rows = [row for row in tables.read(result, "neighbourhood_sources").to_pylist()
            if row["source"] == "clockmakers.example" and row["prefix"].count("/") == 1
            and not f".{row['prefix']}".endswith(".clockmakers.example/")]
    visitor.go(at("site", host="www.clockmakers.example"))
    listed = visitor.run("[...document.querySelectorAll('[aria-label=\"Who has its content\"] "
                         "tbody tr')].map(r => [...r.cells].slice(0, 2).map(c => c.innerText))")
    assert {row["prefix"]: row["matching"] for row in rows} == {
        f"{host}/": int(many) for host, many in listed}
    assert listed[0][0] == "finest-articles.example"
    visitor.click("[aria-label='Who has its content'] .last a")
    visitor.until("document.querySelector('.two')")
    assert "finest-articles.example" in visitor.text()
    nothing_happened(visitor)
