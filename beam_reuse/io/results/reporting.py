"""How far the workers are, reported through small files in the run's own folder.

Threads of a process share one file; processes and machines have one each. Figures are for
the display alone: retries count twice, the last half second may be missing. What a run did
is known from its accounting.
"""

import json
import os
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass

from beam_reuse.io.files import is_local, join, open_files, write_whole

LOCAL_SECONDS = 0.5
REMOTE_SECONDS = 10.0


@dataclass
class ReadSoFar:
    """Totals of one process, or of all together."""

    bytes: int = 0
    records: int = 0
    stage: str = ""
    at: float = 0.0


class _Tally:
    """The totals of this process for one run, written now and then.

    A report that comes too soon after the last is written when it is due, so what is shown
    is never older than that.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._figures = ReadSoFar()
        self._written = 0.0
        self._due = False

    def add(self, nbytes: int, records: int, stage: str) -> None:
        now = time.time()
        with self._lock:
            if self._pid != os.getpid():
                self._start()
            figures = self._figures
            figures.bytes += nbytes
            figures.records += records
            figures.stage = stage or figures.stage
            figures.at = now
            wait = self._written + _seconds(self._folder) - now
            if wait > 0:
                self._write_later(wait)
                return
        self._write()

    def flush(self) -> None:
        """Write at once what waits to be written."""
        if self._due and self._pid == os.getpid():
            self._write()

    def _write_later(self, seconds: float) -> None:
        if not self._due:
            self._due = True
            timer = threading.Timer(seconds, self._write)
            timer.daemon = True
            timer.start()

    def _write(self) -> None:
        with self._lock:
            self._written, self._due = time.time(), False
            content = json.dumps(vars(self._figures)).encode()
            name = f"{socket.gethostname()}-{self._pid}.json"
        _post(join(self._folder, name), content)


def _post(path: str, content: bytes) -> None:
    """Show `content` to readers at once. A folder that is gone belongs to an ended run."""
    with suppress(OSError):
        if is_local(path):
            temporary = f"{path}.{threading.get_ident()}"
            with open(temporary, "wb") as target:
                target.write(content)
            os.replace(temporary, path)
        else:
            write_whole(open_files(path), path, content)


_tallies: dict[str, _Tally] = {}


@dataclass(frozen=True)
class ProgressReporter:
    """Writes to the progress folder what this worker has done (nothing, if it has no name);
    travels inside transforms.

    Cheap enough to call for every block: a lock and a clock, and two small files a second.
    """

    folder: str

    def update(self, bytes: int = 0, records: int = 0, stage: str = "") -> None:
        """Add to this process's figures; `stage` says what is being done now."""
        if not self.folder:
            return
        tally = _tallies.get(self.folder) or _tallies.setdefault(self.folder, _Tally(self.folder))
        tally.add(bytes, records, stage)

    def flush(self) -> None:
        """Write it now: the engine may end this worker when its bundle is done."""
        if tally := _tallies.get(self.folder):
            tally.flush()


def read_figures(folder: str) -> ReadSoFar:
    """The figures of all workers together, with the stage reported last."""
    files = open_files(folder)
    total = ReadSoFar()
    for name in files.list(folder):
        if not name.endswith(".json"):
            continue
        try:
            figures = ReadSoFar(**json.loads(files.read(join(folder, name))))
        except (OSError, ValueError):
            continue
        total.bytes += figures.bytes
        total.records += figures.records
        if figures.at >= total.at:
            total.at, total.stage = figures.at, figures.stage
    return total


def _seconds(folder: str) -> float:
    return LOCAL_SECONDS if is_local(folder) else REMOTE_SECONDS
