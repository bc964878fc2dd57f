"""Any table against what people say: judged rows of a sheet that `sample` drew from it."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa

from beam_reuse.core.verdicts import Verdict, pair_word
from beam_reuse.io.results.scan import TableScan, rows_of
from beam_reuse.io.results.tables import SCHEMAS, read_manifest
from beam_reuse.io.sheets import LABEL, REASON, STRATUM, Sheet, SheetError, read_sheet
from beam_reuse.judging.intervals import Drawn, Interval, of_strata
from beam_reuse.judging.judgements import (
    ALL,
    Judgement,
    Judgements,
    RefusedRow,
    columns_by,
    is_stratified,
    judgements_of,
    stratum_of,
    stratum_rows,
)
from beam_reuse.judging.measures import Measure, Rate, tally
from beam_reuse.judging.reports import Report, Row, report_of
from beam_reuse.judging.sample import sheet_columns

_BLANKS = re.compile("[\t-\r ]+")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}

RowKey = tuple[str, ...]


@dataclass(frozen=True)
class RowEvaluation:
    """All that judged rows say of a table."""

    table: str
    table_rows: int
    sheet: Sheet
    judgements: Judgements[RowKey]
    found: tuple[Judgement[RowKey], ...]
    by: tuple[str, ...]

    @property
    def absent(self) -> list[Judgement[RowKey]]:
        """Judged rows that the table does not have."""
        there = set(map(id, self.found))
        return [judgement for judgement in self.judgements.judged if id(judgement) not in there]

    def precision(self) -> list[Row]:
        """The judged rows by verdict, all of them and those of each stratum: how many are correct,
        and the share of correct rows in the table, with its interval."""
        strata = self._strata()
        parts = [(ALL, "", list(strata.values()))]
        if is_stratified(self.sheet):
            parts += [(STRATUM, name, [stratum]) for name, stratum in strata.items()]
        return [{"split": split, "value": value,
                 **_figures(_counts(chain(*inside)), [self._drawn(one) for one in inside])}
                for split, value, inside in parts]

    def classes(self) -> list[Row]:
        """The judged rows by label and the columns asked for, the most frequent first."""
        rows: list[Row] = []
        for verdict in Verdict:
            mine = Counter(tuple(map(j.cell, self.by)) for j in self.found if j.verdict is verdict)
            rows += [{LABEL: pair_word(verdict), **dict(zip(self.by, values, strict=True)),
                      "judged": count, "share_of_label": Rate(count, mine.total()).value}
                     for values, count in sorted(mine.items(), key=lambda two: (-two[1], two[0]))]
        return rows

    def report(self) -> Report:
        facts = {"table": self.table, "table_rows": self.table_rows, "judged": len(self.found),
                 "unlabelled": self.judgements.unlabelled, "repeated": self.judgements.repeated,
                 "absent": len(self.absent), "by": list(self.by)}
        there = set(map(id, self.found))
        outcomes = [{"row": j.row.number, LABEL: pair_word(j.verdict), REASON: j.cell(REASON),
                     **({STRATUM: j.cell(STRATUM)} if is_stratified(self.sheet) else {}),
                     "found": id(j) in there} for j in self.judgements.judged]
        return report_of("judged", facts, {
            "precision": self.precision(), "classes": self.classes(), "outcomes": outcomes}, {})

    def _strata(self) -> dict[str, list[Judgement[RowKey]]]:
        """The judged rows of each stratum, in the order of the sheet; one of all without strata."""
        strata: dict[str, list[Judgement[RowKey]]] = {}
        for judgement in self.found:
            strata.setdefault(stratum_of(self.sheet, judgement), []).append(judgement)
        return dict(sorted(strata.items()))

    def _drawn(self, judged: Sequence[Judgement[RowKey]]) -> Drawn:
        rows = stratum_rows(self.sheet, judged[0]) if is_stratified(self.sheet) else (
            self.table_rows)
        return Drawn(_counts(judged).precision, rows)


def _counts(judged: Iterable[Judgement[RowKey]]) -> Measure:
    return tally([judgement.verdict for judgement in judged])


def _figures(counts: Measure, strata: Sequence[Drawn]) -> Row:
    interval = of_strata(strata) or Interval(0.0, 0.0, 1.0)
    return {
        "judged": counts.judged, "correct": counts.correct, "incorrect": counts.incorrect,
        "undecided": counts.undecided, "precision": counts.precision.value,
        "precision_decided": counts.decided_precision.value,
        "table_rows": sum(stratum.rows for stratum in strata), "table_precision": interval.value,
        "table_low": interval.low, "table_high": interval.high,
    }


def evaluate_rows(folder: str, path: str, table: str | None = None,
                  by: Sequence[str] | None = None) -> RowEvaluation:
    """The sheet at `path` against the rows of `table` (None: the one whose columns it has).

    A judged row is found by its cells of the table's columns that hold text, whole numbers or
    flags; those a sheet no longer has are not compared. `by` names columns of the sheet to count
    by; None: `reason` where there is any. Refuses a sheet none of whose judged rows is in the
    table. Cost: one pass over the columns compared. Memory: the sheet and one batch.
    """
    sheet = read_sheet(path, (LABEL,))
    name = table_of(folder, sheet, table)
    scan = TableScan(folder, name)
    fields = _compared(scan, sheet)
    columns = tuple(fields)
    judgements = judgements_of(sheet, columns, _key_of(fields), filled=columns[:1])
    there = _numbers_there(scan, fields, [j.key or () for j in judgements.judged])
    found = tuple(j for number, j in enumerate(judgements.judged) if number in there)
    if not found:
        raise SheetError(f"{sheet.path}: {folder} has none of its {len(judgements.judged):,} "
                         f"judged rows in {name}; give the result, and with --of the table, that "
                         "the sheet was drawn from")
    return RowEvaluation(name, sum(part.rows for part in scan.parts), sheet, judgements, found,
                         columns_by(sheet, judgements, by))


def table_of(folder: str, sheet: Sheet, asked: str | None = None) -> str:
    """The table that the sheet was drawn from: of those all of whose columns it has the one with
    most. Refuses another than `asked`."""
    tables = [name for name in read_manifest(folder).tables() if name in SCHEMAS]
    columns = {name: list(sheet_columns(name, SCHEMAS[name].names).values()) for name in tables}
    fitting = {name: len(columns[name]) for name in tables
               if set(columns[name]) <= set(sheet.columns)}
    likely = [name for name, most in fitting.items() if most == max(fitting.values())]
    if asked is None:
        if len(likely) == 1:
            return likely[0]
        raise SheetError(f"{sheet.path}: its columns are not those of "
                         f"{'one table' if likely else 'any table'} of {folder}; say which it was "
                         "drawn from with --of TABLE")
    if asked not in fitting and likely:
        raise SheetError(f"{sheet.path}: has the columns of {' and '.join(likely)}, not of "
                         f"{asked}; give --of {likely[0]}, or another sheet")
    return asked


def _compared(scan: TableScan, sheet: Sheet) -> dict[str, pa.Field]:
    """By column of the sheet, the field of the table by which rows are found. Lists, shares and
    times are none: spreadsheets write them otherwise."""
    named = sheet_columns(scan.name, scan.schema.names)
    exact = [field for field in scan.schema if any(is_kind(field.type) for is_kind in (
        pa.types.is_string, pa.types.is_integer, pa.types.is_boolean))]
    fields = {named[field.name]: field for field in exact if named[field.name] in sheet.columns}
    first = named[scan.schema.names[0]]
    if first not in fields:
        raise SheetError(f"{sheet.path}: has no column {first!r}, which rows of {scan.name} are "
                         "found by; draw a sheet with `beam-reuse sample`")
    return fields


def _key_of(fields: Mapping[str, pa.Field]) -> Any:
    """How the key of a row is made of its cells: those of text with single blanks, of others as
    their values are written."""
    def key(*cells: str) -> RowKey:
        return tuple(_plain(name, field, cell)
                     for (name, field), cell in zip(fields.items(), cells, strict=True))

    return key


def _plain(name: str, field: pa.Field, cell: str) -> str:
    text = _BLANKS.sub(" ", cell).strip(" ")
    if not text or pa.types.is_string(field.type):
        return text
    try:
        if pa.types.is_boolean(field.type):
            return str(_FLAGS[text.lower()]).lower()
        return str(int(text))
    except (KeyError, ValueError):
        raise RefusedRow(f"{name} {text[:60]!r} is no value of this column ({field.type}); leave "
                         "the columns of `sample` as they are, or delete this one") from None


def _numbers_there(scan: TableScan, fields: Mapping[str, pa.Field],
                   keys: Iterable[RowKey]) -> set[int]:
    """The numbers of the keys that rows of the table have."""
    names = [field.name for field in fields.values()]
    asked = pa.table({
        **{f"key_{place}": pa.array(cells, pa.string())
           for place, cells in enumerate(zip(*keys, strict=True))}})
    asked = asked.append_column("number", pa.array(range(asked.num_rows), pa.int64()))
    equal = " AND ".join(
        f"""trim(regexp_replace(coalesce("{name}"::VARCHAR, ''), '[\t-\r ]+', ' ', 'g'), ' ')
            = key_{place}""" for place, name in enumerate(names))
    rows = rows_of(scan.folder, scan.name, names, f"""
        SELECT DISTINCT number
        FROM source JOIN asked ON {equal}
        ORDER BY ALL
        """, asked=asked)
    return {row["number"] for row in rows}
