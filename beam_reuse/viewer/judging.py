"""Judging in the viewer: sheets, one row of a sheet at a time, and what is said of it."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from beam_reuse.core.errors import UserError
from beam_reuse.core.verdicts import WORDS, Verdict, verdict_of
from beam_reuse.io.files import whole_path
from beam_reuse.io.results.tables import SCHEMAS
from beam_reuse.io.sheets import LABEL, REASON, WHEN, WHO, Row, Sheet, SheetError
from beam_reuse.judging.judged_sheet import Judged, Snapshot, judged_of, key_of
from beam_reuse.judging.rows import table_of
from beam_reuse.judging.sample import SampleSettings, sheet_columns
from beam_reuse.judging.sample import draw as draw_sample
from beam_reuse.viewer.tables import shown
from beam_reuse.viewer.view import View

MOST_DRAWN = 10_000
LONGEST_NOTE = 10_000
NOTES = 9
JUDGED, UNJUDGED = "judged", "unjudged"
# Sheets that `sample` has not drawn are known by these columns.
_KNOWN_BY = {"near_duplicates": ("url_a", "url_b"), "page_reuse": ("url",),
             "neighbourhoods": ("prefix",), "frequent_chunks": ("sha1",)}
_OPTIONS = {"near_duplicates": "pairs", "page_reuse": "pages", "neighbourhoods": "neighbourhoods"}
_CHUNKS = ("frequent_chunks", "frequent_files", "matched_chunks", "matched_files", "labels")
_SITES = ("page_reuse", "neighbourhoods")


class Words(NamedTuple):
    """The labels that the keys give, in a table's own words."""

    positive: str
    negative: str
    undecided: str = WORDS[Verdict.UNDECIDED][0]


def sheets(view: View) -> dict[str, Any]:
    """All sheets, with how many of their rows are judged."""
    return {"folder": view.sheets.folder, "who": view.sheets.who, "most": MOST_DRAWN,
            "sheets": [{"name": name, "path": path, **_summary(view, name)}
                       for name, path in view.sheets.names().items()]}


def _summary(view: View, name: str) -> dict[str, Any]:
    try:
        sheet = view.sheets.open(name).read().sheet
        return {"table": table_judged(view, sheet), "counts": _counts(sheet)}
    except UserError as error:
        return {"why_not": str(error)}


def item(view: View, sheet: str, row: int = 0, after: int = 0, before: int = 0,
         state: str = "") -> dict[str, Any]:
    """One row of a sheet with what is said of it: number `row`, or the next one behind `after`, or
    the one before `before`, in the given state; from the other end where there is none. No row
    if none has that state."""
    now = view.sheets.open(sheet).read()
    table = table_judged(view, now.sheet)
    found = _chosen(now, row, after, before, state)
    return {
        "sheet": sheet, "table": table, "path": now.sheet.path, "counts": _counts(now.sheet),
        "words": _words(table)._asdict(), "notes": _notes(now.sheet), "state": state,
        "command": command(view, table, now.sheet.path),
        **({"row": None} if found is None else _shown_row(now.sheet, table, found)),
    }


def judge(view: View, sheet: str, row: int, key: str, label: str, reason: str,
          seen: Sequence[str]) -> dict[str, Any]:
    """Store what is said of a row, which was `seen` with another judgement. It is on the disk
    when this returns."""
    said = bool(label or reason.strip())
    note = "\n".join(line.rstrip() for line in reason.strip().splitlines())
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    return _stored(view, sheet, row, key, seen,
                   Judged(label, note, *((view.sheets.who, moment) if said else ("", ""))))


def undo(view: View, sheet: str, row: int, key: str, seen: Sequence[str],
         back: Sequence[str]) -> dict[str, Any]:
    """Make a row again what it was before it was judged."""
    return _stored(view, sheet, row, key, seen, _judged(back))


def _stored(view: View, sheet: str, row: int, key: str, seen: Sequence[str],
            new: Judged) -> dict[str, Any]:
    try:
        verdict_of(new.label)
    except ValueError:
        raise UserError(f"{new.label[:40]!r} is no label.") from None
    if any(len(text) > LONGEST_NOTE for text in new):
        raise UserError(f"A note has at most {LONGEST_NOTE:,} characters.")
    held = view.sheets.open(sheet).judge(row, key, _judged(seen), new)
    return {"judged": list(held)}


