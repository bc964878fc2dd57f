"""Random reads in a crawl file through one block held in memory.

Readers ask for bytes at absolute positions; reading on, looking back and jumping are the
same call. Local files are read directly, others through Beam's filesystems.
"""

from typing import IO, Protocol

from beam_reuse.io.files import is_local, local_path, open_files

FIRST_BLOCK = 64 << 10
BLOCK = 1 << 20
REMOTE_BLOCK = 4 << 20

Span = tuple[bytes, int, int]


class Bytes(Protocol):
    """Bytes at positions: a file, or what a compressed unit of it inflates to.

    `forward` means that what is far ahead can only be reached through all before it.
    """

    forward: bool

    def span(self, pos: int, length: int) -> Span:
        """(buffer, a, b): buffer[a:b] are the `length` bytes at `pos`, fewer at the end only."""

    def release(self, pos: int) -> None:
        """Bytes before `pos` will not be asked for again."""

    def skip(self, pos: int) -> None:
        """Go to `pos` (or the end) without holding what is before it."""


class Window:
    """The first `size` bytes of an open file as `Bytes`; what was appended later is not read.

    Blocks grow from small ones, so that a look at a file's start is cheap. Memory: one
    block, or the longest span asked for.
    """

    forward = False

    def __init__(self, handle: IO[bytes], size: int, block: int = BLOCK) -> None:
        self.size = size
        self._handle = handle
        self._largest = block
        self._block = FIRST_BLOCK
        self._start = 0
        self._buffer = b""

    def span(self, pos: int, length: int) -> Span:
        a = pos - self._start
        if a < 0 or a + length > len(self._buffer):
            length = max(0, min(length, self.size - pos))
            if a < 0 or a + length > len(self._buffer):
                self._load(pos, length)
                a = 0
        return self._buffer, a, min(a + length, len(self._buffer))

    def release(self, pos: int) -> None:
        pass

    def skip(self, pos: int) -> None:
        pass

    @property
    def reached(self) -> int:
        """The offset behind what was read last."""
        return self._start + len(self._buffer)

    def _load(self, pos: int, length: int) -> None:
        wanted = min(max(length, self._block), self.size - pos)
        self._block = min(4 * self._block, self._largest)
        self._handle.seek(pos)
        pieces = []
        while wanted > 0:
            piece = self._handle.read(wanted)
            if not piece:
                break
            pieces.append(piece)
            wanted -= len(piece)
        self._start = pos
        self._buffer = pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.close()


def open_window(path: str, size: int) -> Window:
    """The file at `path`, whose size is known, for reading."""
    path = local_path(path)
    if is_local(path):
        return Window(open(path, "rb", buffering=0), size)
    return Window(open_files(path).open(path), size, REMOTE_BLOCK)
