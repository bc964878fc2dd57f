"""A result table read in batches: for tables larger than memory."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from beam_reuse.io.files import join, open_files
from beam_reuse.io.results.damage import DamagedTableError, require_columns, why_unread
from beam_reuse.io.results.manifest import MANIFEST, Manifest, NoResultError, Part
from beam_reuse.io.results.queries import Stream, query
from beam_reuse.io.results.tables import no_table, read_manifest

BATCH_ROWS = 32_768


class TableScan:
    """The table `name` of the result in `folder`, to be read as often as needed.

    Refuses a folder without manifest, unless it is given, and a table the manifest does not list.
    """

    def __init__(self, folder: str, name: str, manifest: Manifest | None = None) -> None:
        self.folder = folder
        self.name = name
        self.manifest = manifest or read_manifest(folder)
        tables = self.manifest.tables()
        if name not in tables:
            raise NoResultError(no_table(folder, name, tables))
        self.parts: Sequence[Part] = tables[name]
        self._files = open_files(folder)
        self.schema: pa.Schema = self._read_schema()

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """All rows with these columns (None: all), part by part.

        Refuses a part that is missing, damaged or has another number of rows than the
        manifest says, or other columns than the first. Memory: one batch.
        """
        wanted = pa.schema([field for field in self.schema
                            if columns is None or field.name in columns])
        for part in self.parts:
            rows = 0
            try:
                with self._files.open(join(self.folder, part.path)) as source:
                    opened = pq.ParquetFile(source, page_checksum_verification=True)
                    require_columns(self.folder, part, opened.schema_arrow, wanted)
                    for batch in opened.iter_batches(BATCH_ROWS, columns=columns):
                        rows += batch.num_rows
                        yield batch
            except (OSError, pa.ArrowException) as error:
                raise DamagedTableError(self.folder, part, why_unread(error)) from error
            if rows != part.rows:
                raise DamagedTableError(
                    self.folder, part, f"has {rows} rows, {MANIFEST} says {part.rows}")

    def stream(self, columns: Sequence[str]) -> Stream:
        """These columns of all rows, for a query; refuses what `batches` refuses."""
        schema = pa.schema([self.schema.field(name) for name in columns])
        return Stream(schema, self.batches(columns))

    def _read_schema(self) -> pa.Schema:
        part = self.parts[0]
        try:
            with self._files.open(join(self.folder, part.path)) as source:
                return pq.read_schema(source)
        except (OSError, pa.ArrowException) as error:
            raise DamagedTableError(self.folder, part, why_unread(error)) from error


def rows_of(folder: str, table: str, columns: Sequence[str], sql: str,
            values: Mapping[str, Any] | None = None, **others: pa.Table) -> list[dict[str, Any]]:
    """The rows that `sql` makes of these columns of a result's table, which it calls `source`, and
    of `others`, which it calls by their names; `values` are those it asks for as `$name`."""
    source = TableScan(folder, table).stream(columns)
    rows: list[dict[str, Any]] = query(sql, {"source": source, **others}, values).to_pylist()
    return rows
