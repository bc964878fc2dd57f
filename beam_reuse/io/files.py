"""The few file operations results need, on local disks and on every Beam filesystem.

Local paths use the operating system directly: renames are atomic and made durable. Other
paths (`gs://`, `s3://`, `hdfs://`) go through Beam's FileSystems, whose objects appear
whole when closed.
"""

import hashlib
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Protocol

from isal import isal_zlib

from beam_reuse.core.errors import UserError


class Files(Protocol):
    """File operations on full paths of one filesystem."""

    def list(self, folder: str) -> list[str]:
        """Paths of all files below `folder`, relative to it, sorted; [] if there is none."""

    def read(self, path: str) -> bytes:
        """The whole file; FileNotFoundError if there is none."""

    def open(self, path: str) -> IO[bytes]:
        """The file for reading; FileNotFoundError if there is none."""

    def create(self, path: str) -> IO[bytes]:
        """A new file for writing, folders above it included."""

    def move(self, source: str, target: str) -> None:
        """Rename one file; an existing target is replaced."""

    def delete(self, paths: Iterable[str]) -> None:
        """Remove files, and local folders they leave empty; those already gone are fine."""

    def delete_tree(self, folder: str) -> None:
        """Remove everything below `folder`, and itself."""


def is_local(path: str) -> bool:
    """True for paths the operating system opens itself."""
    return "://" not in path


def local_path(path: str) -> str:
    """`file://` URLs as plain paths; every other path as it is."""
    return path.removeprefix("file://")


def whole_path(path: str) -> str:
    """A path that is right wherever a command with it is typed."""
    return os.path.abspath(path) if is_local(path) else path


def join(folder: str, *names: str) -> str:
    """The path of `names` below `folder`; forward slashes, on any filesystem."""
    return "/".join([folder.rstrip("/"), *names])


def open_files(path: str) -> Files:
    """The file operations for the filesystem `path` is on."""
    return LocalFiles() if is_local(path) else BeamFiles()


def reason_of(error: Exception) -> str:
    """What an error says, without the number and the path an operating system adds."""
    return getattr(error, "strerror", None) or str(error)


def require_writable(path: str) -> None:
    """Refuse an output path (`-o`) at which nothing can be made; changes nothing. Only local
    paths are judged."""
    if not is_local(path):
        return
    place = os.path.abspath(path)
    place = place if os.path.isdir(place) else os.path.dirname(place)
    while not os.path.exists(place):
        place = os.path.dirname(place)
    if not os.path.isdir(place):
        raise UserError(f"-o {path}: {place} is a file, not a folder. Choose another place.")
    if os.statvfs(place).f_flag & os.ST_RDONLY:
        raise UserError(f"-o {path}: the disk of {place} is read-only. Choose another place, or "
                        "have it mounted for writing.")
    if not os.access(place, os.W_OK | os.X_OK):
        raise UserError(f"-o {path}: you may not write to {place}. Choose another place, or change "
                        "its permissions.")


@contextmanager
def written_whole(files: Files, path: str) -> Iterator[IO[bytes]]:
    """A file that appears at `path` only when the block ends without an error.

    Safe to repeat and to run twice at once: each attempt has a temporary name of its own,
    the last rename wins.
    """
    temporary = f"{path}.{uuid.uuid4().hex}.tmp"
    try:
        with files.create(temporary) as target:
            yield target
        files.move(temporary, path)
    except BaseException:
        with suppress(OSError):
            # A folder that was there before stays, empty or not.
            os.remove(temporary) if is_local(temporary) else files.delete([temporary])
        from beam_reuse.columnar.store import full_disk_told  # brings Beam, not needed before

        with full_disk_told(os.path.dirname(path)):
            raise


def write_whole(files: Files, path: str, content: bytes) -> None:
    """Write a small file so that readers see the old content, or all of the new."""
    with written_whole(files, path) as target:
        target.write(content)


