"""What judgements say: precision while one judges, the tables of `evaluate`, a stop list."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_reuse.core.errors import UserError
from beam_reuse.core.verdicts import Verdict, verdict_of
from beam_reuse.io.files import join, open_files, whole_path
from beam_reuse.io.results.manifest import RUN_INFO
from beam_reuse.io.sheets import LABEL, REASON, Row, SheetError, cell_text, write_sheet
from beam_reuse.judging.detection_report import detection_report
from beam_reuse.judging.evaluate import NEIGHBOURHOODS, PAGES, evaluate
from beam_reuse.judging.pair_report import pair_report
from beam_reuse.judging.pairs import PairSettings, evaluate_pairs
from beam_reuse.judging.reports import Report
from beam_reuse.judging.rows import evaluate_rows
from beam_reuse.judging.similarities import NEAR_DUPLICATES
from beam_reuse.viewer.judging import command, table_judged
from beam_reuse.viewer.marking import marked_rows
from beam_reuse.viewer.sheets import MARKED
from beam_reuse.viewer.tables import shown
from beam_reuse.viewer.view import View

MOST_ROWS = 500
SUBJECTS = {subject.table: subject for subject in (PAGES, NEIGHBOURHOODS)}
KINDS = {"frequent_chunks": "chunk", "matched_chunks": "chunk", "frequent_files": "file",
         "matched_files": "file", "pages": "file"}
STOP_COLUMNS = ("sha1", "kind", LABEL, REASON, "text", "sheet")
LETTERS = 200
_SHA1 = re.compile("[0-9a-f]{40}")


def precision(view: View, sheet: str) -> dict[str, Any]:
    """The share of rows of the table that are right (of flagged ones, where flags are judged), and
    its interval, as `evaluate` has it. Cost: that of `evaluate`, one pass over some columns."""
    held = view.sheets.open(sheet).read().sheet
    table = table_judged(view, held)
    try:
        if table in SUBJECTS:
            found = evaluate(view.folder, held.path, SUBJECTS[table])
            whole, counts = found.precision(), found.confusion()
            return {"of": "flagged rows", "judged": counts.tp + counts.fp, "correct": counts.tp,
                    **({} if whole is None else vars(whole))}
        first = evaluate_rows(view.folder, held.path, table or None).precision()[0]
        return {"of": "rows", "judged": first["judged"], "correct": first["correct"],
                "value": first["table_precision"], "low": first["table_low"],
                "high": first["table_high"]}
    except SheetError as error:
        return {"why_not": str(error)}


def evaluation(view: View, sheet: str) -> dict[str, Any]:
    """All that `beam-reuse evaluate` finds out from a sheet: facts, and the tables it writes."""
    held = view.sheets.open(sheet).read().sheet
    table = table_judged(view, held)
    told: dict[str, Any] = {"sheet": sheet, "table": table, "path": held.path,
                            "command": command(view, table, held.path), "reports": []}
    try:
        told["reports"] = [_as_json(report) for report in _reports(view, table, held.path)]
    except SheetError as error:
        told["why_not"] = str(error)
    return told


def _reports(view: View, table: str, path: str) -> list[Report]:
    if table in SUBJECTS:
        return [detection_report(evaluate(view.folder, path, SUBJECTS[table]))]
    rows = evaluate_rows(view.folder, path, table or None).report()
    if table != NEAR_DUPLICATES:
        return [rows]
    return [pair_report(evaluate_pairs(view.folder, path, PairSettings()), drawn=False), rows]


def _as_json(report: Report) -> dict[str, Any]:
    tables: list[dict[str, Any]] = []
    for table in report.tables:
        rows = [list(row) for row in table.rows]
        tables.append({"name": table.name, "columns": list(table.columns), "left_out": max(
            0, len(rows) - MOST_ROWS), "rows": [
                [shown(each) if isinstance(each, str | bool | int | float | None)
                 else cell_text(each) for each in row] for row in rows[:MOST_ROWS]]})
    listed = {table["name"].replace("-", "_") for table in tables}
    facts = {name: value for name, value in report.document.items() if name not in listed}
    return {"name": report.name, "facts": facts, "tables": tables}


def stop_list(view: View) -> dict[str, Any]:
    """Write a stop list of all that is judged benign on any sheet or marked so, and give the
    command that uses it. What another sheet judges otherwise is left out."""
    benign: dict[tuple[str, str], list[str]] = {}
    otherwise = set()
    for name, table, row in _hashed_rows(view):
        key = row.cells.get("sha1", "").strip().lower(), _kind(table, row.cells)
        if not _SHA1.fullmatch(key[0]):
            continue
        verdict = _verdict(row.cells.get(LABEL, ""))
        if verdict is Verdict.NEGATIVE:
            benign[key] = [row.cells.get(LABEL, ""), row.cells.get(REASON, ""),
                           row.cells.get("text", "")[:LETTERS], name]
        elif verdict is not None:
            otherwise.add(key)
    kept = {key: cells for key, cells in benign.items() if key not in otherwise}
    if not kept:
        raise UserError("No chunk or file is judged benign yet. Mark passages as stop chunks, or "
                        "draw a sheet of frequent_chunks or frequent_files and judge it.")
    path = view.sheets.stop_list
    write_sheet(path, STOP_COLUMNS, [list(map(cell_text, (*key, *cells)))
                                     for key, cells in sorted(kept.items())])
    kinds = [kind for _, kind in kept]
    return {"path": path, "chunks": len(kinds) - kinds.count("file"), "files": kinds.count("file"),
            "left_out": len(benign) - len(kept), "command": _again(view, path)}


def _hashed_rows(view: View) -> Iterator[tuple[str, str, Row]]:
    """Every row of every sheet with hashes, with the sheet's name and its table."""
    for name in view.sheets.names():
        try:
            sheet = view.sheets.open(name).read().sheet
            table = table_judged(view, sheet)
        except UserError:
            continue
        if "sha1" in sheet.columns:
            yield from ((name, table, row) for row in sheet.rows)
    yield from ((MARKED, "frequent_chunks", row) for row in marked_rows(view))


