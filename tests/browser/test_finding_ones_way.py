"""What helps people to find their way: names, examples that lead on, lists on phones."""

import json
from pathlib import Path
from urllib.parse import unquote

import pytest

from beam_reuse.io.results import tables
from tests.browser.visiting import Visitor, at, first, nothing_happened

pytestmark = pytest.mark.browser
COLUMNS = """[...document.querySelectorAll('tbody tr')].map(r => [...r.cells].map(
    c => [c.dataset.label ?? '', getComputedStyle(c, '::before').content, c.innerText]))"""


def test_every_screen_says_which_result_it_is_of(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    for screen, title in (("#/pairs", "Pairs of pages"), ("#/sites", "Sites")):
        visitor.go(screen)
        assert visitor.text("#result") == Path(result).name
        names = str(visitor.run("document.title")).split(" \u2013 ")
        assert names == [title, Path(result).name, "beam-reuse"]
    assert visitor.run("document.getElementById('result').title") == result


def test_all_of_a_card_begins_with_its_examples(demo: tuple[Visitor, str]) -> None:
    visitor, _ = demo
    visitor.go("#/")
    visitor.until("document.querySelectorAll('.card').length > 4")
    said = visitor.run("[...document.querySelector('.card').querySelectorAll('.what a')].map("
                       "a => decodeURIComponent(a.hash))")
    visitor.click(".card .more a")
    visitor.until("document.querySelectorAll('.passage a').length > 2")
    listed = visitor.run("[...document.querySelectorAll('.passage a')].map("
                         "a => decodeURIComponent(a.hash))")
    assert len(said) == 3 and listed[:3] == said
    nothing_happened(visitor)


def test_sums_lead_to_the_records_behind_them(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    skipped = json.loads(Path(result, "manifest.json").read_text())["accounting"]["skipped"]
    listed = tables.read(result, "skipped").num_rows
    for of, said in (("skipped", "Skipped"), ("rejects", "Rejected")):
        visitor.go("#/")
        visitor.click(f".accounting a[href$='of={of}']")
        visitor.until("document.querySelector('.tabs [aria-current]')")
        assert visitor.text(".tabs [aria-current]").startswith(said)
    visitor.go("#/records?of=skipped")
    assert f"{sum(skipped.values()) - listed} of them are no documents" in visitor.text()
    nothing_happened(visitor)


def test_a_bar_says_how_many_pairs_are_from_there_up(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    rows = [row["c_similarity"] for row in tables.read(result, "near_duplicates").to_pylist()]
    visitor.go("#/pairs")
    names = visitor.run("[...document.querySelectorAll('.bars a')].map(a => a.title)")
    for value, name in zip(sorted(set(rows)), names, strict=True):
        assert name.startswith(f"{value}: {rows.count(value)} pair")
        assert name.endswith(f"; {sum(row >= value for row in rows)} from here up")
    cutoff = sorted(set(rows))[3]
    visitor.go(at("pairs", f=[f"c_similarity.min.{cutoff}"]))
    above = sum(row >= cutoff for row in rows)
    assert f"From {cutoff} up: {above} of {len(rows)} pairs." in visitor.text("figcaption")
    assert visitor.run("document.querySelectorAll('.bars .below').length") == 3
    nothing_happened(visitor)


def test_rows_are_cards_on_a_phone(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    row = first(result, "near_duplicates")
    visitor.look(390, 800)
    visitor.go("#/tables")
    visitor.go("#/pairs")
    assert not visitor.run("document.querySelector('details.folding').open")
    cells = visitor.run(COLUMNS)[0]
    shown = {label: (before, text) for label, before, text in cells if label}
    assert {"page a", "page b", "C similarity", "by hybrid"} <= set(shown)
    assert shown["page b"][0].replace('"', "").split() == ["page", "b"]
    assert shown["C similarity"][1].isdigit()
    assert visitor.run("[...document.querySelectorAll('tbody tr')].every("
                       "r => r.getBoundingClientRect().right <= innerWidth)")
    visitor.look()
    visitor.until("document.querySelector('details.folding').open")
    assert visitor.run(COLUMNS)[0][1][1] == "none"
    visitor.go(at("pair", a=row["url_a"], b=row["url_b"]))
    nothing_happened(visitor)


def test_a_list_fills_the_window_and_its_end_stays_in_sight(demo: tuple[Visitor, str]) -> None:
    visitor, _ = demo
    visitor.go("#/pages")
    box = visitor.run("document.querySelector('nav.pages').getBoundingClientRect().toJSON()")
    assert box["bottom"] <= 900 and visitor.run(
        "document.documentElement.scrollHeight <= innerHeight")
    nothing_happened(visitor)


def test_text_of_chunks_is_read_as_a_browser_shows_it(demo: tuple[Visitor, str]) -> None:
    visitor, _ = demo
    assert visitor.run(r"""import('/cells.js').then(cells => cells.words(
        '<p>Fish &amp; chips &lt;b&gt; &#8364;5 &#x1F600; &unknown; &#0; a &nbsp; b</p>'))""") == (
        "Fish & chips <b> €5 \U0001f600 &unknown; &#0; a b")


def test_a_quilt_begins_with_a_source_beside_it(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    quilt = first(result, "quilts")
    source = next(row for row in tables.read(result, "quilt_sources").to_pylist()
                  if row["url"] == quilt["url"] and row["rank"] == 1)
    visitor.go(at("quilt", url=quilt["url"]))
    visitor.until("document.querySelector('.beside mark.chosen')")
    assert unquote(source["source_url"]) in visitor.text(".beside")
    nothing_happened(visitor)


def test_whoever_changes_screens_by_keys_is_there(demo: tuple[Visitor, str]) -> None:
    visitor, _ = demo
    visitor.go("#/")
    visitor.press("g")
    visitor.press("5")
    visitor.until("document.querySelector('h1').innerText === 'Pairs of pages'")
    assert visitor.run("document.activeElement.id") == "screen"
    assert visitor.run("document.activeElement.getAttribute('aria-label')") == "Pairs of pages"
    nothing_happened(visitor)
