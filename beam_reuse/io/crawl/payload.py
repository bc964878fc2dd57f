"""The charset of a payload, found the way browsers do, and its text."""

import codecs
import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5

from beam_reuse.core.pages import Kind
from beam_reuse.core.tokens import count_tokens, token_texts

PRESCAN = (1024, 4096)
_DETECTED = 64 << 10
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
_META = re.compile(rb"<meta[\s/]")
_QUOTED = re.compile(rb"""=\s*(?:"[^"]*"|'[^']*')""")
_OWN_ATTRIBUTE = re.compile(rb"[\s/]charset\s*=")
_LABEL = re.compile(rb"""charset\s*=\s*["']?\s*([^\s"'>;]+)""")
_XML = re.compile(rb"""<\?xml\s[^>]*?encoding\s*=\s*["']([a-z0-9._:-]+)["']""")
_WEB_NAMES = {"cp866": "ibm866", "mac-roman": "macintosh", "iso8859-11": "windows-874",
              "euc_kr": "euc-kr", "euc_jp": "euc-jp", "iso2022_jp": "iso-2022-jp",
              "utf-16-le": "utf-16le", "utf-16-be": "utf-16be"}
_CODECS = {"gbk": "gb18030", "shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs",
           "windows-874": "cp874", "ibm866": "cp866", "macintosh": "mac-roman",
           "utf-16le": "utf-16-le", "utf-16be": "utf-16-be"}


def find_charset(payload: bytes, kind: Kind, label: str = "") -> str:
    """The charset of a payload, by its WHATWG name; empty for kinds without text.

    Byte order mark, then `label` (of the header), then what the document says of itself
    (HTML: meta or XML declaration, in the first 1 KB if there is one, else in 4 KB), then
    detection: UTF-8 if it is valid UTF-8, else by letter frequencies. Labels nobody knows
    are passed over.
    """
    if not kind.has_text:
        return ""
    for mark, name in _BOMS:
        if payload.startswith(mark):
            return name
    if label and (known := charset_name(label)):
        return known
    if kind is Kind.HTML:
        for length in PRESCAN:
            if known := _declared(payload[:length].lower()):
                return known
    return _detected(payload)


@lru_cache(maxsize=4096)
def charset_name(label: str) -> str:
    """The WHATWG name of a charset label; empty if there is no such charset."""
    found = (map_encoding_to_html5(label.strip().lower(), False) or "").lower()
    if found in _WEB_NAMES:
        return _WEB_NAMES[found]
    for start, web in (("cp", "windows-"), ("iso8859-", "iso-8859-")):
        if found.startswith(start):
            return web + found.removeprefix(start)
    return found


def _declared(head: bytes) -> str:
    """What the head of a document, in lower case, says of it: the first label that is known."""
    xml = _XML.match(head)
    if xml and (known := charset_name(xml[1].decode("ascii"))):
        return _not_wide(known)
    label = _LABEL.search(head)
    while label:
        if _is_meta(head, label) and (known := charset_name(label[1].decode("latin-1"))):
            return _not_wide(known)
        label = _LABEL.search(head, label.end())
    return ""


def _is_meta(head: bytes, label: re.Match[bytes]) -> bool:
    """True if a label is in a meta element, where it names the document's charset."""
    start = head.rfind(b"<", 0, label.start())
    comment = head.rfind(b"<!--", 0, label.start())
    if not _META.match(head, start) or (comment >= 0 and head.find(b"-->", comment, start) < 0):
        return False
    meta = head[start:label.end()]
    return b"http-equiv" in head[start:head.find(b">", start)] or bool(
        _OWN_ATTRIBUTE.search(_QUOTED.sub(b"=", meta)))


def _not_wide(name: str) -> str:
    """A declaration that could be read byte by byte is not in UTF-16, whatever it says."""
    return "utf-8" if name.startswith("utf-16") else name


def _detected(payload: bytes) -> str:
    if b"\x1b" not in payload[:_DETECTED]:
        try:
            codecs.getincrementaldecoder("utf-8")().decode(payload)
            return "utf-8"
        except UnicodeDecodeError:
            pass
    return charset_name(detect_encoding(payload[:_DETECTED]) or "") or "utf-8"


def decode_text(payload: bytes, charset: str) -> str:
    """The text of a payload; what cannot be decoded becomes U+FFFD, a byte order mark goes."""
    text = payload.decode(_CODECS.get(charset, charset) or "utf-8", "replace")
    return text.removeprefix("\ufeff")


# How charsets are called in which a payload can be read as it is.
IN_UTF8 = ("", "utf-8")


def tokens_between(
    payload: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64], charset: str,
) -> NDArray[np.int64]:
    """How many tokens are in each `payload[starts[i]:ends[i]]`, text of this charset."""
    if charset in IN_UTF8:
        return count_tokens(np.frombuffer(payload, np.uint8), starts, ends)
    texts = (decode_text(payload[start:end], charset).encode("utf-8", "surrogatepass")
             for start, end in zip(starts.tolist(), ends.tolist(), strict=True))
    return np.array([len(token_texts(text)) for text in texts], np.int64)