def _kind(table: str, cells: Mapping[str, str]) -> str:
    return KINDS.get(table) or (cells.get("kind", "").strip() if table == "labels" else "") or "any"


def _verdict(label: str) -> Verdict | None:
    try:
        return verdict_of(label)
    except ValueError:
        return None


def _again(view: View, path: str) -> str:
    """The run once more, with the stop list, into another folder; to be typed anywhere, as it goes
    to the directory that the run was started in first. What replaced a result then would replace
    another one now, and is left out."""
    try:
        told = json.loads(open_files(view.folder).read(join(view.folder, RUN_INFO)))
        words, inputs = [*map(str, told["command"])], [*map(str, told["inputs"])]
        directory = str(told.get("directory", ""))
    except (OSError, ValueError, KeyError, TypeError):
        words, inputs, directory = [], ["INPUT..."], ""
    if words[1:2] != ["run"]:
        words = ["beam-reuse", "run", *inputs]
    end = words.index("--") if "--" in words else len(words)
    again = [*_into(words[:end], f"{whole_path(view.folder).rstrip('/')}.again"),
             "--stop-chunks", path, *words[end:]]
    there = f"cd {shlex.quote(directory)} && " if directory else ""
    return there + shlex.join(again).replace("'INPUT...'", "INPUT...")


def _into(words: Sequence[str], folder: str) -> list[str]:
    """Words of a command that writes into `folder` and replaces nothing. What is left out gives
    its place to another option: it may end a list of files, which would go on otherwise."""
    output = ["-o", folder]
    left, found = iter(words), list[str]()
    for word in left:
        if word in ("-o", "--output"):
            next(left, None)
        elif word != "--overwrite" and not word.startswith("--output="):
            found.append(word)
            continue
        found += output if found[-2:] != output else []
    return found if output[0] in found else [*found, *output]
