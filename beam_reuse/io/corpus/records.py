"""What a page is in a corpus: a row of JSON Lines or Parquet, or a WARC record.

A record that its file has in the format that is written stays as it is. A *form* says what the
bytes of a record are: `jsonl`, `warc`, `warc.gz`, `warc.zst`, or `parquet` with a schema (see
`io.crawl.parquet_rows`). A page that was changed (`changes`) is made anew: a row has all its other
columns as they were, its content, and `stripped` or `flag`, what went and how it is marked.
"""

import datetime
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
import pyarrow as pa

from beam_reuse.core.pages import Kind
from beam_reuse.io.corpus.changes import Change
from beam_reuse.io.corpus.json_rows import Member, member, members_of, object_of
from beam_reuse.io.crawl.arrow_values import row_values
from beam_reuse.io.crawl.chain import WARC
from beam_reuse.io.crawl.parquet_rows import PARQUET, schema_of
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.io.crawl.rows import JSONL, parse_row, utf8

# Of which files records are kept as they are stored, by what is written.
STORED_FOR: Mapping[str, tuple[str, ...]] = {
    "same": (WARC, JSONL, PARQUET), "warc": (WARC,), "jsonl": (JSONL, PARQUET),
    "parquet": (JSONL, PARQUET),
}
CONTENT = ("html", "text")
MARKS = ("stripped", "flag")
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


class CorpusPage(NamedTuple):
    """A page that stays in a corpus, and how it is changed, if it is; `stored` as in
    `core.pages.RawPage`, where the payload, which has `size` bytes, may be left out."""

    url: str
    timestamp: int | None
    status: int | None
    content_type: str
    charset: str
    kind: Kind
    payload: bytes
    size: int
    record_id: str
    stored: bytes
    form: str
    change: Change | None = None

    @property
    def moment(self) -> datetime.datetime | None:
        """When it was fetched."""
        return None if self.timestamp is None else (
            EPOCH + datetime.timedelta(microseconds=self.timestamp))

    @property
    def is_stripped(self) -> bool:
        return self.change is not None and self.change.payload is not None

    @property
    def left(self) -> int:
        """How many bytes of its payload are written."""
        change = self.change
        return self.size if change is None or change.payload is None else len(change.payload)

    def as_changed(self) -> "CorpusPage":
        """The page with what stays of it as its payload."""
        change = self.change
        if change is None or change.payload is None:
            return self
        kind = self.content_type if change.kind is self.kind else "text/plain"
        return self._replace(payload=change.payload, kind=change.kind, charset=change.charset,
                             content_type=kind)

    @property
    def marks(self) -> dict[str, Any]:
        """What a record shows of the changes."""
        change = self.change
        shown = {} if change is None else {"stripped": change.stripped, "flag": change.flag}
        return {name: value for name, value in shown.items() if value is not None}


def is_binary(kind: Kind, form: str) -> bool:
    """Whether a page of this kind is nothing that rows of text can hold."""
    return kind is Kind.OTHER and not form.startswith(WARC)


def free_name(name: str, taken: Collection[str]) -> str:
    """A name for a column that is not there yet."""
    while name in taken:
        name += "_"
    return name


def json_records(pages: Sequence[CorpusPage]) -> list[bytes]:
    """Pages as lines of JSON: those that are stored as such and unchanged as they are; of those
    that are changed all other columns are."""
    return [_json_record(page) + b"\n" for page in pages]


def _json_record(page: CorpusPage) -> bytes:
    if page.form != JSONL:
        row = row_of(page)
        for name, value in page.marks.items():
            row[free_name(name, row)] = value
        return json_line(row)
    if page.change is None:
        return page.stored.removesuffix(b"\r")
    members = json_members(page)
    taken = {each.name for each in members}
    for name, value in page.marks.items():
        members.append(member(free_name(name, taken), value))
    return object_of(members)


def json_members(page: CorpusPage) -> list[Member]:
    """The columns of a page that is a row of JSON Lines, with its content as it is written."""
    members = members_of(page.stored)
    if not page.is_stripped:
        return members
    last = {each.name: (at, each) for at, each in enumerate(members)}
    was, text = next(n for n in CONTENT if n in last and last[n][1].is_text), last.get("text")
    now, target = page.as_changed(), was
    if was == "html" and now.kind is not Kind.HTML:
        free = text is None or text[1].is_text or text[1].is_null
        target = "text" if free else free_name("text", last)
    members[last[was][0]] = member(target, _text_of(now))
    return [each for at, each in enumerate(members)
            if at == last[was][0] or each.name not in (was, target)]


def row_of(page: CorpusPage) -> dict[str, Any]:
    """A page as a row: with all columns that it has in its file, or with those that a row may have,
    and its content as it is written. What it does not have is not there."""
    if page.form == JSONL:
        return parse_row(object_of(json_members(page)) if page.is_stripped else page.stored)
    if page.form.startswith(PARQUET):
        batch = pa.ipc.read_record_batch(pa.py_buffer(page.stored), schema_of(page.form))
        row = row_values(batch, 0)
        return _with_content({name: row[name] for name in row if row[name] is not None}, page)
    page = page.as_changed()
    content = "html" if page.kind is Kind.HTML else "text"
    row = {"url": page.url, content: _text_of(page), "timestamp": page.moment,
           "status": page.status, "content_type": page.content_type or None}
    return {name: value for name, value in row.items() if value is not None}


def _text_of(page: CorpusPage) -> str:
    return utf8(decode_text(page.payload, page.charset)).decode()


def _with_content(row: dict[str, Any], page: CorpusPage) -> dict[str, Any]:
    """A row of Parquet with its content as text, in the column `text` if HTML has become text."""
    was = next(name for name in CONTENT if isinstance(row.get(name), str | bytes))
    if not page.is_stripped:
        if isinstance(row[was], bytes):
            row[was] = utf8(decode_text(row[was], page.charset)).decode()
        return row
    now, target = page.as_changed(), was
    if was == "html" and now.kind is not Kind.HTML:
        del row["html"]
        target = ("text" if isinstance(row.get("text", ""), str | bytes)
                  else free_name("text", row))
    row[target] = _text_of(now)
    return row


def json_line(row: Mapping[str, Any]) -> bytes:
    """A row as a line of JSON: times in ISO 8601, bytes as the text that they are in UTF-8."""
    return orjson.dumps(row, default=_plain, option=orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS)


def _plain(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
