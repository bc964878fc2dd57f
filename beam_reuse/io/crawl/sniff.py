"""What a file is: by its first bytes, then by its name; and what to do with one that holds many
pages in a form that is not read."""

import re
from dataclasses import dataclass

import orjson

from beam_reuse.io.crawl import zstd_frames
from beam_reuse.io.crawl.arc import ArcFormat
from beam_reuse.io.crawl.kinds import type_of_name
from beam_reuse.io.crawl.members import GZIP_MAGIC, HEAD, Corrupt, GzipUnits, Units
from beam_reuse.io.crawl.window import Window, open_window

_COMPRESSIONS = {"gz": "gzip", "gzip": "gzip", "zst": "zstd", "zstd": "zstd"}
_NAMES = {"warc": "warc", "wet": "warc", "wat": "warc", "arc": "arc", "jsonl": "jsonl",
          "ndjson": "jsonl", "jl": "jsonl", "parquet": "parquet"}
_WARC = re.compile(rb"WARC/\d")
_ARRAY_OF_ROWS = re.compile(rb'\s*\[\s*\{.*"url"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class FileFormat:
    """`content`: warc, arc, jsonl, parquet or page; `units` of a compressed file, else None."""

    content: str
    units: Units | None

    @property
    def splittable(self) -> bool:
        """True if records can be found from the middle of the file (see `chain`)."""
        return isinstance(self.units, GzipUnits)


def plain_name(path: str) -> tuple[str, str]:
    """A file's name without folders and compression, and the compression that its name shows."""
    name = path.rstrip("/").rpartition("/")[2]
    stem, _, extension = name.rpartition(".")
    compression = _COMPRESSIONS.get(extension.lower(), "")
    return (stem, compression) if compression and stem else (name, "")


def sniff(window: Window, path: str) -> FileFormat:
    """The format of a file, by content first and by name where the content is not enough.

    The same for every reader of any part of the file: it looks at the file's start only.
    """
    name, named_compression = plain_name(path)
    head, units = first_bytes(window)
    named = _NAMES.get(name.rpartition(".")[2].lower(), "page")
    by_content = _content_of(head, named, units is not None)
    content = by_content or named
    if units is None and not by_content and named_compression and named != "page":
        units = GzipUnits(window) if named_compression == "gzip" else zstd_frames.ZstdUnits(window)
    return FileFormat(content, units)


def first_bytes(window: Window) -> tuple[bytes, Units | None]:
    """What a file begins with once inflated, nothing if that fails; its units if compressed."""
    buffer, a, b = window.span(0, HEAD)
    head = buffer[a:b]
    units: Units
    if head.startswith(GZIP_MAGIC):
        units = GzipUnits(window)
    elif head.startswith((zstd_frames.MAGIC, zstd_frames.DICTIONARY_MAGIC)):
        units = zstd_frames.ZstdUnits(window)
    else:
        return head, None
    try:
        return units.open(units.first()).head, units
    except Corrupt:
        return b"", units


def _content_of(head: bytes, named: str, compressed: bool) -> str:
    """What the first bytes show, empty if nothing. A line of text may look like the header of an
    ARC record, so it counts in files of that name only."""
    if _WARC.match(head):
        return "warc"
    if head.startswith(b"filedesc:") or (named == "arc" and ArcFormat.start.match(head)):
        return "arc"
    if head.startswith(b"PAR1") and not compressed:
        return "parquet"
    return "jsonl" if _is_row(head) else ""


def _is_row(head: bytes) -> bool:
    """True if the first line is, as far as seen, a JSON object with a `url`."""
    line, newline, _ = head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")
    if not line.startswith(b"{"):
        return False
    try:
        return "url" in orjson.loads(line)
    except orjson.JSONDecodeError:
        return not newline and b'"url"' in line


def type_by_name(path: str) -> str:
    """Content type of a page file by its name; empty if that says nothing."""
    return type_of_name(plain_name(path)[0])


def remedy_for(path: str, size: int) -> str:
    """Why a file that was named as input would not be read as the pages it holds, and the way
    out; nothing if there is no reason. Only a `.json` file is opened."""
    name, _ = plain_name(path)
    stem, _, extension = name.rpartition(".")
    if extension.lower() in ("csv", "tsv"):
        return ("CSV is not read (only within a folder, as a page itself). Make it Parquet or JSON "
                "Lines with the columns url and html or text, for instance:\n"
                f"python -c \"import duckdb; duckdb.read_csv('{path}')"
                f".write_parquet('{stem}.parquet')\"")
    if extension.lower() == "json" and size and _is_array(path, size):
        return ("this is one JSON array. Write each page on a line of its own, for instance:\n"
                f"jq -c '.[]' '{name}' > '{stem}.jsonl'")
    return ""


def _is_array(path: str, size: int) -> bool:
    """True if a file is, as far as its first bytes show, one array of objects with a `url`.
    One that may not be opened says nothing; it is rejected when it is read."""
    try:
        with open_window(path, size) as window:
            head, _ = first_bytes(window)
    except PermissionError:
        return False
    return _ARRAY_OF_ROWS.match(head.removeprefix(b"\xef\xbb\xbf")) is not None