def _judged(texts: Sequence[str]) -> Judged:
    if len(texts) != len(Judged._fields):
        raise UserError("A judgement has four parts.")
    return Judged(*texts)


def draw(view: View, table: str, rows: int = 100, seed: int = 0, bins: int = 5,
         by: Sequence[str] = (), where: Sequence[str] = ()) -> dict[str, Any]:
    """Draw a sheet of a table, as `beam-reuse sample` does."""
    view.require(table)
    if rows > MOST_DRAWN:
        raise UserError(f"At most {MOST_DRAWN:,} rows are drawn here; beam-reuse sample draws "
                        "more, and beam-reuse view DIR --judge FILE shows them.")
    sample = draw_sample(view.folder, SampleSettings(table, rows, seed, tuple(by), bins,
                                                     tuple(where)))
    if not sample.rows.num_rows:
        raise UserError("The table has no such row.")
    return {"sheet": view.sheets.add(table, sample.columns(), list(sample.cells())),
            "rows": sample.rows.num_rows, "of": sample.table_rows}


def table_judged(view: View, sheet: Sheet) -> str:
    """The table that a sheet is of; "" where its columns are those of none."""
    try:
        return table_of(view.folder, sheet)
    except SheetError:
        return next((table for table, columns in _KNOWN_BY.items()
                     if view.has(table) and set(columns) <= set(sheet.columns)), "")


def command(view: View, table: str, path: str) -> str:
    """What prints the figures of a sheet."""
    return shlex.join(["beam-reuse", "evaluate", whole_path(view.folder),
                       f"--{_OPTIONS.get(table, 'judged')}", path])


def _words(table: str) -> Words:
    if table in _CHUNKS:
        return Words("correct", "benign")
    return Words("copied", "original") if table in _SITES else Words("correct", "incorrect")


def _label(row: Row) -> str:
    """The label of a row, in lower case; none where it is no word that says anything: a file that
    was cut may end in the middle of one."""
    label = row.cells.get(LABEL, "").strip().lower()
    try:
        return label if verdict_of(label) else ""
    except ValueError:
        return ""


def _has_state(row: Row, state: str) -> bool:
    label = _label(row)
    return (not label if state == UNJUDGED else bool(label) if state == JUDGED
            else label == state if state else True)


def _chosen(now: Snapshot, row: int, after: int, before: int, state: str) -> Row | None:
    if row:
        return now.row(row)
    rows = [each for each in now.sheet.rows if _has_state(each, state)]
    if before:
        rows.reverse()
        return next((each for each in rows if each.number < before), next(iter(rows), None))
    return next((each for each in rows if each.number > after), next(iter(rows), None))


def _shown_row(sheet: Sheet, table: str, row: Row) -> dict[str, Any]:
    """A row by the table's names of its columns."""
    names = {name: name for name in sheet.columns}
    if table in SCHEMAS:
        names |= {each: own for own, each in sheet_columns(table, SCHEMAS[table].names).items()}
    values = {names[name]: shown(cell) for name, cell in row.cells.items()
              if name not in (LABEL, REASON, WHO, WHEN)}
    return {"row": row.number, "key": key_of(row), "judged": list(judged_of(row)),
            "place": next(at for at, each in enumerate(sheet.rows, 1) if each is row),
            "values": values}


def _counts(sheet: Sheet) -> dict[str, Any]:
    labels = Counter(map(_label, sheet.rows))
    left = labels.pop("", 0)
    return {"rows": len(sheet.rows), "left": left, "labels": dict(sorted(labels.items()))}


def _notes(sheet: Sheet) -> list[str]:
    """The notes given most often."""
    notes: Mapping[str, int] = Counter(
        note for row in sheet.rows if (note := row.cells.get(REASON, "").strip()))
    return [note for note, _ in sorted(notes.items(), key=lambda two: (-two[1], two[0]))[:NOTES]]
