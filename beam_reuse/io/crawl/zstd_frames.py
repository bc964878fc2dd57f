"""Zstd frames as units of a crawl file, with the dictionary a .warc.zst may open with."""

from typing import Any

import zstandard

from beam_reuse.io.crawl.members import HEAD, STEP, Corrupt, Inflated
from beam_reuse.io.crawl.window import Window

MAGIC = b"\x28\xb5\x2f\xfd"
DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
MAX_WINDOW = 1 << 27
MAX_DICTIONARY = 16 << 20
_BLOCK = 128 << 10


class ZstdFrame(Inflated):
    """One zstd frame; see `Inflated`. Its end is read off its block headers, so that a
    frame nobody wants is passed without inflating it."""

    def __init__(self, window: Window, start: int, dictionary: zstandard.ZstdCompressionDict | None,
                 shared: zstandard.ZstdDecompressor) -> None:
        super().__init__(window, start, b"")
        self._frame_end = _frame_end_at(window, start)
        self._source = _Stretch(window, start, self._frame_end)
        buffer, a, b = window.span(start, min(self._frame_end - start, STEP))
        frame = memoryview(buffer)[a:b]
        if b - a == self._frame_end - start and 0 <= _content_size(frame) <= STEP:
            self._inflate_whole(frame, shared)
        else:
            own = zstandard.ZstdDecompressor(dictionary, max_window_size=MAX_WINDOW)
            source: Any = self._source
            self._reader = own.stream_reader(source, read_size=_BLOCK)
            self._buffer = self._pull(HEAD)
        self.head = self._buffer[:HEAD]

    def _inflate_whole(self, frame: memoryview, inflater: zstandard.ZstdDecompressor) -> None:
        try:
            self._buffer = inflater.decompress(frame)
        except zstandard.ZstdError as error:
            raise Corrupt("bad-zstd", str(error)) from None
        self._source.pos = self.end = self._frame_end

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


def _content_size(frame: memoryview) -> int:
    """What the frame's header says of its content's size; -1 if nothing, or nonsense."""
    try:
        return zstandard.frame_content_size(frame)
    except zstandard.ZstdError:
        return -1


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


def _frame_end_at(window: Window, start: int) -> int:
    """The offset behind the zstd frame at `start`, from its headers alone."""
    buffer, a, b = window.span(start, 18)
    head = buffer[a:b]
    if len(head) < 5 or head[:4] != MAGIC:
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
        if kind == 3 or (length > _BLOCK and kind != 1):
            raise Corrupt("bad-zstd", "bad block header")
        pos += 3 + (1 if kind == 1 else length)
        if block & 1:
            break
    pos += 4 if flags >> 2 & 1 else 0
    if pos > window.size:
        raise Corrupt("truncated", "the file ends inside a zstd frame")
    return pos


class ZstdUnits:
    """Zstd frames, with the dictionary that a .warc.zst may open with; see `Units`."""

    name = "zstd frame"
    magic = MAGIC
    suffix = ".zst"

    def __init__(self, window: Window) -> None:
        self._window = window
        self._first, self._dictionary = _dictionary_of(window)
        self.stand_alone = self._dictionary is None
        self._shared = zstandard.ZstdDecompressor(self._dictionary, max_window_size=MAX_WINDOW)

    def first(self) -> int:
        return self._first

    def open(self, pos: int) -> Inflated:
        buffer, a, b = self._window.span(pos, 4)
        if buffer[a:b] != MAGIC:
            raise Corrupt("garbage", "no zstd frame starts here")
        return ZstdFrame(self._window, pos, self._dictionary, self._shared)

    def packed(self, content: bytes) -> bytes:
        return zstandard.ZstdCompressor(write_checksum=True).compress(content)


def _dictionary_of(window: Window) -> tuple[int, zstandard.ZstdCompressionDict | None]:
    """Offset of the first frame, and the dictionary in the skippable frame before it.

    The dictionary may itself be compressed. One that cannot be read counts as none: the
    frames that need it are then rejected one by one.
    """
    buffer, a, b = window.span(0, 8)
    if buffer[a:a + 4] != DICTIONARY_MAGIC or b - a < 8:
        return 0, None
    length = int.from_bytes(buffer[a + 4:b], "little")
    if 8 + length > window.size or length > MAX_DICTIONARY:
        return 0, None
    buffer, a, b = window.span(8, length)
    data = buffer[a:b]
    if data[:4] == MAGIC:
        try:
            data = zstandard.ZstdDecompressor().stream_reader(data).read(MAX_DICTIONARY)
        except zstandard.ZstdError:
            return 8 + length, None
    return 8 + length, zstandard.ZstdCompressionDict(data)
