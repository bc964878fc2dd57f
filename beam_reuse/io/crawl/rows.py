"""JSON Lines and Parquet: one row, one page, by the columns `url` and `html` or `text`.

Optional columns: `timestamp`, `date` or `crawl_date`; `status`; `content_type`; `ip`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from beam_reuse.core.pages import Kind, Outcome, RawPage, Rejected
from beam_reuse.core.settings import ReadSettings
from beam_reuse.io.crawl.documents import Capture, clean_url, too_large
from beam_reuse.io.crawl.kinds import kind_of, parse_content_type
from beam_reuse.io.crawl.members import STEP, Corrupt, Units, inflate_file
from beam_reuse.io.crawl.moments import moment_of
from beam_reuse.io.crawl.records import Place
from beam_reuse.io.crawl.window import Window

JSONL = "jsonl"
"""The form of a row as it is stored."""
MOMENTS = ("timestamp", "date", "crawl_date")
COLUMNS = ("url", "html", "text", *MOMENTS, "status", "content_type", "ip")
_MOST_DIGITS = 400
_TYPES = {"html": "text/html", "text": "text/plain"}


def row_outcome(row: Mapping[str, Any], place: Place, settings: ReadSettings) -> Outcome:
    """What a row becomes. It is HTML if it has `html`, else plain text if it has `text`, of
    which a content type may say that it is code; any other type is only recorded.

    Text counts as its UTF-8 bytes; a binary column is taken as it is, its charset is found
    as in a response.
    """
    url = row.get("url")
    if not isinstance(url, str | bytes) or not (url := _clean(url)):
        return Rejected(place.file, place.offset, "", "missing-url", "the row has no url")
    moment = next((row[name] for name in MOMENTS if row.get(name) is not None), None)
    ip = row.get("ip")
    address = ip if isinstance(ip, str) and ip.isascii() else ""
    capture = Capture(place, url, "", moment_of(moment), address)
    column = next((c for c in _TYPES if isinstance(row.get(c), str | bytes)), None)
    if column is None:
        return capture.rejected("missing-content", "the row has neither html nor text")
    status = _status(row.get("status"))
    if status is not None and settings.statuses is not None and status not in settings.statuses:
        return capture.skipped("status")
    declared, charset = _declared(row.get("content_type"))
    kind = kind_of(_TYPES[column])
    if kind is Kind.TEXT and kind_of(declared) is Kind.CODE:
        kind = Kind.CODE
    if kind.label not in settings.content_types:
        return capture.skipped("content-type")
    content = row[column]
    label = "utf-8" if isinstance(content, str) else ""
    payload = utf8(content) if isinstance(content, str) else content
    if len(payload) > settings.max_record_bytes:
        return too_large(capture, settings)
    return capture.page(payload, declared or _TYPES[column], label or charset, status, kind=kind)


def utf8(text: str) -> bytes:
    """Text as UTF-8; a lone surrogate, which no text has, becomes U+FFFD."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")


def _clean(url: str | bytes) -> str:
    return clean_url(url.encode("utf-8", "surrogatepass") if isinstance(url, str) else url)


def _status(value: object) -> int | None:
    """A status, also written as text or as a float (columns with gaps become floats)."""
    if isinstance(value, str):
        value = int(value) if value.isdecimal() and len(value) == 3 else None
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 1000 else None


def _declared(content_type: object) -> tuple[str, str]:
    if not isinstance(content_type, str):
        return "", ""
    return parse_content_type(content_type.encode("latin-1", "replace"))


