"""What a page says of itself: the URL it calls canonical, and when it was published.

Both are taken from the bytes of the page as a browser's tokenizer reads them (no tree is made, so
they do not depend on whether anybody needs the text) and from the head of its HTTP response.
docs/origins.md has the definition.
"""

import json
import re
from collections.abc import Iterator
from html import unescape
from html.entities import html5
from typing import Any, NamedTuple

import numpy as np
import orjson

from beam_reuse.core.pages import Kind, RawPage
from beam_reuse.core.urls import BadUrl, canonical_url, resolve_url
from beam_reuse.io.crawl.moments import parse_http_date, parse_published
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.kernels.declarations import (
    IS_BASE,
    IS_CANONICAL,
    IS_LINKED_DATA,
    IS_META,
    IS_TIME,
    declared_places,
)

DAY = 86_400_000_000
MOST_LINKED_DATA = 1 << 20
EARLIEST = 631_152_000_000_000
"""1990 began: dates before the web are those of what a page is about, or zeros of databases."""
LATEST = 4_102_444_800_000_000
"""2100 begins."""
MADE_WHEN_ASKED = 60_000_000
_WIDE = ("utf-16le", "utf-16be", "iso-2022-jp")  # in which other bytes may look like tags
_WHITE = "\t\n\f\r "
_ATTRIBUTE = re.compile(
    r"""[\t\n\f\r /]*([^\t\n\f\r /][^\t\n\f\r /=]*)"""
    r"""(?:[\t\n\f\r ]*=[\t\n\f\r ]*("[^"]*"|'[^']*'|[^\t\n\f\r ]*))?""")
_REFERENCE = re.compile(r"&(#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[A-Za-z][A-Za-z0-9]*;?)(=?)")
_LINK_HEADER = re.compile(r"""<([^>]*)>((?:[^,"]|"(?:[^"\\]|\\.)*")*)""")
_PARAMETER = re.compile(r""";\s*([A-Za-z*]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))""")
_NOT_IN_URL = re.compile("[\0-\x20\"<>`{}\x7f-\U0010ffff]")
_ESCAPE = re.compile("%[0-9a-fA-F]{2}")
_JSON = json.JSONDecoder(strict=False, parse_int=float)


class Declared(NamedTuple):
    """`canonical`: the canonical URL that a page names; `date`: when it says it was published, in
    microseconds since 1970 UTC. None where it names none, or none of use."""

    canonical: str | None = None
    date: int | None = None


NOTHING = Declared()


class _Place(NamedTuple):
    """A tag that may declare something, its attributes, and the content of a script."""

    kind: int
    attributes: dict[str, str]
    content: bytes


def declared_by(page: RawPage, url: str) -> Declared:
    """What a page with this canonical URL declares; total, whatever the page is.

    Cost: some ns per byte of HTML, and some 10 µs for a page that declares something. Bounded:
    64 tags of each kind, 64 KB of attributes, 1 MB of linked data.
    """
    places = list(_places(page)) if page.kind is Kind.HTML else []
    if not (places or page.link or page.last_modified):
        return NOTHING
    return Declared(_canonical(page, url, places), _date(page, places))


def _places(page: RawPage) -> Iterator[_Place]:
    """The places that may declare something, in document order; few pages are looked at tag by
    tag, as few have the words."""
    payload, charset = page.payload, page.charset
    if charset in _WIDE:
        payload, charset = decode_text(payload, charset).encode("utf-8", "replace"), "utf-8"
    lowered = payload.lower()
    dated = _may_be_dated(lowered)
    if not dated and b"canonical" not in lowered:
        return
    data = np.frombuffer(payload, np.uint8)
    for kind, start, end, after in declared_places(data, dated).tolist():
        yield _Place(kind, attributes_of(decode_text(payload[start:end], charset)),
                     payload[end + 1:after] if kind == IS_LINKED_DATA else b"")


def _may_be_dated(lowered: bytes) -> bool:
    """Whether HTML, in lower case, has the words that dates are declared with."""
    return (b"published" in lowered and (
        b"datepublished" in lowered or b"published_time" in lowered)) or (
        b"datetime" in lowered and b"<article" in lowered)


def attributes_of(tag: str) -> dict[str, str]:
    """The attributes of a start tag, from behind its name to its `>`: the first of each name, in
    lower case, character references undone as in attributes."""
    found: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(tag):
        quoted = value[:1] in ("'", '"')
        found.setdefault(name.lower(), _unescaped(value[1:-1] if quoted else value))
    return found


def _unescaped(value: str) -> str:
    return _REFERENCE.sub(_character, value) if "&" in value else value


def _character(reference: re.Match[str]) -> str:
    """What a character reference in an attribute is; a name without `;` is none before `=`."""
    name, equals = reference.groups()
    if name[0] != "#" and (name not in html5 or (equals and not name.endswith(";"))):
        return reference[0]
    return unescape("&" + name) + equals


