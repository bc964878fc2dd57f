"""What a page declares of itself, over the tokens of html5lib: the slow twin of
`io.crawl.declared`, as docs/origins.md defines it."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from html5lib._tokenizer import HTMLTokenizer
from html5lib.constants import tokenTypes

from beam_reuse.core.urls import BadUrl, canonical_url, resolve_url

TEXT = {"title": "rcdataState", "textarea": "rcdataState", "script": "scriptDataState",
        "plaintext": "plaintextState",
        **dict.fromkeys(("style", "xmp", "iframe", "noembed", "noframes", "noscript"),
                        "rawtextState")}
NESTED = ("svg", "math", "template")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Place(NamedTuple):
    """A start tag that counts, with the text after it that is content of a script."""

    name: str
    attributes: dict[str, str]
    content: str


def places(html: str) -> list[Place]:
    """Start tags that count: `link`, `base` in the head, `meta`, `script`, `time` in articles."""
    tokenizer = HTMLTokenizer(html)
    found: list[Place] = []
    head, articles, depth, outer, script = True, 0, 0, "", False
    for token in tokenizer:
        kind, name = token["type"], token.get("name")
        if kind in (tokenTypes["Characters"], tokenTypes["SpaceCharacters"]) and script:
            found[-1] = found[-1]._replace(content=found[-1].content + token["data"])
        if kind not in (tokenTypes["StartTag"], tokenTypes["EndTag"]):
            continue
        script = False
        start = kind == tokenTypes["StartTag"]
        foreign = depth > 0 and outer != "template"
        if depth and name == outer:
            depth += (0 if foreign and token["selfClosing"] else 1) if start else -1
            continue
        if start and not foreign and name in TEXT:
            tokenizer.state = getattr(tokenizer, TEXT[name])
            tokenizer.currentToken = token
        if depth:
            continue
        if not start:
            head = head and name != "head"
            articles = max(articles - (name == "article"), 0)
            continue
        if name == "template" or (name in NESTED and not token["selfClosing"]):
            outer, depth = name, 1
        head = head and name != "body"
        articles += name == "article"
        if name in ("meta", "script") or (name in ("link", "base") and head) or (
                name == "time" and articles):
            found.append(Place(name, dict(token["data"]), ""))
            script = name == "script"
    return found


def canonical(url: str, html: str, link: str = "") -> str | None:
    """The one canonical URL that a page at `url` names, None if none or several."""
    there = places(html)
    bases = [place.attributes["href"] for place in there
             if place.name == "base" and "href" in place.attributes]
    base = resolve_url(url, bases[0]) if bases else url
    named = [resolve_url(base, place.attributes["href"]) for place in there
             if place.name == "link" and place.attributes.get("href", "").strip()
             and "canonical" in place.attributes.get("rel", "").lower().split()]
    named += [resolve_url(url, target) for target in header_targets(link)]
    usable = {each for each in (usable_url(url, target) for target in named) if each}
    return usable.pop() if len(usable) == 1 else None


def header_targets(link: str) -> Iterator[str]:
    """Targets of the simple headers that tests make: no quote in a quoted value."""
    for part in re.split(r",(?=\s*<)", link):
        target, _, parameters = part.strip().removeprefix("<").partition(">")
        given = dict(re.findall(r';\s*(\w+)="?([^";]*)"?', parameters))
        if target and "anchor" not in given and "canonical" in given.get("rel", "").lower().split():
            yield target


def usable_url(url: str, target: str) -> str | None:
    try:
        named = canonical_url(target)
    except BadUrl:
        return None
    if named.split(":")[0] not in ("http", "https", url.split(":")[0]):
        return None
    if named == url or upper(escaped(named)) == upper(escaped(url)):
        return url
    return escaped(named)


def escaped(url: str) -> str:
    return "".join(
        char if "\x20" < char < "\x7f" and char not in '"<>`{}'
        else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace")) for char in url)


def upper(url: str) -> str:
    return re.sub("%[0-9a-fA-F]{2}", lambda found: found[0].upper(), url)


def date(html: str, captured: datetime | None = None, modified: datetime | None = None,
         ) -> datetime | None:
    """The first usable date that a page declares; `modified` is what its header says."""
    there = places(html)
    written = [value for place in there if place.name == "script"
               and place.attributes.get("type", "").split(";")[0].strip().lower()
               == "application/ld+json" for value in published(place.content)]
    written += [place.attributes.get("content", "") for place in there if place.name == "meta"
                and any(place.attributes.get(name, "").strip().lower() == "article:published_time"
                        for name in ("property", "name"))]
    written += [place.attributes.get("datetime", "") for place in there if place.name == "time"]
    latest = captured + timedelta(days=1) if captured else datetime(2100, 1, 1, tzinfo=UTC)
    for value in written:
        moment = iso(value.strip())
        if moment and datetime(1990, 1, 1, tzinfo=UTC) <= moment <= latest:
            return moment
    latest = captured - timedelta(minutes=1) if captured else latest
    if modified and datetime(1990, 1, 1, tzinfo=UTC) <= modified <= latest:
        return modified
    return None


def published(content: str) -> Iterator[str]:
    try:
        yield from _published(json.loads(content.strip(" \t\r\n\f"), strict=False))
    except ValueError:
        return


def _published(thing: Any) -> Iterator[str]:
    if isinstance(thing, list):
        for each in thing:
            yield from _published(each)
    if isinstance(thing, dict):
        value = thing.get("datePublished")
        for each in value if isinstance(value, list) else [value]:
            text = each.get("@value") if isinstance(each, dict) else each
            if isinstance(text, str):
                yield text
        yield from _published(thing.get("@graph"))
        yield from _published(thing.get("mainEntity"))


def iso(text: str) -> datetime | None:
    """A date, perhaps with a time of day and a zone, as `datetime` itself reads it."""
    text = re.sub(" ?(UTC|GMT|Z)$", "+00:00", text, flags=re.IGNORECASE)
    text = re.sub(r" ([+-]\d\d(:?\d\d)?)$", r"\1", text)
    if not re.fullmatch(r"\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?"
                        r"([+-]\d\d(:?\d\d)?)?)?", text, re.ASCII):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
