"""The sheets that are judged in the viewer: those of a folder beside the result, and others that
were named when it was started. A request names a sheet as it is listed here, never a file."""

import getpass
import os
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urlencode

from beam_reuse.core.errors import UserError
from beam_reuse.io.sheets import write_sheet
from beam_reuse.judging.judged_sheet import JudgedSheet

STOP_LIST, MARKED = "stop-list.csv", "marked.csv"
"""What the viewer itself writes beside the sheets; they are not judged."""


def usual_folder(result: str) -> str:
    """Where judgements of a result go: a result is never written to, and is replaced as a whole."""
    return os.path.abspath(result) + ".judgements"


def usual_name() -> str:
    """Who judges: as the operating system calls the user."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


class Sheets:
    """The sheets `given`, and all CSV and TSV files in `folder`, which need not be there."""

    def __init__(self, folder: str, given: Sequence[str] = (), who: str = "") -> None:
        self.folder, self.who = os.path.abspath(folder), who
        self._given = [os.path.abspath(path) for path in given]

    def names(self) -> dict[str, str]:
        """Paths by name: a file's own, with a number where several have the same."""
        inside = sorted(name for name in _listed(self.folder)
                        if name.lower().endswith((".csv", ".tsv"))
                        and name not in (STOP_LIST, MARKED))
        paths = dict.fromkeys([*self._given, *(os.path.join(self.folder, name) for name in inside)])
        named: dict[str, str] = {}
        for path in paths:
            base, number = os.path.basename(path), 2
            name = base
            while name in named:
                name, number = f"{base} ({number})", number + 1
            named[name] = path
        return named

    def open(self, name: str) -> JudgedSheet:
        paths = self.names()
        if name not in paths:
            raise UserError(f"There is no sheet {name[:100]!r} to judge.")
        return _opened(paths[name])

    def add(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """Store a sheet under a name that is free; gives the name."""
        os.makedirs(self.folder, exist_ok=True)
        number = 1
        while True:
            name = f"{table}{f'-{number}' if number > 1 else ''}.csv"
            path = os.path.join(self.folder, name)
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
            except FileExistsError:
                number += 1
                continue
            write_sheet(path, columns, rows)
            return self.name_of(path)

    def name_of(self, path: str) -> str:
        """The name by which the sheet at `path` is asked for."""
        return next(known for known, where in self.names().items() if where == path)

    @property
    def first_screen(self) -> str:
        """Where the viewer opens: at the sheet that is given, at the list where several are, at the
        overview where none is."""
        if len(self._given) == 1:
            asked = urlencode({"sheet": self.name_of(self._given[0]), "state": "unjudged"})
            return f"#/judging?{asked}"
        return "#/judge" if self._given else ""

    @property
    def stop_list(self) -> str:
        return os.path.join(self.folder, STOP_LIST)

    @property
    def marked(self) -> str:
        """Passages that were marked as stop chunks, one at a time."""
        return os.path.join(self.folder, MARKED)


@lru_cache(maxsize=16)
def _opened(path: str) -> JudgedSheet:
    return JudgedSheet(path)


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
