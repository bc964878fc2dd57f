"""A result as its summary and its report read it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from beam_reuse.io.results.damage import DamagedTableError, require_columns
from beam_reuse.io.results.manifest import Manifest
from beam_reuse.io.results.queries import query
from beam_reuse.io.results.scan import TableScan
from beam_reuse.io.results.tables import TableSchema


class Result:
    """The tables of a result, a batch of some columns at a time; its settings, by the names of
    options; and what was counted (`noted`), with what was measured."""

    def __init__(
        self, manifest: Manifest, folder: str, measured: Mapping[str, int] | None = None,
    ) -> None:
        self.manifest, self._folder = manifest, folder
        self.settings, self._parts = manifest.settings, manifest.tables()
        self.thresholds, self.noted = manifest.thresholds, {
            **manifest.accounting.noted, **(measured or {})}
        self._damage: dict[str, str] = {}

    def has(self, *schemas: TableSchema) -> bool:
        """Whether all these tables are there, with all columns that they have today."""
        return all(schema.name in self._parts and not self.damage(schema) for schema in schemas)

    def damage(self, schema: TableSchema) -> str:
        """Why a table cannot be read though the run has written it; "" if it is not known to be
        damaged. Only its first part is looked at."""
        if schema.name not in self._damage and schema.name in self._parts:
            try:
                part = self._parts[schema.name][0]
                require_columns(self._folder, part, self._scan(schema).schema, schema.arrow())
                self._damage[schema.name] = ""
            except DamagedTableError as error:
                self._damage[schema.name] = error.in_folder
        return self._damage.get(schema.name, "")

    def rows(self, schema: TableSchema) -> int:
        return sum(part.rows for part in self._parts[schema.name])

    def batches(self, schema: TableSchema, columns: Sequence[str]) -> Iterator[pa.Table]:
        for batch in self._scan(schema).batches(list(columns)):
            yield pa.Table.from_batches([batch])

    def query(
        self, sql: str, schema: TableSchema, columns: Sequence[str],
        values: Mapping[str, Any] | None = None,
        others: Mapping[str, tuple[TableSchema, Sequence[str]]] | None = None,
    ) -> list[dict[str, Any]]:
        """The rows that `sql` makes of these columns of a table, which it calls `source`, and of
        `others`, which it calls by their keys; `values` are those it asks for as `$name`."""
        tables = {"source": (schema, columns), **(others or {})}
        streams = {name: self._scan(each).stream(some) for name, (each, some) in tables.items()}
        rows: list[dict[str, Any]] = query(sql, streams, values).to_pylist()
        return rows

    def _scan(self, schema: TableSchema) -> TableScan:
        return TableScan(self._folder, schema.name, self.manifest)

    def top(self, schema: TableSchema, by: str, n: int, columns: Sequence[str],
            keep: str = "") -> list[dict[str, Any]]:
        """The `n` rows with the greatest `by`, ties to the smaller first column; with `keep`
        only rows where that column is true."""
        order = [(by, "descending"), (columns[0], "ascending")]
        best = schema.arrow().empty_table().select([*columns])
        for batch in self.batches(schema, columns):
            some = batch.filter(batch[keep]) if keep else batch
            best = pa.concat_tables([best, some]).sort_by(order).slice(0, n)
        return best.to_pylist()

    def count(self, schema: TableSchema, column: str) -> int:
        """The sum of `column`, which is how many rows are true in one of flags."""
        return sum(pc.sum(batch[column]).as_py() or 0 for batch in self.batches(schema, [column]))
