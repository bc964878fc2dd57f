"""What origins read of the pages of sets: what they declare, when they were captured, and links to
pages of sets on other hosts. No Beam."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from beam_reuse.columnar.block import Block, Lists, VarBytes
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.matching import lookup, match_ranges, pairs_of
from beam_reuse.columnar.schema import (
    FINGERPRINT,
    KIND,
    PAGE,
    TEXT,
    UNSIGNED,
    columns,
    gives,
    lists,
)
from beam_reuse.core.urls import BadUrl, name_page, resolve_url
from beam_reuse.pages.captures import earliest_first
from beam_reuse.pages.rows import chosen_rows

SETS = columns(kind=KIND, set=PAGE, page=PAGE)
FACTS = columns(page=PAGE, key=TEXT, url=FINGERPRINT, host=FINGERPRINT, named=TEXT,
                canonical=FINGERPRINT, date=UNSIGNED, time=UNSIGNED)
LINKS = columns(page=PAGE, url=FINGERPRINT)
MEMBERS = columns(FACTS, SETS)
LINKED_MEMBERS = columns(MEMBERS, links=lists(FINGERPRINT))
_KNOWN_LINKS = 1 << 16


@gives(SETS)
def of_kind(sets: Block, kind: int) -> Block:
    """Rows of sets, `set` and `page`, of one kind."""
    return sets.with_columns(kind=np.full(len(sets), kind, np.uint8))


@gives(FACTS)
def page_facts(parts: Block, wanted: KeyFilter) -> Iterator[Block]:
    """Of pages in sets, and few others: what they are called, fingerprints of URL, host and
    declared canonical URL (0: none), that URL (`named`, empty if it is their own), and when they
    say they were published and were captured, in the order of time."""
    read = ("url", "host", "timestamp", "declared_canonical", "declared_date")
    for pages in chosen_rows(parts, read, wanted):
        urls, declared = pages.rows.strings("url"), pages.rows.maybe("declared_canonical")
        named = declared.values
        assert isinstance(named, VarBytes)
        url = urls.hash64()
        canonical = np.where(declared.valid, named.hash64(), np.uint64(0))
        other = declared.valid & (canonical != url)
        others = VarBytes.from_lengths(np.where(other, named.lengths(), 0),
                                       named.take(np.flatnonzero(other)).used())
        yield Block({
            "page": pages.number.astype(np.uint64), "key": pages.urls(), "url": url,
            "host": pages.rows.strings("host").hash64(), "named": others,
            "canonical": canonical, "date": earliest_first(pages.rows.maybe("declared_date")),
            "time": earliest_first(pages.rows.maybe("timestamp")),
        })


@gives(MEMBERS)
def with_facts(sets: Block | None, facts: Block | None) -> Block | None:
    """Rows of sets with the facts of their pages."""
    if sets is None or facts is None:
        return None
    found = facts.take(lookup(sets, facts, ("page",)))
    return found.with_columns(kind=sets["kind"], set=sets["set"])


@gives(LINKS)
def link_rows(parts: Block, wanted: KeyFilter, urls: KeyFilter) -> Iterator[Block]:
    """Links of pages in sets to other hosts, each once, of which `urls` may hold the target."""
    for pages in chosen_rows(parts, ("url", "host", "links", "base"), wanted):
        links, bases = pages.rows.lists("links"), pages.rows.strings("base").to_list()
        names, hosts = (pages.rows.strings(name).to_list() for name in ("url", "host"))
        found = [targets(names[i].decode(), hosts[i].decode(), bases[i], links[i].to_list())
                 for i in range(len(pages))]
        rows = Block({
            "page": np.repeat(pages.number, [len(each) for each in found]).astype(np.uint64),
            "url": VarBytes.from_list([url for each in found for url in each]).hash64()})
        yield rows.take(urls.may_hold(rows))


def targets(url: str, host: str, base: bytes, links: list[bytes]) -> list[bytes]:
    """The canonical URLs on other hosts that the links of a page lead to, each once. Links that
    name no host are not looked at, unless the page's base does."""
    start, apart = url, b"//" in base
    if base:
        start = resolve_url(url, base.decode("utf-8", "replace"))
    scheme = start.partition(":")[0] + ":"
    found = (_target(start if apart else scheme, link) for link in dict.fromkeys(links)
             if apart or b"//" in link)
    return list(dict.fromkeys(each[0] for each in found if each and each[1] != host))


@lru_cache(maxsize=_KNOWN_LINKS)
def _target(start: str, link: bytes) -> tuple[bytes, str] | None:
    """Canonical URL and host of a link seen from `start`; None if it leads to no page."""
    try:
        name = name_page(resolve_url(start, link.decode("utf-8", "replace")))
    except BadUrl:
        return None
    return name.url.encode("utf-8", "replace"), name.host


@gives(LINKED_MEMBERS)
def with_links(members: Block | None, links: Block | None) -> Block | None:
    """Members with the URLs that they link to."""
    if members is None:
        return None
    if links is None:
        links = Block({"page": np.zeros(0, np.uint64), "url": np.zeros(0, np.uint64)})
    lows, highs = match_ranges(members, links, ("page",))
    _, at = pairs_of(lows, highs)
    return members.with_columns(links=Lists.from_lengths(highs - lows, links.array("url")[at]))
