"""The life of a run's spill folder: locked while the run lives, removed at its end.

A run that died leaves its folder; the next run with the same folder gets the lock, because
the dead no longer hold it, and clears what was left. Only files that a store wrote are ever
removed.
"""

import fcntl
import json
import os
import socket
import threading
import time
import uuid
from contextlib import suppress
from types import TracebackType
from typing import Protocol

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from beam_reuse.columnar.store import SUFFIX, Store, is_local

HEARTBEAT_SECONDS = 60.0
DEAD_AFTER_SECONDS = 900.0


class SpillInUseError(RuntimeError):
    """Another live run holds the spill folder."""


class _Lock(Protocol):
    def release(self) -> None: ...


class SpillFolder:
    """A spill folder that this run holds; a context manager that releases it.

    Local folders are locked by flock, which the kernel frees when the process dies. On
    shared filesystems the lock is an object with a heartbeat: a lock not renewed for 15
    minutes counts as dead, and two runs that start within the same moment may both get it, so
    give every run its own output there.
    """

    def __init__(self, folder: str, lock: _Lock) -> None:
        self.folder, self._lock = folder, lock

    @staticmethod
    def acquire(folder: str) -> "SpillFolder":
        """Lock `folder`, clear what a dead run left there, and make it.

        SpillInUseError, naming the holder, if a live run has it.
        """
        lock: _Lock = _LocalLock(folder) if is_local(folder) else _SharedLock(folder)
        _clear(folder)
        if is_local(folder):
            os.makedirs(folder, exist_ok=True)
        return SpillFolder(folder, lock)

    @property
    def store(self) -> Store:
        return Store("files", self.folder)

    def release(self) -> None:
        """Remove the spill, then the lock."""
        _clear(self.folder)
        self._lock.release()

    def __enter__(self) -> "SpillFolder":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def _clear(folder: str) -> None:
    """Remove the files of a store from `folder`, and the folder if that leaves it empty."""
    if not is_local(folder):
        matches = FileSystems.match([FileSystems.join(folder, f"*{SUFFIX}*")])
        paths = [entry.path for match in matches for entry in match.metadata_list]
        if paths:
            FileSystems.delete(paths)
        return
    with suppress(FileNotFoundError):
        for entry in os.scandir(folder):
            if entry.name.endswith((SUFFIX, f"{SUFFIX}.tmp")):
                os.unlink(entry.path)
    with suppress(OSError):
        os.rmdir(folder)


def _in_use(folder: str, holder: str) -> SpillInUseError:
    return SpillInUseError(
        f"spill folder {folder} is in use by another run ({holder}); "
        "wait for it to end, or give this run another output"
    )


class _LocalLock:
    """flock on a file beside the folder, which goes with the lock."""

    def __init__(self, folder: str) -> None:
        self.path = f"{folder.rstrip('/')}.lock"
        os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
        while True:
            self.file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.pread(self.file, 200, 0).decode(errors="replace")
                os.close(self.file)
                raise _in_use(folder, holder or "just starting") from None
            if self._still_named():
                break
            os.close(self.file)
        os.ftruncate(self.file, 0)
        os.pwrite(self.file, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)

    def _still_named(self) -> bool:
        """A holder that ends removes the file: a lock on a removed file is worth nothing."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self.file))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        os.unlink(self.path)
        os.close(self.file)


class _SharedLock:
    """An object with owner and time of the last heartbeat, renewed by a thread."""

    def __init__(self, folder: str) -> None:
        self.path = f"{folder.rstrip('/')}.lock"
        self.owner = uuid.uuid4().hex
        held = self._read()
        if held and time.time() - held["time"] < DEAD_AFTER_SECONDS:
            raise _in_use(folder, held["holder"])
        self._write()
        self.ended = threading.Event()
        threading.Thread(target=self._beat, daemon=True).start()

    def _read(self) -> dict | None:
        if not FileSystems.exists(self.path):
            return None
        with FileSystems.open(
            self.path, compression_type=CompressionTypes.UNCOMPRESSED
        ) as file:
            out: dict = json.loads(file.read())
        return out

    def _write(self) -> None:
        holder = f"process {os.getpid()} on {socket.gethostname()}"
        state = {"owner": self.owner, "holder": holder, "time": time.time()}
        with FileSystems.create(
            self.path, compression_type=CompressionTypes.UNCOMPRESSED
        ) as file:
            file.write(json.dumps(state).encode())

    def _beat(self) -> None:
        while not self.ended.wait(HEARTBEAT_SECONDS):
            with suppress(OSError):
                self._write()

    def release(self) -> None:
        self.ended.set()
        FileSystems.delete([self.path])
