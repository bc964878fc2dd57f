"""What a file is: by its first bytes, then by its name."""

import re
from dataclasses import dataclass

import orjson

from beam_reuse.io.crawl import zstd_frames
from beam_reuse.io.crawl.arc import ArcFormat
from beam_reuse.io.crawl.kinds import type_of_name
from beam_reuse.io.crawl.members import GZIP_MAGIC, HEAD, Corrupt, GzipUnits, Units
from beam_reuse.io.crawl.window import Window

_COMPRESSIONS = {"gz": "gzip", "gzip": "gzip", "zst": "zstd", "zstd": "zstd"}
_NAMES = {"warc": "warc", "wet": "warc", "wat": "warc", "arc": "arc", "jsonl": "jsonl",
          "ndjson": "jsonl", "jl": "jsonl", "parquet": "parquet"}
_WARC = re.compile(rb"WARC/\d")


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
    """A file's name without folders and compression, and the compression its name tells."""
    name = path.rstrip("/").rpartition("/")[2]
    stem, _, extension = name.rpartition(".")
    compression = _COMPRESSIONS.get(extension.lower(), "")
    return (stem, compression) if compression and stem else (name, "")


def sniff(window: Window, path: str) -> FileFormat:
    """The format of a file, by content first and by name where the content does not tell.

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
    """What the first bytes tell, empty if nothing. A line of text may look like the header of an
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
    """Content type of a page file by its name; empty if that tells nothing."""
    return type_of_name(plain_name(path)[0])
