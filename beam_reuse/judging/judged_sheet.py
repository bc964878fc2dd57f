"""A sheet while it is judged: by any number of windows and processes, whatever ends them.

The file is a whole sheet at any moment. A judgement replaces it: the new one is written beside it,
reaches the disk, and takes its name. Only one process or thread does so at a time, by a lock of
the operating system on the file; what another has written since is read first, so nothing of
it is lost.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

from beam_reuse.core.errors import UserError
from beam_reuse.io.files import LocalFiles, reason_of
from beam_reuse.io.sheets import (
    LABEL,
    REASON,
    WHEN,
    WHO,
    Row,
    Sheet,
    SheetError,
    decoded,
    delimited,
    neutral,
    restored,
    sheet_of,
    sheet_text,
)

MARK = "\ufeff"


class Judged(NamedTuple):
    """What is said of a row, by whom and when; nothing of one that nobody has judged."""

    label: str = ""
    reason: str = ""
    who: str = ""
    when: str = ""


COLUMNS = (LABEL, REASON, WHO, WHEN)


class JudgedMeanwhile(UserError):
    """A row that is no longer as it was when it was shown; nothing is stored."""


@dataclass(frozen=True)
class Snapshot:
    """A sheet as it was when it was read; `raw` are its cells as they are in the file."""

    sheet: Sheet
    raw: Sequence[Sequence[str]]
    delimiter: str
    marked: bool

    def row(self, number: int) -> Row:
        """The row that a spreadsheet shows at this number."""
        for row in self.sheet.rows:
            if row.number == number:
                return row
        raise JudgedMeanwhile(f"{self.sheet.path}: has no row {number} any more.")


def judged_of(row: Row) -> Judged:
    return Judged(*(row.cells.get(name, "") for name in COLUMNS))


def key_of(row: Row) -> str:
    """By this a row is known again: a hash of what it says but for the judgement."""
    cells = "\0".join(f"{name}\0{cell}" for name, cell in row.cells.items()
                      if name not in COLUMNS)
    return hashlib.sha1(cells.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class JudgedSheet:
    """The sheet at `path`, CSV or TSV in UTF-8 with a column `label`.

    Any thread. Cost: reading the file where it has changed, and writing it for each judgement.
    Memory: the sheet.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)
        self._read: tuple[tuple[int, ...], Snapshot] | None = None

    def read(self) -> Snapshot:
        """The sheet as it is now."""
        try:
            with open(self.path, "rb") as source:
                about = os.fstat(source.fileno())
                version = about.st_ino, about.st_size, about.st_mtime_ns
                known = self._read
                if known is None or known[0] != version:
                    known = self._read = version, _snapshot(self.path, source.read())
        except OSError as error:
            raise SheetError(f"{self.path}: {reason_of(error)}.") from error
        return known[1]

    def judge(self, number: int, key: str, seen: Judged, new: Judged) -> Judged:
        """Say of a row what `new` says. When this returns it is on the disk.

        Refuses a row that is not the one with this key, or of which something else than `seen`
        is said by now.
        """
        with self._locked():
            now = self.read()
            row = now.row(number)
            if key_of(row) != key:
                raise JudgedMeanwhile(f"{self.path}: row {number} is another row by now. Nothing "
                                      "was stored; reload the screen.")
            held = judged_of(row)
            if held != seen:
                raise JudgedMeanwhile(
                    f"Row {number} was judged elsewhere in the meantime: "
                    f"{held.label or 'no label'}{f' by {held.who}' if held.who else ''}"
                    f"{f' at {held.when}' if held.when else ''}. Nothing was stored; look at it, "
                    "and judge it again if you want to.")
            self._write(now, number, new)
            return judged_of(self.read().row(number))

    def append(self, cells: Sequence[str]) -> None:
        """Add a row, a cell for each column of the sheet, unless one with the same first cell is
        there. When this returns it is on the disk."""
        with self._locked():
            now = self.read()
            row = [*map(neutral, cells)]
            if not any(held[:1] == row[:1] for held in now.raw[1:]):
                self._store(now, [*now.raw, row])

    def _write(self, now: Snapshot, number: int, new: Judged) -> None:
        head = [*now.raw[0]]
        names = [*now.sheet.columns]
        for name in COLUMNS:
            if name not in names:
                head.append(name)
                names.append(name)
        cells = [*now.raw[number - 1]]
        cells += [""] * (len(names) - len(cells))
        for name, text in zip(COLUMNS, new, strict=True):
            cells[names.index(name)] = neutral(text)
        self._store(now, [head, *now.raw[1:number - 1], cells, *now.raw[number:]])

    def _store(self, now: Snapshot, raw: Sequence[Sequence[str]]) -> None:
        text = (MARK if now.marked else "") + sheet_text(raw[0], raw[1:], now.delimiter)
        beside = f"{self.path}.tmp"
        try:
            with open(beside, "wb") as target:
                target.write(text.encode("utf-8", "replace"))
            shutil.copymode(self.path, beside)
            LocalFiles().move(beside, self.path)  # durable: the file, then the folder
        except OSError as error:
            with suppress(OSError):
                os.remove(beside)
            raise UserError(f"{self.path}: the judgement was not stored: {reason_of(error)}. "
                            "Make it writable, and judge again.") from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Nobody else replaces the file meanwhile. As the lock is on the file and not its name, it
        is taken again where another has replaced the file before."""
        while True:
            try:
                handle = os.open(self.path, os.O_RDONLY)
            except OSError as error:
                raise SheetError(f"{self.path}: {reason_of(error)}.") from error
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                if _still_names(self.path, handle):
                    yield
                    return
            finally:
                os.close(handle)


def _still_names(path: str, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def _snapshot(path: str, content: bytes) -> Snapshot:
    if content.startswith((b"PAR1", b"\xff\xfe", b"\xfe\xff")):
        raise SheetError(f"{path}: is Parquet or UTF-16; save it as CSV in UTF-8 to judge it here.")
    text = decoded(path, _without_torn_end(content))
    delimiter, raw = delimited(path, text, COLUMNS)
    sheet = sheet_of(path, [[restored(cell) for cell in row] for row in raw], (LABEL,))
    return Snapshot(sheet, raw, delimiter, content.startswith(MARK.encode()))


def _without_torn_end(content: bytes) -> bytes:
    """A file that was copied, or written by others, up to the middle of its last character."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            return content[:error.start]
    return content
