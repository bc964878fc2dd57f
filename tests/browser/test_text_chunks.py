"""Chunks of text in Chromium: a walk of its DOM says the same, and hashes stay on pages that it
wrote out again (outerHTML), with every link, class, attribute and script replaced."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from resiliparse.parse.html import HTMLTree

from beam_reuse.core.chunking import chunk_page
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.core.text import read_html
from beam_reuse.demo.sample import sample_crawl
from beam_reuse.demo.writing import write_crawl
from beam_reuse.detector import Detector
from extension.build import HERE, as_globals
from tests.browser.chromium import Chromium
from tests.browser.real_doms import compare
from tests.core.real_pages import real_pages
from tests.core.test_text_chunks import ORIGINAL, SOUND, cut, hashes_of, texts_of, vectors
from tests.crawl.reading import read_whole

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
WALK = as_globals(HERE / "core" / "text_chunks.js")
OUTER = "document.documentElement.outerHTML"
REWRITE = """{
  let number = 0;
  for (const element of document.querySelectorAll("*")) {
    number += 1;
    for (const attribute of [...element.attributes])
      element.setAttribute(attribute.name, `https://evil.example/${number}`);
    element.setAttribute("data-new", number);
    if (["script", "style"].includes(element.localName))
      element.textContent = `var x${number} = "<p>" + (1 < 2);`;
  }
}"""
# A p in a p, as foster parenting makes it, is a tree that no HTML gives: written out and parsed
# again it is followed by an empty p, which cuts.
NESTED = "<p>a<table><tr><p>b<td>c</table>d</p>e"


def walked(browser: Chromium, tags: tuple[str, ...] = ("p", "div")) -> list[str]:
    found: list[str] = browser.run(f"{WALK}; textChunks(document.documentElement, {list(tags)})")
    return found


def written(browser: Chromium, html: str, rewritten: bool) -> str:
    """The page as Chromium writes it out, scripts off, as it is or rewritten."""
    browser.load(html, scripts=False)
    if rewritten:
        browser.run(REWRITE)
    out: str = browser.run(OUTER)
    return out


@pytest.mark.parametrize("page", vectors(), ids=lambda page: page["name"])
def test_a_walk_in_the_browser_gives_the_vectors(browser: Chromium, page: dict[str, Any]) -> None:
    browser.load(page["html"], scripts=False)
    assert walked(browser, tuple(page["tags"])) == [chunk["text"] for chunk in page["chunks"]]
    parsed = f"new DOMParser().parseFromString({json.dumps(page['html'])}, 'text/html')"
    browser.load("", scripts=True)
    assert browser.run(f"{WALK}; textChunks({parsed}.documentElement, {page['tags']})") == [
        chunk["text"] for chunk in page["chunks"]]


@pytest.mark.parametrize("page", vectors(), ids=lambda page: page["name"])
@pytest.mark.parametrize("rewritten", [False, True])
def test_hashes_of_the_vectors_stay(
        browser: Chromium, page: dict[str, Any], rewritten: bool) -> None:
    out = written(browser, page["html"], rewritten)
    assert hashes_of(cut(out, tuple(page["tags"]))) == [chunk["sha1"] for chunk in page["chunks"]]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SOUND)
def test_a_walk_in_the_browser_gives_our_chunks_of_random_pages(
        browser: Chromium, html: str) -> None:
    browser.load(html, scripts=False)
    assert walked(browser) == texts_of(cut(html))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Different HTML pages of the sample crawl, every fourth of them."""
    return sorted(set(_html_pages(tmp_path_factory.mktemp("sample"))))[::4]


def _html_pages(folder: Path) -> Iterator[str]:
    for file in write_crawl(sample_crawl(), str(folder / "crawl")):
        for page in read_whole(Path(file)):
            if getattr(page, "kind", None) is Kind.HTML and len(page.payload) < 1 << 20:
                yield page.payload.decode("utf-8", "replace")


@pytest.mark.parametrize("rewritten", [False, True])
def test_hashes_stay_where_pages_pass_through_a_dom(
        browser: Chromium, pages: list[str], rewritten: bool) -> None:
    assert len(pages) > 20
    bytes_stay = 0
    for html in pages:
        out = written(browser, html, rewritten)
        assert hashes_of(cut(out)) == hashes_of(cut(html))
        bytes_stay += _by_bytes(out) == _by_bytes(html)
    assert bytes_stay < len(pages) / 4 and not (bytes_stay and rewritten)


def _by_bytes(html: str) -> list[str]:
    return hashes_of(chunk_page(html.encode(), Kind.HTML, ChunkSettings()))


def test_a_copy_that_was_rewritten_in_a_dom_is_known(browser: Chromium) -> None:
    """A page is trusted as it came over the wire; its copy is met in a browser."""
    detector = Detector((), chunks=ChunkSettings(normalise="text"))
    detector.learn(ORIGINAL, "http://bank.example/")
    found = detector.check(written(browser, ORIGINAL, True), "http://evil.example/")
    assert (found.contains, found.flagged) == (1.0, True)
    assert detector.check(written(browser, NESTED, True), "http://evil.example/").matching == 0


def test_scripts_add_chunks_and_leave_the_others(browser: Chromium) -> None:
    html = ORIGINAL.replace("old(1 < 2)", (
        "for (const p of document.querySelectorAll('p')) p.className = 'seen';"
        "document.links[0].href = '/tracked'; document.write('<p>Written.')"))
    browser.load(html, scripts=False)
    off = cut(browser.run(OUTER))
    browser.load(html, scripts=True)
    on = cut(browser.run(OUTER))
    assert texts_of(off) == texts_of(cut(ORIGINAL))
    assert sorted({*texts_of(on)} - {*texts_of(off)}) == ["Written."]
    assert {*texts_of(off)} - {*texts_of(on)} == set()


def test_a_tree_that_no_html_gives_is_cut_once_more(browser: Chromium) -> None:
    browser.load(NESTED, scripts=False)
    assert walked(browser) == texts_of(cut(NESTED)) == ["a", "b c d e"]
    out = written(browser, NESTED, False)
    assert texts_of(cut(out)) == ["a", "b c d", "e"]
    assert str(HTMLTree.parse(out)).count("<p></p>") == 1
    assert len(read_html(out, ("p",)).cuts) == 3


def test_real_pages_have_the_same_chunks_in_three_tongues(browser: Chromium, corpora: Path) -> None:
    """Some pages; `python -m tests.browser.real_doms` compares thousands and counts causes."""
    compared = [compare(browser, html) for _, html in real_pages(corpora, 100_000)[::8]]
    assert len(compared) > 30 and sum(one.chunks for one in compared) > 300
    assert {(one.html5lib, one.walk) for one in compared} == {("same", "same")}
    assert {one.written for one in compared} <= {"same", "tree that no HTML gives"}
    assert sum(one.written == "same" for one in compared) > 0.9 * len(compared)
    assert sum(one.lost for one in compared) < 0.01 * sum(one.chunks for one in compared)
