"""The files a run reads: paths, globs and folders of any Beam filesystem, as one list."""

import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from beam_reuse.io.files import is_local, local_path

_MAGIC = re.compile(r"[*?\[]")
_NO_HOST = re.compile(r"[\x00-\x20\x7f#%/:<>?@\[\\\]^|]")


class InputError(Exception):
    """An input that cannot be read; the message names it and the way out."""


@dataclass(frozen=True, slots=True, order=True)
class InputFile:
    """A file to read.

    `crawl` is the name of the input it belongs to, `host` and `relative` make the URL of a
    page that is a file of its own: `file://host/relative`.
    """

    path: str
    size: int
    crawl: str
    host: str
    relative: str


def list_files(specs: Sequence[str]) -> list[InputFile]:
    """All files that `specs` name, sorted by path, each once.

    A folder gives every file below it, except hidden ones, links to folders, and result
    folders of earlier runs. Raises `InputError` for a spec that matches nothing.
    """
    found: dict[str, InputFile] = {}
    for spec in specs:
        files = list(_matches(spec))
        if not files:
            raise InputError(
                f"{spec}: there is no such file or folder with files in it; check the path, "
                f"and quote a pattern so that the shell leaves it alone")
        for file in files:
            known = found.get(file.path)
            found[file.path] = file if known is None else min(file, known)
    return [found[path] for path in sorted(found)]


def is_result_folder(path: str) -> bool:
    """True if `path` is a folder with a result or an index of an earlier run in it."""
    manifest = local_path(path).rstrip("/") + "/manifest.json"
    if is_local(manifest):
        return os.path.isfile(manifest)
    from apache_beam.io.filesystems import FileSystems

    return bool(FileSystems.exists(manifest))


def _matches(spec: str) -> Iterator[InputFile]:
    path = local_path(spec)
    if not is_local(path):
        yield from _beam_matches(path)
    elif os.path.exists(path):
        yield from _local(path)
    elif _MAGIC.search(path):
        for match in sorted(glob.glob(path, recursive=True)):
            yield from _local(match)


def _local(path: str) -> Iterator[InputFile]:
    path = os.path.normpath(path)
    if os.path.isdir(path):
        yield from _local_folder(path)
        return
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path}: is no regular file; save it to a file and give that")
    yield _single(path.replace(os.sep, "/"), status.st_size, os.path.abspath(path))


def _local_folder(folder: str) -> Iterator[InputFile]:
    name = os.path.basename(os.path.abspath(folder))
    for above, below, names in os.walk(folder, onerror=_refuse):
        if above != folder and is_result_folder(above):
            below.clear()
            continue
        below[:] = sorted(n for n in below if not n.startswith("."))
        for each in sorted(names):
            path = os.path.join(above, each)
            if each.startswith(".") or not os.path.isfile(path):
                continue
            yield InputFile(path.replace(os.sep, "/"), os.stat(path).st_size, name,
                            _host(name), os.path.relpath(path, folder).replace(os.sep, "/"))


def _refuse(error: OSError) -> None:
    raise InputError(f"{error.filename}: {error.strerror}; make it readable or leave it out")


def _beam_matches(spec: str) -> Iterator[InputFile]:
    from apache_beam.io.filesystems import FileSystems

    found = [] if spec.endswith("/") else FileSystems.match([spec])[0].metadata_list
    for item in found:
        yield _single(item.path, item.size_in_bytes, item.path)
    if found:
        return
    folder = spec.rstrip("/") + "/"
    name = folder.rstrip("/").rpartition("/")[2]
    for item in FileSystems.match([folder + "**"])[0].metadata_list:
        relative = item.path.removeprefix(folder)
        if item.path.endswith("/") or any(part.startswith(".") for part in relative.split("/")):
            continue
        yield InputFile(item.path, item.size_in_bytes, name, _host(name), relative)


def _single(path: str, size: int, full: str) -> InputFile:
    """A file that was named itself: its folder is the host of its page."""
    above, _, name = full.replace(os.sep, "/").rpartition("/")
    return InputFile(path, size, name, _host(above.rpartition("/")[2]), name)


def _host(folder: str) -> str:
    """A folder's name as the host of its pages' URLs."""
    return _NO_HOST.sub("-", folder.lower()).strip(".") or "files"
