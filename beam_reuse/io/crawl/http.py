"""HTTP messages as crawlers store them, tolerant of what servers really send: heads of responses,
and bodies with transfer and content encodings undone, within a limit on every step."""

import re
from collections.abc import Callable, Generator, Iterator
from io import BytesIO
from typing import NamedTuple

import brotli
from isal import isal_zlib

from beam_reuse.io.crawl import zstd_frames
from beam_reuse.io.crawl.kinds import is_binary
from beam_reuse.io.crawl.members import Corrupt, IsalError, inflate_file
from beam_reuse.io.crawl.records import MAX_HEADER, quoted
from beam_reuse.io.crawl.window import Window

_STATUS = re.compile(rb"(?:HTTP/\d+(?:\.\d+)?|HTTP|ICY)[ \t]+(\d{3})(?!\d)")
_END = re.compile(rb"\n\r*\n")
_FIELD = re.compile(
    rb"\n(content-type|content-encoding|transfer-encoding|link|last-modified)[ \t]*:[ \t]*"
    rb"([^\r\n]*(?:\r*\n[ \t]+[^\r\n]*)*)", re.IGNORECASE)
_FOLD = re.compile(rb"\r*\n[ \t]+")
_STEP = 1 << 20
_LEAST_FEED = 4 << 10
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\n]*)?\r?\n")
_PLAIN = {b"", b"identity", b"none", b"binary", b"8bit", b"7bit"}


class Head(NamedTuple):
    """What an HTTP response's head says of the page; `body` is where it ends."""

    status: int
    content_type: bytes
    content_encoding: bytes
    transfer_encoding: bytes
    body: int
    link: bytes = b""
    last_modified: bytes = b""


def looks_like_http(buffer: bytes, a: int, b: int) -> bool:
    """True if buffer[a:b] starts with a status line."""
    return _STATUS.match(buffer, a, b) is not None


def read_head(buffer: bytes, a: int, b: int) -> Head:
    """The head of the response in buffer[a:b]; `Corrupt` if there is none.

    Lines may end in LF alone, the reason phrase may be missing, lines may be folded; a
    response that is all head has an empty body. Of several content types the last counts,
    as in browsers; several content encodings were applied in their order, several links are one
    list.
    """
    status = _STATUS.match(buffer, a, b)
    if status is None:
        start = quoted(buffer[a:min(b, a + 60)])
        raise Corrupt("bad-http", f"no HTTP status line: {start}" if b > a else "empty response")
    end = _END.search(buffer, status.end(), min(b, a + MAX_HEADER))
    if end is None and b - a > MAX_HEADER:
        raise Corrupt("header-too-large", f"HTTP headers of more than {MAX_HEADER} bytes")
    head = end.start() + 1 if end else b
    content_type = transfer = modified = b""
    encodings, links = [], []
    for name, value in _FIELD.findall(buffer, a, head):
        value = value.strip()
        if b"\n" in value:
            value = _FOLD.sub(b" ", value)
        name = name.lower()
        if name == b"content-type":
            content_type = value or content_type
        elif name == b"content-encoding":
            encodings.append(value)
        elif name == b"link":
            links.append(value)
        elif name == b"last-modified":
            modified = value
        else:
            transfer = value
    return Head(int(status[1]), content_type, b",".join(encodings), transfer,
                end.end() if end else b, b",".join(links), modified)


class _NotEncoded(Exception):
    """The bytes are not in the encoding at all."""


def decode_payload(body: bytes, transfer: bytes, content: bytes, limit: int) -> tuple[bytes, bool]:
    """The payload of an HTTP body and whether an encoding its header names was absent.

    `transfer` and `content` are the values of the two headers, several encodings in the
    order they were applied. A body that is not in an encoding named is taken as it is.
    `Corrupt` if a step gives more than `limit` bytes, or breaks off or fails in the
    middle of a body that is in the encoding.
    """
    absent = False
    if b"chunked" in transfer.lower():
        joined = join_chunks(body)
        absent = joined is None
        body = body if joined is None else joined
    for name in reversed(content.lower().split(b",")):
        name = name.strip().removeprefix(b"x-")
        if name in _PLAIN or not body:
            continue
        pieces = _DECODERS.get(name)
        try:
            if pieces is None:
                raise _NotEncoded
            body = _joined(pieces(body), limit, name.decode("ascii"))
        except _NotEncoded:
            absent = True
    return body, absent


