"""Rows of Parquet files; `rows` decides what they become."""

from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from beam_reuse.core.pages import Outcome, RawPage, Rejected
from beam_reuse.core.settings import ReadSettings
from beam_reuse.io.crawl.records import Place
from beam_reuse.io.crawl.rows import COLUMNS, row_outcome
from beam_reuse.io.files import is_local, local_path, open_files

PARQUET = "parquet"
BATCH_BYTES = 16 << 20
MAX_BATCH_ROWS = 4096
_CONTENT = ("html", "text")


class ParquetRows:
    """The rows of a file's row groups that fall to [start, end). Iterate once.

    Row groups are taken as evenly spread over the file. (Where they really begin is known from
    column metadata, and asking for it ends the process if the footer is damaged.)

    A row's offset is its number in the file, its length 0 (columns share it).
    `position` moves on while iterating. What cannot be read is one reject, which knows how many
    rows that are: the file (reported by the reader with start 0), or the rest of a row group.

    Memory: a batch of about 16 MB, in which repeated values of `html` and `text` are held once.
    Rows that cannot be read so (delta-encoded values) are read one by one: each may be as long as
    all that is stored of their row group.
    """

    def __init__(
        self, file: str, size: int, start: int, end: int, settings: ReadSettings,
    ) -> None:
        self._file = file
        self._size = size
        self._start = start
        self._end = end
        self._settings = settings
        self.position = start

    def __iter__(self) -> Iterator[Outcome]:
        path = local_path(self._file)
        with (open(path, "rb") if is_local(path) else open_files(path).open(path)) as handle:
            try:
                table = _Table.open(handle)
            except Exception as error:  # a damaged footer raises what it likes
                if self._start == 0:
                    yield Rejected(self._file, 0, "", "bad-parquet", _short(error))
                return
            if "url" not in table.names:
                if self._start == 0:
                    yield self._rejected("missing-url", 0, table, table.metadata.num_rows,
                                         f"no column url among {', '.join(table.all_names)}")
                return
            yield from self._groups(table)
        self.position = self._end

    def _rejected(
        self, reason: str, row: int, table: "_Table", rows: int, detail: str,
    ) -> Rejected:
        """The reject of so many rows from `row` on; one, if the footer contradicts itself."""
        rows = max(rows, 1) if table.is_consistent else 1
        return Rejected(self._file, row, "", reason, detail, rows)

    def _groups(self, table: "_Table") -> Iterator[Outcome]:
        first, count = 0, table.metadata.num_row_groups
        for number in range(count):
            begin = self._size * number // count
            if self._start <= begin < self._end:
                self.position = begin
                yield from self._rows(table, number, first)
            first += table.metadata.row_group(number).num_rows
        if self._start == 0 and not table.is_consistent:
            yield Rejected(self._file, first, "", "bad-parquet",
                           f"{table.metadata.num_rows} rows are announced, {first} are there")

    def _rows(self, table: "_Table", number: int, row: int) -> Iterator[Outcome]:
        last = row + table.metadata.row_group(number).num_rows
        stored = table.stored(number) if PARQUET in self._settings.stored else None
        try:
            for batch in table.batches(number):
                columns = {name: _values(batch.column(name)) for name in table.names}
                for i in range(batch.num_rows):
                    values = {name: column(i) for name, column in columns.items()}
                    outcome = row_outcome(values, Place(self._file, row, 0), self._settings)
                    if stored is not None:
                        content = next(stored)
                        if isinstance(outcome, RawPage):
                            outcome = outcome._replace(stored=content, form=table.form)
                    yield outcome
                    row += 1
            if row != last:
                raise ValueError(f"the row group breaks off at row {row} of {last}")
        except Exception as error:
            yield self._rejected("bad-parquet", row, table, last - row, _short(error))


@dataclass(frozen=True)
class _Table:
    """An open file; as `coded`, columns of content are read as dictionaries."""

    plain: pq.ParquetFile
    coded: pq.ParquetFile

    @staticmethod
    def open(handle: IO[bytes]) -> "_Table":
        plain = pq.ParquetFile(handle)
        found = plain.metadata
        columns = [found.schema.column(i) for i in range(found.num_columns)]
        return _Table(plain, pq.ParquetFile(handle, metadata=found, read_dictionary=[
            c.path for c in columns if c.path in _CONTENT and c.physical_type == "BYTE_ARRAY"]))

    @property
    def metadata(self) -> pq.FileMetaData:
        return self.plain.metadata

    @property
    def all_names(self) -> list[str]:
        return list(self.plain.schema_arrow.names)

    @cached_property
    def names(self) -> list[str]:
        """The columns that are read."""
        return [name for name in self.all_names if name in COLUMNS]

    @cached_property
    def is_consistent(self) -> bool:
        """Whether the file has as many rows as its row groups."""
        groups = range(self.metadata.num_row_groups)
        return sum(self.metadata.row_group(i).num_rows for i in groups) == self.metadata.num_rows

    @cached_property
    def form(self) -> str:
        """The form of its rows as they are stored: it has their schema."""
        return form_of(self.plain.schema_arrow)

    def stored(self, number: int) -> Iterator[bytes]:
        """The rows of a row group with all their columns, as `form` says."""
        schema = schema_of(self.form)
        for batch in self.plain.iter_batches(self._batch_rows(number), [number]):
            whole = pa.Table.from_batches([batch]).cast(schema).combine_chunks().to_batches()[0]
            for i in range(whole.num_rows):
                yield whole.slice(i, 1).serialize().to_pybytes()

    def _batch_rows(self, number: int) -> int:
        group = self.metadata.row_group(number)
        per_row = max(1, group.total_byte_size // max(1, group.num_rows))
        return max(1, min(MAX_BATCH_ROWS, BATCH_BYTES // per_row))

    def batches(self, number: int) -> Iterator[pa.RecordBatch]:
        """The rows of a row group, from the first that cannot be read as dictionaries one by
        one."""
        batch_rows = self._batch_rows(number)
        given = 0
        try:
            for batch in self.coded.iter_batches(batch_rows, [number], columns=self.names):
                given += batch.num_rows
                yield batch
        except Exception:  # one that is not about dictionaries comes again
            for row, batch in enumerate(self.plain.iter_batches(1, [number], columns=self.names)):
                if row >= given:
                    yield batch


def form_of(schema: pa.Schema) -> str:
    """The form of rows of a file with this schema: an Arrow batch of one row, without the schema,
    which is here. Columns that are coded by dictionaries have plain values."""
    plain = pa.schema([
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in schema], schema.metadata)
    return f"{PARQUET} {b64encode(plain.serialize().to_pybytes()).decode()}"


def schema_of(form: str) -> pa.Schema:
    """The schema that such a form has."""
    return pa.ipc.read_schema(pa.py_buffer(b64decode(form.removeprefix(PARQUET))))


def _values(column: pa.Array) -> Any:
    """A function from row to Python value; what is no value becomes None. Of times microseconds
    count."""
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)

    def value(i: int) -> object:
        try:
            found = column[i].as_py()
        except (ValueError, OverflowError):
            return None
        return found

    return value


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
