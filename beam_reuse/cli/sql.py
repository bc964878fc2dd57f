"""`beam-reuse sql`: queries over the tables of a result, from a command line or a prompt."""

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from beam_reuse.cli.arguments import UsageError, one_folder
from beam_reuse.cli.sql_rows import print_rows, write_rows
from beam_reuse.cli.summary import console
from beam_reuse.core.errors import UserError
from beam_reuse.core.wording import counted, printable
from beam_reuse.io.files import (
    LocalFiles,
    is_inside,
    is_local,
    local_path,
    require_writable,
    written_whole,
)
from beam_reuse.io.results.database import Database, QueryError, open_result

PROMPT, MORE = "beam-reuse> ", "        ... "
HISTORY = "sql_history"
CLOSE = 0.5
_NO_TABLE = re.compile(
    r'Catalog Error: Table with name "?([^"\s!]+)"? does not exist(!\nDid you mean "[^"]*"\?)?')
HELP = (".tables lists the tables with their columns. A query ends with a semicolon. Tab completes "
        "names, the arrows find earlier queries, Ctrl-C ends the query that runs or drops what is "
        "typed, Ctrl-D leaves.")
LEAVE, ASK_HELP = (".quit", ".exit", "quit", "exit"), (".help", "help", "?")
SECONDS_TO_END = 0.1


def run_sql(given: Sequence[str], values: Mapping[str, Any]) -> int:
    """Answer one query, or those of a prompt."""
    if len(given) > 2:
        raise UsageError("sql: give one DIR and one QUERY, which is to be in quotation marks.")
    folder, how = one_folder("sql", given[:1]), values.get("to", "table")
    with open_result(folder) as database:
        if len(given) == 2:
            text = sys.stdin.read() if given[1] == "-" else given[1]
            with _output(folder, values, how) as out:
                _interruptible(database, lambda: write_rows(_answered(database, text), how, out))
        elif "output" in values or "to" in values:
            raise UsageError("sql: give a QUERY; --to and -o are for its rows.")
        else:
            return prompt(database)
    return 0


def _answered(database: Database, sql: str) -> pa.RecordBatchReader:
    found = _rows(database, sql)
    if found is None:
        raise UserError("sql: the query is empty.")
    return found


def _rows(database: Database, sql: str) -> pa.RecordBatchReader | None:
    """The rows of a query. DuckDB would name tables of its own for one that is not there."""
    try:
        return database.query(sql)
    except QueryError as error:
        raise QueryError(_NO_TABLE.sub(
            lambda found: _no_table(found[1], [*database.tables]), str(error), 1)) from error


def _no_table(name: str, tables: Sequence[str]) -> str:
    near = get_close_matches(name.lower(), tables, 3, CLOSE)
    return (f"There is no table {name}. " + (f"Did you mean {', '.join(near)}? `show tables` "
            "lists all." if near else f"The result has {', '.join(tables)}."))


def _interruptible(database: Database, work: Callable[[], None]) -> None:
    """Do what asks DuckDB, which may not look for Ctrl-C for a long time, in a thread: Ctrl-C then
    ends its query, and is raised."""
    done: Future[None] = Future()

    def do() -> None:
        try:
            work()
            done.set_result(None)
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=do, daemon=True).start()
    try:
        done.result()
    except KeyboardInterrupt:
        while not done.done():
            database.interrupt()
            with suppress(TimeoutError, KeyboardInterrupt):
                done.exception(SECONDS_TO_END)
        raise


@contextmanager
def _output(folder: str, values: Mapping[str, Any], how: str) -> Iterator[IO[bytes]]:
    """Where rows go: a file, which is there only when it is whole, or standard output."""
    if "output" not in values:
        if how == "parquet" and sys.stdout.isatty():
            raise UsageError("sql: --to parquet is for a file: give -o FILE.")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = local_path(values["output"])
    if is_inside(path, folder):
        raise UserError(f"-o {path} is in {folder}, the result itself, which goes when a run "
                        "replaces it. Give a place outside of it.")
    if is_local(path) and not os.path.isdir(above := os.path.dirname(path) or "."):
        raise UserError(f"-o {path}: there is no folder {above}. Make it, or give another.")
    require_writable(path)
    if os.path.exists(path) and not values.get("overwrite"):
        raise UserError(f"-o {path} is there already. Add --overwrite to replace it.")
    with written_whole(LocalFiles(), path) as out:
        yield out


def prompt(database: Database) -> int:
    """Ask for queries until there are no more. At a terminal an error is shown, and the next query
    asked for; of a pipe the last query needs no semicolon, and the status is 1 if one failed."""
    asks = sys.stdin.isatty()
    if asks:
        print(f"{counted(len(database.tables), 'table')}. {HELP}", file=sys.stderr)
        for said in database.damaged.values():
            print(said, file=sys.stderr)
    failed = False
    with _history(database) if asks else nullcontext():
        lines: list[str] = []
        while True:
            try:
                line = input((MORE if lines else PROMPT) if asks else "")
                if not lines and line.strip() in LEAVE:
                    break
                if not lines and (line.strip().startswith(".") or line.strip() in ASK_HELP):
                    failed |= not _command(database, line.strip())
                    continue
                lines.append(line)
                if line.rstrip().endswith(";"):
                    query, lines = "\n".join(lines), []
                    failed |= not _answer(database, query)
            except KeyboardInterrupt:
                if not asks:
                    raise
                print()
                lines = []
            except EOFError:
                if asks:
                    print()
                elif lines:
                    failed |= not _answer(database, "\n".join(lines))
                break
    return int(failed and not asks)


def _command(database: Database, name: str) -> bool:
    """Do what a line that is no query asks for; False if it is not known."""
    if name in ASK_HELP:
        print(HELP)
    elif name == ".tables":
        for table, columns in database.tables.items():
            console().print(f"{table}: {', '.join(columns)}", markup=False, soft_wrap=True)
        for said in database.damaged.values():
            console().print(said, markup=False, soft_wrap=True)
    else:
        print(f"There is no command {printable(name)}. There are .tables, .help and .quit; a query "
              "ends with a semicolon.", file=sys.stderr)
        return False
    return True


def _answer(database: Database, sql: str) -> bool:
    """Show the rows of a query, or its error; False if there was one."""
    def show() -> None:
        found = _rows(database, sql)
        if found is not None:
            print_rows(found, sys.stdout)

    try:
        _interruptible(database, show)
    except UserError as error:
        print(error, file=sys.stderr)
        return False
    return True


@contextmanager
def _history(database: Database) -> Iterator[None]:
    """What was typed before, and completion of names, where the terminal can do so."""
    try:
        import readline
    except ImportError:
        yield
        return
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    path = state / "beam-reuse" / HISTORY
    with suppress(OSError):
        readline.read_history_file(path)
    words = sorted({*database.tables, *(c for cs in database.tables.values() for c in cs)})
    readline.set_completer_delims(" \t\n\"'(),.;=<>")
    readline.set_completer(lambda start, n: _nth(
        [word for word in words if word.startswith(start)], n))
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(path)


def _nth(words: list[str], n: int) -> str | None:
    return words[n] if n < len(words) else None
