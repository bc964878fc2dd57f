"""What becomes of the pages of a part: dropped, marked, or written, as they are or changed."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.clean.changing import Changes, find_changes
from beam_reuse.analyses.clean.claims import (
    BINARY,
    CLAIMS,
    REASONS,
    TOO_LITTLE,
    claims_of,
    removed_rows,
)
from beam_reuse.analyses.clean.schemas import REMOVED as REMOVED_TABLE
from beam_reuse.analyses.clean.settings import CleanSettings
from beam_reuse.analyses.clean.shards import STAYS
from beam_reuse.columnar.block import Block, Lists, VarBytes
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.matching import lookup, match_ranges
from beam_reuse.columnar.schema import PAGE, PART, columns, gives
from beam_reuse.core.pages import Kind
from beam_reuse.io.corpus.forms import form_in
from beam_reuse.io.corpus.records import is_binary
from beam_reuse.io.parts import has_columns
from beam_reuse.pages.rows import NumberedRows, numbered_rows
from beam_reuse.rows import Count, Tagged

REMOVED = "removed"
# The number of no page.
_UNKNOWN = np.array([-1]).astype(np.uint64)


@gives(columns(page=PAGE, range=PART))
def places(parts: Block, wanted: KeyFilter) -> Iterator[Block]:
    """In which part pages are, of those that may be wanted."""
    for i in range(len(parts)):
        page = parts.lists("pages")[i].array("number").astype(np.uint64)
        page = page[wanted.may_hold(Block({"page": page}))]
        yield Block({"page": page, "range": np.full(
            len(page), parts.array("range")[i], np.uint32)})


@gives(lambda dropped, places: columns(dropped, range=PART))
def with_place(dropped: Block | None, places: Block | None) -> Block | None:
    """Claims with the part of their page."""
    if dropped is None:
        return None
    assert places is not None, "a page that is in no part"
    found = lookup(dropped, places, ("page",))
    return dropped.with_columns(range=places.array("range")[found])


@gives(STAYS, {REMOVED: REMOVED_TABLE.rows})
def fates(
    dropped: Block | None, lines: Block | None, spans: Block | None, parts: Block | None,
    settings: CleanSettings, folder: str,
) -> Iterator[Block | Tagged | Count]:
    """What becomes of the pages of parts, of claims against them (`claims`) and of what is taken
    out of them (`strips`): rows of those that stay, a row for each part and form in which they are
    written; REMOVED: rows of the table. Pages that are not written as they are have a file of
    changes below `folder`. Counts pages and bytes of all."""
    if parts is None:
        return
    mine = zip(*(_by_part(parts, each) for each in (dropped, lines, spans)), strict=True)
    for i, (claims, gone_lines, gone_spans) in enumerate(mine):
        part = parts.slice(i, i + 1)
        claims = claims_of(_UNKNOWN[:0], 0) if claims is None else claims.sort(("page",))
        changes = find_changes(part, claims, gone_lines, gone_spans, settings, folder)
        yield from changes.account()
        yield from _fates(part, claims, changes, settings)


def _by_part(parts: Block, rows: Block | None) -> list[Block | None]:
    """The rows of each part; None where there are none."""
    if rows is None:
        return [None] * len(parts)
    low, high = match_ranges(parts, rows, ("range",))
    return [rows.slice(a, b) if a < b else None
            for a, b in zip(low.tolist(), high.tolist(), strict=True)]


def _fates(
    part: Block, claims: Block, changes: Changes, settings: CleanSettings,
) -> Iterator[Block | Tagged | Count]:
    path = part.strings("path")[0].decode()
    has_form = has_columns(path, ("form",))
    held: dict[str, list[tuple[NDArray, NDArray]]] = {}
    for pages in numbered_rows(
            part, ("bytes", "record_length", "kind", *(("form",) if has_form else ()))):
        forms = _forms(pages, settings, has_form)
        sizes = pages.rows.numbers("bytes").astype(np.int64)
        left, is_stripped = changes.left_of(pages.row, sizes)
        against, where = _judged(pages, claims, changes.is_short(pages.row),
                                 _is_binary(pages, forms), settings.flag)
        goes = against.array("reason") == BINARY if settings.flag else np.full(len(where), True)
        for what, counted, some in (("page", "dropped", goes), ("flag", "marked", ~goes)):
            mine = against.take(some)
            yield Tagged(REMOVED, removed_rows(mine, sizes[where[some]], what))
            yield from _counted(counted, mine.array("reason"), sizes[where[some]])
        stays = np.full(len(pages), True)
        stays[where[goes]] = False
        yield from (Count("all-bytes", int(sizes.sum())), Count("kept-pages", int(stays.sum())),
                    Count("kept-bytes", int(left[stays].sum())))
        weight = np.where(is_stripped, left, _weights(pages, sizes))
        for form in dict.fromkeys(forms):
            mine_too = stays & np.array([each == form for each in forms])
            if mine_too.any():
                held.setdefault(form, []).append((pages.row[mine_too], weight[mine_too]))
    for form, rows in held.items():
        row, size = (np.concatenate(each) for each in zip(*rows, strict=True))
        yield Block({
            "range": part["range"], "path": part["path"],
            "changes": VarBytes.from_list([changes.path.encode()]),
            "form": VarBytes.from_list([form.encode()]),
            "row": Lists.from_lengths(np.array([len(row)]), row),
            "size": Lists.from_lengths(np.array([len(row)]), size)})


def _forms(pages: NumberedRows, settings: CleanSettings, has_form: bool) -> list[str]:
    """The form in which each page is written."""
    stored = pages.rows.strings("form").to_list() if has_form else [b""] * len(pages)
    known = {form: form_in(settings.to, form.decode(), settings.marks) for form in set(stored)}
    return [known[form] for form in stored]


def _judged(
    pages: NumberedRows, claims: Block, short: NDArray[np.bool_], binary: NDArray[np.bool_],
    flag: bool,
) -> tuple[Block, NDArray[np.int64]]:
    """Claims against those of these pages that something speaks against, in the order of the
    pages, and which of the pages they are. `claims` are in order of their pages."""
    page = pages.number.astype(np.uint64)
    at = np.searchsorted(claims.array("page"), page)
    claimed = np.append(claims.array("page"), _UNKNOWN)[at] == page
    if flag:
        claimed &= ~binary
    own = claims_of(page, TOO_LITTLE)
    own = own.with_columns(reason=np.where(binary, BINARY, own.array("reason")).astype(np.uint8))
    every = Block.concat([claims.select(CLAIMS.names), own.select(CLAIMS.names)])
    where = np.flatnonzero(claimed | short | binary)
    index = np.where(claimed, at, len(claims) + np.arange(len(page)))
    return every.take(index[where]), where


def _is_binary(pages: NumberedRows, forms: list[str]) -> NDArray[np.bool_]:
    """Which pages their form cannot hold."""
    kinds = pages.rows.numbers("kind").tolist()
    return np.array([is_binary(Kind(kind), form) for kind, form in zip(kinds, forms, strict=True)])


def _weights(pages: NumberedRows, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """About how many bytes each page is in a shard: of its record, if that stays as it is."""
    stored = pages.rows.numbers("record_length").astype(np.int64)
    return np.where(stored > 0, stored, sizes)


def _counted(
    what: str, reasons: NDArray[np.uint8], sizes: NDArray[np.int64],
) -> Iterator[Count]:
    for number in np.unique(reasons).tolist():
        mine = sizes[reasons == number]
        yield Count(f"{what}-pages-{REASONS[number]}", len(mine))
        yield Count(f"{what}-bytes-{REASONS[number]}", int(mine.sum()))