def join_chunks(body: bytes) -> bytes | None:
    """The data of a chunked body, None if it is not chunked.

    A body that breaks off gives what came until then, as browsers show it.
    """
    pieces: list[bytes] = []
    pos = 0
    while pos < len(body):
        size = _CHUNK_SIZE.match(body, pos)
        if size is None:
            rest = body[pos:]
            if not pieces or rest.strip(b"\r\n0123456789abcdefABCDEF"):
                return None
            break
        length = int(size[1], 16)
        if length == 0:
            break
        start = size.end()
        pieces.append(body[start:start + length])
        pos = start + length
        end = body[pos:pos + 2]
        if end == b"\r\n":
            pos += 2
        elif end[:1] == b"\n":
            pos += 1
        elif end in (b"", b"\r"):
            break
        else:
            return None
    return b"".join(pieces)


def _joined(pieces: Iterator[bytes], limit: int, name: str) -> bytes:
    found, size = [], 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            raise Corrupt("too-large", f"{name} content of more than {limit} bytes")
        found.append(piece)
    return found[0] if len(found) == 1 else b"".join(found)


def _gzip(body: bytes) -> Iterator[bytes]:
    if not body.startswith(b"\x1f\x8b"):
        raise _NotEncoded
    at = 0
    while body.startswith(b"\x1f\x8b", at):
        at = yield from _inflate(body, at, 31, "gzip")


def _deflate(body: bytes) -> Iterator[bytes]:
    zlib_header = len(body) > 1 and body[0] & 0x0F == 8 and (body[0] << 8 | body[1]) % 31 == 0
    try:
        yield from _inflate(body, 0, 15 if zlib_header else -15, "deflate")
    except Corrupt:
        if zlib_header or is_binary(body):
            raise
        raise _NotEncoded from None


def _inflate(body: bytes, at: int, wbits: int, name: str) -> Generator[bytes, None, int]:
    """The pieces of the zlib stream at `at`; returns the position behind it.

    Fed by slices that begin small, so that a body of many short streams costs what it holds.
    """
    inflater = isal_zlib.decompressobj(wbits=wbits)
    feed = _LEAST_FEED
    data = b""
    try:
        while not inflater.eof:
            if not data:
                data = body[at : at + feed]
                at += len(data)
                feed = min(4 * feed, _STEP)
            piece = inflater.decompress(data, _STEP)
            if piece:
                yield piece
            elif not data and not inflater.eof:
                raise Corrupt("truncated-encoding", f"the {name} content breaks off")
            data = inflater.unconsumed_tail
    except IsalError as error:
        raise Corrupt("bad-encoding", f"{name}: {error}") from None
    return at - len(inflater.unused_data)


def _brotli(body: bytes) -> Iterator[bytes]:
    inflater = brotli.Decompressor()
    data = body
    try:
        while not inflater.is_finished():
            piece = inflater.process(data, output_buffer_limit=_STEP)
            if piece:
                yield piece
            elif not data:
                raise Corrupt("truncated-encoding", "the br content breaks off")
            data = b""
    except (brotli.error, Corrupt) as error:
        if not is_binary(body):
            raise _NotEncoded from None
        if isinstance(error, Corrupt):
            raise
        raise Corrupt("bad-encoding", f"br: {error}") from None


def _zstd(body: bytes) -> Iterator[bytes]:
    if not body.startswith(zstd_frames.MAGIC):
        raise _NotEncoded
    window = Window(BytesIO(body), len(body))
    try:
        yield from inflate_file(zstd_frames.ZstdUnits(window), len(body))
    except Corrupt as bad:
        reason = "truncated-encoding" if bad.reason == "truncated" else "bad-encoding"
        raise Corrupt(reason, f"zstd: {bad.detail}") from None


_DECODERS: dict[bytes, Callable[[bytes], Iterator[bytes]]] = {
    b"gzip": _gzip, b"deflate": _deflate, b"br": _brotli, b"zstd": _zstd,
}
