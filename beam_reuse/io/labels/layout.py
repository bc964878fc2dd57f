"""The layout of a compact list: header, section table, rows. docs/label-format.md describes the
same to programmers of other programs."""

import struct
from dataclasses import dataclass

import numpy as np
from isal.isal_zlib import crc32
from numpy.typing import NDArray

from beam_reuse.core.chunking import SHA1
from beam_reuse.core.errors import UserError

MAGIC = b"BRLABELS"
VERSION = 2
HEADER_BYTES = 256
ALIGNMENT = 64
SECTIONS = ("settings", "filter", "index", "rows", "name_offsets", "names", "domains")
# A row is a hash and, with the highest byte first, how many domains its content occurs on (see
# `core.labels.evidence`), and 4 * source + kind. It sorts as bytes: strong sources first.
ROW = np.dtype([("sha1", SHA1), ("domains", ">u4"), ("label", ">u4")])
NO_SOURCE = (1 << 30) - 1

_FRONT = struct.Struct("<8sIIQQQ")
_ENTRY = struct.Struct("<QQI4x")
_CHECKSUM = struct.Struct("<I")


def pack_labels(sources: NDArray[np.uint32], kinds: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Numbers of sources and kinds as one number per row."""
    return sources << np.uint32(2) | kinds


def unpack_labels(labels: NDArray) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Numbers of sources and kinds of rows."""
    native = labels.astype(np.uint32)
    return native >> np.uint32(2), (native & np.uint32(3)).astype(np.uint8)


@dataclass(frozen=True)
class Section:
    """Where a section is in the file, and the CRC-32 of its bytes."""

    start: int
    length: int
    checksum: int

    @property
    def end(self) -> int:
        return self.start + self.length

    @property
    def padding(self) -> int:
        """How many zeros follow it, up to where the next one may start."""
        return -self.length % ALIGNMENT


@dataclass(frozen=True)
class Layout:
    """What the header says: the file's length, how many rows and names, the sections."""

    length: int
    rows: int
    names: int
    sections: dict[str, Section]

    @staticmethod
    def of(rows: int, names: int, contents: list[tuple[int, int]]) -> "Layout":
        """The layout of sections with these lengths and checksums, in order."""
        sections, at = {}, HEADER_BYTES
        for name, (length, checksum) in zip(SECTIONS, contents, strict=True):
            sections[name] = Section(at, length, checksum)
            at = sections[name].end + sections[name].padding
        return Layout(at, rows, names, sections)

    def header(self) -> bytes:
        front = _FRONT.pack(MAGIC, VERSION, len(SECTIONS), self.length, self.rows, self.names)
        table = b"".join(
            _ENTRY.pack(s.start, s.length, s.checksum) for s in self.sections.values())
        head = (front + table).ljust(HEADER_BYTES - _CHECKSUM.size, b"\0")
        return head + _CHECKSUM.pack(crc32(head))

    @staticmethod
    def read(head: bytes, length: int, path: str) -> "Layout":
        """The layout of a file of `length` bytes; UserError if its header is not sound, or the
        file is shorter or longer than it says."""
        if len(head) < HEADER_BYTES or not head.startswith(MAGIC):
            raise UserError(f"{path} is no compact list of labels, or cut short. Make it again.")
        _, version, count, told, rows, names = _FRONT.unpack_from(head)
        (checksum,) = _CHECKSUM.unpack_from(head, HEADER_BYTES - _CHECKSUM.size)
        if version != VERSION:
            raise UserError(f"{path} has version {version} of the compact format; this release "
                            f"reads version {VERSION}. Use the release that made it, or make "
                            "the list anew.")
        if crc32(head[: HEADER_BYTES - _CHECKSUM.size]) != checksum or count != len(SECTIONS):
            raise damaged(path, "its header")
        if told != length:
            raise UserError(f"{path} is cut short: it has {length:,} bytes of {told:,}."
                            if length < told else
                            f"{path} is damaged: it has {length:,} bytes instead of {told:,}.")
        sections = {
            name: Section(*_ENTRY.unpack_from(head, _FRONT.size + i * _ENTRY.size))
            for i, name in enumerate(SECTIONS)
        }
        found = Layout(length, rows, names, sections)
        if found != Layout.of(rows, names, [(s.length, s.checksum) for s in sections.values()]):
            raise damaged(path, "its section table")
        return found


def damaged(path: str, what: str) -> UserError:
    """The error for a file whose bytes are not those that were written."""
    return UserError(f"{path} is damaged: {what} cannot be right. Copy or make it again.")
