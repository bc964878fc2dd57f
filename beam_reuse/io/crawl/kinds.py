"""What sort of content a page has: from its content type, its name or its first bytes."""

import re
from functools import lru_cache

from beam_reuse.core.pages import Kind

_HTML = {
    "text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml", "text/xml",
    "application/xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml",
    "text/vnd.wap.wml",
}
_CODE = {
    "text/javascript", "application/javascript", "application/x-javascript", "text/x-javascript",
    "text/ecmascript", "application/ecmascript", "text/css", "application/json", "text/json",
}
_GENERIC = {"", "application/octet-stream", "binary/octet-stream", "application/unknown",
            "unknown/unknown", "application/x-unknown-content-type", "content/unknown", "*/*",
            "no-type"}
_EXTENSIONS = {
    "html": "text/html", "htm": "text/html", "shtml": "text/html", "xhtml": "application/xhtml+xml",
    "xht": "application/xhtml+xml", "php": "text/html", "asp": "text/html", "aspx": "text/html",
    "jsp": "text/html", "xml": "application/xml", "rss": "application/rss+xml",
    "atom": "application/atom+xml", "rdf": "application/rdf+xml", "txt": "text/plain",
    "text": "text/plain", "md": "text/plain", "rst": "text/plain", "js": "text/javascript",
    "mjs": "text/javascript", "css": "text/css", "json": "application/json",
}
_TYPE = re.compile(r"[\w.+*!#$&^-]+/[\w.+*!#$&^-]+", re.ASCII)
_CHARSET = re.compile(r"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,"']*))""", re.IGNORECASE)
_TAG_START = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|script|style|title|meta|link|base|div|p|br|h[1-6]|table"
    rb"|font|iframe|center|form|ul|ol|img|span|a|b)[\s/>]|<!--", re.IGNORECASE)
_MAGIC = ((b"<?xml", "text/xml"), (b"%PDF-", "application/pdf"), (b"\x89PNG", "image/png"),
          (b"GIF8", "image/gif"), (b"\xff\xd8\xff", "image/jpeg"),
          (b"PK\x03\x04", "application/zip"))
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_SNIFFED = 1024


@lru_cache(maxsize=4096)
def parse_content_type(header: bytes) -> tuple[str, str]:
    """Content type in lower case and the label of its charset, each empty if absent or bad."""
    text = header.decode("latin-1")
    found = _TYPE.match(text.strip())
    charset = _CHARSET.search(text)
    label = next((part for part in charset.groups() if part), "") if charset else ""
    return found[0].lower() if found else "", label


def is_generic(content_type: str) -> bool:
    """True for a content type that says nothing; the content decides then."""
    return content_type in _GENERIC


@lru_cache(maxsize=4096)
def kind_of(content_type: str) -> Kind:
    """The kind of a page of this content type (lower case, without parameters)."""
    if content_type in _HTML:
        return Kind.HTML
    if content_type == "text/plain":
        return Kind.TEXT
    if content_type in _CODE or content_type.endswith("+json"):
        return Kind.CODE
    if content_type.endswith("+xml") and not content_type.startswith("image/"):
        return Kind.HTML
    return Kind.OTHER


def type_of_name(name: str) -> str:
    """Content type by a file's name without its compression; empty if it says nothing."""
    return _EXTENSIONS.get(name.rpartition(".")[2].lower(), "") if "." in name else ""


def sniff_type(payload: bytes) -> str:
    """Content type by the first bytes; text/plain for text, else application/octet-stream."""
    head = payload[:_SNIFFED]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "text/plain"
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\t\n\f\r ")
    if _TAG_START.match(head):
        return "text/html"
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    return "application/octet-stream" if _BINARY.search(head) else "text/plain"


def is_binary(payload: bytes) -> bool:
    """True if the first bytes hold control characters no text has."""
    return _BINARY.search(payload, 0, _SNIFFED) is not None
