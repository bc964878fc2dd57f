"""Pages as WARC records.

A record that stays as it is, stays byte for byte. What stays of a page of which something was
taken out is a `conversion` record. What was taken out, and how a page is marked, is in a
`metadata` record (JSON) behind the page's own, which it refers to.
"""

import hashlib
import uuid
from collections.abc import Mapping

import zstandard

from beam_reuse.core.pages import Kind
from beam_reuse.io.corpus.records import EPOCH, CorpusPage, json_line
from beam_reuse.io.crawl.chain import WARC
from beam_reuse.io.crawl.members import gzip_member

WARC_GZ, WARC_ZST = f"{WARC}.gz", f"{WARC}.zst"


def warc_records(page: CorpusPage, form: str) -> bytes:
    """The record of a page, and the one that describes it, if it was changed; each in a member of
    its own, if the form is compressed. Equal pages give equal bytes."""
    if page.form == form and not page.is_stripped:
        identity, record = page.record_id, page.stored
    else:
        identity, made = _page_record(page)
        record = _packed(made, form)
    if not page.marks:
        return record
    return record + _packed(_metadata_record(page, identity), form)


def _packed(record: bytes, form: str) -> bytes:
    if form == WARC_GZ:
        return gzip_member(record)
    if form == WARC_ZST:
        return zstandard.ZstdCompressor(write_checksum=True).compress(record)
    return record


def _page_record(page: CorpusPage) -> tuple[str, bytes]:
    """A page as a record with its decoded payload: its id, which follows from its content, and the
    record."""
    now = page.as_changed()
    kind = now.content_type or ("text/html" if now.kind is Kind.HTML else "text/plain")
    charset = f"; charset={now.charset}" if now.charset else ""
    if not page.is_stripped:
        identity = _identity(page)
        return identity, _record(page, "resource", identity, kind + charset, {}, now.payload)
    identity = _identity(page, "conversion", hashlib.sha1(now.payload).hexdigest())
    refers = {"WARC-Refers-To": f"<{page.record_id}>"} if page.record_id else {}
    return identity, _record(page, "conversion", identity, kind + charset, refers, now.payload)


def _metadata_record(page: CorpusPage, about: str) -> bytes:
    content = json_line(page.marks)
    identity = _identity(page, "metadata", about, hashlib.sha1(content).hexdigest())
    refers = {"WARC-Refers-To": f"<{about}>"} if about else {}
    return _record(page, "metadata", identity, "application/json", refers, content)


def _identity(page: CorpusPage, *more: str) -> str:
    moment = page.moment or EPOCH
    name = " ".join((page.url, moment.isoformat(), *more))
    return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}"


def _record(
    page: CorpusPage, kind: str, identity: str, content_type: str, more: Mapping[str, str],
    content: bytes,
) -> bytes:
    fields = {
        "WARC-Type": kind, "WARC-Record-ID": f"<{identity}>",
        "WARC-Date": f"{page.moment or EPOCH:%Y-%m-%dT%H:%M:%S}Z", "WARC-Target-URI": page.url,
        **more, "Content-Type": content_type, "Content-Length": str(len(content)),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return b"WARC/1.0\r\n" + head.encode() + b"\r\n" + content + b"\r\n\r\n"
