"""WARC records (and WET, which is WARC): header, and what each record becomes."""

import re

from beam_reuse.core.pages import Outcome, Rejected, Skipped
from beam_reuse.core.settings import ReadSettings
from beam_reuse.io.crawl.documents import Capture, clean_url, http_page, page
from beam_reuse.io.crawl.http import looks_like_http
from beam_reuse.io.crawl.kinds import parse_content_type
from beam_reuse.io.crawl.members import Corrupt
from beam_reuse.io.crawl.moments import parse_moment
from beam_reuse.io.crawl.records import Place, Record, quoted

_NO_PAGES = {b"warcinfo", b"request", b"metadata", b"revisit", b"continuation"}
_FIELD = re.compile(
    rb"\n(warc-type|warc-target-uri|warc-date|warc-record-id|warc-ip-address|warc-segment-number"
    rb"|content-length|content-type)[ \t]*:[ \t]*([^\r\n]*(?:\r*\n[ \t]+[^\r\n]*)*)",
    re.IGNORECASE)
_FOLD = re.compile(rb"\r*\n[ \t]+")

Header = dict[bytes, bytes]


class WarcFormat:
    """WARC of any version as a `RecordFormat`."""

    start = re.compile(rb"WARC/\d+\.\d+[ \t]*\r*\n[!-9;-~]{1,100}[ \t]*:")
    line = re.compile(rb"\nWARC/\d")
    header_end = re.compile(rb"\n\r*\n")
    terminator = b"\r\n\r\n"

    def __init__(self, settings: ReadSettings) -> None:
        self._settings = settings

    def header(self, buffer: bytes, a: int, b: int) -> tuple[Header, int]:
        fields = _FIELD.findall(buffer, a, b + 1)
        fields.reverse()  # of a field given twice the first counts
        header = {name.lower(): value for name, value in fields}
        length = header.get(b"content-length", b"").strip()
        if not length.isdigit() or len(length) > 18:
            bad = Corrupt("bad-header", f"Content-Length is {quoted(length)}, not a number",
                          sound=True)
            bad.url = self.url(header)
            raise bad
        return header, int(length)

    def url(self, header: Header) -> str:
        value = header.get(b"warc-target-uri", b"")
        if b"\n" in value:
            value = _FOLD.sub(b" ", value)
        return clean_url(value)

    def outcome(self, record: Record, place: Place) -> Outcome:
        """A page of a `response`, `resource` or `conversion` record, else skipped.

        A record cut into segments is skipped too, all its parts: its payload is whole in
        none of them.
        """
        header: Header = record.header
        get = header.get
        kind = get(b"warc-type", b"").strip().lower()
        url = self.url(header)
        if kind in _NO_PAGES:
            return Skipped(place.file, place.offset, url, kind.decode("ascii"))
        if kind not in (b"response", b"resource", b"conversion"):
            return Skipped(place.file, place.offset, url, "record-type")
        if b"warc-segment-number" in header:
            return Skipped(place.file, place.offset, url, "segmented")
        if not url:
            return Rejected(place.file, place.offset, "", "bad-url", "no WARC-Target-URI")
        capture = Capture(
            place, url, get(b"warc-record-id", b"").decode("utf-8", "replace").strip(" <>"),
            parse_moment(get(b"warc-date", b"").decode("latin-1")),
            get(b"warc-ip-address", b"").decode("latin-1").strip())
        declared = get(b"content-type", b"")
        is_http = parse_content_type(declared)[0] == "application/http"
        if kind == b"response" or is_http:
            if (is_http or url[:4].lower() == "http"
                    or looks_like_http(record.buffer, record.a, record.b)):
                return http_page(capture, record, self._settings)
            reason = "dns" if url.startswith("dns:") else "no-http"
            return Skipped(place.file, place.offset, url, reason)
        if not declared and kind == b"conversion":
            declared = b"text/plain"
        return page(capture, record, declared, self._settings)
