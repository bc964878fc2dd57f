"""Passages that somebody marks as stop chunks while reading, without a sheet that was drawn."""

import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from tempfile import TemporaryDirectory
from typing import Any

from beam_reuse.core.errors import UserError
from beam_reuse.io.sheets import LABEL, REASON, WHEN, WHO, Row, write_sheet
from beam_reuse.judging.judged_sheet import Judged, JudgedSheet, judged_of, key_of
from beam_reuse.viewer.view import NotThere, View

BENIGN = "benign"
_CELLS = ("sha1", "occurrences", "pages", "hosts", "bytes", "text")
_COLUMNS = (*_CELLS, LABEL, REASON, WHO, WHEN)
_LETTERS = 1_000
_SHA1 = re.compile("[0-9a-f]{40}")


def marked(view: View) -> dict[str, Any]:
    """The hashes of all passages that are marked, and where that is stored."""
    return {"path": view.sheets.marked, "benign": [
        row.cells["sha1"] for row in marked_rows(view) if row.cells.get(LABEL) == BENIGN]}


def marked_rows(view: View) -> tuple[Row, ...]:
    """The rows of the sheet of marks; none if nothing was ever marked."""
    if not os.path.exists(view.sheets.marked):
        return ()
    return JudgedSheet(view.sheets.marked).read().sheet.rows


def mark(view: View, sha1: str, benign: bool = True) -> dict[str, Any]:
    """Mark a frequent chunk as benign, or take that back. It is on the disk when this returns."""
    if not _SHA1.fullmatch(sha1):
        raise UserError("A passage is named by its SHA-1: 40 digits, in lower case.")
    found = view.ask("frequent_chunks", "sha1, occurrences, pages, hosts, bytes, text",
                     "sha1 = $sha1", sha1=sha1)
    if not found:
        raise NotThere("No frequent chunk of this result has this hash.")
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    new = Judged(BENIGN, "", view.sheets.who, moment) if benign else Judged()
    values = {**found[0], "text": (found[0]["text"] or "")[:_LETTERS]}
    sheet = JudgedSheet(_made(view))
    held = next((row for row in sheet.read().sheet.rows if row.cells.get("sha1") == sha1), None)
    if held is not None:
        sheet.judge(held.number, key_of(held), judged_of(held), new)
    elif benign:
        sheet.append([*(_text(values[name]) for name in _CELLS), *new])
    return marked(view)


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _made(view: View) -> str:
    """The sheet of marks, which is made if it is not there: whole, whoever else makes it too."""
    path = view.sheets.marked
    if not os.path.exists(path):
        os.makedirs(view.sheets.folder, exist_ok=True)
        with TemporaryDirectory(prefix=".marks-", dir=view.sheets.folder) as beside:
            write_sheet(os.path.join(beside, "new.csv"), _COLUMNS, [])
            with suppress(FileExistsError):
                os.link(os.path.join(beside, "new.csv"), path)
    return path
