"""All features of a page together."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.core import features
from beam_reuse.core.features import (
    CHUNKS,
    FeatureSettings,
    PageFeatures,
    TooDeep,
    TooLarge,
    needs_decoding,
    page_features,
    tokens_of,
)
from beam_reuse.core.pages import Kind, RawPage
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.core.text import read_html
from beam_reuse.core.urls import name_page
from beam_reuse.io.crawl.payload import decode_text
from tests.oracles import tokens as oracle

WITH_TEXT = FeatureSettings(ChunkSettings(), text=True)
WITHOUT_TEXT = FeatureSettings(ChunkSettings(), text=False)
NAME = name_page("http://www.example.org/a/b.html")


def page(payload: bytes, kind: Kind, charset: str = "utf-8") -> RawPage:
    return RawPage("f", 0, 0, "", NAME.url, None, 200, "", kind, "text/html", charset, payload)


def hashes(*texts: str) -> list[int]:
    return [oracle.fingerprint(text) for text in texts]


def line_hashes(*texts: str) -> list[int]:
    return [oracle.line_fingerprint(text) for text in texts]


@pytest.mark.parametrize(("text", "html", "words"), [
    ("<title>No</title><p>Some <b>bo</b>ld<br>words &amp; <img src=a.gif> 日本 one_two",
     True, ["no", "some", "bold", "words", "日", "本", "one", "two"]),
    ("<p>Text</p> as it\nstands", False, ["p", "text", "p", "as", "it", "stands"]),
    ("", True, []),
])
def test_tokens_are_those_that_are_counted(text: str, html: bool, words: list[str]) -> None:
    assert tokens_of(text, html) == words
    given = page(text.encode(), Kind.HTML if html else Kind.TEXT)
    assert page_features(given, NAME, text, WITH_TEXT).tokens.tolist() == hashes(*words)


def test_html_has_every_feature() -> None:
    html = (
        b"<title>A Title</title><base href='/x/'><p>Some <b>bo</b>ld <a href='q?a&amp;b'>link</a>"
        b"<br>next<pre>one\n\ntwo</pre><img src=i/logo.gif?1><img src=//cdn.example.com:80/z>"
    )
    found = page_features(page(html, Kind.HTML), NAME, html.decode(), WITH_TEXT)
    assert found.sha1 == hashlib.sha1(html).digest()
    assert len(found.chunks) == 2
    words = ("a", "title", "some", "bold", "link", "next", "one", "two")
    assert found.tokens.tolist() == hashes(*words)
    assert found.images.tolist() == hashes("logo.gif", "http://cdn.example.com/z")
    assert found.lines.tolist() == line_hashes("A Title", "Some bold link", "next", "one", "two")
    assert found.paragraphs.tolist() == [0, 1, 3, 4]
    assert list(found.links) == [b"q?a&b"] and found.base == b"/x/"


def test_plain_text_has_lines_as_python_splits_them() -> None:
    text = "one\u2028two\r\n\r\nthree <p> four\x0bfive"
    found = page_features(page(text.encode(), Kind.TEXT), NAME, text, WITH_TEXT)
    assert found.lines.tolist() == line_hashes("one", "two", "three <p> four", "five")
    assert found.paragraphs.tolist() == [0, 2]
    assert len(found.chunks) == 2 and not len(found.links)


@pytest.mark.parametrize("kind", [Kind.CODE, Kind.OTHER])
def test_code_and_other_kinds_have_no_text(kind: Kind) -> None:
    found = page_features(page(b"a\n\nb", kind), NAME, "a\n\nb", WITH_TEXT)
    assert len(found.chunks) == (2 if kind is Kind.CODE else 0)
    assert not len(found.tokens) and not len(found.lines) and not len(found.paragraphs)


@pytest.mark.parametrize("kept", [frozenset(), frozenset({"chunks"}), frozenset({"lines"})])
@pytest.mark.parametrize(("payload", "kind"), [
    (b"<p>a<div>b<br>c<p> ", Kind.HTML), (b"a \n\n b\n\n\n", Kind.TEXT), (b"", Kind.TEXT),
    (b"x\n\ny", Kind.CODE), (b"x\n\ny", Kind.OTHER)])
@pytest.mark.parametrize("normalise", ["whitespace", "text"])
def test_what_is_not_kept_is_counted(
    normalise: str, payload: bytes, kind: Kind, kept: frozenset[str],
) -> None:
    def found(settings: FeatureSettings) -> PageFeatures:
        return page_features(page(payload, kind), NAME, payload.decode(), settings)

    chunks = ChunkSettings(normalise=normalise)
    whole, part = (found(FeatureSettings(chunks, text=True)),
                   found(FeatureSettings(chunks, True, kept)))
    assert whole.chunk_count == len(whole.chunks) and whole.line_count == len(whole.lines)
    assert (part.chunk_count, part.line_count) == (whole.chunk_count, whole.line_count)
    assert part.chunks.sha1.tolist() == (whole.chunks.sha1.tolist() if "chunks" in kept else [])
    for name in ("lines", "paragraphs"):
        expected = getattr(whole, name).tolist() if "lines" in kept else []
        assert getattr(part, name).tolist() == expected
    assert part.tokens.tolist() == whole.tokens.tolist()


def test_without_text_nothing_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beam_reuse.core.features.read_html", None)
    found = page_features(page(b"<p>a", Kind.HTML), NAME, None, WITHOUT_TEXT)
    assert len(found.chunks) == 1 and found.tokens.dtype == np.uint64


def test_chunks_of_text_and_everything_else_are_of_one_parse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parses = []
    monkeypatch.setattr(features, "read_html", lambda *given: parses.append(given) or read_html(
        *given))
    html = b"<title>t</title><p class=x>One <a href=y>two</a><p>three"
    for text in (True, False):
        settings = FeatureSettings(ChunkSettings(normalise="text"), text)
        found = page_features(page(html, Kind.HTML), NAME, html.decode(), settings)
        assert needs_decoding(page(html, Kind.HTML), settings)
        assert found.chunks.text == b"t\nOne two\nthree" and found.chunk_count == 3
        assert found.tokens.tolist() == (hashes("t", "one", "two", "three") if text else [])
    assert len(parses) == 2
    assert not needs_decoding(page(html, Kind.CODE), settings)


@pytest.mark.parametrize("settings", [WITH_TEXT, WITHOUT_TEXT])
@pytest.mark.parametrize("charset", ["utf-8", "utf-16le", "utf-16be"])
def test_a_page_nested_too_deep_is_refused_with_or_without_text(
    settings: FeatureSettings, charset: str
) -> None:
    html = "<div>" * 100_000
    with pytest.raises(TooDeep, match="nested"):
        page_features(page(html.encode(charset), Kind.HTML, charset), NAME, html, settings)
    page_features(page(html.encode(charset), Kind.TEXT, charset), NAME, html, settings)


@pytest.mark.parametrize("payload", [b"", b"\0", b"\xff\xfe", b"<", b"</", b"<!", b"<a", b"<a b='"])
def test_pages_that_are_hardly_pages(payload: bytes) -> None:
    for kind in Kind:
        found = page_features(
            page(payload, kind), NAME, payload.decode("utf-8", "replace"), WITH_TEXT)
        assert found.sha1 == hashlib.sha1(payload).digest()


@given(payload=st.one_of(
    st.binary(max_size=40), st.text(max_size=40).map(str.encode),
    st.lists(st.sampled_from([
        b"A word", b"\r\n", b"\n\n", b"\xef\xbb\xbf", "Σİ—\x85\u2028日".encode(), b"\xff",
    ]), max_size=12).map(b"".join)),
    classic=st.booleans(), kept=st.sampled_from([frozenset(), frozenset({CHUNKS})]))
def test_plain_text_that_is_not_decoded_has_the_same_features(
    payload: bytes, classic: bool, kept: frozenset[str],
) -> None:
    chunks = ChunkSettings(("p",), "none", True) if classic else ChunkSettings()
    settings = FeatureSettings(chunks, text=True, kept=kept)
    given_page = page(payload, Kind.TEXT)
    text = decode_text(payload, "utf-8")
    found = page_features(
        given_page, NAME, text if needs_decoding(given_page, settings) else None, settings)
    expected = page_features(given_page, NAME, text, settings)
    for name in ("tokens", "images", "lines", "paragraphs"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert found.chunks.sha1.tolist() == expected.chunks.sha1.tolist()
    for name in ("sha1", "chunk_count", "line_count"):
        assert getattr(found, name) == getattr(expected, name)


def test_documents_above_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "MAX_DOCUMENT", 10)
    with pytest.raises(TooLarge, match="more than 10 bytes"):
        page_features(page(b"x" * 11, Kind.CODE), NAME, None, WITHOUT_TEXT)
    assert page_features(page(b"x" * 11, Kind.OTHER), NAME, None, WITHOUT_TEXT).chunk_count == 0
    assert page_features(page(b"x" * 10, Kind.TEXT), NAME, None, WITHOUT_TEXT).chunk_count == 1
