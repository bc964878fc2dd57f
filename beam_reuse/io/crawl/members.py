"""The compressed units of a crawl file, and the commonest of them: gzip members.

A crawl file in a compressed form is a row of units, each of which inflates to one record
(or, wrongly compressed, to several). Framing is our own: FastWARC ends a file at its first
corrupt byte and hands out a truncated record as if it were whole, while every unreadable
stretch must be reported here, with its offset, and reading must go on behind it. Checksums
are verified, and nothing is inflated that nobody asked for.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Protocol, cast

from isal import isal_zlib

from beam_reuse.io.crawl.window import Span, Window

HEAD = 8192
FEEDS = (32 << 10, 128 << 10)
STEP = 1 << 20
_RELEASED = 128 << 10
GZIP_MAGIC = b"\x1f\x8b\x08"


IsalError = cast(type[Exception], isal_zlib.error)


class Corrupt(Exception):
    """A stretch that cannot be read as a record, or a record whose content cannot be; carries the
    reason and detail of its reject.

    `sound` means that the unit around it inflates well, so that its end can be trusted.
    """

    url = ""

    def __init__(self, reason: str, detail: str, sound: bool = False) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail
        self.sound = sound


class Inflated(ABC):
    """What one compressed unit inflates to, as `Bytes`, inflated no further than asked.

    Positions start at 0. Only what was not released is held. `head` is the first bytes.
    `end` is the offset in the file behind the unit, set once all is inflated. Where the
    unit is corrupt, what came before is given, and then `Corrupt` raised.
    """

    forward = True

    def __init__(self, window: Window, start: int, head: bytes) -> None:
        self.window = window
        self.start = start
        self.base = 0
        self.end: int | None = None
        self.head = head
        self._buffer = head
        self._broken: Corrupt | None = None

    def span(self, pos: int, length: int) -> Span:
        a = pos - self.base
        missing = a + length - len(self._buffer)
        if missing > 0 and self.end is None and self._broken is None:
            # A look far ahead that is asked for again and again must not copy all each time.
            self._grow(max(missing, len(self._buffer) >> 2) if missing < STEP else missing)
        if self._broken and a >= len(self._buffer):
            raise Corrupt(self._broken.reason, self._broken.detail)
        return self._buffer, a, min(a + length, len(self._buffer))

    def _grow(self, missing: int) -> None:
        pieces = [self._buffer]
        try:
            while missing > 0 and self.end is None:
                piece = self._pull(missing)
                pieces.append(piece)
                missing -= len(piece)
        except Corrupt as bad:
            self._broken = bad
        self._buffer = b"".join(pieces)

    def release(self, pos: int) -> None:
        if pos - self.base > max(_RELEASED, len(self._buffer) >> 2):
            self._buffer = self._buffer[pos - self.base:]
            self.base = pos

    def skip(self, pos: int) -> None:
        while self.end is None and self.base + len(self._buffer) < pos:
            self._drop()
        a = min(pos - self.base, len(self._buffer))
        if a > 0:
            self._buffer = self._buffer[a:]
            self.base += a

    def finish(self) -> int:
        """The offset behind the unit; what was not inflated yet is checked and dropped."""
        while self.end is None:
            self._drop()
        return self.end

    def _drop(self) -> None:
        """Replace what is held by what follows."""
        self.base += len(self._buffer)
        self._buffer = b""
        if self._broken:
            raise Corrupt(self._broken.reason, self._broken.detail)
        self._buffer = self._pull(STEP)

    def ends_at(self, pos: int) -> bool:
        """True if all was inflated and nothing is at `pos` or behind."""
        return self.end is not None and pos >= self.base + len(self._buffer)

    @abstractmethod
    def consumed(self) -> int:
        """Bytes of the file that surely belong to the unit and were used so far."""

    @abstractmethod
    def _pull(self, wanted: int) -> bytes:
        """Up to about `wanted` more bytes; sets `end` when there are no more."""


class GzipMember(Inflated):
    """One gzip member; see `Inflated`. Opening inflates at most HEAD bytes."""

    def __init__(self, window: Window, start: int) -> None:
        self._inflater = isal_zlib.decompressobj(wbits=31)
        buffer, a, b = window.span(start, HEAD)
        if buffer[a:a + 3] != GZIP_MAGIC or b - a < 4 or buffer[a + 3] & 0xE0:
            raise Corrupt("garbage", "no gzip member starts here")
        self._fed = start + b - a
        self._feed = 0
        try:
            head = self._inflater.decompress(memoryview(buffer)[a:b], HEAD)
        except IsalError as error:
            raise Corrupt("bad-gzip", str(error)) from None
        super().__init__(window, start, head)
        if self._inflater.eof:
            self.end = self._fed - len(self._inflater.unused_data)

    def consumed(self) -> int:
        left = self._inflater.unused_data or self._inflater.unconsumed_tail
        return self._fed - self.start - len(left)

    def _pull(self, wanted: int) -> bytes:
        inflater = self._inflater
        data: Any = inflater.unconsumed_tail
        if not data:
            buffer, a, b = self.window.span(self._fed, FEEDS[self._feed])
            self._feed = 1
            self._fed += b - a
            data = memoryview(buffer)[a:b]
        try:
            piece: bytes = inflater.decompress(data, min(wanted + 16, STEP))
        except IsalError as error:
            raise Corrupt("bad-gzip", str(error)) from None
        if inflater.eof:
            self.end = self._fed - len(inflater.unused_data)
        elif not piece and not len(data):
            raise Corrupt("truncated", "the file ends inside a gzip member")
        return piece


class Units(Protocol):
    """How the units of one compression are found in a file."""

    name: str
    magic: bytes
    suffix: str
    """What names of files of such units end with."""
    stand_alone: bool
    """Whether a unit can be read without what is before it in the file."""

    def open(self, pos: int) -> Inflated:
        """The unit that starts at `pos`; `Corrupt` if none does."""

    def first(self) -> int:
        """Where the first unit starts."""

    def packed(self, content: bytes) -> bytes:
        """A unit of its own that holds this content."""


class GzipUnits:
    """Gzip members; see `Units`."""

    name = "gzip member"
    magic = GZIP_MAGIC
    suffix = ".gz"
    stand_alone = True

    def __init__(self, window: Window) -> None:
        self._window = window

    def first(self) -> int:
        return 0

    def open(self, pos: int) -> Inflated:
        return GzipMember(self._window, pos)

    def packed(self, content: bytes) -> bytes:
        return gzip_member(content)


def gzip_member(content: bytes) -> bytes:
    """One gzip member without time or name in its header."""
    return bytes(isal_zlib.compress(content, isal_zlib.ISAL_DEFAULT_COMPRESSION, 31))


def inflate_file(units: Units, size: int) -> Iterator[bytes]:
    """All units of a file as one stream, piece by piece; raises `Corrupt` where it breaks."""
    pos = units.first()
    while pos < size:
        unit = units.open(pos)
        at = 0
        while True:
            buffer, a, b = unit.span(at, STEP)
            if a == b:
                break
            yield buffer[a:b]
            at += b - a
            unit.release(at)
        pos = unit.finish()
