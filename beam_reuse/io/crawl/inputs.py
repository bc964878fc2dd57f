"""The files a run reads: paths, globs and folders of any Beam filesystem, as one list."""

import glob
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from beam_reuse.core.errors import UserError
from beam_reuse.io.crawl.mirrors import listed_urls, mirrored_url
from beam_reuse.io.crawl.sniff import remedy_for
from beam_reuse.io.files import is_local, local_path

_WEB = ("http://", "https://", "ftp://")
_EXTRAS = {"gs": "gcp", "s3": "aws", "hdfs": "hadoop", "azfs": "azure"}
_MAGIC = re.compile(r"[*?\[]")
_ESCAPES = {0xDC00 + byte: f"%{byte:02X}" for byte in range(0x80, 0x100)}
_NO_HOST = re.compile(r"[\x00-\x20\x7f#%/:<>?@\[\\\]^|]|\.(?=\.)")


class InputError(UserError):
    """An input that cannot be read; the message names it and the way out."""


@dataclass(frozen=True, slots=True, order=True)
class InputFile:
    """A file to read.

    `crawl` is the name of the input it belongs to, `name` its own in tables: as short as
    is unique among all files, so that tables do not depend on where the crawl lies. `host`
    and `relative` make the URL of a page that is a file, `file://host/relative`, unless its true
    `url` is known (see `mirrors`). `unreadable` says why there is nothing to read: it is rejected
    then.
    """

    path: str
    size: int
    crawl: str
    host: str
    relative: str
    name: str = ""
    unreadable: str = ""
    url: str = ""


def list_files(specs: Sequence[str]) -> list[InputFile]:
    """All files that `specs` name, sorted by path, each once.

    A folder gives every file below it, except hidden ones, links to folders, result folders of
    earlier runs, and a table of URLs in it. Raises `InputError` for a spec that matches nothing,
    and for a file that was named but holds its pages in a form that is not read.
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
    return _hosted(_named([found[path] for path in sorted(found)]))


def _hosted(files: list[InputFile]) -> list[InputFile]:
    """The files with hosts that tell their folders apart: folders of one name take as many
    names above them into the host (`c1-site`, `c2-site`) as it takes."""
    roots = [_text(_full(f.path)).removesuffix(f"/{_text(f.relative)}") for f in files]
    words = {root: root.split("/") for root in roots}
    length = dict.fromkeys(words, 1)
    hosts = {root: file.host for root, file in zip(roots, files, strict=True)}
    while True:
        counts = Counter(hosts.values())
        longer = [r for r, host in hosts.items() if counts[host] > 1 and length[r] < len(words[r])]
        if not longer:
            return [replace(f, host=hosts[root]) for f, root in zip(files, roots, strict=True)]
        for root in longer:
            length[root] += 1
            hosts[root] = _host("-".join(filter(None, words[root][-length[root]:])))


def _named(files: list[InputFile]) -> list[InputFile]:
    """The files with names: the input and the path below it, with folders above where two
    files would be called the same."""
    parts = [_text(_full(file.path)).split("/") for file in files]
    length = [file.relative.count("/") + 1 + (file.relative != file.crawl) for file in files]
    while True:
        names = ["/".join(words[-n:]) for words, n in zip(parts, length, strict=True)]
        counts = Counter(names)
        longer = [counts[name] > 1 and n < len(words)
                  for name, words, n in zip(names, parts, length, strict=True)]
        if not any(longer):
            return [replace(file, name=name) for file, name in zip(files, names, strict=True)]
        length = [n + more for n, more in zip(length, longer, strict=True)]


def _full(path: str) -> str:
    return os.path.abspath(path).replace(os.sep, "/") if is_local(path) else path


def _text(path: str) -> str:
    """A path as valid text: bytes of a file name that are not UTF-8 are percent-escaped."""
    return os.fsencode(path).decode("utf-8", "surrogateescape").translate(_ESCAPES)


def is_result_folder(path: str) -> bool:
    """True if `path` is a folder with a result or an index of an earlier run in it."""
    manifest = local_path(path).rstrip("/") + "/manifest.json"
    if is_local(manifest):
        return os.path.isfile(manifest)
    if path.startswith(_WEB):
        return False
    from apache_beam.io.filesystems import FileSystems

    try:
        return bool(FileSystems.exists(manifest))
    except Exception as error:
        raise InputError(f"{path}: cannot be opened ({error}). {_remedy(path)}") from error


def _matches(spec: str) -> Iterator[InputFile]:
    path = local_path(spec)
    if not is_local(path):
        yield from _beam_matches(path)
    elif os.path.exists(path):
        for file in _local(path):
            if file.unreadable and file.path == os.path.normpath(path).replace(os.sep, "/"):
                raise InputError(f"{path}: is {file.unreadable}; save it to a file and give that")
            yield file
    elif _MAGIC.search(path):
        for match in sorted(glob.glob(path, recursive=True)):
            yield from _local(match)


def _local(path: str) -> Iterator[InputFile]:
    path = os.path.normpath(path)
    if os.path.isdir(path):
        yield from _local_folder(path)
    else:
        yield _single(path.replace(os.sep, "/"), *_size(path))


def _size(path: str) -> tuple[int, str]:
    """The size of a file, and what it is instead of one that can be read (then it has none)."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return 0, "a link to a file that is not there"
    except OSError as error:
        return 0, f"not to be opened ({error.strerror})"
    if stat.S_ISREG(status.st_mode):
        return status.st_size, ""
    if stat.S_ISFIFO(status.st_mode):
        return 0, "a named pipe"
    return 0, "a socket" if stat.S_ISSOCK(status.st_mode) else "a device"


