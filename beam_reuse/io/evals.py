"""Evaluation files: JSON Lines (plain, .gz, .zst) and Parquet, each row with an id and texts.

Ids and texts are in the fields that are named, or in those that usually have them. A name may be a
path into what is nested (`choices.text`); texts of a list are one text, a line each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from beam_reuse.core.errors import UserError
from beam_reuse.io.crawl.arrow_values import row_values
from beam_reuse.io.crawl.inputs import InputFile, list_files
from beam_reuse.io.crawl.members import STEP, Corrupt, Units, inflate_file
from beam_reuse.io.crawl.rows import parse_row
from beam_reuse.io.crawl.sniff import first_bytes
from beam_reuse.io.crawl.window import Window, open_window
from beam_reuse.io.files import is_local, local_path, open_files

LONGEST_LINE = 128 << 20
LONGEST_DETAIL = 200
_BATCH_ROWS = 1000
IDS = (
    "id", "_id", "qid", "question_id", "query_id", "task_id", "example_id", "problem_id",
    "instance_id", "sample_id", "item_id", "doc_id", "uid", "uuid", "guid", "idx", "index", "key",
)
TEXTS = (
    "question", "query", "problem", "prompt", "instruction", "input", "inputs", "text", "content",
    "context", "passage", "paragraph", "article", "document", "story", "ctx", "sentence",
    "sentence1", "sentence2", "premise", "hypothesis", "goal", "statement", "claim", "abstract",
    "body", "code", "canonical_solution", "solution", "answer", "output", "outputs", "response",
    "target", "targets", "completion", "rationale", "explanation", "summary", "stem", "turns",
    "messages", "conversation", "conversations", "dialog", "dialogue",
)
_MOST_NESTED = 20
_FEW_WORDS = 8


class EvalItem(NamedTuple):
    """A text of an evaluation set: one field of one row."""

    row: int
    id: str
    field: str
    text: str


class BadRow(NamedTuple):
    """So many `rows`, from `row` on, that cannot be read."""

    row: int
    reason: str
    detail: str
    rows: int = 1


@dataclass(frozen=True)
class EvalFields:
    """Where rows have their id and their texts; '' and () where that is to be found."""

    id: str = ""
    texts: tuple[str, ...] = ()

    def items(self, number: int, row: Mapping[str, Any]) -> list[EvalItem] | BadRow:
        """The texts of a row. A row without an id has its number for one."""
        found = list(self._texts(row))
        if not found:
            names = ", ".join(map(str, row)) or "nothing"
            wanted = f"none of {', '.join(self.texts)}" if self.texts else "no text"
            return BadRow(number, "no-text", f"{wanted} among {names}"[:LONGEST_DETAIL])
        if rows := self._rows_within(row, found):
            return BadRow(number, "nested-rows", f"{rows} has rows of its own: write each on a line"
                          f", for instance with jq -c '.{rows}[]'"[:LONGEST_DETAIL])
        value = _at(row, self.id) if self.id else _usual_id(row)
        if self.id and value is None:
            return BadRow(number, "no-id", f"no {self.id} among {', '.join(map(str, row))}"
                          [:LONGEST_DETAIL])
        name = str(number) if value is None else _shown(value)
        return [EvalItem(number, name, field, text) for field, text in found]

    def _texts(self, row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        if self.texts:
            for path in self.texts:
                yield from _texts_at(path, _at(row, path))
            return
        usual = [found for name, value in row.items() if str(name).lower() in TEXTS
                 for found in _texts_at(name, value)]
        yield from usual or (found for name, value in row.items()
                             if str(name).lower() not in IDS and not _has_rows(value)
                             for found in _texts_at(name, value))

    def _rows_within(self, row: Mapping[str, Any], found: list[tuple[str, str]]) -> str:
        """The field that has rows of its own, of a row that is but their cover; else ''."""
        if self.texts or any(name.partition(".")[0].lower() in TEXTS for name, _ in found) or any(
                len(text.split()) >= _FEW_WORDS for _, text in found):
            return ""
        return next((str(name) for name, value in row.items() if _has_rows(value)), "")

    def reads(self, column: pa.Field) -> bool:
        """Whether a column of Parquet is read: pictures and vectors are not."""
        named = {name for path in (*self.texts, self.id) for name in (path, path.partition(".")[0])}
        if column.name in named or (not self.id and column.name.lower() in IDS):
            return True
        return not self.texts and _may_have_text(column.type)


def _usual_id(row: Mapping[str, Any]) -> Any:
    """The first of the usual fields that has an id; None without one."""
    there = {str(name).lower(): value for name, value in row.items()
             if isinstance(value, str | int) and not isinstance(value, bool) and value != ""}
    return next((there[name] for name in IDS if name in there), None)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()


def _at(value: Any, path: str) -> Any:
    """What is at a path: of a list, what each of its members has there."""
    if isinstance(value, Mapping) and path in value:
        return value[path]
    first, _, rest = path.partition(".")
    if isinstance(value, list):
        found = [_at(each, path) for each in value]
        return [each for each in found if each is not None] or None
    if not isinstance(value, Mapping) or first not in value:
        return None
    return _at(value[first], rest) if rest else value[first]


def _texts_at(path: str, value: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """The texts of a value and of what is nested in it, with their paths; what the members of a
    list have at the same path is one text."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping) and depth < _MOST_NESTED:
        for name, inner in value.items():
            yield from _texts_at(f"{path}.{name}", inner, depth + 1)
    elif isinstance(value, list) and depth < _MOST_NESTED:
        found: dict[str, list[str]] = {}
        for each in value:
            for name, text in _texts_at(path, each, depth + 1):
                found.setdefault(name, []).append(text)
        yield from ((name, "\n".join(texts)) for name, texts in found.items())