# Canonical URLs


def _canonical(page: RawPage, url: str, places: list[_Place]) -> str | None:
    """The one URL that all usable declarations name; None where there is none, or they differ."""
    base = next((resolve_url(url, place.attributes["href"]) for place in places
                 if place.kind == IS_BASE and "href" in place.attributes), url)
    named = {_usable(resolve_url(base, place.attributes["href"]), url) for place in places
             if place.kind == IS_CANONICAL and place.attributes.get("href", "").strip(_WHITE)
             and _is_canonical(place.attributes.get("rel", ""))}
    if "canonical" in page.link.lower():
        named |= {_usable(resolve_url(url, target), url)
                  for target in linked_as_canonical(page.link)}
    named.discard(None)
    return named.pop() if len(named) == 1 else None


def _is_canonical(rel: str) -> bool:
    return "canonical" in rel.lower().split()


def linked_as_canonical(header: str) -> Iterator[str]:
    """The targets with rel=canonical of an HTTP Link header, of this page, not of an anchor."""
    for target, parameters in _LINK_HEADER.findall(header):
        given: dict[str, str] = {}
        for name, quoted, bare in _PARAMETER.findall(parameters):
            given.setdefault(name.lower(), quoted or bare)
        if target.strip() and "anchor" not in given and _is_canonical(given.get("rel", "")):
            yield target


def _usable(target: str, url: str) -> str | None:
    """A URL that a page names as the canonical one of a page: on the web, or where the page itself
    is from; escaped as browsers do. It is the page's own, if escapes are all that differs."""
    try:
        named = canonical_url(target)
    except BadUrl:
        return None
    if named.partition(":")[0] not in ("http", "https", url.partition(":")[0]):
        return None
    escaped = _escaped(named)
    return url if named == url or _same_case(escaped) == _same_case(_escaped(url)) else escaped


def _escaped(url: str) -> str:
    return _NOT_IN_URL.sub(lambda char: "".join(
        f"%{byte:02X}" for byte in char[0].encode("utf-8", "replace")), url)


def _same_case(url: str) -> str:
    return _ESCAPE.sub(lambda escape: escape[0].upper(), url) if "%" in url else url


# Dates


def _date(page: RawPage, places: list[_Place]) -> int | None:
    """The first usable date of: linked data, `article:published_time`, a `time` of an article,
    the HTTP header Last-Modified."""
    latest = LATEST if page.timestamp is None else page.timestamp + DAY
    written = (parse_published(value) for find in (_linked_data, _published_time, _times)
               for value in find(places))
    dated = next((date for date in written if date is not None and EARLIEST <= date <= latest),
                 None)
    if dated is not None or not page.last_modified:
        return dated
    modified = parse_http_date(page.last_modified)
    if page.timestamp is not None:
        latest = page.timestamp - MADE_WHEN_ASKED
    return modified if modified is not None and EARLIEST <= modified <= latest else None


def _published_time(places: list[_Place]) -> Iterator[str]:
    for place in places:
        names = (place.attributes.get(name, "").strip(_WHITE).lower()
                 for name in ("property", "name"))
        if place.kind == IS_META and "article:published_time" in names:
            yield place.attributes.get("content", "")


def _times(places: list[_Place]) -> Iterator[str]:
    for place in places:
        if place.kind == IS_TIME:
            yield place.attributes.get("datetime", "")


def _linked_data(places: list[_Place]) -> Iterator[str]:
    for place in places:
        kind = place.attributes.get("type", "").partition(";")[0].strip(_WHITE).lower()
        if (place.kind == IS_LINKED_DATA and kind == "application/ld+json"
                and b"datePublished" in place.content and len(place.content) <= MOST_LINKED_DATA):
            yield from dates_published(place.content)


def dates_published(content: bytes) -> Iterator[str]:
    """The values of `datePublished` in linked data (JSON-LD): of the things it is about, which are
    the outermost, then those in their graphs, then their main entities, each in order. Not of
    things in other things, such as comments and reviews. Nothing if it is no JSON."""
    waiting = [_parsed(content)]
    while waiting:
        thing = waiting.pop()
        if isinstance(thing, list):
            waiting += reversed(thing)
        elif isinstance(thing, dict):
            yield from _strings(thing.get("datePublished"))
            waiting += (thing[name] for name in ("mainEntity", "@graph") if name in thing)


def _strings(value: Any) -> Iterator[str]:
    for each in value if isinstance(value, list) else (value,):
        text = each.get("@value") if isinstance(each, dict) else each
        if isinstance(text, str):
            yield text


def _parsed(content: bytes) -> Any:
    """JSON as it is written on pages: control characters may be in strings."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        pass
    try:
        return _JSON.decode(content.decode("utf-8", "replace").strip("\ufeff" + _WHITE))
    except (ValueError, RecursionError):
        return None