def _local_folder(folder: str) -> Iterator[InputFile]:
    name = _text(os.path.basename(os.path.abspath(folder)))
    urls: dict[str, str] = {}
    for above, below, names in os.walk(folder, onerror=_refuse):
        if above == folder:
            urls, tables = listed_urls(folder, names)
            names = [each for each in names if each not in tables]
        if above != folder and is_result_folder(above):
            below.clear()
            continue
        below[:] = sorted(n for n in below if not n.startswith("."))
        for each in sorted(names):
            path = os.path.join(above, each)
            if each.startswith("."):
                continue
            size, why = _size(path)
            relative = os.path.relpath(path, folder).replace(os.sep, "/")
            yield InputFile(path.replace(os.sep, "/"), size, name, _host(name), relative,
                            unreadable=why, url=urls.get(relative) or mirrored_url(relative))


def _refuse(error: OSError) -> None:
    raise InputError(f"{error.filename}: {error.strerror}; make it readable or leave it out")


def _beam_matches(spec: str) -> Iterator[InputFile]:
    """Files of a remote filesystem; what Beam says of one it cannot use becomes an InputError."""
    if spec.startswith(_WEB):
        raise InputError(f"{spec}: nothing is fetched from web servers; download it first")
    try:
        yield from _remote_files(spec)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{spec}: cannot be listed ({error}). {_remedy(spec)}") from error


def _remedy(spec: str) -> str:
    """What lets Beam use the filesystem of `spec`."""
    scheme = spec.partition("://")[0]
    if scheme in _EXTRAS:
        extra = _EXTRAS[scheme]
        return f"Install its support with: pip install 'apache-beam[{extra}]', and give access."
    return f"Known are local paths, {', '.join(f'{name}://' for name in _EXTRAS)}."


def _remote_files(spec: str) -> Iterator[InputFile]:
    from apache_beam.io.filesystems import FileSystems

    found = [] if spec.endswith("/") else FileSystems.match([spec])[0].metadata_list
    for item in found:
        yield _single(item.path, item.size_in_bytes)
    if found:
        return
    folder = spec.rstrip("/") + "/"
    name = folder.rstrip("/").rpartition("/")[2]
    sizes = {item.path.removeprefix(folder): item.size_in_bytes
             for item in FileSystems.match([folder + "**"])[0].metadata_list}
    urls, tables = listed_urls(folder, sizes)
    for relative, size in sizes.items():
        hidden = any(part.startswith(".") for part in relative.split("/"))
        if hidden or relative.endswith("/") or relative in tables:
            continue
        yield InputFile(folder + relative, size, name, _host(name), relative,
                        url=urls.get(relative) or mirrored_url(relative))


def _single(path: str, size: int, unreadable: str = "") -> InputFile:
    """A file that was named itself: its folder is the host of its page."""
    if why := remedy_for(path, size):
        raise InputError(f"{path}: {why}")
    above, _, name = _full(path).rpartition("/")
    return InputFile(path, size, _text(name), _host(above.rpartition("/")[2]), name,
                     unreadable=unreadable)


def _host(folder: str) -> str:
    """A folder's name as the host of its pages' URLs."""
    return _NO_HOST.sub("-", _text(folder).lower().strip(".")) or "files"
