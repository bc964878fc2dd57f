"""A result that is being looked at: its tables, and where the contents of its pages are."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from beam_reuse.core.errors import UserError
from beam_reuse.io.results.database import Database, open_result
from beam_reuse.io.results.tables import no_table, read_manifest
from beam_reuse.viewer.derived import DERIVED
from beam_reuse.viewer.sheets import Sheets, usual_folder, usual_name

if TYPE_CHECKING:
    from beam_reuse.viewer.contents import Contents

MEMORY = "80MB"
AT_ONCE = 200_000
"""Tables of up to so many rows are copied while somebody waits."""

PLACE = '"place in the table"'
"""A column of copies: from 1. (DuckDB's own `rowid` fails in some conditions, with all that is
open.)"""

Row = dict[str, Any]


class NotThere(UserError):
    """What was asked for is not in the result; the message says what is."""


class View:
    """The tables of a result as queries find them, from any thread.

    A table that is sorted or filtered is copied first, once, into DuckDB's own form in a temporary
    folder: any sort and filter of it then is one pass over the columns concerned, and PLACE is
    the place of a row in the result. Memory: MEMORY and what is answered.
    """

    def __init__(self, folder: str, database: Database, inputs: Sequence[str],
                 sheets: Sheets | None = None) -> None:
        self.folder, self.database = folder, database
        self.sheets = sheets or Sheets(usual_folder(folder), (), usual_name())
        self.manifest = read_manifest(folder)
        self._inputs = inputs
        self.derived = [name for name, made in DERIVED.items() if made.of in database.tables]
        self._locks = {name: threading.Lock() for name in (*database.tables, *self.derived)}
        self._copied: set[str] = set()
        self._nulls: dict[tuple[str, str], bool] = {}

    @cached_property
    def contents(self) -> "Contents":
        """The bytes of pages. What reads them is loaded with it: the first screen needs none."""
        from beam_reuse.viewer.contents import Contents

        return Contents(self.folder, self._inputs, self.manifest)

    @cached_property
    def types(self) -> Mapping[str, Mapping[str, str]]:
        """The columns of every table with their types, as DuckDB calls them; derived ones too."""
        return {name: self.database.types_of(name)
                for name in (*self.database.tables, *self.derived)}

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """How many rows each table of the result has."""
        return {name: sum(part.rows for part in parts)
                for name, parts in self.manifest.tables().items() if name in self.database.tables}

    def size_of(self, table: str) -> int:
        """How many rows a table has, derived or not."""
        if table in self.sizes:
            return self.sizes[table]
        return int(self.database.rows(f"select count(*) from {self.copied(table)}")[0][0])

    def has(self, *tables: str) -> bool:
        return all(name in self.types for name in tables)

    def require(self, table: str) -> None:
        self._require_sound(table)
        if table not in self.types:
            raise NotThere(no_table(self.folder, table, self.database.tables))

    def _require_sound(self, table: str) -> None:
        of = DERIVED[table].of if table in DERIVED else table
        if of in self.database.damaged:
            raise NotThere(self.database.damaged[of])

    def is_copied(self, table: str) -> bool:
        return table in self._copied

    def copied(self, table: str) -> str:
        """The name of the copy of a table, which is made if it is not there. Cost: one pass over
        the table, the first time."""
        self.require(table)
        with self._locks[table]:
            if table not in self._copied:
                self.database.require_whole([DERIVED[table].of if table in DERIVED else table])
                self.database.rows(f'create table copies."{table}" as select '
                                   f'row_number() over () as {PLACE}, * from "{table}"')
                self._copied.add(table)
        return f'copies."{table}"'

    def has_nulls(self, table: str, column: str) -> bool:
        """Whether a column of a table has nulls; found out once."""
        if (table, column) not in self._nulls:
            self._nulls[table, column] = bool(self.database.rows(
                f'select 1 from {self.copied(table)} where "{column}" is null limit 1'))
        return self._nulls[table, column]

    def prepare(self, table: str) -> None:
        """Make the copy of a table, in the meantime if it is large."""
        of = DERIVED[table].of if table in DERIVED else table
        if self.sizes[of] <= AT_ONCE:
            self.copied(table)
        elif table not in self._copied and not self._locks[table].locked():
            threading.Thread(target=self.copied, args=(table,), daemon=True).start()

    def ask(self, table: str, select: str, where: str = "true", **values: Any) -> list[Row]:
        """Columns of those rows of a table for which `where` holds, and what follows it; none if
        the result has no such table. Refuses one that is damaged."""
        self._require_sound(table)
        if not self.has(table):
            return []
        names = [each.strip() for each in select.split(",")] if select != "*" else [
            *self.types[table]]
        listed = ", ".join(f'"{name}"' for name in names)
        rows = self.database.rows(f'select {listed} from "{table}" where {where}', values)
        return [dict(zip(names, row, strict=True)) for row in rows]


@contextmanager
def open_view(folder: str, inputs: Sequence[str], sheets: Sheets | None = None) -> Iterator[View]:
    """The result in `folder`; `inputs` are crawl files and indexes with its pages, or nothing:
    then those that the run has read, where they are still there. `sheets` are those to judge;
    None: those in the usual folder."""
    with (TemporaryDirectory(prefix="beam-reuse-view-", ignore_cleanup_errors=True) as scratch,
          open_result(folder, scratch, MEMORY) as database):
        database.rows("create schema copies")
        view = View(folder, database, inputs, sheets)
        for name in view.derived:
            database.make_view(name, DERIVED[name].of, DERIVED[name].sql)
        yield view
