"""The tables of a result as those of a database that can only be read.

DuckDB reads the Parquet parts themselves. It opens no other file and no connection, loads no
extension, and takes queries alone: statements that would write are refused.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from beam_reuse.core.errors import UserError
from beam_reuse.io.files import is_local, join
from beam_reuse.io.results.tables import read_manifest

if TYPE_CHECKING:
    import duckdb

BATCH_ROWS = 10_000
FLUSH = "8MB"
"""What a query has needed goes back to the system from so much on, where memory is limited."""


class QueryError(UserError):
    """A query that cannot be answered; the message is DuckDB's, which says where."""


class Database:
    """An open result; see `open_result`."""

    def __init__(
        self, connection: "duckdb.DuckDBPyConnection", tables: dict[str, list[str]],
    ) -> None:
        self._connection, self.tables = connection, tables

    def rows(self, sql: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """The rows of one statement of ours, with `values` where it says `$name`. Any thread."""
        with self._connection.cursor() as cursor:
            return cursor.execute(sql, values).fetchall()

    def query(self, sql: str) -> pa.RecordBatchReader | None:
        """The rows of the last of some queries, batch by batch; None if there is none. Refuses
        statements that are no queries."""
        import duckdb

        try:
            statements = self._connection.extract_statements(sql)
            for each in statements:
                if each.type != duckdb.StatementType.SELECT:
                    raise QueryError("only queries are answered (select, with, from, describe, "
                                     f"summarize, show); this is none: {each.query.strip()[:80]}"
                                     "\nRows go to a file with --to csv -o FILE.")
            found = None
            for each in statements:
                found = self._connection.sql(each.query)
            return None if found is None else _reader(found)
        except duckdb.PermissionException as error:
            raise QueryError(f"{error}\nOnly the tables of the result are read, by their names: "
                             f"{', '.join(self.tables)}.") from error
        except duckdb.Error as error:
            raise QueryError(str(error)) from error


def _reader(found: Any) -> pa.RecordBatchReader:
    """The rows of a relation; its name has changed with DuckDB 1.4."""
    give = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader
    reader: pa.RecordBatchReader = give(BATCH_ROWS)
    names = distinct_names(reader.schema.names)
    schema = pa.schema([field.with_name(name)
                        for field, name in zip(reader.schema, names, strict=True)])
    return pa.RecordBatchReader.from_batches(
        schema, (batch.rename_columns(names) for batch in reader))


def distinct_names(names: list[str]) -> list[str]:
    """The same names, those that occur again (in any case) with a number behind them."""
    taken = {name.lower() for name in names}
    given: set[str] = set()
    found = []
    for name in names:
        new, number = name, 1
        while new.lower() in given or (new != name and new.lower() in taken):
            new, number = f"{name}_{number}", number + 1
        given.add(new.lower())
        found.append(new)
    return found


@contextmanager
def open_result(folder: str, scratch: str = "", memory: str = "") -> Iterator[Database]:
    """The result in `folder`, which must be on this machine. With `scratch`, an empty folder,
    statements of ours (`Database.rows`) may make tables, which are stored there; DuckDB then takes
    no more `memory` than that."""
    import duckdb

    if not is_local(folder):
        raise UserError(f"{folder}: give a folder of this machine. Copy the result here first.")
    tables = read_manifest(folder).tables()
    paths = {name: [join(folder, part.path) for part in parts] for name, parts in tables.items()}
    with duckdb.connect(join(scratch, "made.duckdb") if scratch else ":memory:") as connection:
        spilled = join(scratch, "spilled").replace("'", "''") if scratch else ""
        connection.execute("SET TimeZone = 'UTC'; SET autoinstall_known_extensions = false; "
                           "SET autoload_known_extensions = false; "
                           f"SET temp_directory = '{spilled}'; "
                           "SET python_enable_replacements = false")
        if memory:
            connection.execute(f"SET memory_limit = '{memory}'; "
                               f"SET allocator_flush_threshold = '{FLUSH}'; "
                               "SET allocator_background_threads = true")
        for name, parts in paths.items():
            connection.execute(f'create view "{name}" as from read_parquet({_listed(parts)})')
        every = [path for parts in paths.values() for path in parts]
        connection.execute(f"SET allowed_paths = {_listed(every)}")
        connection.execute("SET enable_external_access = false; SET lock_configuration = true")
        columns = {name: [row[0] for row in connection.execute(f'describe "{name}"').fetchall()]
                   for name in paths}
        for name, names in columns.items():
            if strange := next((each for each in names if '"' in each), None):
                raise UserError(f"{folder}: {name} has a column {strange[:80]!r}, as no run "
                                "writes. Do not trust this folder.")
        yield Database(connection, columns)


def _listed(paths: list[str]) -> str:
    return "[" + ", ".join("'" + path.replace("'", "''") + "'" for path in paths) + "]"
