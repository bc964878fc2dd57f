"""Rows of Parquet files; what they become is told by `rows`."""

from collections.abc import Iterator
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from beam_reuse.core.pages import Outcome, Rejected
from beam_reuse.core.settings import ReadSettings
from beam_reuse.io.crawl.records import Place
from beam_reuse.io.crawl.rows import COLUMNS, row_outcome
from beam_reuse.io.files import is_local, local_path, open_files

BATCH_BYTES = 16 << 20
MAX_BATCH_ROWS = 4096
_CONTENT = ("html", "text")


class ParquetRows:
    """The rows of a file's row groups that fall to [start, end). Iterate once.

    Row groups are taken as evenly spread over the file. (Where they really begin is told by
    column metadata, and asking for it ends the process if the footer is damaged.)

    A row's offset is its number in the file, its length 0 (columns share it).
    `position` moves on while iterating. Memory:
    a batch of about 16 MB; repeated values of `html` and `text` are held once. What cannot be
    read is one reject: the file (told by the reader with start 0), or the rest of a row group.
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
                table = _open(handle)
            except Exception as error:  # a damaged footer raises what it likes
                if self._start == 0:
                    yield Rejected(self._file, 0, "", "bad-parquet", _short(error))
                return
            names = [n for n in table.schema_arrow.names if n in COLUMNS]
            if "url" not in names:
                if self._start == 0:
                    yield Rejected(self._file, 0, "", "missing-url",
                                   f"no column url among {', '.join(table.schema_arrow.names)}")
                return
            yield from self._groups(table, names)
        self.position = self._end

    def _groups(self, table: pq.ParquetFile, names: list[str]) -> Iterator[Outcome]:
        first, count = 0, table.metadata.num_row_groups
        for number in range(count):
            begin = self._size * number // count
            if self._start <= begin < self._end:
                self.position = begin
                yield from self._rows(table, number, names, first)
            first += table.metadata.row_group(number).num_rows
        if self._start == 0 and first != table.metadata.num_rows:
            yield Rejected(self._file, first, "", "bad-parquet",
                           f"{table.metadata.num_rows} rows are announced, {first} are there")

    def _rows(self, table: pq.ParquetFile, number: int, names: list[str],
              row: int) -> Iterator[Outcome]:
        group = table.metadata.row_group(number)
        last = row + group.num_rows
        per_row = max(1, group.total_byte_size // max(1, group.num_rows))
        batch_rows = max(1, min(MAX_BATCH_ROWS, BATCH_BYTES // per_row))
        try:
            for batch in table.iter_batches(batch_rows, [number], columns=names):
                columns = {name: _values(batch.column(name)) for name in names}
                for i in range(batch.num_rows):
                    values = {name: column(i) for name, column in columns.items()}
                    yield row_outcome(values, Place(self._file, row, 0), self._settings)
                    row += 1
            if row != last:
                raise ValueError(f"the row group breaks off at row {row} of {last}")
        except Exception as error:
            yield Rejected(self._file, row, "", "bad-parquet", _short(error))


def _open(handle: IO[bytes]) -> pq.ParquetFile:
    """The file, with columns of content read as dictionaries."""
    found = pq.ParquetFile(handle).metadata
    columns = [found.schema.column(i) for i in range(found.num_columns)]
    return pq.ParquetFile(handle, metadata=found, read_dictionary=[
        c.path for c in columns if c.path in _CONTENT and c.physical_type == "BYTE_ARRAY"])


def _values(column: pa.Array) -> Any:
    """A function from row to Python value; what is no value becomes None."""
    def value(i: int) -> object:
        try:
            found = column[i].as_py()
        except (ValueError, OverflowError):
            return None
        return found

    return value


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
