"""True URLs of pages that lie in a folder: by the folders of their hosts, or by a table.

A program that copies sites (`wget --mirror`) makes a folder for each host, named as the host, with
the path and the query of each page as its file's name. Of pages that lie otherwise a table in the
folder may say what they were.
"""

import csv
import io
import os
import posixpath
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from beam_reuse.core.errors import UserError
from beam_reuse.core.urls import is_public_host
from beam_reuse.io.crawl.documents import clean_url
from beam_reuse.io.files import is_local, join, open_files

TABLES = {"urls.csv": ",", "urls.tsv": "\t"}
"""Names of tables, and what is between their columns."""
FILE, URL = "file", "url"
_FOLDER_OF_HOST = re.compile(r"(?P<host>[^:+]+)(?:[:+](?P<port>\d{1,5}))?")
_INDEX = re.compile(r"(?<=/)index\.html(?=\?|$)")
_STRAY_PERCENT = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_SAFE = "/?%:@!$&'()*+,;=[]"


def mirrored_url(relative: str) -> str:
    """The URL of a file by its path below the folder that was given; empty where the first folder
    in it is none of a host.

    `host:8080`, on some systems `host+8080`, is a host with a port, `?` begins the query, and
    `index.html` was made of the URL of the directory. Escapes stay; what no URL holds is escaped.
    """
    folder, slash, path = relative.partition("/")
    named = _FOLDER_OF_HOST.fullmatch(folder)
    if not slash or named is None or not is_public_host(named["host"], bool(named["port"])):
        return ""
    place = f"{named['host']}:{named['port']}" if named["port"] else named["host"]
    written = quote(_STRAY_PERCENT.sub(b"%25", os.fsencode("/" + path)), safe=_SAFE)
    return f"http://{place}{_INDEX.sub('', written)}"


def likely_url(path: str) -> str:
    """The URL of a file that was named itself, if a folder above it has the name of a host: the
    first one. Which folder a mirror was made in is not known, so this is a guess; else empty."""
    parts = path.replace(os.sep, "/").split("/")
    return next(filter(None, (mirrored_url("/".join(parts[n:])) for n in range(len(parts)))), "")


def listed_urls(folder: str, names: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """The URLs that tables in `folder`, which holds files of these `names`, give to files, by their
    paths below it; and which of the names are such tables.

    A file of that name is one if its first line names the columns `file` and `url`.
    """
    urls: dict[str, str] = {}
    found = []
    for name in sorted(set(names) & TABLES.keys()):
        table = _read_table(join(folder, name), TABLES[name])
        if table is not None:
            found.append(name)
            urls |= table
    return urls, found


def _read_table(path: str, delimiter: str) -> dict[str, str] | None:
    """Files with their URLs; None for what is no such table. A file with two URLs is refused."""
    if is_local(path) and not os.path.isfile(path):
        return None  # a folder, or a pipe
    try:
        content = open_files(path).read(path).decode("utf-8-sig", "surrogateescape")
    except PermissionError:
        return None
    rows = csv.DictReader(io.StringIO(content, newline=""), delimiter=delimiter)
    urls: dict[str, str] = {}
    try:
        if not {FILE, URL} <= set(rows.fieldnames or ()):
            return None
        for row in rows:
            file, url = _entry(row)
            if urls.setdefault(file, url) != url:
                raise UserError(f"{path}, line {rows.line_num}: {file} has another URL already. "
                                "Keep one of them.")
    except csv.Error as error:
        raise UserError(f"{path}, line {rows.line_num}: {error}. Make it a table of the columns "
                        f"{FILE} and {URL}, or give it another name.") from None
    return urls


def _entry(row: Mapping[str, str | None]) -> tuple[str, str]:
    url = (row[URL] or "").encode("utf-8", "surrogateescape")
    return posixpath.normpath((row[FILE] or "").strip()), clean_url(url)
