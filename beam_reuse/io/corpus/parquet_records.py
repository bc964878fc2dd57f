"""Pages as rows of Parquet: an Arrow batch of one row each, without its schema, which the form has.

Rows of Parquet files keep their columns and types. Other pages are rows of ROW. Where pages may be
changed, all rows have the columns that say so, so that they are in the same files.
"""

import datetime
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa

from beam_reuse.core.pages import Kind
from beam_reuse.io.corpus.changes import FLAG, STRIPPED
from beam_reuse.io.corpus.json_rows import object_of
from beam_reuse.io.corpus.records import CONTENT, MARKS, CorpusPage, free_name, json_members, row_of
from beam_reuse.io.crawl.parquet_rows import PARQUET, form_of, schema_of
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.io.crawl.rows import JSONL, utf8

_ROW = pa.schema([
    ("url", pa.string()), ("html", pa.string()), ("text", pa.string()),
    ("timestamp", pa.timestamp("us", "UTC")), ("status", pa.int64()),
    ("content_type", pa.string()), ("other", pa.string()),
])
ROW = form_of(_ROW)
"""The form of Parquet rows of pages that were no such rows: `other` has what else a row of JSON
Lines has, as JSON."""
_KINDS = {"stripped": STRIPPED, "flag": FLAG}


@lru_cache(maxsize=256)
def with_marks(form: str, marks: tuple[str, ...]) -> str:
    """The form of rows with columns for these of MARKS, too, and for the text of HTML of which
    lines are stripped."""
    if not marks:
        return form
    schema = schema_of(form)
    names = _names(schema)
    fields = [field.with_nullable(True) if field.name in CONTENT else field for field in schema]
    if "stripped" in marks and "html" in schema.names and names["text"] not in schema.names:
        fields.append(pa.field(names["text"], pa.string()))
    fields += [pa.field(names[mark], _KINDS[mark]) for mark in MARKS if mark in marks]
    return form_of(pa.schema(fields, schema.metadata))


def _names(schema: pa.Schema) -> dict[str, str]:
    """What columns that are added to rows of this schema are called."""
    taken = schema.names
    names = {mark: free_name(mark, taken) for mark in MARKS}
    has_text = "text" in taken and _holds_text(schema.field("text").type)
    return names | {"text": "text" if has_text else free_name("text", taken)}


def _holds_text(kind: pa.DataType) -> bool:
    return str(kind).removeprefix("large_").removesuffix("_view") in ("string", "binary")


def parquet_records(pages: Sequence[CorpusPage], form: str) -> list[bytes]:
    """Pages as rows of one form."""
    schema, made = schema_of(form), [b""] * len(pages)
    by_form: dict[str, list[int]] = {}
    for i, page in enumerate(pages):
        by_form.setdefault(page.form if page.form.startswith(PARQUET) else "", []).append(i)
    for own, places in by_form.items():
        mine = [pages[i] for i in places]
        table = _stored_rows(mine, schema_of(own)) if own else _new_rows(mine)
        batch = _marked(table, mine, schema).combine_chunks().to_batches()[0]
        for at, i in enumerate(places):
            made[i] = batch.slice(at, 1).serialize().to_pybytes()
    return made


def _stored_rows(pages: Sequence[CorpusPage], schema: pa.Schema) -> pa.Table:
    """Rows as their file has them, but for what was taken out of their content."""
    table = pa.Table.from_batches(
        [pa.ipc.read_record_batch(pa.py_buffer(page.stored), schema) for page in pages], schema)
    if not any(page.is_stripped for page in pages):
        return table
    text = _names(schema)["text"]
    kinds = {name: schema.field(name).type for name in CONTENT if name in schema.names}
    kinds = {text: pa.string(), **{n: kind for n, kind in kinds.items() if _holds_text(kind)}}
    values: dict[str, list[Any]] = {
        name: table.column(name).to_pylist() if name in schema.names else [None] * len(pages)
        for name in kinds}
    for i, page in enumerate(pages):
        if page.is_stripped:
            was = next(name for name in CONTENT if name in values and values[name][i] is not None)
            now, values[was][i] = page.as_changed(), None
            target = was if now.kind is Kind.HTML or was == "text" else text
            values[target][i] = _content(now, kinds[target])
    for name, kind in kinds.items():
        column = pa.chunked_array([pa.array(values[name], kind)])
        at = table.schema.get_field_index(name)
        table = (table.append_column(pa.field(name, kind), column) if at < 0
                 else table.set_column(at, pa.field(name, kind), column))
    return table


def _content(page: CorpusPage, kind: pa.DataType) -> bytes | str:
    """What is left of a page, for a column of this type."""
    text = utf8(decode_text(page.payload, page.charset))
    if "string" in str(kind):
        return text.decode()
    return page.payload if page.kind is Kind.HTML else text


def _new_rows(pages: Sequence[CorpusPage]) -> pa.Table:
    """Rows of `_ROW`."""
    rows = [row_of(page) for page in pages]
    columns = [[_of(row, name) for row in rows] for name in _ROW.names[:-1]]
    columns.append([_others(page, row) for page, row in zip(pages, rows, strict=True)])
    return pa.Table.from_arrays(
        [pa.array(values, field.type) for values, field in zip(columns, _ROW, strict=True)],
        schema=_ROW)


def _others(page: CorpusPage, row: Mapping[str, Any]) -> str | None:
    """What else a row of JSON Lines has, as it is written there."""
    if page.form != JSONL:
        return None
    others = [each for each in json_members(page)
              if each.name not in _ROW.names[:-1] or _of(row, each.name) is None]
    return object_of(others).decode("utf-8", "replace") if others else None


def _of(row: Mapping[str, Any], name: str) -> Any:
    """A value of a row, if it is one that the column can have."""
    value = row.get(name)
    kinds: dict[str, type] = {"timestamp": datetime.datetime, "status": int}
    return value if isinstance(value, kinds.get(name, str)) else None


def _marked(table: pa.Table, pages: Sequence[CorpusPage], schema: pa.Schema) -> pa.Table:
    """Rows with the columns of `schema` that they do not have yet."""
    marks = {name: mark for mark, name in _names(table.schema).items() if mark in MARKS}
    columns = []
    for field in schema:
        if field.name in marks:
            shown = [page.marks.get(marks[field.name]) for page in pages]
            columns.append(pa.chunked_array([pa.array(shown, field.type)]))
        elif field.name in table.schema.names:
            columns.append(table.column(field.name))
        else:
            columns.append(pa.chunked_array([pa.nulls(len(pages), field.type)]))
    return pa.Table.from_arrays(columns, schema=schema)
