"""ARC records, version 1 and 2: one line of header, then the block.

Version 1 lines are `URL IP date type length`, version 2 lines
`URL IP date type status checksum location offset file length`; which one it is shows in
the line itself, so that a file can be read from any point. A URL may contain blanks.
"""

import re
from typing import NamedTuple

from beam_reuse.core.pages import Outcome, Skipped
from beam_reuse.core.settings import ReadSettings
from beam_reuse.io.crawl.documents import Capture, clean_url, http_page
from beam_reuse.io.crawl.members import Corrupt
from beam_reuse.io.crawl.moments import parse_moment
from beam_reuse.io.crawl.records import Place, Record, quoted

_SCHEME = rb"[A-Za-z][A-Za-z0-9+.\-]{0,30}:"
_LINE = re.compile(
    rb"(" + _SCHEME + rb"[^\n]*) ([^\s]+) (\d{8,20}) ([^\s]+)"
    rb"(?: (?:\d{3}|-) [^\s]+ [^\s]+ \d+ [^\s]+)? ([^\s]+)[ \t]*\r*\n")


class Header(NamedTuple):
    """The fields both versions have."""

    url: bytes
    ip: bytes
    date: bytes
    type: bytes


class ArcFormat:
    """ARC as a `RecordFormat`. A length that is no number makes a header, but a bad one."""

    start = _LINE
    line = re.compile(rb"\n(?=" + _SCHEME + rb")")
    header_end = re.compile(rb"\n")
    terminator = b""

    def __init__(self, settings: ReadSettings) -> None:
        self._settings = settings

    def header(self, buffer: bytes, a: int, b: int) -> tuple[Header, int]:
        line = _LINE.match(buffer, a, b + 1)
        if line is None:
            raise Corrupt("bad-header", "no ARC record line", sound=True)
        url, ip, date, kind, length = line.groups()
        if not length.isdigit() or len(length) > 18:
            bad = Corrupt("bad-header", f"the length is {quoted(length)}, not a number", sound=True)
            bad.url = clean_url(url)
            raise bad
        return Header(url, ip, date, kind), int(length)

    def url(self, header: Header) -> str:
        return clean_url(header.url)

    def outcome(self, record: Record, place: Place) -> Outcome:
        """A page of an HTTP response; the file's own first record and others are skipped."""
        header: Header = record.header
        url = clean_url(header.url)
        scheme = url.partition(":")[0].lower()
        if scheme not in ("http", "https"):
            reason = scheme if scheme in ("filedesc", "dns") else "no-http"
            return Skipped(place.file, place.offset, url, reason)
        ip = header.ip.decode("latin-1")
        capture = Capture(place, url, "", parse_moment(header.date.decode("ascii")),
                          "" if ip == "0.0.0.0" else ip)
        return http_page(capture, record, self._settings)
