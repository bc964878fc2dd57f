"""Which pages of a part are not written as they are, and how they are written."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.boilerplate.lines import lines_of
from beam_reuse.analyses.clean.claims import REASONS, TOO_LITTLE
from beam_reuse.analyses.clean.settings import AS_TEXT, AS_UTF8, STRIPS, CleanSettings
from beam_reuse.analyses.clean.stripping import Left, strip_page
from beam_reuse.analyses.clean.strips import LinesOfPart
from beam_reuse.columnar.block import Block, Maybe, VarBytes
from beam_reuse.columnar.store import make_shared
from beam_reuse.core.pages import Kind
from beam_reuse.io.corpus.changes import Change, write_changes
from beam_reuse.io.parts import part_path
from beam_reuse.pages.rows import NumberedRows, numbered_rows
from beam_reuse.rows import Count, Tagged

_WHAT = {AS_TEXT: "markup", AS_UTF8: "encoding"}


@dataclass
class Changes:
    """The pages of a part that are changed. `path` is their file, '' without any. `stripped` are
    the rows, in order, of pages of which something was taken out, and `left` the bytes that are
    left of each; of the rows `short` too little is left. `gone`: page, reason and bytes of what was
    taken out."""

    path: str = ""
    stripped: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    short: list[int] = field(default_factory=list)
    gone: list[tuple[int, str, int]] = field(default_factory=list)

    def left_of(
        self, row: NDArray[np.int64], sizes: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """How many bytes are written of pages that have these sizes, and of which something was
        taken out."""
        known = np.array([*self.stripped, -1], np.int64)
        at = np.searchsorted(known[:-1], row)
        is_stripped = known[at] == row
        return np.where(is_stripped, np.array([*self.left, 0], np.int64)[at], sizes), is_stripped

    def is_short(self, row: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.isin(row, self.short)

    def account(self) -> Iterator[Tagged | Count]:
        """Rows of `removed`, and what they add up to."""
        if not self.gone:
            return
        pages, reasons, sizes = zip(*self.gone, strict=True)
        what = [_WHAT.get(reason, "lines").encode() for reason in reasons]
        yield Tagged("removed", Block({
            "url": np.array(pages, np.uint64), "what": VarBytes.from_list(what),
            "reason": VarBytes.from_list([reason.encode() for reason in reasons]),
            "because_of": Maybe.nulls(len(pages), np.uint64),
            "containment": Maybe.nulls(len(pages), np.float64),
            "bytes": np.array(sizes, np.int64)}))
        yield Count("stripped-pages", len(set(pages)))
        for reason in sorted(set(reasons)):
            yield Count(f"stripped-bytes-{reason}", sum(
                size for _, why, size in self.gone if why == reason))


def find_changes(
    part: Block, claims: Block, lines: Block | None, spans: Block | None, settings: CleanSettings,
    folder: str,
) -> Changes:
    """Write the changes of a part below `folder`. `claims` are in order of their pages. Pages that
    are dropped are not changed. Cost: lines of all pages are read, and pages that are changed are
    parsed again; memory: some row groups."""
    changes = Changes()
    if not settings.marks:
        return changes
    changing = _Changing(
        None if lines is None else LinesOfPart.of(lines), _by_page(spans), claims, settings,
        changes)
    rows = changing.rows_of(part)
    if len(rows):
        make_shared(os.path.dirname(folder))
        path = part_path(folder, int(part.array("range")[0]))
        changes.path = path if write_changes(path, changing.changes(part, rows)) else ""
    return changes


def _by_page(spans: Block | None) -> dict[int, list[tuple[int, int]]]:
    """The chunks that go, by page, in order."""
    found: dict[int, list[tuple[int, int]]] = {}
    if spans is not None:
        for i, page in enumerate(spans.array("page").tolist()):
            some = zip(spans.lists("start")[i].tolist(), spans.lists("end")[i].tolist(),
                       strict=True)
            found[page] = sorted({*found.get(page, ()), *some})
    return found


@dataclass(frozen=True)
class _Changing:
    lines: LinesOfPart | None
    spans: dict[int, list[tuple[int, int]]]
    claims: Block
    settings: CleanSettings
    found: Changes

    def rows_of(self, part: Block) -> NDArray[np.int64]:
        """The rows of pages that may be changed."""
        pages = part.lists("pages")[0]
        row, number = pages.array("row"), pages.array("number").astype(np.uint64)
        claimed = np.isin(number, self.claims.array("page"))
        changed = np.isin(number, np.fromiter(self.spans, np.uint64))
        if self.lines is not None:
            for read in numbered_rows(part, ("host", "lines")):
                lengths = read.rows.lists("lines").lengths()
                page = np.repeat(read.number.astype(np.uint64), lengths)
                lines = lines_of(read.rows)
                why = self.lines.reasons(lines.array("host"), page, lines.array("line"))
                changed |= np.isin(number, page[why >= 0])
        return np.asarray(row[changed | claimed if self.settings.flag else changed & ~claimed])

    def changes(self, part: Block, rows: NDArray[np.int64]) -> Iterator[tuple[int, Change]]:
        """The changes of these rows; `found` is filled on the way."""
        columns = ("host", "kind", "charset", *(("payload",) if self.settings.strip else ()))
        for read in numbered_rows(part, columns, rows):
            for i in np.flatnonzero(np.isin(read.row, rows)).tolist():
                left = self._left(read, i) if self.settings.strip else None
                change = self._change(read, i, left)
                if change is not None:
                    yield int(read.row[i]), change

    def _left(self, read: NumberedRows, i: int) -> Left | None:
        """What is left of a page; None if nothing is taken out of it."""
        page, host = int(read.number[i]), read.rows.strings("host").slice(i, i + 1).hash64()

        def reasons(line: NDArray[np.uint64]) -> NDArray[np.int64]:
            assert self.lines is not None
            return self.lines.reasons(np.repeat(host, len(line)),
                                      np.full(len(line), page, np.uint64), line)

        left = strip_page(
            read.rows.strings("payload")[i], Kind(read.rows.numbers("kind")[i]),
            read.rows.strings("charset")[i].decode(), self.spans.get(page, ()),
            reasons if self.lines is not None else None, read.rows.parser)
        return left if left.pieces else None

    def _change(self, read: NumberedRows, i: int, left: Left | None) -> Change | None:
        page, row = int(read.number[i]), int(read.row[i])
        flag = self._flag(page)
        if left is None:
            charset = read.rows.strings("charset")[i].decode()
            return None if flag is None else Change(
                None, Kind(read.rows.numbers("kind")[i]), charset, None, flag)
        if left.tokens < self.settings.min_left:
            self.found.short.append(row)
            if not self.settings.flag:
                return None
            flag = flag or _shown_flag(TOO_LITTLE, "", -1.0)
        self.found.stripped.append(row)
        self.found.left.append(len(left.payload))
        self._note(page, left, Kind(read.rows.numbers("kind")[i]))
        pieces = [{"reason": STRIPS[piece.reason], "text": piece.text} for piece in left.pieces]
        return Change(left.payload, left.kind, left.charset, pieces, flag)

    def _note(self, page: int, left: Left, was: Kind) -> None:
        sizes: dict[str, int] = {}
        for piece in left.pieces:
            reason = STRIPS[piece.reason]
            sizes[reason] = sizes.get(reason, 0) + piece.size
        if left.recoded:
            sizes[AS_TEXT if was is Kind.HTML else AS_UTF8] = left.recoded
        self.found.gone.extend((page, reason, size) for reason, size in sizes.items())

    def _flag(self, page: int) -> dict[str, Any] | None:
        """How a page is marked."""
        known = self.claims.array("page")
        at = int(np.searchsorted(known, page))
        if not self.settings.flag or at == len(known) or known[at] != page:
            return None
        claim = self.claims.slice(at, at + 1)
        return _shown_flag(int(claim.array("reason")[0]), (
            claim.strings("because_url")[0].decode()
            if claim.array("because")[0] != page else ""), float(claim.array("share")[0]))


def _shown_flag(reason: int, because: str, share: float) -> dict[str, Any]:
    return {"reason": REASONS[reason], "because_of": because or None,
            "containment": share if share >= 0 else None}
