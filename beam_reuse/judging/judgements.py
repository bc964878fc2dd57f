"""Judged rows of a sheet, each with the key by which it is found in a result."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar
from urllib.parse import quote

from beam_reuse.core.urls import BadUrl, canonical_url, name_page, prefixes
from beam_reuse.core.verdicts import ALLOWED, Verdict
from beam_reuse.io.sheets import (
    LABEL,
    REASON,
    STRATUM,
    STRATUM_ROWS,
    Row,
    Sheet,
    SheetError,
    verdict_in,
)

FILE = "file://"
LONGEST_NAME = 200
ALL = "all"
_PER_CENT = re.compile("%(?![0-9A-Fa-f]{2})")

K = TypeVar("K", str, tuple[str, ...], tuple[str, str])


class RefusedRow(ValueError):
    """A row that judges nothing; the message says why, and the way out."""


@dataclass(frozen=True)
class Judgement(Generic[K]):
    """A judged row. `key` is None where the row names nothing a crawl could hold; `why` says so."""

    row: Row
    key: K | None
    verdict: Verdict
    why: str = ""

    def cell(self, column: str) -> str:
        return self.row.cells.get(column, "").strip()


@dataclass(frozen=True)
class Judgements(Generic[K]):
    """The judged rows of a sheet, one per key, in its order; rows without label, and rows that
    say again what another said, are only counted."""

    judged: tuple[Judgement[K], ...]
    unlabelled: int
    repeated: int


def judgements_of(sheet: Sheet, columns: Sequence[str], key_of: Callable[..., K],
                  filled: Sequence[str] | None = None) -> Judgements[K]:
    """The judgements in `sheet` on what `columns` name, of which those that are `filled` (None:
    all) must not be empty.

    `key_of` makes the key from their cells, or raises BadUrl or RefusedRow. Refuses a sheet without
    labels, a label that is none of the known words or beside a cell that should not be empty, and
    two rows that judge the same thing differently.
    """
    if not sheet.rows:
        raise SheetError(f"{sheet.path}: there is no row below the first, which names the columns; "
                         "draw rows with `beam-reuse sample`, or add some")
    found: dict[K | tuple[str, ...], Judgement[K]] = {}
    unlabelled = repeated = 0
    for row in sheet.rows:
        judgement = _judgement(sheet, row, columns, key_of, columns if filled is None else filled)
        if judgement is None:
            unlabelled += 1
            continue
        known = found.setdefault(judgement.key or _cells(row, columns), judgement)
        if known.verdict is not judgement.verdict:
            raise SheetError(
                f"{sheet.path}: rows {known.row.number} and {row.number} judge "
                f"{_named(judgement, columns)} differently "
                f"({known.cell(LABEL)}, {judgement.cell(LABEL)}); keep one")
        repeated += known is not judgement
    if not found:
        raise SheetError(f"{sheet.path}: no row has a label yet; fill the column {LABEL} first, "
                         f"with one of {ALLOWED}")
    return Judgements(tuple(found.values()), unlabelled, repeated)


def _judgement(sheet: Sheet, row: Row, columns: Sequence[str], key_of: Callable[..., K],
               filled: Sequence[str]) -> Judgement[K] | None:
    verdict = verdict_in(sheet, row)
    if verdict is None:
        return None
    empty = [column for column in filled if not row.cells.get(column, "").strip()]
    if empty:
        raise SheetError(f"{sheet.path}: row {row.number} has a label and no {empty[0]}; fill it, "
                         "or delete the row")
    try:
        return Judgement(row, key_of(*_cells(row, columns)), verdict)
    except RefusedRow as why:
        raise SheetError(f"{sheet.path}: row {row.number}: {why}") from None
    except BadUrl as bad:
        return Judgement(row, None, verdict, str(bad))


def _cells(row: Row, columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(row.cells.get(column, "") for column in columns)


def _named(judgement: Judgement[K], columns: Sequence[str]) -> str:
    key = judgement.key or _cells(judgement.row, columns)
    return key if isinstance(key, str) else " and ".join(filter(None, key))[:LONGEST_NAME]


def columns_by(sheet: Sheet, judgements: Judgements[K], by: Sequence[str] | None,
               derived: Sequence[str] = ()) -> tuple[str, ...]:
    """The columns to count judgements by: those asked for, of the sheet or `derived`; None: the
    reason, where any is given."""
    if by is None:
        return (REASON,) if any(j.cell(REASON) for j in judgements.judged) else ()
    known = {*sheet.columns, *derived}
    unknown = [name for name in by if name not in known]
    if unknown:
        raise SheetError(f"--by: {sheet.path} has no column {unknown[0]!r}; "
                         f"known are {', '.join(sorted(known))}")
    return tuple(by)


def is_stratified(sheet: Sheet) -> bool:
    """Whether a sheet names the strata that its rows were drawn from."""
    return {STRATUM, STRATUM_ROWS} <= set(sheet.columns)


def stratum_of(sheet: Sheet, judgement: Judgement[K]) -> str:
    """The stratum of a judgement; the same for all of a sheet that names none."""
    return judgement.cell(STRATUM) if is_stratified(sheet) else ALL


def stratum_weights(sheet: Sheet, judgements: Sequence[Judgement[K]]) -> list[Fraction] | None:
    """How many rows of the table each of these judgements stands for: the rows of its stratum,
    shared among those of them that it holds. None if the sheet names no strata."""
    if not is_stratified(sheet):
        return None
    judged = Counter(judgement.cell(STRATUM) for judgement in judgements)
    return [Fraction(stratum_rows(sheet, judgement), judged[judgement.cell(STRATUM)])
            for judgement in judgements]


def drawn_from(sheet: Sheet) -> int | None:
    """How many rows the strata of a sheet hold together; None if it names none."""
    if not is_stratified(sheet):
        return None
    strata = {row.cells.get(STRATUM, ""): row.cells.get(STRATUM_ROWS, "").strip()
              for row in sheet.rows}
    return sum(int(rows) for rows in strata.values() if rows.isdecimal())


def stratum_rows(sheet: Sheet, judgement: Judgement[K]) -> int:
    """How many rows of the table the stratum of a judgement has."""
    text = judgement.cell(STRATUM_ROWS)
    if not text.isdecimal() or not int(text):
        raise SheetError(f"{sheet.path}: row {judgement.row.number}: {STRATUM_ROWS} {text!r} is no "
                         "count of rows; leave the columns of `sample` as they are")
    return int(text)


def page_key(cell: str) -> str:
    """The key of a page: its canonical URL; that of one capture keeps its `#YYYYMMDDhhmmss`."""
    url, mark, moment = cell.strip().rpartition("#")
    time, _, number = moment.partition("~")
    if mark and len(time) == 14 and time.isdecimal() and (not number or number.isdecimal()):
        return f"{page_url(url)}#{moment}"
    return page_url(cell)


def page_url(cell: str) -> str:
    """The canonical URL of a page. That of a file of a folder may be written as the path is:
    what a URL does not hold is escaped, as when the folder was read."""
    text = cell.strip()
    if text.lower().startswith(FILE):
        path = _PER_CENT.sub("%25", text[len(FILE):])
        text = FILE + quote(path, safe="/%", errors="surrogateescape")
    return canonical_url(text)


def prefix_key(cell: str) -> str:
    """The key of a directory: `host/` or `host/directory/`. A scheme, port and query are
    dropped, a slash at the end is added."""
    text = cell.strip()
    text = (text if "://" in text else f"http://{text}").partition("?")[0].partition("#")[0]
    return prefixes(canonical_url(text if text.endswith("/") else text + "/"))[-1]


def derived(column: str, key: str) -> str:
    """The value of `column` by a page's or directory's name: host, site, domain or neighbourhood
    (the directory a page is in). KeyError for any other column."""
    url = key if "://" in key else f"http://{key}"
    name = name_page(url)
    return {"host": name.host, "site": name.site, "domain": name.domain,
            "neighbourhood": prefixes(name.url)[-1]}[column]


DERIVED = ("host", "site", "domain", "neighbourhood")