class LocalFiles:
    """Files of the operating system; see `Files`."""

    def list(self, folder: str) -> list[str]:
        return sorted(
            os.path.relpath(os.path.join(above, name), folder).replace(os.sep, "/")
            for above, _, names in os.walk(folder)
            for name in names
        )

    def read(self, path: str) -> bytes:
        with open(path, "rb") as source:
            return source.read()

    def open(self, path: str) -> IO[bytes]:
        return open(path, "rb")

    def create(self, path: str) -> IO[bytes]:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        return open(path, "wb")

    def move(self, source: str, target: str) -> None:
        os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
        _sync(source)
        os.replace(source, target)
        _sync(os.path.dirname(target) or ".")

    def delete(self, paths: Iterable[str]) -> None:
        folders = set()
        for path in paths:
            folders.add(os.path.dirname(path) or ".")
            with suppress(FileNotFoundError, NotADirectoryError):
                os.remove(path)
        for folder in folders:
            with suppress(FileNotFoundError, NotADirectoryError):
                _sync(folder)
            with suppress(OSError):
                os.rmdir(folder)

    def delete_tree(self, folder: str) -> None:
        shutil.rmtree(folder, ignore_errors=True)


def _sync(path: str) -> None:
    """Wait until the disk holds a file's bytes, or a folder's names."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class BeamFiles:
    """Files of any filesystem Beam knows; see `Files`."""

    def __init__(self) -> None:
        from apache_beam.io.filesystem import CompressionTypes
        from apache_beam.io.filesystems import FileSystems

        self._systems = FileSystems
        self._as_they_are = {"compression_type": CompressionTypes.UNCOMPRESSED}

    def list(self, folder: str) -> list[str]:
        above = folder.rstrip("/") + "/"
        found = self._systems.match([above + "**"])[0].metadata_list
        return sorted(item.path.removeprefix(above) for item in found)

    def read(self, path: str) -> bytes:
        with self.open(path) as source:
            return source.read()

    def open(self, path: str) -> IO[bytes]:
        if not self._systems.exists(path):
            raise FileNotFoundError(path)
        return self._systems.open(path, **self._as_they_are)

    def create(self, path: str) -> IO[bytes]:
        self._make_folder_of(path)
        return self._systems.create(path, **self._as_they_are)

    def move(self, source: str, target: str) -> None:
        self._make_folder_of(target)
        if self._systems.exists(target):
            self._systems.delete([target])
        self._systems.rename([source], [target])

    def delete(self, paths: Iterable[str]) -> None:
        there = [path for path in paths if self._systems.exists(path)]
        if there:
            self._systems.delete(there)

    def delete_tree(self, folder: str) -> None:
        self.delete(join(folder, name) for name in self.list(folder))
        if self._systems.exists(folder):
            self._systems.delete([folder])

    def _make_folder_of(self, path: str) -> None:
        folder = path.rsplit("/", 1)[0]
        if not self._systems.exists(folder):
            with suppress(OSError):
                self._systems.mkdirs(folder)


def sha256_of(path: str) -> str:
    """SHA-256 of a file, in hex."""
    digest = hashlib.sha256()
    for block in _blocks_of(path):
        digest.update(block)
    return digest.hexdigest()


def crc32_of(path: str) -> str:
    """CRC-32 of a file, in hex."""
    crc = 0
    for block in _blocks_of(path):
        crc = isal_zlib.crc32(block, crc)
    return f"{crc:08x}"


def checksum_of(path: str, kind: str) -> str:
    """The checksum of a file, 'crc32:...' or 'sha256:...', of the given kind."""
    return f"{kind}:{crc32_of(path) if kind == 'crc32' else sha256_of(path)}"


def _blocks_of(path: str) -> Iterator[bytes]:
    with open_files(path).open(path) as source:
        while block := source.read(1 << 18):
            yield block


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is that of a result folder, or below it."""
    inner, result = (os.path.realpath(name) if is_local(name) else name.rstrip("/")
                     for name in (path, folder))
    return inner == result or inner.startswith(join(result, ""))
