"""Files as memory that is read when touched and shared between processes."""

import mmap
import os
import shutil
import tempfile
from typing import IO

from isal.isal_zlib import crc32

from beam_reuse.io.files import is_local, open_files

STEP = 8 << 20


class MappedFile:
    """The bytes of a file. One that is not local is copied to a nameless local one first,
    which vanishes with its last user."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb") if is_local(path) else _copied(path)  # noqa: SIM115
        size = os.fstat(self._file.fileno()).st_size
        self.content: mmap.mmap | bytes = (
            mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) if size else b"")

    def __len__(self) -> int:
        return len(self.content)

    def read(self, start: int, length: int) -> bytes:
        """A stretch as a copy. Unlike a look at `content`, of which the system maps up to 2 MB
        at every place that is touched, it takes no more memory than asked for."""
        return os.pread(self._file.fileno(), length, start)

    def checksum(self, start: int, length: int) -> int:
        """CRC-32 of a stretch, read once and not kept in memory."""
        value = 0
        view = memoryview(self.content)
        for at in range(start, start + length, STEP):
            end = min(at + STEP, start + length)
            value = crc32(view[at:end], value)
            self.release()
        return value

    def release(self) -> None:
        """Give back all memory; what is needed is read again when touched."""
        if isinstance(self.content, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            self.content.madvise(mmap.MADV_DONTNEED)


def _copied(path: str) -> IO[bytes]:
    local = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the mapping)
    with open_files(path).open(path) as remote:
        shutil.copyfileobj(remote, local, STEP)
    local.flush()
    return local


def identity(path: str) -> tuple[int, ...]:
    """What the file now at a local path is known by; () where that is not known."""
    if not is_local(path):
        return ()
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
