"""One page in the viewer: everything that is known of it is marked in its text, and says why."""

import json

import pytest

from beam_reuse.io.results import tables
from tests.browser.visiting import Visitor, at, first, nothing_happened

pytestmark = pytest.mark.browser


def test_patches_lead_to_the_passage_in_their_source(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    url = first(result, "quilts")["url"]
    sources = [row for row in tables.read(result, "quilt_sources").to_pylist()
               if row["url"] == url]
    visitor.go(at("page", url=url))
    named = visitor.run("[...document.querySelectorAll('.text mark')].map(m => m.dataset.name)")
    visitor.click(".text mark.patch")
    why = visitor.text(".why")
    assert "Patch of a quilt" in why and any(row["source_url"] in why for row in sources)
    assert any(name.startswith("q") for name in named)
    visitor.click(".why a[href^='#/quilt']")
    visitor.until("document.querySelector('.beside mark.chosen')")
    nothing_happened(visitor)


@pytest.mark.parametrize(("width", "height"), [(1360, 600), (390, 844)])
def test_a_patch_and_its_passage_are_in_the_window_together(
    demo: tuple[Visitor, str], width: int, height: int,
) -> None:
    visitor, result = demo
    quilt = max(tables.read(result, "quilts").to_pylist(), key=lambda row: row["sources"])
    visitor.look(width, height)
    visitor.go(at("quilt", url=quilt["url"]))
    inside = ("[...document.querySelectorAll('.quilt > .text mark.chosen, .beside mark.chosen')]"
              ".filter((m, _, both) => { const b = m.getBoundingClientRect(); "
              "const seen = (y) => m.closest('.text').contains(document.elementFromPoint("
              "b.left + 4, y)); return m.dataset.name === both[0].dataset.name && "
              "seen(b.top + 4) && seen(b.bottom - 4); }).length === 2")
    steps = int(visitor.run("document.querySelectorAll('.quilt > .text [data-stop]').length"))
    assert steps > 3
    for number in range(steps):
        visitor.press("n")
        visitor.until(f"document.querySelector('[data-place]').innerText === '{number + 1} of "
                      f"{steps}' && {inside}")
    visitor.run("[...document.querySelectorAll('.sources button')].at(-1).click()")
    visitor.until("document.querySelector('.beside h2').innerText === 'Source ' + "
                  "document.querySelectorAll('.sources button').length")
    visitor.look()
    nothing_happened(visitor)


def test_lines_of_overlapping_pages(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    row = max(tables.read(result, "page_overlap").to_pylist(), key=lambda row: row["shared"])
    visitor.go(at("page", url=row["url_a"]))
    visitor.click(".text mark.overlap")
    assert "On overlapping pages" in visitor.text(".why")
    assert str(row["shared"]) in visitor.text(".why")
    assert "a line of an overlapping page" in visitor.text(".legend")
    visitor.click(".why a[href^='#/pair']")
    visitor.until("document.querySelector('.sides .row')")
    nothing_happened(visitor)


def test_lines_of_the_template_are_grey_and_say_so(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    row = first(result, "boilerplate")
    url = next(page["url"] for page in tables.read(result, "boilerplate_pages").to_pylist()
               if f"://{row['host']}/" in page["url"] and page["template_lines"])
    visitor.go(at("page", url=url))
    grey = visitor.run("[...document.querySelectorAll('.line.template')].map(e => e.innerText)")
    mine = {each["text"] for each in tables.read(result, "boilerplate").to_pylist()
            if each["host"] == row["host"]}
    assert grey and all(any(text.startswith(line[:40]) for text in mine) for line in grey), (
        json.dumps(grey))
    nothing_happened(visitor)


def test_a_known_chunk_says_how_often_it_occurs(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    often = {row["sha1"]: row for row in tables.read(result, "frequent_chunks").to_pylist()}
    row = next(row for row in tables.read(result, "matched_chunks").to_pylist()
               if row["sha1"] in often)
    visitor.go(at("page", url=row["url"]))
    visitor.click(f".text mark[data-name='{row['position']}']")
    chunk = often[row["sha1"]]
    why = visitor.text(".why")
    assert f"{chunk['occurrences']} times on {chunk['pages']} page" in why
    assert all(url in why for url in chunk["sample_urls"])
    nothing_happened(visitor)
