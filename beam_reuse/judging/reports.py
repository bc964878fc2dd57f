"""An evaluation as files: one JSON document, a CSV for each of its tables, and figures."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from beam_reuse.io.figures import FORMATS
from beam_reuse.io.files import join, open_files, write_whole
from beam_reuse.io.sheets import cell_text, write_sheet
from beam_reuse.judging.figures import DEGREE_FIGURE, DIFFERENCE_FIGURE, THRESHOLD_FIGURE

DOCUMENT = "evaluation.json"
FILES = "files"
DETECTION_TABLES = ("outcomes", "classes", "sweep", "evidence", "absent")
TABLES = {
    "pairs": ("precision", "reasons", "b-thresholds", "sweep", "choices", "calibration",
              "outcomes"),
    "judged": ("precision", "classes", "outcomes"),
    "graph": ("algorithms", "degrees", "similarities", "sites"),
    "differences": ("summary", "kinds", "pairs"),
}
FIGURES = {"pairs": THRESHOLD_FIGURE, "graph": DEGREE_FIGURE, "differences": DIFFERENCE_FIGURE}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class ReportTable:
    """A table of a report: its rows have a value for each column."""

    name: str
    columns: Sequence[str]
    rows: Iterable[Iterable[Any]]


@dataclass(frozen=True)
class Report:
    """The report of one evaluation: its part of the document, its tables, and figures
    by file name."""

    name: str
    document: Mapping[str, Any]
    tables: Sequence[ReportTable]
    figures: Mapping[str, bytes] = field(default_factory=dict)


def write_report(folder: str, reports: Sequence[Report]) -> list[str]:
    """Write reports to `folder`; gives the names of the files. Those of an earlier
    evaluation in `folder` that are not written anew are removed."""
    earlier = _earlier_names(folder)
    names = [DOCUMENT]
    for report in reports:
        for table in report.tables:
            names.append(f"{report.name}-{table.name}.csv")
            write_sheet(join(folder, names[-1]), table.columns,
                        [list(map(cell_text, row)) for row in table.rows])
        for name, content in report.figures.items():
            names.append(name)
            write_whole(open_files(folder), join(folder, name), content)
    document = {report.name: report.document for report in reports} | {FILES: names}
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    write_whole(open_files(folder), join(folder, DOCUMENT), text.encode("utf-8", "replace"))
    open_files(folder).delete(join(folder, name) for name in earlier if name not in names)
    return names


def _earlier_names(folder: str) -> list[str]:
    """The files of the evaluation that is now in `folder`; none if there is none."""
    try:
        files = json.loads(open_files(folder).read(join(folder, DOCUMENT)))[FILES]
    except (OSError, ValueError, LookupError, TypeError):
        return []
    return [name for name in files if isinstance(name, str) and os.path.basename(name) == name]


def report_of(name: str, facts: Row, tables: Mapping[str, Sequence[Row]],
              figures: Mapping[str, bytes]) -> Report:
    """A report whose document has the facts and the tables; empty tables have no file."""
    sheets = [ReportTable(table, list(rows[0]), [row.values() for row in rows])
              for table, rows in tables.items() if rows]
    document = {**facts, **{table.replace("-", "_"): rows for table, rows in tables.items()}}
    return Report(name, document, sheets, figures)


def file_names(reports: Iterable[str]) -> list[str]:
    """The files that reports of these names may have."""
    names = [DOCUMENT]
    for report in reports:
        names += [f"{report}-{table}.csv" for table in TABLES.get(report, DETECTION_TABLES)]
        names += [f"{FIGURES[report]}.{form}" for form in FORMATS if report in FIGURES]
    return names


def number_json(value: int | Fraction) -> int | float:
    return int(value) if value == int(value) else float(value)
