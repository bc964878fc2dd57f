"""Sheets: CSV, TSV and Parquet files in which people judge rows.

A text that a spreadsheet would take for a formula gets an apostrophe before it (`'=1+1`);
reading takes it away again. See `neutral`.
"""

import csv
import datetime
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from beam_reuse.core.errors import UserError
from beam_reuse.core.verdicts import ALLOWED, Verdict, verdict_of
from beam_reuse.io.files import local_path, open_files, reason_of, write_whole

# Columns that `sample` adds to those of a table, and `evaluate` reads; those that the viewer adds.
LABEL, REASON, LINK = "label", "reason", "link"
STRATUM, STRATUM_ROWS, WEIGHT = "stratum", "stratum_rows", "weight"
WHO, WHEN = "who", "when"
ADDED = (LINK, STRATUM, STRATUM_ROWS, WEIGHT, LABEL, REASON, WHO, WHEN)

DELIMITERS = (",", ";", "\t")
# A cell that begins so is a formula to some spreadsheet, the wide forms in East Asian ones. A
# spreadsheet set to another delimiter than ours cuts a cell again, so what is behind one of
# those begins a cell, too.
_FORMULA = "=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20"
_BEGINS = re.compile(rf"(?<![^;\t\r\n])(?=[{_FORMULA}'])")
_NEUTRAL = re.compile(rf"(?<![^;\t\r\n])'(?=[{_FORMULA}'])")
_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


class SheetError(UserError):
    """A sheet that cannot be used; the message names the file, the row and the way out."""


@dataclass(frozen=True)
class Row:
    """A row of a sheet: `number` as a spreadsheet shows it, the text of its cells by column."""

    number: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Sheet:
    """A sheet's content; column names are in lower case."""

    path: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def neutral(text: str) -> str:
    """`text` so that no spreadsheet runs it: an apostrophe goes before `= + - @`, tab and line
    ends where they begin a cell (or what another delimiter would make one), and before an
    apostrophe there. `restored` is its inverse for every text."""
    return _BEGINS.sub("'", text)


def restored(text: str) -> str:
    """The text that `neutral` made `text` of; any other text as it is, but for an apostrophe
    that a user wrote before one of these signs."""
    return _NEUTRAL.sub("", text)


def cell_text(value: Any) -> str:
    """A value of a table as the text of a cell: nothing for null, lists as JSON, times in
    ISO 8601, text made harmless for spreadsheets (`neutral`)."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, str):
        return neutral(value)
    return neutral(json.dumps(value, ensure_ascii=False, default=str))


def read_sheet(path: str, needed: Sequence[str]) -> Sheet:
    """The sheet at `path`, which must have the columns `needed`, no column twice and no row with
    more cells than columns.

    Parquet is known by its first bytes; text may be UTF-8 or UTF-16, with commas, semicolons
    or tabs between cells. Empty rows are left out. Memory: the whole sheet.
    """
    path = local_path(path)
    try:
        content = open_files(path).read(path)
    except OSError as error:
        raise SheetError(f"{path}: {reason_of(error)}. Give CSV, TSV or Parquet with the columns "
                         f"{' and '.join(needed)}.") from error
    if content.startswith(b"PAR1"):
        table = list(_parquet(path, content, [name for name in needed if name != LABEL]))
    else:
        table = [[restored(cell) for cell in row]
                 for row in delimited(path, decoded(path, content), needed)[1]]
    return sheet_of(path, table, needed)


def sheet_of(path: str, table: Sequence[Sequence[str]], needed: Sequence[str]) -> Sheet:
    """The sheet of these rows of cells, the first of which names the columns; see `read_sheet`."""
    columns = tuple(name.strip().lower() for name in table[0]) if table else ()
    missing = [name for name in needed if name not in columns]
    if missing:
        raise SheetError(f"{path}: has no column {missing[0]!r}; its first row must name the "
                         f"columns, {' and '.join(needed)} among them")
    twice = [name for name, count in Counter(columns).items() if name and count > 1]
    if twice:
        raise SheetError(f"{path}: has more than one column {twice[0]!r}; remove or rename all "
                         "but one")
    rows = (Row(number, _by_column(path, number, columns, cells))
            for number, cells in enumerate(table[1:], 2) if any(cells))
    return Sheet(path, columns, tuple(rows))


def verdict_in(sheet: Sheet, row: Row) -> Verdict | None:
    """What a row's label says; None where it is empty. Refuses a word that is not known."""
    label = row.cells.get(LABEL, "")
    try:
        return verdict_of(label)
    except ValueError:
        raise SheetError(f"{sheet.path}: row {row.number}: label {label.strip()!r} is not known; "
                         f"use one of {ALLOWED}") from None


