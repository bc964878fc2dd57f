"""SQL over rows in memory and over tables read batch by batch, in a DuckDB that is closed to
everything else: it opens no file and no connection and loads no extension."""

import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa

from beam_reuse.core.errors import UserError

MEMORY = "2GB"
_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "memory_limit": MEMORY,
    "allocator_flush_threshold": "8MB",  # what it has needed goes back to the system
    "threads": "1",  # another thread that waits for Python, for a stream's next batch, may hang
}
# DuckDB takes a stream for a small table, and would keep all of it to join it with others.
_AS_WRITTEN = "join_order,build_side_probe_side"


class Stream(NamedTuple):
    """Rows that are read once, when a query asks for them."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


def query(sql: str, tables: Mapping[str, pa.Table | Stream],
          values: Mapping[str, Any] | None = None) -> pa.Table:
    """What `sql` gives of `tables`, which it calls by these names; `values` are those it asks for
    as `$name`.

    Rows have the order that `sql` gives them. Raises what a stream raises. What `sql` creates is
    gone afterwards. Memory: MEMORY at most for all queries at a time; of a stream some batches,
    unless it is the right side of a join.
    """
    import duckdb

    failed: list[Exception] = []

    def watched(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except Exception as error:
            failed.append(error)
            raise

    with _database(os.getpid()).cursor() as connection:
        connection.begin()  # and never committed
        for name, table in tables.items():
            connection.register(name, table if isinstance(table, pa.Table) else (
                pa.RecordBatchReader.from_batches(table.schema, watched(table.batches))))
        try:
            return connection.sql(sql, params=values).to_arrow_table()
        except duckdb.OutOfMemoryException as error:
            raise UserError(f"This needs more than {MEMORY} of memory: {error}") from error
        except duckdb.Error as error:
            if isinstance(error, duckdb.FatalException | duckdb.InternalException):
                _database.cache_clear()  # it answers nobody any more
            if failed:
                raise failed[0] from None
            raise


@lru_cache(maxsize=1)
def _database(process: int) -> Any:
    """The empty database of this process, that is asked by cursors, each with rows of its own: to
    make one takes 60 times as long as to ask it."""
    import duckdb

    database = duckdb.connect(":memory:", config=_CLOSED)
    database.execute(f"SET GLOBAL disabled_optimizers = '{_AS_WRITTEN}'; "
                     "SET GLOBAL TimeZone = 'UTC'; SET lock_configuration = true")
    return database
