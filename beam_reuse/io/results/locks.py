"""One run at a time per result folder.

On a local disk the lock is the operating system's: it ends with the process, however that
dies. Elsewhere it is a lease: a small object its owner renews, taken over when it was not
renewed for three minutes. A lease can be handed to a job that outlives its process; then it is
nobody's to take over until the job gives it up.
"""

import fcntl
import json
import os
import threading
import time
import uuid
from typing import Any, Protocol

from beam_reuse.core.errors import UserError
from beam_reuse.io.files import Files, is_local, write_whole

RENEW_SECONDS = 30.0
DEAD_SECONDS = 180.0
# The age of a lease that is not renewed, and yet does not die.
FOR_A_JOB = -1.0


class FolderBusyError(UserError):
    """Another run is writing to the same folder."""


class Lock(Protocol):
    """A lock that is held from `acquire` to `release`."""

    def check(self) -> None:
        """Raise FolderBusyError if another run holds the lock; changes nothing."""

    def acquire(self) -> None:
        """Take the lock, or raise FolderBusyError at once."""

    def release(self) -> None:
        """Give the lock up and remove its file."""


def lock_at(path: str, files: Files) -> Lock:
    """The kind of lock that the filesystem of `path` can keep."""
    return FileLock(path) if is_local(path) else Lease(path, files)


def _busy(path: str) -> FolderBusyError:
    return FolderBusyError(
        f"another run is writing to this folder (it holds {path}). "
        "Wait for it to end, or choose another -o."
    )


def _job_is_busy(path: str) -> FolderBusyError:
    return FolderBusyError(
        f"a job that was launched from a template is writing to this folder (it holds {path}). "
        f"Wait for it to end. If it has failed or was cancelled, remove {path} and try again."
    )


class FileLock:
    """A lock of the operating system on the file `path`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._handle = -1

    def check(self) -> None:
        try:
            handle = os.open(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _busy(self._path) from None
        finally:
            os.close(handle)

    def acquire(self) -> None:
        while True:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                raise _busy(self._path) from None
            if _still_names(self._path, handle):
                self._handle = handle
                return
            os.close(handle)

    def release(self) -> None:
        os.remove(self._path)
        os.close(self._handle)


def _still_names(path: str, handle: int) -> bool:
    """False if the last owner removed the file between our open and our lock."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


class Lease:
    """A lock for filesystems that have none, kept by renewing the object at `path`.

    Object stores offer Beam no exclusive creation, so the lease is written, then read back:
    of two runs that start together the later writer goes on.
    """

    def __init__(self, path: str, files: Files, settle_seconds: float = 1.0) -> None:
        self._path = path
        self._files = files
        self._settle = settle_seconds
        self._owner = uuid.uuid4().hex
        self._done = threading.Event()
        self._renewer = threading.Thread(target=self._keep, name="lease", daemon=True)

    @property
    def owner(self) -> str:
        """A name that no other lease has."""
        return self._owner

    def check(self) -> None:
        owner, age = self._holder()
        if owner and age == FOR_A_JOB:
            raise _job_is_busy(self._path)
        if owner and age < DEAD_SECONDS:
            raise _busy(self._path)

    def acquire(self) -> None:
        self.check()
        self._renew()
        time.sleep(self._settle)
        if self._holder()[0] != self._owner:
            raise _busy(self._path)
        self._renewer.start()

    def release(self) -> None:
        self._stop()
        self._files.delete([self._path])

    def hand_over(self) -> None:
        """Let a job that knows `owner` hold the lease from now on; this process may end."""
        self._stop()
        self._write({"owner": self._owner, "job": True})

    def _stop(self) -> None:
        self._done.set()
        self._renewer.join()

    def _holder(self) -> tuple[str, float]:
        """Who holds the lease ('' for nobody) and the seconds since it was renewed."""
        try:
            content = json.loads(self._files.read(self._path))
            return content["owner"], (
                FOR_A_JOB if content.get("job") else max(time.time() - content["renewed"], 0.0))
        except (FileNotFoundError, ValueError, KeyError):
            return "", 0.0

    def _renew(self) -> None:
        self._write({"owner": self._owner, "renewed": time.time()})

    def _write(self, content: dict[str, Any]) -> None:
        write_whole(self._files, self._path, json.dumps(content).encode())

    def _keep(self) -> None:
        while not self._done.wait(RENEW_SECONDS):
            self._renew()


def is_held_by(path: str, files: Files, owner: str) -> bool:
    """Whether the lease at `path` is that of `owner`."""
    return Lease(path, files)._holder()[0] == owner
