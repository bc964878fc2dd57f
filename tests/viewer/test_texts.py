"""Marks are where they belong, and alignments lose nothing."""

from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from beam_reuse.core.chunking import chunk_page
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.core.text import read_html
from beam_reuse.core.tokens import token_places, token_texts
from beam_reuse.io.stored_pages import StoredPage
from beam_reuse.viewer.aligned import aligned, differing
from beam_reuse.viewer.quilts import shared_spans
from beam_reuse.viewer.texts import MarkedText, read_source, read_text, shown_lines
from tests.core.soup import SOUP

LINES = st.lists(st.sampled_from(["a", "b c", "b d", "word one two", "word one", "", "x" * 30]),
                 max_size=12)


@given(st.text(max_size=60))
@example("İstanbul IİΣ ß")
def test_places_of_tokens_are_those_of_their_texts(text: str) -> None:
    clean = text.encode("utf-8", "replace").decode()
    places = token_places(clean)
    found = token_texts(clean.encode())
    assert len(places) == len(found)
    for (start, end), token in zip(places, found, strict=True):
        assert token.upper() in clean[start:end].lower().upper()  # a last sigma is another


def chunk_rows(page: StoredPage, settings: ChunkSettings) -> list[dict[str, int]]:
    found = chunk_page(page.payload, page.kind, settings, page.payload.decode())
    return [{"position": n, "start": int(start), "end": int(end)}
            for n, (start, end) in enumerate(zip(found.start, found.end, strict=True))]


@given(SOUP, st.sampled_from(["whitespace", "text"]))
@settings(max_examples=60, deadline=None)
def test_marks_change_no_text(html: str, normalise: str) -> None:
    page = StoredPage("http://a.example/", Kind.HTML, "utf-8", html.encode("utf-8", "replace"))
    cut = ChunkSettings(normalise=normalise)
    rows = chunk_rows(page, cut)
    found, bare = read_text(page, cut, rows), read_html(page.payload.decode())
    assert [found.text[a:b] for a, b in found.lines()] == [
        bare_page.text[a:b] for bare_page in [MarkedText(bare.text.decode())]
        for a, b in bare_page.lines()]
    if normalise == "whitespace":
        source = read_source(page, cut, rows)
        by_name = {mark.name: source.text[mark.start:mark.end] for mark in source.marks}
        decoded = {str(row["position"]): page.payload[row["start"]:row["end"]].decode().replace(
            "\f", " ") for row in rows if row["start"] < row["end"]}
        assert by_name == decoded


def test_marks_of_paragraphs_and_lines() -> None:
    html = b"<title>T</title><p>one two<p>three <b>four</b><div>five</div>"
    page = StoredPage("http://a.example/", Kind.HTML, "utf-8", html)
    rows = chunk_rows(page, ChunkSettings())
    lines = shown_lines(read_text(page, ChunkSettings(), rows[2:3]))["lines"]
    assert [line["pieces"] for line in lines] == [
        [["T"]], [["one two"]], [["three four", "2"]], [["five"]]]


@given(LINES, LINES)
@settings(max_examples=100, deadline=None)
def test_alignments_have_every_line_of_both_in_order(a: list[str], b: list[str]) -> None:
    rows = aligned(a, b)
    for side, lines in (("a", a), ("b", b)):
        there = [pieces for row in rows if (pieces := getattr(row, side)) is not None]
        assert ["".join(text for text, _ in pieces) for pieces in there] == lines
    assert all(row.a == row.b for row in rows if row.kind == "same")


@given(st.text("ab 1", max_size=20), st.text("ab 1", max_size=20))
@settings(max_examples=100, deadline=None)
def test_what_does_not_differ_is_the_same(a: str, b: str) -> None:
    left, right = differing(a, b)
    assert "".join(text for text, _ in left) == a and "".join(text for text, _ in right) == b
    same = ["".join(text for text, differs in side if not differs) for side in (left, right)]
    assert same[0] == same[1]


def test_differences_are_marked_to_the_character() -> None:
    left, right = differing("page 11 of it", "page 12 of it")
    assert left == [["page 1", False], ["1", True], [" of it", False]]
    assert right == [["page 1", False], ["2", True], [" of it", False]]
    assert differing("versions", "version") == (
        [["version", False], ["s", True]], [["version", False]])


def test_a_letter_that_other_words_begin_with_too_is_no_likeness() -> None:
    left, right = differing("Bulling, Kava", "Bamey, Kava")
    assert left == [["Bulling", True], [", Kava", False]]
    assert right == [["Bamey", True], [", Kava", False]]


@given(st.lists(st.sampled_from("abc"), max_size=15), st.lists(st.sampled_from("abc"), max_size=15))
@settings(max_examples=100, deadline=None)
def test_shared_spans_are_unions_of_grams(tokens: list[str], other: list[str]) -> None:
    size = 2
    spans = [(0, len(tokens))]
    grams = {tuple(tokens[n:n + size]) for n in range(len(tokens) - size + 1)}
    inside = {place for n in range(len(other) - size + 1) if tuple(other[n:n + size]) in grams
              for place in range(n, n + size)}
    found = shared_spans(tokens, spans, other, size)
    assert {place for start, end in found for place in range(start, end)} == inside
    assert all(a[1] < b[0] for a, b in pairwise(found))
