"""Rows of a query, in the forms that are asked for."""

import csv
import io
import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
from rich.table import Table
from rich.text import Text

from beam_reuse.cli.summary import console
from beam_reuse.core.errors import UserError
from beam_reuse.core.wording import counted, printable

ROWS_SHOWN = 200
CELL_LETTERS = 300


def write_rows(rows: pa.RecordBatchReader, how: str, out: IO[bytes]) -> None:
    """Rows in one of FORMATS. Memory: a batch."""
    if how == "table":
        with _as_text(out) as text:
            print_rows(rows, text, 0 if out is not sys.stdout.buffer else None)
    elif how == "parquet":
        try:
            with pq.ParquetWriter(out, rows.schema, compression="zstd") as writer:
                for batch in rows:
                    writer.write_batch(batch)
        except pa.ArrowNotImplementedError as error:
            raise UserError(f"sql: Parquet has no such type ({error}). Cast the column: "
                            "COLUMN::varchar.") from error
    elif how == "csv":
        with _as_text(out) as text:
            sheet = csv.writer(text, lineterminator="\n")
            sheet.writerow(rows.schema.names)
            for batch in rows:
                sheet.writerows(
                    [_cell(value) for value in row.values()] for row in batch.to_pylist())
    else:
        for batch in rows:
            for row in batch.to_pylist():
                out.write((_json(row) + "\n").encode())


def _json(value: Any) -> str:
    """A value as JSON, which has no NaN and no infinity: null."""
    try:
        return json.dumps(value, default=_cell, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), default=_cell, ensure_ascii=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return {key: _finite(each) for key, each in value.items()} if isinstance(value, dict) else value


@contextmanager
def _as_text(out: IO[bytes]) -> Iterator[io.TextIOWrapper]:
    """Text for bytes that stay open, also where whoever reads them has gone."""
    text = io.TextIOWrapper(out, "utf-8", newline="", write_through=True)
    try:
        yield text
    finally:
        with suppress(BrokenPipeError):
            text.detach()


def print_rows(rows: pa.RecordBatchReader, out: Any, most: int | None = None) -> None:
    """Rows for people: on a terminal the first of many, else all."""
    to = console(out)
    limit = ROWS_SHOWN if most is None and sys.stdout.isatty() else None
    table = Table(box=None, pad_edge=False)
    for field in rows.schema:
        right = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        table.add_column(Text(field.name), justify="right" if right else "left", overflow="fold")
    shown = total = 0
    for batch in rows:
        total += batch.num_rows
        some = batch.num_rows if limit is None else max(0, limit - shown)
        for row in batch.slice(0, some).to_pylist():
            table.add_row(*(Text(_short(_cell(value))) for value in row.values()))
            shown += 1
    to.print(table)
    more = f"; {total - shown:,} of them not shown: --to csv -o FILE has all" if (
        shown < total) else ""
    console(sys.stderr).print(f"{counted(total, 'row')}{more}", soft_wrap=True)


def _short(text: str) -> str:
    seen = printable(text)
    return seen if len(seen) <= CELL_LETTERS else seen[: CELL_LETTERS - 1] + "…"


def _cell(value: Any) -> str:
    """A value as text; lists and structs as JSON, bytes as hexadecimal digits, nothing for
    null."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | dict):
        return _json(value)
    return str(value)
