"""From a stored response to a page: status, kind, encodings, charset, limits."""

import re
from typing import NamedTuple

from beam_reuse.core.pages import Kind, Outcome, RawPage, Rejected, Skipped
from beam_reuse.core.settings import ReadSettings
from beam_reuse.io.crawl.http import decode_payload, read_head
from beam_reuse.io.crawl.kinds import is_generic, kind_of, parse_content_type, sniff_type
from beam_reuse.io.crawl.members import Corrupt
from beam_reuse.io.crawl.payload import find_charset
from beam_reuse.io.crawl.records import Place, Record

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Capture(NamedTuple):
    """What is known of a capture before its content is looked at."""

    place: Place
    url: str
    record_id: str = ""
    timestamp: int | None = None
    ip: str = ""

    def skipped(self, reason: str) -> Skipped:
        return Skipped(self.place.file, self.place.offset, self.url, reason)

    def rejected(self, reason: str, detail: str) -> Rejected:
        return Rejected(self.place.file, self.place.offset, self.url, reason, detail)

    def page(self, payload: bytes, content_type: str, label: str, status: int | None = None,
             encoding_absent: bool = False, kind: Kind | None = None) -> RawPage:
        """The page with this payload; `label` is the charset its header names, `kind` that of
        the content type unless given."""
        place = self.place
        kind = kind_of(content_type) if kind is None else kind
        return RawPage(place.file, place.offset, place.length, self.record_id, self.url,
                       self.timestamp, status, self.ip, kind, content_type,
                       find_charset(payload, kind, label), payload, encoding_absent)


def clean_url(raw: bytes) -> str:
    """A URL as fetched: without blanks and angle brackets around it, valid text.

    Control characters and bytes that are not UTF-8 are percent-escaped.
    """
    raw = raw.strip(b" \t\r\n")
    if raw[:1] == b"<" and raw[-1:] == b">":
        raw = raw[1:-1].strip()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = re.sub("[\udc80-\udcff]", lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}",
                      raw.decode("utf-8", "surrogateescape"))
    if text.isprintable():
        return text
    return _CONTROL.sub(lambda char: f"%{ord(char[0]):02X}", text)


def http_page(capture: Capture, record: Record, settings: ReadSettings) -> Outcome:
    """What an HTTP response becomes: head removed, encodings undone."""
    try:
        head = read_head(record.buffer, record.a, record.b)
    except Corrupt as bad:
        return capture.rejected(bad.reason, bad.detail)
    if settings.statuses is not None and head.status not in settings.statuses:
        return capture.skipped("status")
    content_type, label = parse_content_type(head.content_type)
    generic = is_generic(content_type)
    if not generic and kind_of(content_type).label not in settings.content_types:
        return capture.skipped("content-type")
    if not record.whole:
        return too_large(capture, settings)
    payload = record.buffer[head.body:record.b]
    absent = False
    if head.content_encoding or head.transfer_encoding:
        try:
            payload, absent = decode_payload(payload, head.transfer_encoding,
                                             head.content_encoding, settings.max_record_bytes)
        except Corrupt as bad:
            return capture.rejected(bad.reason, bad.detail)
    if generic:
        content_type = sniff_type(payload)
        if kind_of(content_type).label not in settings.content_types:
            return capture.skipped("content-type")
    found = capture.page(payload, content_type, label, head.status, absent)
    return found._replace(link=head.link.decode("latin-1"),
                          last_modified=head.last_modified.decode("latin-1"))


def page(capture: Capture, record: Record, declared: bytes, settings: ReadSettings) -> Outcome:
    """What a record becomes whose block is the payload itself."""
    content_type, label = parse_content_type(declared)
    if is_generic(content_type):
        content_type = sniff_type(record.buffer[record.a:record.a + 4096])
    if kind_of(content_type).label not in settings.content_types:
        return capture.skipped("content-type")
    if not record.whole:
        return too_large(capture, settings)
    return capture.page(record.buffer[record.a:record.b], content_type, label)


def too_large(capture: Capture, settings: ReadSettings) -> Rejected:
    """The reject of a record longer than the limit."""
    return capture.rejected(
        "too-large", f"more than {settings.max_record_bytes} bytes (--max-record-bytes)")
