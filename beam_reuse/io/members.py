"""The compressed units of a crawl file: gzip members and zstd frames.

A crawl file in a compressed form is a row of units, each of which inflates to one record
(or, wrongly compressed, to several). Framing is our own: FastWARC ends a file at its first
corrupt byte and hands out a truncated record as if it were whole, while every unreadable
stretch must be told here, with its offset, and reading must go on behind it. Checksums
are verified, and nothing is inflated that nobody asked for.
"""

from collections.abc import Iterator
from typing import Any, Protocol, cast

import zstandard
from isal import isal_zlib

from beam_reuse.io.window import Span, Window

HEAD = 8192
FEEDS = (32 << 10, 128 << 10)
STEP = 1 << 20
GZIP_MAGIC = b"\x1f\x8b\x08"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZSTD_DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
ZSTD_MAX_WINDOW = 1 << 27
ZSTD_MAX_DICTIONARY = 16 << 20
_ZSTD_BLOCK = 128 << 10


IsalError = cast(type[Exception], isal_zlib.error)


class Corrupt(Exception):
    """A stretch that cannot be read as a record; carries the reason and detail of its reject.

    `sound` tells that the unit around it inflates well, so that its end can be trusted.
    """

    url = ""

    def __init__(self, reason: str, detail: str, sound: bool = False) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail
        self.sound = sound


class Inflated:
    """What one compressed unit inflates to, as `Bytes`, inflated no further than asked.

    Positions start at 0. Only what was not released is held. `head` is the first bytes.
    `end` is the offset in the file behind the unit, set once all is inflated. Where the
    unit is corrupt, what came before is given, and then `Corrupt` raised.
    """

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
            self._grow(missing)
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
        if pos - self.base > STEP:
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
        """True if all was inflated and nothing lies at `pos` or behind."""
        return self.end is not None and pos >= self.base + len(self._buffer)

    def consumed(self) -> int:
        """Bytes of the file that surely belong to the unit and were used so far."""
        raise NotImplementedError

    def _pull(self, wanted: int) -> bytes:
        """Up to about `wanted` more bytes; sets `end` when there are no more."""
        raise NotImplementedError


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


class ZstdFrame(Inflated):
    """One zstd frame; see `Inflated`. Its end is read off its block headers, so that a
    frame nobody wants is passed without inflating it."""

    def __init__(self, window: Window, start: int,
                 dictionary: zstandard.ZstdCompressionDict | None) -> None:
        self._frame_end = _zstd_frame_end(window, start)
        self._source = _Stretch(window, start, self._frame_end)
        inflater = zstandard.ZstdDecompressor(dict_data=dictionary,
                                              max_window_size=ZSTD_MAX_WINDOW)
        source: Any = self._source
        self._reader = inflater.stream_reader(source, read_size=_ZSTD_BLOCK)
        super().__init__(window, start, b"")
        self.head = self._buffer = self._pull(HEAD)

    def finish(self) -> int:
        return self._frame_end

    def consumed(self) -> int:
        return min(self._source.pos, self._frame_end) - self.start

    def _pull(self, wanted: int) -> bytes:
        try:
            piece: bytes = self._reader.read(min(max(wanted, 1), STEP))
        except zstandard.ZstdError as error:
            raise Corrupt("bad-zstd", str(error)) from None
        if not piece:
            self.end = self._frame_end
        return piece


class _Stretch:
    """Bytes [pos, end) of a window as a source to read from."""

    def __init__(self, window: Window, pos: int, end: int) -> None:
        self._window = window
        self._end = end
        self.pos = pos

    def read(self, length: int) -> bytes:
        buffer, a, b = self._window.span(self.pos, min(length, self._end - self.pos))
        self.pos += b - a
        return buffer[a:b]


def _zstd_frame_end(window: Window, start: int) -> int:
    """The offset behind the zstd frame at `start`, from its headers alone."""
    buffer, a, b = window.span(start, 18)
    head = buffer[a:b]
    if len(head) < 5 or head[:4] != ZSTD_MAGIC:
        raise Corrupt("bad-zstd", "no zstd frame")
    flags = head[4]
    single = flags >> 5 & 1
    size_bytes = (single, 2, 4, 8)[flags >> 6]
    pos = start + 5 + (not single) + (0, 1, 2, 4)[flags & 3] + size_bytes
    while True:
        buffer, a, b = window.span(pos, 3)
        if b - a < 3:
            raise Corrupt("truncated", "the file ends inside a zstd frame")
        block = int.from_bytes(buffer[a:b], "little")
        kind, length = block >> 1 & 3, block >> 3
        if kind == 3 or (length > _ZSTD_BLOCK and kind != 1):
            raise Corrupt("bad-zstd", "bad block header")
        pos += 3 + (1 if kind == 1 else length)
        if block & 1:
            break
    pos += 4 if flags >> 2 & 1 else 0
    if pos > window.size:
        raise Corrupt("truncated", "the file ends inside a zstd frame")
    return pos


class Units(Protocol):
    """How the units of one compression are found in a file."""

    name: str
    magic: bytes

    def open(self, pos: int) -> Inflated:
        """The unit that starts at `pos`; `Corrupt` if none does."""

    def first(self) -> int:
        """Where the first unit starts."""


class GzipUnits:
    """Gzip members; see `Units`."""

    name = "gzip member"
    magic = GZIP_MAGIC

    def __init__(self, window: Window) -> None:
        self._window = window

    def first(self) -> int:
        return 0

    def open(self, pos: int) -> Inflated:
        return GzipMember(self._window, pos)


class ZstdUnits:
    """Zstd frames, with the dictionary that a .warc.zst may open with; see `Units`."""

    name = "zstd frame"
    magic = ZSTD_MAGIC

    def __init__(self, window: Window) -> None:
        self._window = window
        self._first, self._dictionary = _zstd_dictionary(window)

    def first(self) -> int:
        return self._first

    def open(self, pos: int) -> Inflated:
        buffer, a, b = self._window.span(pos, 4)
        if buffer[a:b] != ZSTD_MAGIC:
            raise Corrupt("garbage", "no zstd frame starts here")
        return ZstdFrame(self._window, pos, self._dictionary)


def _zstd_dictionary(window: Window) -> tuple[int, zstandard.ZstdCompressionDict | None]:
    """Offset of the first frame, and the dictionary in the skippable frame before it.

    The dictionary may itself be compressed. One that cannot be read counts as none: the
    frames that need it are then rejected one by one.
    """
    buffer, a, b = window.span(0, 8)
    if buffer[a:a + 4] != ZSTD_DICTIONARY_MAGIC or b - a < 8:
        return 0, None
    length = int.from_bytes(buffer[a + 4:b], "little")
    if 8 + length > window.size or length > ZSTD_MAX_DICTIONARY:
        return 0, None
    buffer, a, b = window.span(8, length)
    data = buffer[a:b]
    if data[:4] == ZSTD_MAGIC:
        try:
            data = zstandard.ZstdDecompressor().stream_reader(data).read(ZSTD_MAX_DICTIONARY)
        except zstandard.ZstdError:
            return 8 + length, None
    return 8 + length, zstandard.ZstdCompressionDict(data)


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
