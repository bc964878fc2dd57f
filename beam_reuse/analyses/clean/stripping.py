"""What stays of a page without some of its lines and chunks. No Beam, no files."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.boilerplate.definition import text_lines
from beam_reuse.analyses.clean.settings import STRIPS
from beam_reuse.core.nesting import TooDeep, check_nesting
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import LEXBOR
from beam_reuse.core.text import Document, read_html, read_plain
from beam_reuse.core.tokens import line_fingerprints, scan_text
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.io.crawl.rows import utf8

BOILERPLATE, FREQUENT, MATCHED = range(len(STRIPS))

Reasons = Callable[[NDArray[np.uint64]], NDArray[np.int64]]
"""For the fingerprints of a page's lines: why each goes, a number of STRIPS, or -1."""


class TakenOut(NamedTuple):
    """What was taken out of a page: why, what it says, and its bytes."""

    reason: int
    text: str
    size: int


class Left(NamedTuple):
    """What stays of a page. Without lines that went it is as it was but for its chunks; else it is
    plain text in UTF-8. `bytes` of the page = those of `payload` + those of pieces + `recoded`.
    HTML is read by `parser`."""

    payload: bytes
    kind: Kind
    charset: str
    pieces: Sequence[TakenOut]
    recoded: int
    parser: str = LEXBOR

    @property
    def tokens(self) -> int:
        """How many tokens it has."""
        if not self.kind.has_text:
            return len(scan_text(self.payload).tokens)
        text = decode_text(self.payload, self.charset)
        return len(scan_text(_document(text, self.kind, self.parser).text).tokens)


def strip_page(
    payload: bytes, kind: Kind, charset: str, spans: Sequence[tuple[int, int]],
    reasons: Reasons | None, parser: str = LEXBOR,
) -> Left:
    """A page without the bytes of `spans` (start and end, in order, not overlapping), and without
    the lines of what then is its text that have a reason.

    Of plain text the other lines stay as they are, with their ends; HTML becomes its text, in which
    blank lines are between paragraphs. HTML that no parser should see once it is cut
    (`core.nesting`) keeps its lines.
    """
    left, pieces = _without_spans(payload, charset, spans)
    if reasons is None or not kind.has_text or (kind is Kind.HTML and not _is_sound(left, charset)):
        return Left(left, kind, charset, pieces, 0, parser)
    text = decode_text(left, charset)
    document = _document(text, kind, parser).text
    why = reasons(line_fingerprints(document)[0])
    if not (why >= 0).any():
        return Left(left, kind, charset, pieces, 0, parser)
    stays, lines = (_html_lines(document, why) if kind is Kind.HTML else _plain_lines(text, why))
    content = utf8(stays)
    recoded = len(left) - len(content) - sum(line.size for line in lines)
    return Left(content, Kind.TEXT, "utf-8", [*pieces, *lines], recoded)


def _without_spans(
    payload: bytes, charset: str, spans: Sequence[tuple[int, int]],
) -> tuple[bytes, list[TakenOut]]:
    pieces, kept, at = [], [], 0
    for start, end in spans:
        kept.append(payload[at:start])
        pieces.append(TakenOut(MATCHED, decode_text(payload[start:end], charset), end - start))
        at = end
    return b"".join([*kept, payload[at:]]), pieces


def _is_sound(html: bytes, charset: str) -> bool:
    try:
        check_nesting(html, charset)
    except TooDeep:
        return False
    return True


def _document(text: str, kind: Kind, parser: str) -> Document:
    return read_html(text, parser=parser) if kind is Kind.HTML else read_plain(text)


def _plain_lines(text: str, why: NDArray[np.int64]) -> tuple[str, list[TakenOut]]:
    """The text without the lines that have a reason, and these. Blank lines stay."""
    kept, gone = [], []
    reasons = iter(why.tolist())
    for line in text.splitlines(keepends=True):
        reason = next(reasons) if line.split() else -1
        if reason < 0:
            kept.append(line)
        else:
            gone.append(TakenOut(reason, " ".join(line.split()), len(utf8(line))))
    return "".join(kept), gone


def _html_lines(document: bytes, why: NDArray[np.int64]) -> tuple[str, list[TakenOut]]:
    """The lines of a document that have no reason, as text, and the others."""
    kept: list[str] = []
    gone: list[TakenOut] = []
    new = False
    for (line, starts), reason in zip(text_lines(document), why.tolist(), strict=True):
        new |= starts
        if reason >= 0:
            gone.append(TakenOut(reason, line, len(utf8(line))))
            continue
        if kept:
            kept.append("\n\n" if new else "\n")
        kept.append(line)
        new = False
    return "".join(kept), gone
