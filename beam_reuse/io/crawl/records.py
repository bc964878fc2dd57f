"""From bytes to records: where a record starts, how long it is, where the next one is.

The same for WARC and ARC, in a plain file or inside a compressed unit. What a header means
is the format's business (`warc`, `arc`); which records are pages is decided there too.
"""

import re
from typing import Any, NamedTuple, Protocol

from beam_reuse.core.pages import Outcome
from beam_reuse.io.crawl.members import HEAD, Corrupt
from beam_reuse.io.crawl.window import Bytes

MAX_HEADER = 1 << 20
PREFIX = 64 << 10
SCAN = 256 << 10
_OVERLAP = 64
_TAIL = 8


class Place(NamedTuple):
    """Where a record lies: what every outcome says of itself."""

    file: str
    offset: int
    length: int


class Record(NamedTuple):
    """A record whose extent is known to be right.

    `buffer[a:b]` is its block (what follows the header), or the first `PREFIX` bytes of it
    where it is longer than the limit (`whole` is False). `next` is the position behind it.
    """

    header: Any
    buffer: bytes
    a: int
    b: int
    whole: bool
    next: int


class RecordFormat(Protocol):
    """What WARC and ARC differ in."""

    start: re.Pattern[bytes]
    """Matches where a record starts, within HEAD bytes."""
    line: re.Pattern[bytes]
    """Matches the newline before a line that may start a record; shorter than 64 bytes."""
    header_end: re.Pattern[bytes]
    """Found at the end of a header; its match ends where the block begins."""
    terminator: bytes
    """What surely ends a record, whatever follows; empty if there is no such thing."""

    def header(self, buffer: bytes, a: int, b: int) -> tuple[Any, int]:
        """A header and the length of the block; `Corrupt` if it has none."""

    def outcome(self, record: Record, place: Place) -> Outcome:
        """What the record becomes."""

    def url(self, header: Any) -> str:
        """The record's URL, for rejects."""


def quoted(raw: bytes) -> str:
    """The first bytes as the detail of a reject shows them."""
    return repr(raw[:60])[1:]


def frame(content: Bytes, at: int, form: RecordFormat, limit: int) -> Record:
    """The record that starts at `at`; `Corrupt` unless its extent is beyond doubt.

    A record is sound if its block is followed by line ends and then by the end of the
    content or the start of another record, or by the terminator of its format.
    Holds at most `limit` bytes of the block.
    """
    buffer, a, b = content.span(at, HEAD)
    if not form.start.match(buffer, a, b):
        raise Corrupt("garbage", "no record starts here", sound=True)
    end = form.header_end.search(buffer, a, b)
    if end is None:
        buffer, a, b, end = _long_header(content, at, form)
    header, length = form.header(buffer, a, end.start())
    block = at + end.end() - a
    a = end.end()
    whole = length <= limit
    held = length if whole else min(length, PREFIX)
    try:
        if content.forward:
            if a + held + _TAIL > b:
                buffer, a, b = content.span(block, held + _TAIL)
            if not whole:
                content.skip(block + length - 1)
            behind = _behind_block(content, block, length, form)
        else:  # a wrong length must not cost the reading of a wrong block
            behind = _behind_block(content, block, length, form)
            buffer, a, b = content.span(block, held)
        return Record(header, buffer, a, a + held, whole, behind)
    except Corrupt as bad:
        bad.url = form.url(header)
        raise


def _long_header(content: Bytes, at: int,
                 form: RecordFormat) -> tuple[bytes, int, int, re.Match[bytes]]:
    """A header that is longer than HEAD."""
    length = HEAD
    while length < MAX_HEADER:
        length *= 8
        buffer, a, b = content.span(at, length)
        end = form.header_end.search(buffer, a, min(b, a + MAX_HEADER))
        if end:
            return buffer, a, b, end
        if b - a < min(length, MAX_HEADER):
            raise _short(content, at + b - a, "there is no end of the record's header")
    raise Corrupt("header-too-large", f"a record header of more than {MAX_HEADER} bytes",
                  sound=True)


def _short(content: Bytes, end: int, expected: str) -> Corrupt:
    """What is wrong with a record that goes on behind `end`, where the content ends."""
    content.span(end, 1)  # raises if it is broken there, rather than at its end
    return Corrupt("truncated", f"{expected}, but the content ends", sound=True)


def _behind_block(content: Bytes, block: int, length: int, form: RecordFormat) -> int:
    """The position behind the line ends that follow a block of `length` bytes."""
    pos = block + length
    if length:
        _, a, b = content.span(pos - 1, 1)
        if a >= b:
            raise _short(content, pos - 1, f"the header says {length} bytes")
    here = pos
    while True:
        buffer, a, b = content.span(here, HEAD)
        if buffer[a:b] == b"\r\n\r\n":
            content.span(here + 4, 1)  # raises if the content breaks off there
            return here + 4
        i = a
        while i < b and buffer[i] in b"\r\n":
            i += 1
        here += i - a
        if a == b:
            return here
        if i < b:
            break
    if i + HEAD > b:
        buffer, i, b = content.span(here, HEAD)
    if form.start.match(buffer, i, b) and (here > pos or starts_line(content, here)):
        return here
    buffer, a, b = content.span(pos, 4)
    if form.terminator and buffer[a:b] == form.terminator:
        return here
    raise Corrupt("bad-length", "the record does not end where its header says", sound=True)


def starts_line(content: Bytes, pos: int) -> bool:
    """True at position 0 and behind a newline."""
    if pos == 0:
        return True
    buffer, a, _ = content.span(pos - 1, 1)
    return buffer[a:a + 1] == b"\n"


def find_record(content: Bytes, pos: int, form: RecordFormat,
                limit: int | None = None) -> int | None:
    """The first line at `pos` > 0 or later (before `limit`) that starts a record, or None."""
    pos -= 1
    while limit is None or pos < limit:
        buffer, a, b = content.span(pos, SCAN)
        match = form.line.search(buffer, a, b)
        if match is None:
            if b - a < SCAN:
                content.span(pos + b - a, 1)  # raises if the content is broken there
                return None
            pos += b - a - _OVERLAP
            content.release(pos)
            continue
        found = pos + match.start() + 1 - a
        if limit is not None and found >= limit:
            return None
        buffer, a, b = content.span(found, HEAD)
        if form.start.match(buffer, a, b):
            return found
        pos = found
    return None
