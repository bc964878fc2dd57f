"""Small writers of crawl formats, so that tests know every byte they read."""

import struct
import zlib

HTML = b"<html><head><title>t</title></head><body><p>one<p>two</body></html>"


def http(body: bytes = HTML, status: str = "200 OK", content_type: str | None = "text/html",
         *headers: str) -> bytes:
    """An HTTP response."""
    lines = [f"HTTP/1.1 {status}"]
    if content_type is not None:
        lines.append(f"Content-Type: {content_type}")
    return "\r\n".join([*lines, *headers, "", ""]).encode("latin-1") + body


def warc(block: bytes, url: str | None = "http://a.example/", kind: str = "response",
         content_type: str = "application/http; msgtype=response", length: object = None,
         **fields: str) -> bytes:
    """A WARC record; `length` overrides the true Content-Length."""
    header = {"WARC-Type": kind, "WARC-Record-ID": "<urn:uuid:1>",
              "WARC-Date": "2020-01-02T03:04:05Z", "Content-Type": content_type}
    if url is not None:
        header["WARC-Target-URI"] = url
    header |= {name.replace("_", "-"): value for name, value in fields.items()}
    header["Content-Length"] = str(len(block) if length is None else length)
    lines = ["WARC/1.0", *(f"{name}: {value}" for name, value in header.items()), "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + block + b"\r\n\r\n"


def page(number: int = 0, body: bytes = HTML) -> bytes:
    """A WARC record that is a page of its own URL."""
    return warc(http(body + b"%d" % number), f"http://a.example/{number}")


def info() -> bytes:
    """The warcinfo record files begin with."""
    return warc(b"software: test\r\n", None, "warcinfo", "application/warc-fields")


def arc(block: bytes, url: str = "http://a.example/", length: object = None, version: int = 1,
        kind: str = "text/html") -> bytes:
    """An ARC record."""
    size = len(block) if length is None else length
    middle = f"{kind} 200 ck - 77 f.arc" if version == 2 else kind
    return f"{url} 10.0.0.1 20200102030405 {middle} {size}\n".encode() + block + b"\n"


def arc_start(version: int = 1) -> bytes:
    """The record ARC files begin with."""
    fields = b"URL IP-address Archive-date Content-type Archive-length\n"
    return arc(b"%d 0 test\n" % version + fields, "filedesc://f.arc", kind="text/plain",
               version=version)


def gz(content: bytes, level: int = 6) -> bytes:
    """One gzip member; the same bytes for the same content on any machine of one zlib."""
    return gzip_frame(_deflated(content, level), content)


def stored(content: bytes, block: int = 65535) -> bytes:
    """One gzip member that has `content` as it is, in stored deflate blocks."""
    pieces = [content[i:i + block] for i in range(0, len(content), block)] or [b""]
    body = b"".join(
        struct.pack("<BHH", i == len(pieces) - 1, len(piece), len(piece) ^ 0xFFFF) + piece
        for i, piece in enumerate(pieces))
    return gzip_frame(body, content)


def gzip_frame(deflated: bytes, content: bytes) -> bytes:
    """Header and trailer around a deflate stream of `content`."""
    trailer = struct.pack("<II", zlib.crc32(content), len(content) & 0xFFFFFFFF)
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + deflated + trailer


def _deflated(content: bytes, level: int) -> bytes:
    deflater = zlib.compressobj(level, zlib.DEFLATED, -15)
    return deflater.compress(content) + deflater.flush()


def flipped(data: bytes, at: int, count: int = 1) -> bytes:
    """`data` with `count` bytes changed from position `at` (from the end if negative)."""
    at %= len(data)
    return data[:at] + bytes(byte ^ 0x5A for byte in data[at:at + count]) + data[at + count:]
