"""The bytes of a Block: the same for equal blocks, read without copying.

```
"BRB1"  u1 body (0 raw, 1 zstd)  u1 0  u2 columns  u8 rows  u8 length of the raw body
per column: u2 length of the name, name in UTF-8, u2 type, u8 length of its data
padding to a multiple of 64, then the body
body = per column, each part padded to a multiple of 64: the raw values; for byte strings the
       lengths as u4, then the data
```
A type is the index in FIXED, VARBYTES, or RAW + width for 'V<n>'. All numbers are
little-endian.
"""

import struct
import threading
from collections.abc import Iterator

import numpy as np
import zstandard

from beam_reuse.columnar.block import FIXED, NUMBER_OF_FIXED, Block, Column
from beam_reuse.columnar.varbytes import VarBytes

MAGIC = b"BRB1"
VARBYTES = 0xFF
RAW = 0x100
_HEAD = struct.Struct("<4sBBHQQ")
_COLUMN = struct.Struct("<HQ")
_ALIGN = 64
_WORTH = 0.9
_local = threading.local()


class LayoutError(ValueError):
    """Bytes that are no block of this version."""


def encode(block: Block, compress: bool) -> bytes:
    """The block as bytes; compressed by zstd at level 1 if asked for and worth a tenth."""
    table = bytearray()
    parts: list[memoryview | bytes] = []
    raw_length = 0
    for name in block.names:
        column = block[name]
        encoded = name.encode()
        kind, data_length = _describe(column)
        table += struct.pack("<H", len(encoded)) + encoded + _COLUMN.pack(kind, data_length)
        for part in _parts(name, column):
            padding = -part.nbytes % _ALIGN
            parts += [part.view(np.uint8).data, bytes(padding)]
            raw_length += part.nbytes + padding
    body = 0
    if compress:
        packed = _compressor().compress(b"".join(parts))
        if len(packed) < _WORTH * raw_length:
            parts, body = [packed], 1
    head = _HEAD.pack(MAGIC, body, 0, len(block.names), len(block), raw_length) + table
    return b"".join([head, bytes(-len(head) % _ALIGN), *parts])


def decode(buffer: bytes | memoryview) -> Block:
    """The block in `buffer`; its columns share memory with the buffer if not compressed."""
    view = memoryview(buffer)
    if len(view) < _HEAD.size or bytes(view[:4]) != MAGIC:
        raise LayoutError("not a block: the first bytes are not 'BRB1'")
    _, body, _, columns, rows, raw_length = _HEAD.unpack_from(view)
    table, at = _read_table(view, columns)
    at += -at % _ALIGN
    if body == 1:
        view, at = _decompressed(view[at:], raw_length), 0
    if len(view) - at != raw_length:
        raise LayoutError(f"a block cut short: {len(view) - at} of {raw_length} bytes")
    out: dict[str, Column] = {}
    for name, kind, data_length in table:
        out[name], at = _read_column(view, at, kind, data_length, rows)
    return Block(out)


def _decompressed(packed: memoryview, length: int) -> memoryview:
    try:
        return memoryview(_decompressor().decompress(packed, max_output_size=length))
    except zstandard.ZstdError as error:
        raise LayoutError(f"a compressed block that zstd cannot read: {error}") from None


def _describe(column: Column) -> tuple[int, int]:
    if isinstance(column, VarBytes):
        return VARBYTES, len(column.used())
    if column.dtype.kind == "V":
        return RAW + column.dtype.itemsize, column.nbytes
    return NUMBER_OF_FIXED[column.dtype], column.nbytes


def _parts(name: str, column: Column) -> Iterator[np.ndarray]:
    if not isinstance(column, VarBytes):
        yield column
        return
    lengths = column.lengths()
    if len(lengths) and lengths.max() >= 1 << 32:
        raise LayoutError(f"column {name!r} holds a value of 4 GB or more")
    yield lengths.astype(np.uint32)
    yield column.used()


def _read_table(view: memoryview, columns: int) -> tuple[list[tuple[str, int, int]], int]:
    table, at = [], _HEAD.size
    try:
        for _ in range(columns):
            (length,) = struct.unpack_from("<H", view, at)
            name = bytes(view[at + 2 : at + 2 + length]).decode()
            kind, data_length = _COLUMN.unpack_from(view, at + 2 + length)
            table.append((name, kind, data_length))
            at += 2 + length + _COLUMN.size
    except (struct.error, UnicodeDecodeError) as error:
        raise LayoutError(f"a block with a broken column table: {error}") from None
    return table, at


def _read_column(
    view: memoryview, at: int, kind: int, data_length: int, rows: int
) -> tuple[Column, int]:
    if kind == VARBYTES:
        lengths, at = _read_array(view, at, np.dtype(np.uint32), rows)
        data, at = _read_array(view, at, np.dtype(np.uint8), data_length)
        return VarBytes.from_lengths(lengths, data), at
    dtype = np.dtype(f"V{kind - RAW}") if kind > RAW else np.dtype(FIXED[kind])
    return _read_array(view, at, dtype, rows)


def _read_array(
    view: memoryview, at: int, dtype: np.dtype, count: int
) -> tuple[np.ndarray, int]:
    size = dtype.itemsize * count
    if at + size > len(view):
        raise LayoutError(f"a block cut short: {at + size} bytes wanted, {len(view)} there")
    array = np.frombuffer(view, dtype, count, at) if count else np.empty(0, dtype)
    if not array.flags.aligned:
        array = array.copy()
    return array, at + size + -size % _ALIGN


def _compressor() -> zstandard.ZstdCompressor:
    if not hasattr(_local, "compressor"):
        _local.compressor = zstandard.ZstdCompressor(level=1)
    out: zstandard.ZstdCompressor = _local.compressor
    return out


def _decompressor() -> zstandard.ZstdDecompressor:
    if not hasattr(_local, "decompressor"):
        _local.decompressor = zstandard.ZstdDecompressor()
    out: zstandard.ZstdDecompressor = _local.decompressor
    return out