def parse_row(line: bytes) -> dict[str, Any]:
    """A line of JSON; `ValueError` if it is no object. Bytes that are not UTF-8 become U+FFFD, but
    stay as they are in the URL, which is bytes then."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        row = _parse_slowly(line, "replace")
        if isinstance(row, dict) and isinstance(row.get("url"), str) and "\ufffd" in row["url"]:
            url = _parse_slowly(line, "surrogateescape")["url"]
            row["url"] = b"".join(_bytes_of(char) for char in url)
    if not isinstance(row, dict):
        raise ValueError("not an object")
    return row


def _parse_slowly(line: bytes, errors: str) -> Any:
    return parse_json(line.decode("utf-8", errors))


def parse_json(text: str) -> Any:
    """JSON as Python reads it (lone surrogates too), with numbers of any length; `ValueError` if
    it is none."""
    try:
        return json.loads(text, parse_int=_whole_number)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _whole_number(digits: str) -> int | float:
    """A number as it is, or infinite if it has more digits than any value has: Python refuses to
    read thousands of them."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def _bytes_of(char: str) -> bytes:
    """The bytes of a character, or the byte that `surrogateescape` took for one."""
    escaped = "\udc80" <= char <= "\udcff"
    return char.encode("utf-8", "surrogateescape" if escaped else "surrogatepass")


class Lines:
    """The rows of a JSON Lines file; a row's offset is that of its line. Iterate once.

    In a file that is not compressed the lines that begin in [start, end) are read, in a
    compressed one (where offsets count inflated bytes) all, by the reader with start 0.
    Empty lines are no records. `position` moves on while iterating. Memory: one line, of
    at most twice the limit of a record and a bit.
    """

    def __init__(self, file: str, window: Window, units: Units | None, start: int, end: int,
                 settings: ReadSettings) -> None:
        self._file = file
        self._window = window
        self._units = units
        self._start = start
        self._end = end
        self._settings = settings
        self._line = 0
        self.position = start

    def __iter__(self) -> Iterator[Outcome]:
        if self._units is None:
            yield from self._rows(self._plain_pieces(), self._end)
        elif self._start == 0:
            yield from self._rows(inflate_file(self._units, self._window.size), None)
        self.position = self._end

    def _rows(self, pieces: Iterator[bytes], end: int | None) -> Iterator[Outcome]:
        try:
            for offset, line in self._split(pieces):
                if end is not None and offset >= end:
                    break
                self.position = offset if self._units is None else self._window.reached
                outcome = self._outcome(offset, line)
                if outcome is not None:
                    yield outcome
        except Corrupt as bad:
            yield Rejected(self._file, self._line, "", bad.reason, bad.detail)

    def _outcome(self, offset: int, line: bytes | None) -> Outcome | None:
        if line is None:
            return too_large(Capture(Place(self._file, offset, 0), ""), self._settings)
        if offset == 0:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip():
            return None
        try:
            row = parse_row(line)
        except ValueError as error:
            return Rejected(self._file, offset, "", "bad-json", str(error)[:200])
        outcome = row_outcome(row, Place(self._file, offset, len(line)), self._settings)
        if JSONL in self._settings.stored and isinstance(outcome, RawPage):
            return outcome._replace(stored=line, form=JSONL)
        return outcome

    def _plain_pieces(self) -> Iterator[bytes]:
        """The file from the first line that begins at `start` or later."""
        pos = self._start
        if pos > 0:
            pos -= 1
            while True:
                buffer, a, b = self._window.span(pos, STEP)
                found = buffer.find(b"\n", a, b)
                if found >= 0 or a == b:
                    break
                pos += b - a
            pos += max(found + 1 - a, 0)
        self._line = pos
        while True:
            buffer, a, b = self._window.span(pos, STEP)
            if a == b:
                return
            yield buffer[a:b]
            pos += b - a

    def _split(self, pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes | None]]:
        """Lines with their offsets; None for one that is longer than a record may be."""
        limit = 2 * self._settings.max_record_bytes + STEP
        pending: list[bytes] = []
        size = 0
        for piece in pieces:
            a = 0
            while (end := piece.find(b"\n", a)) >= 0:
                size += end - a
                pending.append(piece[a:end])
                yield self._line, b"".join(pending) if size <= limit else None
                self._line += size + 1
                pending, size, a = [], 0, end + 1
            size += len(piece) - a
            pending = [*pending, piece[a:]] if size <= limit else []
        if size:
            yield self._line, b"".join(pending) if size <= limit else None