def _has_rows(value: Any) -> bool:
    """Whether a value is a list of what may be rows themselves."""
    return isinstance(value, list) and any(isinstance(each, Mapping) for each in value)


def list_evals(paths: Sequence[str]) -> list[InputFile]:
    """The evaluation files that are named; UserError for what cannot be read as one."""
    files = list_files(paths)
    for file in files:
        try:
            form = _form_of(file)
        except OSError as error:
            raise UserError(f"--against {file.path}: {error.strerror or error}.") from error
        if form == "array":
            raise UserError(f"--against {file.path}: this is one JSON array. Write each row on a "
                            f"line of its own, for instance:\njq -c '.[]' '{file.path}' > "
                            "evals.jsonl")
        if form == "pretty":
            raise UserError(f"--against {file.path}: this is JSON over several lines. Write each "
                            f"row on a line of its own, for instance:\njq -c . '{file.path}' > "
                            "evals.jsonl\n(jq -c '.data[]' if the rows are a list called data)")
        if not form:
            raise UserError(f"--against {file.path}: neither JSON Lines nor Parquet. Of a table as "
                            "text make one of them, for instance:\npython -c \"import duckdb; "
                            f"duckdb.read_csv('{file.path}').write_parquet('evals.parquet')\"")
    return files


def _form_of(file: InputFile) -> str:
    if file.unreadable:
        raise OSError(f"it is {file.unreadable}")
    with open_window(file.path, file.size) as window:
        head, units = first_bytes(window)
    begin = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"PAR1") and units is None:
        return "parquet"
    if begin.startswith(b"["):
        return "array"
    if begin.startswith(b"{") and begin[1:].lstrip(b" \t\r").startswith(b"\n"):
        return "pretty"
    named = any(file.path.lower().removesuffix(end).endswith((".jsonl", ".ndjson", ".jl", ".json"))
                for end in ("", ".gz", ".zst"))
    return "jsonl" if begin.startswith(b"{") or named else ""


def read_evals(file: InputFile, fields: EvalFields) -> Iterator[list[EvalItem] | BadRow]:
    """What the rows of a file become, in order, each one thing. Rows are counted from 0; empty
    lines are none. Memory: a row, or some of Parquet."""
    if _form_of(file) == "parquet":
        yield from _parquet_rows(file, fields)
        return
    with open_window(file.path, file.size) as window:
        number = 0
        try:
            for line in _lines(window, first_bytes(window)[1]):
                if line is not None and not line.strip(b" \t\r\n\xef\xbb\xbf"):
                    continue
                yield _row_of(number, line, fields)
                number += 1
        except Corrupt as bad:
            yield BadRow(number, bad.reason, f"{bad.detail}; the rest of the file is not read")


def _row_of(number: int, line: bytes | None, fields: EvalFields) -> list[EvalItem] | BadRow:
    if line is None:
        return BadRow(number, "too-large", f"a line of more than {LONGEST_LINE >> 20} MB")
    try:
        return fields.items(number, parse_row(line.removeprefix(b"\xef\xbb\xbf")))
    except ValueError as error:
        return BadRow(number, "bad-json", str(error)[:LONGEST_DETAIL])


def _lines(window: Window, units: Units | None) -> Iterator[bytes | None]:
    """The lines of a file; None for one that is too long."""
    pending: list[bytes] = []
    size = 0
    for piece in _pieces(window) if units is None else inflate_file(units, window.size):
        *whole, rest = piece.split(b"\n")
        for line in whole:
            size += len(line)
            yield b"".join((*pending, line)) if size <= LONGEST_LINE else None
            pending, size = [], 0
        size += len(rest)
        pending = [*pending, rest] if size <= LONGEST_LINE else []
    if size:
        yield b"".join(pending) if size <= LONGEST_LINE else None


def _pieces(window: Window) -> Iterator[bytes]:
    pos = 0
    while True:
        buffer, a, b = window.span(pos, STEP)
        if a == b:
            return
        yield buffer[a:b]
        pos += b - a


def _parquet_rows(file: InputFile, fields: EvalFields) -> Iterator[list[EvalItem] | BadRow]:
    path = local_path(file.path)
    number, rows = 0, 1
    with (open(path, "rb") if is_local(path) else open_files(path).open(path)) as source:
        try:
            table = pq.ParquetFile(source)
            rows = table.metadata.num_rows
            names = [each.name for each in table.schema_arrow if fields.reads(each)]
            if not names:
                every = ", ".join(f"{each.name} ({each.type})" for each in table.schema_arrow)
                raise ValueError(f"no column has text among {every}")
            for batch in table.iter_batches(_BATCH_ROWS, columns=names):
                for i in range(batch.num_rows):
                    yield fields.items(number, row_values(batch, i))
                    number += 1
        except Exception as error:  # a damaged file raises what it likes
            yield BadRow(number, "bad-parquet", f"{type(error).__name__}: {error}"[:LONGEST_DETAIL],
                         max(rows - number, 1))


def _may_have_text(kind: pa.DataType) -> bool:
    """Whether a column may be an id or have texts."""
    if (pa.types.is_list(kind) or pa.types.is_large_list(kind)
            or pa.types.is_fixed_size_list(kind) or pa.types.is_dictionary(kind)):
        return _may_have_text(kind.value_type)
    return bool(str(kind) in ("string", "large_string", "string_view")
                or pa.types.is_integer(kind) or pa.types.is_struct(kind))
