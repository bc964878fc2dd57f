"""The store under the shuffle: bulk bytes in files, references in Beam.

`files` writes blobs into files that all workers can read and hands out references; `inline`
keeps the bytes in the reference. A reference is emitted only after its file has its final
name, and names are unique, so a failed attempt leaves files that nobody refers to.
"""

import errno
import os
import socket
import struct
import sys
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import BinaryIO

import pyarrow as pa
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from isal import isal_zlib

from beam_reuse.columnar.arrow import encode
from beam_reuse.columnar.block import Block

INLINE_BYTES = 4096
INLINE_PIECES = 16
SUFFIX = ".spill"
_WHOLE_OBJECTS = ("gs://", "s3://", "azfs://")
_FIXED = struct.Struct("<QQQQIHBHH")


class StoreError(OSError):
    """A spilled blob that cannot be read back; the message names file and offset."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A blob put away in a `file` of a store's folder, or holding its own bytes.

    `nbytes` is what the content takes in memory, `length` what it takes in the store.
    """

    rows: int
    nbytes: int
    data: bytes = b""
    file: str = ""
    offset: int = 0
    length: int = 0
    checksum: int = 0
    side: int = 0
    round: int = 0
    number: int = 0

    @staticmethod
    def holding(block: Block) -> "Piece":
        """A piece that holds a block itself: for few and small ones."""
        return Piece(len(block), block.nbytes, block.to_bytes())

    def to(self, round: int, side: int = 0, number: int = 0) -> "Piece":
        """The same content, addressed: `round` is the round of a graph that reads it, `side` and
        `number` say as what."""
        return replace(self, round=round, side=side, number=number)

    def spread(self, buckets: int) -> int:
        """A number below `buckets` that is as good as random, the same for the same piece."""
        return isal_zlib.crc32(f"{self.file} {self.offset}".encode() + self.data) % buckets

    def encode(self) -> bytes:
        """A deterministic form for Beam: fixed numbers, file, bytes."""
        file = self.file.encode()
        head = _FIXED.pack(
            self.rows, self.nbytes, self.offset, self.length, self.checksum, len(file),
            self.side, self.round, self.number,
        )
        return head + file + self.data

    @staticmethod
    def decode(encoded: bytes) -> "Piece":
        rows, nbytes, offset, length, checksum, n, *where = _FIXED.unpack_from(encoded)
        at = _FIXED.size + n
        file = sys.intern(encoded[_FIXED.size : at].decode())  # of which there are many pieces
        return Piece(rows, nbytes, encoded[at:], file, offset, length, checksum, *where)


@dataclass(frozen=True)
class Blob:
    """Bytes to put away: those of `rows` rows, which take `nbytes` in memory."""

    data: bytes | pa.Buffer
    rows: int
    nbytes: int

    @staticmethod
    def of(block: Block, compress: bool = False) -> "Blob":
        return Blob(encode(block, compress), len(block), block.nbytes)


