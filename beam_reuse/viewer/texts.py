"""The text or the source of a page as lines of pieces, each with what it is marked by."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from beam_reuse.core.chunking import cuts_text
from beam_reuse.core.nesting import TooDeep, check_nesting
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import LEXBOR, ChunkSettings
from beam_reuse.core.text import read_html, read_plain
from beam_reuse.core.tokens import line_fingerprints, token_places
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.io.stored_pages import StoredPage
from beam_reuse.viewer.contents import NoContent

MOST_LINES = 4_000
MOST_LETTERS = 20_000
MOST_IN_ALL = 2_000_000
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"  # no characters: never in a text, and kept by parsers
_SIGN = re.compile(f"{_OPEN}([se])(\\d+){_CLOSE}")
_SIGNS = re.compile(f"[{_OPEN}{_CLOSE}]")
_LINE_ENDS = re.compile("[\n\f]")


class Mark(NamedTuple):
    """Characters `start` to `end` of a text are marked by what is called `name`."""

    start: int
    end: int
    name: str


@dataclass(frozen=True)
class MarkedText:
    """A text and what of it is marked."""

    text: str
    marks: Sequence[Mark] = field(default_factory=list)

    def lines(self) -> list[tuple[int, int]]:
        """Where the lines are that are not empty, without white space around them."""
        found, at = [], 0
        for line in _LINE_ENDS.split(self.text):
            seen = line.strip()
            if seen:
                start = at + len(line) - len(line.lstrip())
                found.append((start, start + len(seen)))
            at += len(line) + 1
        return found

    def fingerprints(self) -> np.ndarray:
        """Those of its lines (uint64), in order."""
        return line_fingerprints(self.text.encode("utf-8", "surrogatepass"))[0]

    @cached_property
    def _places(self) -> np.ndarray:
        return token_places(self.text)

    def of_tokens(self, spans: Iterable[tuple[int, int]], name: str) -> list[Mark]:
        """Marks of spans of tokens, end excluded."""
        places = self._places
        return [Mark(int(places[first, 0]), int(places[min(end, len(places)) - 1, 1]), name)
                for first, end in spans if first < min(end, len(places))]


def chunk_settings(settings: Mapping[str, Any]) -> ChunkSettings:
    """How a run has cut pages, by its manifest."""
    return ChunkSettings(tuple(settings.get("chunk-tags", ("p", "div"))),
                         settings.get("chunk-normalise", "whitespace"),
                         settings.get("classic", False))


def parser_of(settings: Mapping[str, Any]) -> str:
    """What a run has parsed HTML with, by its manifest."""
    return str(settings.get("parser", LEXBOR))


def read_text(page: StoredPage, settings: ChunkSettings,
              chunks: Sequence[Mapping[str, Any]] = (), parser: str = LEXBOR) -> MarkedText:
    """What a reader sees of a page, by the parser of its run. `chunks` are its rows of
    matched_chunks; each is marked by its position."""
    if not page.kind.has_text:
        raise NoContent("This page is code: it has no text. Look at its source.")
    if page.kind is Kind.HTML:
        try:
            check_nesting(page.payload, page.charset)
        except TooDeep as error:
            raise NoContent(f"This page is not parsed: {error}") from error
    if cuts_text(page.kind, settings):
        return _by_text(page, settings, chunks, parser)
    bare = _parsed(page, _signed(page, ()), parser)
    if not chunks:
        return MarkedText(bare)
    signed = _parsed(page, _signed(page, chunks), parser)
    found = _without_signs(signed, [str(row["position"]) for row in chunks if not row["start"]])
    # Where a sign changes the tree after all (it may undo frames), the text is right and unmarked.
    same = [bare[a:b] for a, b in MarkedText(bare).lines()] == [
        found.text[a:b] for a, b in found.lines()]
    return found if same else MarkedText(bare)


def _parsed(page: StoredPage, text: str, parser: str) -> str:
    html = page.kind is Kind.HTML
    document = read_html(text, parser=parser) if html else read_plain(text)
    return document.text.decode("utf-8", "replace")


def _signed(page: StoredPage, chunks: Sequence[Mapping[str, Any]]) -> str:
    """The decoded page with a sign where a chunk starts, but not before all else, and where it
    ends. Chunks start at tags that break lines, so that signs change no line."""
    signs = sorted((place, side == "s", f"{_OPEN}{side}{row['position']}{_CLOSE}")
                   for row in chunks
                   for side, place in (("s", row["start"]), ("e", row["end"])) if place)
    pieces, at = [], 0
    for place, _, sign in signs:
        pieces += [_SIGNS.sub("", decode_text(page.payload[at:place], page.charset)), sign]
        at = place
    return "".join([*pieces, _SIGNS.sub("", decode_text(page.payload[at:], page.charset))])


def _without_signs(text: str, first: Sequence[str]) -> MarkedText:
    """The text and its marks; those of `first` start where it does."""
    pieces, at, length = [], 0, 0
    starts = dict.fromkeys(first, 0)
    marks = []
    for sign in _SIGN.finditer(text):
        pieces.append(text[at:sign.start()])
        length += sign.start() - at
        at = sign.end()
        if sign[1] == "s":
            starts[sign[2]] = length
        elif starts.get(sign[2], length) < length:
            marks.append(Mark(starts[sign[2]], length, sign[2]))
    return MarkedText("".join([*pieces, text[at:]]), marks)


def _by_text(page: StoredPage, settings: ChunkSettings,
             chunks: Sequence[Mapping[str, Any]], parser: str) -> MarkedText:
    """Chunks of text are its stretches between cuts that are not empty."""
    document = read_html(decode_text(page.payload, page.charset), settings.tags, parser)
    bounds = [0, *document.cuts.tolist(), len(document.text)]
    stretches = [(start, end) for start, end in pairwise(bounds)
                 if document.text[start:end].decode("utf-8", "replace").strip()]

    def letters(place: int) -> int:
        return len(document.text[:place].decode("utf-8", "replace"))

    return MarkedText(document.text.decode("utf-8", "replace"), [
        Mark(letters(stretches[row["position"]][0]), letters(stretches[row["position"]][1]),
             str(row["position"])) for row in chunks if row["position"] < len(stretches)])


def read_source(page: StoredPage, settings: ChunkSettings,
                chunks: Sequence[Mapping[str, Any]] = ()) -> MarkedText:
    """The page as it was fetched, in characters. Chunks of text are not marked in it."""
    if page.kind is Kind.OTHER:
        raise NoContent("This page is neither a document nor code.")
    if cuts_text(page.kind, settings):
        return MarkedText(decode_text(page.payload, page.charset).replace("\f", " "))
    return _without_signs(_signed(page, chunks).replace("\f", " "),
                          [str(row["position"]) for row in chunks if not row["start"]])


def shown_lines(text: MarkedText, template: Mapping[int, str] | None = None) -> dict[str, Any]:
    """Lines as lists of pieces: [text, names of marks...]; `template` names lines that are one of
    a template by their fingerprints. Of a long text the beginning."""
    lines, kinds = text.lines(), []
    if template:
        kinds = [template.get(int(each), "") for each in text.fingerprints()]
    marks = sorted(text.marks)
    out, first, left = list[dict[str, Any]](), 0, MOST_IN_ALL
    for number, (start, end) in enumerate(lines[:MOST_LINES]):
        if left <= 0:
            break
        until = min(end, start + MOST_LETTERS, start + left)
        left -= until - start
        while first < len(marks) and marks[first].end <= start:
            first += 1
        here = [mark for mark in marks[first:first + 1000] if mark.start < until
                and mark.end > start]
        out.append({"n": number + 1, "pieces": _pieces(text.text, start, until, here),
                    "left_out": end - until,
                    "template": kinds[number] if number < len(kinds) else ""})
    return {"lines": out, "left_out": len(lines) - len(out)}


def _pieces(text: str, start: int, end: int, marks: Sequence[Mark]) -> list[list[str]]:
    cuts = sorted({start, end, *(place for mark in marks for place in mark[:2]
                                 if start < place < end)})
    return [[text[a:b], *(mark.name for mark in marks if mark.start <= a and mark.end >= b)]
            for a, b in pairwise(cuts)]
