"""Chunks of text: the kernel against a walk of the tree, html5lib as judge, and pages that were
rewritten or passed through a DOM."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from resiliparse.parse.html import HTMLTree

from beam_reuse.core.chunking import (
    Chunks,
    chunk_document,
    chunk_page,
    count_document_chunks,
    cuts_text,
)
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.core.text import MAX_WRITTEN, read_html, walk
from beam_reuse.core.trees import lexbor_events
from tests.core.real_pages import real_pages
from tests.core.soup import SOUP
from tests.oracles.text import html5lib_tree, lexbor_tree
from tests.oracles.text_chunks import chunk_hashes, chunk_texts

TEXT = ChunkSettings(normalise="text")
VECTORS = Path(__file__).parents[1] / "vectors" / "text_chunks.json"
TAGS = st.sampled_from([("p", "div"), ("p",), ("a", "br", "tr"), ("plaintext", "annotation"),
                        ("svg", "template", "noscript"), ("html", "body", "title", "x")])
# What html5lib, whose rules are of before `template`, has no other tree of than lexbor.
SOUND = st.lists(st.one_of(
    st.builds("<{}{}>".format, st.sampled_from([
        "a", "b", "body", "br", "button", "dd", "div", "font", "form", "h1", "head", "hr", "html",
        "i", "iframe", "img", "input", "li", "noembed", "noframes", "noscript", "object", "p",
        "pre", "script", "span", "style", "svg", "textarea", "title", "ul", "wbr", "xmp",
    ]), st.sampled_from(["", " class=a", " href='b<p>'", " hidden", "/"])),
    st.builds("</{}>".format, st.sampled_from([
        "a", "b", "body", "button", "div", "font", "form", "h1", "head", "i", "li", "noscript",
        "object", "p", "pre", "script", "span", "style", "svg", "textarea", "title", "ul", "xmp",
    ])),
    st.sampled_from(["text", "more text ", " ", "\n", "&amp;", "&lt;p&gt;", "&nbsp;", "é", "日本",
                     "<!-- <p> -->", "<!doctype html>"]),
), max_size=25).map("".join)


def cut(html: str, tags: tuple[str, ...] = TEXT.tags) -> Chunks:
    return chunk_document(read_html(html, tags))


def texts_of(chunks: Chunks) -> list[str]:
    """What was hashed, at the places that chunks have."""
    places = zip(chunks.start.tolist(), chunks.end.tolist(), strict=True)
    return [chunks.text[start:end].decode() for start, end in places]


def hashes_of(chunks: Chunks) -> list[str]:
    return [sha1.tobytes().hex() for sha1 in chunks.sha1]


def require_chunks(chunks: Chunks, texts: list[str]) -> None:
    """The chunks have these texts, and everything else that follows from them."""
    assert texts_of(chunks) == texts
    assert hashes_of(chunks) == chunk_hashes(texts)
    assert chunks.text == "\n".join(texts).encode()
    assert chunks.length.tolist() == [len(text.encode()) for text in texts]


@settings(max_examples=400)
@given(SOUP, TAGS)
def test_kernel_equals_a_walk_of_the_same_tree(html: str, tags: tuple[str, ...]) -> None:
    clean = re.sub("[\ud800-\udfff]", "\ufffd", html)
    texts = chunk_texts(lexbor_tree(clean), tags)
    require_chunks(cut(html, tags), texts)
    require_chunks(chunk_document(walk(lexbor_events(HTMLTree.parse(clean)), tags)), texts)
    assert count_document_chunks(read_html(html, tags)) == len(texts)


@settings(max_examples=400)
@given(SOUND, TAGS)
def test_html5lib_gives_the_same_chunks_of_random_pages(html: str, tags: tuple[str, ...]) -> None:
    require_chunks(cut(html, tags), chunk_texts(html5lib_tree(html), tags))


def test_html5lib_gives_the_same_chunks_of_real_pages(corpora: Path) -> None:
    """Its trees differ from ours on some of them (see `test_text`), its chunks on none."""
    pages = real_pages(corpora)
    assert len(pages) > 100
    for name, html in pages:
        require_chunks(cut(html), chunk_texts(html5lib_tree(html)))
        assert len(cut(html)) > 0 or "<p" not in html, name


def vectors() -> list[dict[str, Any]]:
    return json.loads(VECTORS.read_text())["pages"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("page", vectors(), ids=lambda page: page["name"])
def test_vectors(page: dict[str, Any]) -> None:
    found, tags = cut(page["html"], tuple(page["tags"])), tuple(page["tags"])
    require_chunks(found, [chunk["text"] for chunk in page["chunks"]])
    assert hashes_of(found) == [chunk["sha1"] for chunk in page["chunks"]]
    assert [(chunk["start"], chunk["end"]) for chunk in page["chunks"]] == list(
        zip(found.start.tolist(), found.end.tolist(), strict=True))
    if "<template" not in page["html"]:
        assert texts_of(found) == chunk_texts(html5lib_tree(page["html"]), tags)


def test_a_very_long_page_is_cut_alike() -> None:
    html = "<p>é" + "x" * MAX_WRITTEN + "<p>y<div>"
    require_chunks(cut(html), ["é" + "x" * MAX_WRITTEN, "y"])


@pytest.mark.parametrize("kind", [Kind.TEXT, Kind.CODE, Kind.OTHER])
def test_other_kinds_are_cut_as_under_whitespace(kind: Kind) -> None:
    payload = b"<p>a  b\n\n \n<p>c\n\n"
    found, expected = (chunk_page(payload, kind, ChunkSettings(normalise=normalise))
                       for normalise in ("text", "whitespace"))
    assert not cuts_text(kind, TEXT) and found.text == b""
    for name in ("sha1", "start", "end", "length"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


ORIGINAL = """<!doctype html><html><head><title>The news</title><script src="a.js"></script>
<link rel=stylesheet href=style.css></head><body class=old><div id=top><a href="/1">Home</a></div>
<p class="lead">A first <a href="http://old.example/?id=1">paragraph</a>,
with <b>words</b>.</p><img src=a.png><p onclick="a()">A second.</p><script>old(1 < 2)</script>
<div class='x y'><div style="color: red">A third &amp; last</div></div></body></html>"""


@pytest.mark.parametrize("rewrite", [
    lambda html: re.sub(r'href="[^"]*"', 'href="https://evil.example/login"', html),
    lambda html: re.sub(r"class=(\"[^\"]*\"|'[^']*'|\w+)", "class=x1 data-v-2f1c=''", html),
    lambda html: re.sub(r"(?s)<script.*?</script>", "<script>fetch('<p>')</script>", html),
    lambda html: html.replace("<p", "<P ").replace("</div>", "</DIV >").replace("\n", "\r\n  "),
    lambda html: html.replace("<a ", "<a rel='nofollow' target=_blank "),
    lambda html: re.sub(r'(<div|<p)([ >])', r'\1 style="margin: 0" data-id=7\2', html),
    lambda html: html.replace("</p>", "").replace("</body></html>", "<!-- saved -->"),
    lambda html: html.replace("&amp;", "&#38;").replace("é", "&eacute;"),
    lambda html: html.replace("<b>", "<strong class=b>").replace("</b>", "</strong>"),
])
def test_hashes_stay_where_markup_is_rewritten(rewrite: Callable[[str], str]) -> None:
    rewritten = rewrite(ORIGINAL)
    assert rewritten != ORIGINAL
    assert texts_of(cut(ORIGINAL)) == ["The news", "Home", "A first paragraph, with words.",
                                      "A second.", "A third & last"]
    assert hashes_of(cut(rewritten)) == hashes_of(cut(ORIGINAL))
    by_bytes = [{*hashes_of(chunk_page(html.encode(), Kind.HTML, ChunkSettings()))}
                for html in (ORIGINAL, rewritten)]
    assert by_bytes[0] != by_bytes[1]


def test_hashes_change_with_the_text() -> None:
    changed = cut(ORIGINAL.replace("words", "wards"))
    assert sum(a != b for a, b in zip(
        hashes_of(changed), hashes_of(cut(ORIGINAL)), strict=True)) == 1


# Trees that no HTML gives: a p that foster parenting has put in a p is closed by that one when it
# is written out and parsed again, and what is left is one p more.
NESTED = {
    "http://www.snowballventures.com/aboutus.html",
    "http://www.snowballventures.com/installations.html",
}


@pytest.mark.parametrize("rewritten", [False, True])
def test_hashes_stay_where_real_pages_pass_through_a_dom(corpora: Path, rewritten: bool) -> None:
    different = set()
    for name, html in real_pages(corpora):
        tree = html5lib.parse(html)
        if rewritten:
            rewrite_attributes_and_scripts(tree)
        written = html5lib.serialize(tree, omit_optional_tags=False, quote_attr_values="always")
        if hashes_of(cut(written)) != hashes_of(cut(html)):
            different.add(name.partition(" ")[2])
    assert different <= NESTED


def rewrite_attributes_and_scripts(tree: ElementTree.Element) -> None:
    for number, element in enumerate(tree.iter()):
        for attribute in element.attrib:
            element.set(attribute, f"x{number}")
        if isinstance(element.tag, str):
            element.set("data-new", str(number))
            if element.tag.endswith(("}script", "}style")):
                element.text = f"var x{number} = 1 < 2;"