@dataclass(frozen=True)
class Store:
    """Where blobs go: `files` under `folder` (local, or any Beam filesystem that all workers
    share), or `inline`. A small value that travels inside transforms."""

    kind: str
    folder: str = ""

    def __post_init__(self) -> None:
        if self.kind not in ("files", "inline"):
            raise ValueError(f"store kind {self.kind!r} is not allowed; use 'files' or 'inline'")
        if self.kind == "files" and not self.folder:
            raise ValueError("a store of kind 'files' needs a folder that all workers can reach")

    def put(self, data: bytes, rows: int, nbytes: int | None = None) -> Piece:
        """Put one blob away, in a file of its own if it is not small."""
        return self.put_many([Blob(data, rows, len(data) if nbytes is None else nbytes)])[0]

    def put_many(self, blobs: Iterable[Blob]) -> list[Piece]:
        """Put blobs away as one file, in order. Those of at most INLINE_BYTES stay inline; in a
        local folder only the first INLINE_PIECES of them, as reading one there costs less than
        carrying it.

        The blobs are drawn one at a time, so a generator keeps one in memory. When this
        returns, the file is complete and readable by every worker.
        """
        if self.kind == "inline":
            return [Piece(b.rows, b.nbytes, bytes(b.data)) for b in blobs]
        pieces: list[Piece] = []
        inline = INLINE_PIECES if is_local(self.folder) else sys.maxsize
        writer: BinaryIO | None = None
        name = f"{uuid.uuid4().hex}{SUFFIX}"
        path = _join(self.folder, name)
        with full_disk_told(self.folder), _new_file(path) as opener:
            offset = 0
            for blob in blobs:
                length = len(blob.data)
                if length <= INLINE_BYTES and len(pieces) < inline:
                    pieces.append(Piece(blob.rows, blob.nbytes, bytes(blob.data)))
                    continue
                writer = writer or opener()
                writer.write(blob.data)
                checksum = isal_zlib.crc32(blob.data)
                pieces.append(Piece(blob.rows, blob.nbytes, b"", name, offset, length, checksum))
                offset += length
        return pieces

    def get(self, piece: Piece) -> bytes:
        """The bytes of `piece`, their checksum verified."""
        if not piece.file:
            return piece.data
        path = _join(self.folder, piece.file)
        data = _read_range(path, piece.offset, piece.length)
        if len(data) != piece.length or isal_zlib.crc32(data) != piece.checksum:
            raise StoreError(
                f"spill file {path} is damaged at offset {piece.offset} "
                f"({piece.length} bytes: checksum differs); check the disk and run again"
            )
        return data

    def get_block(self, piece: Piece) -> Block:
        return Block.from_bytes(self.get(piece))


def make_shared(folder: str) -> None:
    """Make a local folder in one that the driver has made; raise if that is not there: on another
    machine, or after the run has ended."""
    if not is_local(folder) or os.path.isdir(folder):
        return
    try:
        os.mkdir(folder)
    except FileExistsError:  # made by another worker
        pass
    except FileNotFoundError as error:
        raise StoreError(
            f"the worker on {socket.gethostname()} does not see {os.path.dirname(folder)}. Give -o "
            "a folder that all machines see under the same name: on a shared disk, or gs://, "
            "s3://, hdfs://"
        ) from error


@contextmanager
def full_disk_told(folder: str) -> Iterator[None]:
    """Raise StoreError where what is written in the block to files in `folder` finds no room: the
    system's own error does not say where."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise StoreError(f"no room is left on the disk of {folder} ({error.strerror}). Make room "
                         "there and run again, or choose a folder on another disk.") from error


def is_local(path: str) -> bool:
    return "://" not in path


def _join(folder: str, name: str) -> str:
    return os.path.join(folder, name) if is_local(folder) else FileSystems.join(folder, name)


@contextmanager
def _new_file(path: str) -> Iterator:
    """Yields a function that opens the file at first need; complete and in place after.

    Object stores show an object only when it is whole, so they need no temporary name.
    """
    temporary = path if path.startswith(_WHOLE_OBJECTS) else f"{path}.tmp"
    opened: list[BinaryIO] = []

    def open_file() -> BinaryIO:
        if is_local(path):
            make_shared(os.path.dirname(path))
            opened.append(open(temporary, "wb"))  # noqa: SIM115
        else:
            opened.append(
                FileSystems.create(temporary, compression_type=CompressionTypes.UNCOMPRESSED)
            )
        return opened[0]

    try:
        yield open_file
    finally:
        for file in opened:
            file.close()
    if not opened or temporary == path:
        return
    if is_local(path):
        os.replace(temporary, path)
    else:
        FileSystems.rename([temporary], [path])


def _read_range(path: str, offset: int, length: int) -> bytes:
    try:
        if is_local(path):
            return _read_local(path, offset, length)
        with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            file.seek(offset)
            return bytes(file.read(length))
    except OSError as error:
        raise StoreError(
            f"spill file {path} cannot be read at offset {offset}: {error}; "
            "every worker must see the run's spill folder"
        ) from error


def _read_local(path: str, offset: int, length: int) -> bytes:
    with open(path, "rb", buffering=0) as file:
        file.seek(offset)
        parts = []
        while length:
            part = file.read(length)
            if not part:
                break
            parts.append(part)
            length -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
