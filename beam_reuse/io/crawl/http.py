"""HTTP messages as crawlers store them: tolerant of what servers really send."""

import re
from typing import NamedTuple

from beam_reuse.io.crawl.members import Corrupt
from beam_reuse.io.crawl.records import MAX_HEADER, quoted

_STATUS = re.compile(rb"(?:HTTP/\d+(?:\.\d+)?|HTTP|ICY)[ \t]+(\d{3})(?!\d)")
_END = re.compile(rb"\n\r*\n")
_FIELD = re.compile(
    rb"\n(content-type|content-encoding|transfer-encoding)[ \t]*:[ \t]*"
    rb"([^\r\n]*(?:\r*\n[ \t]+[^\r\n]*)*)", re.IGNORECASE)
_FOLD = re.compile(rb"\r*\n[ \t]+")


class Head(NamedTuple):
    """What of an HTTP response's head decides about the page; `body` is where it ends."""

    status: int
    content_type: bytes
    content_encoding: bytes
    transfer_encoding: bytes
    body: int


def looks_like_http(buffer: bytes, a: int, b: int) -> bool:
    """True if buffer[a:b] starts with a status line."""
    return _STATUS.match(buffer, a, b) is not None


def read_head(buffer: bytes, a: int, b: int) -> Head:
    """The head of the response in buffer[a:b]; `Corrupt` if there is none.

    Lines may end in LF alone, the reason phrase may be missing, lines may be folded; a
    response that is all head has an empty body. Of several content types the last counts,
    as in browsers; several content encodings were applied in their order.
    """
    status = _STATUS.match(buffer, a, b)
    if status is None:
        start = quoted(buffer[a:min(b, a + 60)])
        raise Corrupt("bad-http", f"no HTTP status line: {start}" if b > a else "empty response")
    end = _END.search(buffer, status.end(), min(b, a + MAX_HEADER))
    if end is None and b - a > MAX_HEADER:
        raise Corrupt("header-too-large", f"HTTP headers of more than {MAX_HEADER} bytes")
    head = end.start() + 1 if end else b
    content_type = transfer = b""
    encodings = []
    for name, value in _FIELD.findall(buffer, a, head):
        value = value.strip()
        if b"\n" in value:
            value = _FOLD.sub(b" ", value)
        name = name.lower()
        if name == b"content-type":
            content_type = value or content_type
        elif name == b"content-encoding":
            encodings.append(value)
        else:
            transfer = value
    return Head(int(status[1]), content_type, b",".join(encodings), transfer,
                end.end() if end else b)
