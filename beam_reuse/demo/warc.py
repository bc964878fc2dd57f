"""WARC records, written plainly: header lines, block, two line ends, one gzip member each."""

import datetime
import uuid
import zlib
from collections.abc import Mapping


def warc_record(
    kind: str,
    block: bytes,
    url: str = "",
    time: datetime.datetime | None = None,
    content_type: str = "application/http; msgtype=response",
    extra: Mapping[str, str] | None = None,
) -> bytes:
    """One record as a plain .warc file has it. Its id follows from its content."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ") if time else "2026-01-01T00:00:00Z"
    identity = uuid.uuid5(uuid.NAMESPACE_URL, f"{kind} {url} {stamp} {zlib.crc32(block)}")
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{identity}>",
        "WARC-Date": stamp,
        **({"WARC-Target-URI": url} if url else {}),
        **(extra or {}),
        "Content-Type": content_type,
        "Content-Length": str(len(block)),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return b"WARC/1.0\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"


def http_response(body: bytes, content_type: str, status: str = "200 OK",
                  extra: Mapping[str, str] | None = None) -> bytes:
    """An HTTP response with its headers."""
    fields = {"Content-Type": content_type, **(extra or {}), "Content-Length": str(len(body))}
    if "Transfer-Encoding" in fields:
        del fields["Content-Length"]
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def chunked(body: bytes, size: int = 700) -> bytes:
    """`body` in HTTP's chunked transfer coding."""
    pieces = [body[i : i + size] for i in range(0, len(body), size)]
    coded = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return coded + b"0\r\n\r\n"


def gzip_member(content: bytes) -> bytes:
    """One gzip member without time or name in its header."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(content) + packer.flush()