def named_columns(head: bytes) -> set[str]:
    """What the first row of a text names, by the delimiter that gives most names, in lower case;
    `head` is its beginning. Any text has a first row: look for the names of a sheet."""
    encoding = next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")
    first = next(iter(head.decode(encoding, "ignore").splitlines()), "")
    named = ({cell.strip(" \"").lower() for cell in first.split(mark)} for mark in DELIMITERS)
    return max(named, key=len)


def _by_column(path: str, number: int, columns: Sequence[str],
               cells: Sequence[str]) -> dict[str, str]:
    if any(cells[len(columns):]):
        raise SheetError(f"{path}: row {number} has {len(cells)} cells, the first row names "
                         f"{len(columns)} columns; quote cells that contain the separator")
    return dict(zip(columns, cells, strict=False))


def decoded(path: str, content: bytes) -> str:
    """The text of a file, in UTF-8 or, by its first bytes, UTF-16."""
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise SheetError(f"{path}: is not UTF-8 at byte {error.start}; "
                         "save it as CSV in UTF-8") from error


def delimited(path: str, text: str, needed: Sequence[str]) -> tuple[str, list[list[str]]]:
    """What is between cells, and the cells of all rows as they are written: the delimiter by which
    the first row names most of the columns `needed`."""
    known = {name.lower() for name in needed}

    def named(delimiter: str) -> int:
        head = next(_cells(path, text, delimiter), [])
        return len(known & {name.strip().lower() for name in head})

    best = max(DELIMITERS, key=named)
    return best, list(_cells(path, text, best))


def _cells(path: str, text: str, delimiter: str) -> Iterator[list[str]]:
    limit = csv.field_size_limit(sys.maxsize)
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        yield from rows
    except csv.Error as error:
        raise SheetError(f"{path}: line {rows.line_num}: {error}") from error
    finally:
        csv.field_size_limit(limit)


def _parquet(path: str, content: bytes, texts: Sequence[str]) -> Iterator[list[str]]:
    """The rows of a Parquet table, whose columns `texts` must hold text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(io.BytesIO(content)).read()
    except (OSError, pa.ArrowInvalid) as error:
        raise SheetError(f"{path}: no sound Parquet file ({reason_of(error)})") from error
    for field in table.schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if field.name.strip().lower() in texts and not any(is_kind(kind) for is_kind in (
                pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view,
                pa.types.is_null)):
            raise SheetError(f"{path}: its column {field.name!r} holds {field.type}, not URLs as "
                             "text; write it as strings")
    yield list(table.column_names)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        yield [_text(value) for value in row]


def _text(value: Any) -> str:
    """A value of a Parquet sheet as it would be typed; numbers with gaps beside them have
    become floats."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def write_sheet(path: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a sheet: tabs between cells if `path` ends in `.tsv`, else commas. The cells must
    be `neutral` where they hold text of others. The file appears whole or not at all."""
    content = sheet_text(columns, rows, "\t" if path.lower().endswith(".tsv") else ",")
    write_whole(open_files(path), path, content.encode("utf-8", "replace"))


def sheet_text(columns: Sequence[str], rows: Iterable[Sequence[str]], delimiter: str = ",") -> str:
    """A sheet as text. (The csv module leaves a lone carriage return without quotes.)"""
    special = re.compile(rf'["\r\n{delimiter}]')

    def quoted(cell: str) -> str:
        return '"' + cell.replace('"', '""') + '"' if special.search(cell) else cell

    return "".join(delimiter.join(map(quoted, row)) + "\n" for row in (columns, *rows))
