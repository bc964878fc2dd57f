"""The tables of a result as those of a database that can only be read.

DuckDB reads the Parquet parts themselves. It opens no other file and no connection, loads no
extension, and takes queries alone: statements that would write are refused.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from beam_reuse.core.errors import UserError
from beam_reuse.io.files import is_local, join
from beam_reuse.io.results.damage import DamagedTableError, require_bytes, require_parts
from beam_reuse.io.results.manifest import Manifest, NoResultError, Part
from beam_reuse.io.results.tables import SCHEMAS, read_manifest

if TYPE_CHECKING:
    import duckdb

BATCH_ROWS = 10_000
FLUSH = "8MB"
"""What a query has needed goes back to the system from so much on, where memory is limited."""

CHECKED = 256 << 20
"""The parts of tables of up to so many bytes are compared with their checksums before they are
first asked: DuckDB may read flipped bits as other values. Those of larger ones are, when DuckDB
cannot read them."""
_AS_TEXT = ("INTERVAL", "BIT")
_TABLE, _NAMED_HERE = (re.compile(f'"{key}":"((?:[^"\\\\]|\\\\.)*)"') for key in (
    "table_name", "key"))


class QueryError(UserError):
    """A query that cannot be answered; the message is DuckDB's, which says where."""


class Database:
    """An open result; see `open_result`. `tables` has the columns of those that can be read,
    `damaged` why the others cannot."""

    def __init__(
        self, connection: "duckdb.DuckDBPyConnection", folder: str, tables: dict[str, list[str]],
        parts: Mapping[str, Sequence[Part]], damaged: Mapping[str, str],
    ) -> None:
        self._connection, self._folder, self._parts = connection, folder, parts
        self.tables, self.damaged = tables, dict(damaged)
        self._whole: set[str] = set()
        self._of = {name.lower(): name for name in parts}
        self._named = lru_cache(512)(self._tables_in)

    def rows(self, sql: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """The rows of one statement of ours, with `values` where it says `$name`. Any thread."""
        import duckdb

        named = self._named(sql)
        self.require_whole(named)
        with self._connection.cursor() as cursor:
            try:
                return cursor.execute(sql, values).fetchall()
            except (duckdb.Error, RuntimeError):
                self._require_bytes(named)
                raise

    def types_of(self, name: str) -> dict[str, str]:
        """The columns of a table or view, with their types as DuckDB calls them."""
        with self._connection.cursor() as cursor:
            found = cursor.execute(f'describe "{name}"').fetchall()
        return {row[0]: row[1] for row in found}

    def make_view(self, name: str, of: str, sql: str) -> None:
        """A view of one table of the result."""
        with self._connection.cursor() as cursor:
            cursor.execute(f'create view "{name}" as {sql}')
        self._of[name.lower()] = of

    def query(self, sql: str) -> pa.RecordBatchReader | None:
        """The rows of a query, batch by batch; None if there is none. Refuses statements that are
        no queries, and several."""
        with self._errors(()):
            statement = self._one_query(sql)
        if statement is None:
            return None
        named = self._named(statement)
        self.require_whole(named)
        with self._errors(named):
            return self._reader(_written_out(self._connection.sql(statement)), named)

    def interrupt(self) -> None:
        """End the query that runs; what is read of it is left out."""
        self._connection.interrupt()

    def _one_query(self, sql: str) -> str | None:
        import duckdb

        statements = self._connection.extract_statements(sql)
        for each in statements:
            if each.type != duckdb.StatementType.SELECT:
                raise QueryError("only queries are answered (select, with, from, describe, "
                                 f"summarize, show); this is none: {each.query.strip()[:80]}"
                                 "\nRows go to a file with --to csv -o FILE.")
        if len(statements) > 1:
            raise QueryError(f"these are {len(statements)} queries; give one at a time.")
        return statements[0].query if statements else None

    def require_whole(self, tables: Iterable[str]) -> None:
        """Refuse damaged tables. Cost: those of up to CHECKED bytes are read once."""
        for name in tables:
            if name in self.damaged:
                raise NoResultError(self.damaged[name])
            if name not in self._whole and self._bytes_of(name) <= CHECKED:
                self._require_bytes([name])
            self._whole.add(name)

    def _require_bytes(self, tables: Iterable[str]) -> None:
        for name in tables:
            try:
                require_bytes(self._folder, self._parts[name])
            except DamagedTableError as error:
                self.damaged[name] = str(error)
                raise

    def _bytes_of(self, name: str) -> int:
        with suppress(OSError):
            return sum(os.path.getsize(join(self._folder, part.path))
                       for part in self._parts[name])
        return 0

    def _tables_in(self, sql: str) -> list[str]:
        """The tables of the result that a query names; none if it cannot be understood."""
        with self._connection.cursor() as cursor:
            (tree,), = cursor.execute("select json_serialize_sql($sql::varchar)",
                                      {"sql": sql}).fetchall()
        names = {name.lower() for name in _TABLE.findall(tree)}
        names -= {name.lower() for name in _NAMED_HERE.findall(tree)}
        return sorted({self._of[name] for name in names if name in self._of})

    @contextmanager
    def _errors(self, named: Iterable[str]) -> Iterator[None]:
        """What DuckDB says, as an error of ours; if a table that is `named` is damaged, that."""
        import duckdb

        try:
            yield
        except duckdb.PermissionException as error:
            raise QueryError(f"{error}\nOnly the tables of the result are read, by their names: "
                             f"{', '.join(self.tables)}.") from error
        except duckdb.InterruptException as error:
            raise QueryError("interrupted") from error
        except (duckdb.Error, pa.ArrowException, RuntimeError) as error:
            self._require_bytes(named)
            raise QueryError(str(error)) from error

    def _reader(self, found: Any, named: Sequence[str]) -> pa.RecordBatchReader:
        """The rows of a relation; its name has changed with DuckDB 1.4."""
        give = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader
        reader: pa.RecordBatchReader = give(BATCH_ROWS)
        names = distinct_names(reader.schema.names)
        schema = pa.schema([field.with_name(name)
                            for field, name in zip(reader.schema, names, strict=True)])
        return pa.RecordBatchReader.from_batches(schema, self._renamed(reader, names, named))

    def _renamed(self, reader: pa.RecordBatchReader, names: list[str],
                 named: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with self._errors(named):
            for batch in reader:
                yield batch.rename_columns(names)


def _written_out(found: Any) -> Any:
    """The same rows with text for what no other format has."""
    if not any(str(kind) in _AS_TEXT for kind in found.types):
        return found
    names = [name.replace('"', '""') for name in found.columns]
    return found.project(", ".join(
        f'#{n}{"::varchar" if str(kind) in _AS_TEXT else ""} as "{name}"'
        for n, (name, kind) in enumerate(zip(names, found.types, strict=True), 1)))


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
    manifest = read_manifest(folder)
    parts, damaged = manifest.tables(), _damaged(folder, manifest)
    paths = {name: [join(folder, part.path) for part in some] for name, some in parts.items()
             if name not in damaged}
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
        for name, some in paths.items():
            connection.execute(f'create view "{name}" as from read_parquet({_listed(some)})')
        every = [path for some in paths.values() for path in some]
        connection.execute(f"SET allowed_paths = {_listed(every)}")
        connection.execute("SET enable_external_access = false; SET lock_configuration = true")
        columns = {name: [row[0] for row in connection.execute(f'describe "{name}"').fetchall()]
                   for name in paths}
        for name, names in columns.items():
            if strange := next((each for each in names if '"' in each), None):
                raise UserError(f"{folder}: {name} has a column {strange[:80]!r}, as no run "
                                "writes. Do not trust this folder.")
        yield Database(connection, folder, columns, parts, damaged)


def _damaged(folder: str, manifest: Manifest) -> dict[str, str]:
    """Which tables cannot be read, and why. Cost: the footer of each part."""
    found = {}
    for name, parts in manifest.tables().items():
        schema = SCHEMAS.get(name) if manifest.kind == "result" else None
        try:
            require_parts(folder, parts, schema and schema.arrow())
        except DamagedTableError as error:
            found[name] = str(error)
    return found


def _listed(paths: list[str]) -> str:
    return "[" + ", ".join("'" + path.replace("'", "''") + "'" for path in paths) + "]"
