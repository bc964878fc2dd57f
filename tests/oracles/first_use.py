"""Trust on first use: the rules of docs/edge.md, slowly. Comments give the numbers of rules.

Pages are parsed by html5lib; the store is a list of rows that is searched from end to end.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import html5lib

import beam_reuse
from beam_reuse.core.urls import BadUrl, name_page
from tests.oracles.text import html5lib_tree
from tests.oracles.text_chunks import chunk_texts
from tests.oracles.tokens import tokens

LIST = Path(beam_reuse.__file__).parent / "detector" / "generic_passages.txt"
GENERIC = set(LIST.read_text().splitlines())


@dataclass
class Rules:
    """The settings, with their names in vectors."""

    min_evidence: int = 2
    settle_days: int = 3
    max_age: int = 365
    max_sites: int = 1000
    max_site_chunks: int = 1000
    learn_pages: tuple[str, ...] = ()


@dataclass
class Row:
    """A chunk that a site has shown."""

    domain: str
    sha1: str
    page: str
    seen: int
    first: int


@dataclass
class Site:
    """A domain that was learnt."""

    days: int
    seen: int


@dataclass
class FirstUse:
    """A store, and what is done with it."""

    rules: Rules = field(default_factory=Rules)
    rows: list[Row] = field(default_factory=list)
    sites: dict[str, Site] = field(default_factory=dict)
    owners: list[set[str]] = field(default_factory=list)

    def visit(self, url: str, html: str, day: int) -> dict[str, Any]:
        """The answer to a visit; the page may be learnt."""
        answer = self.answer(url, html, day)
        wanted = answer["login"] and not answer["flagged"]  # 12
        return answer | (self.learn(url, html, day, 1) if wanted else {"learnt": False, "new": 0})

    def trust(self, url: str, html: str, day: int) -> dict[str, Any]:
        """The answer to a page that a person trusts."""
        return self.answer(url, html, day) | self.learn(url, html, day, self.rules.settle_days)

    def join(self, domains: Iterable[str]) -> None:  # 19
        joined = set().union(*map(self.owner, domains))
        self.owners = [owner for owner in self.owners if not owner & joined] + [joined]

    def forget(self, domain: str) -> None:  # 20
        self.rows = [row for row in self.rows if row.domain != domain]
        self.sites.pop(domain, None)
        self.owners = [owner - {domain} for owner in self.owners]

    def owner(self, domain: str) -> frozenset[str]:  # 6
        return next((frozenset(owner) for owner in self.owners if domain in owner),
                    frozenset([domain]))

    def answer(self, url: str, html: str, day: int) -> dict[str, Any]:
        evidence: dict[frozenset[str], list[tuple[str, set[str]]]] = {}
        texts = chunks(html)
        for text in texts:
            known = [row for row in self.rows
                     if row.sha1 == sha1(text) and day - row.seen <= self.rules.max_age]  # 7
            owner = self.belongs_to(known)
            if owner and owner != self.owner(domain_of(url)):
                mine = {row.domain for row in known} & owner
                evidence.setdefault(owner, []).append((text, mine))
        ranked = sorted((-len(found), name(found), found) for found in evidence.values())
        most = len(ranked[0][2]) if ranked else 0
        flagged = most >= self.rules.min_evidence or most > len(texts) / 2  # 10
        return {
            "login": is_login(url, html, self.rules.learn_pages), "flagged": flagged,
            "domain": ranked[0][1] if flagged else None, "evidence": most,
            "passages": self.passages(ranked[0][1], ranked[0][2]) if flagged else [],
        }

    def belongs_to(self, known: list[Row]) -> frozenset[str] | None:  # 8
        if not known:
            return None
        first = self.owner(min(known, key=lambda row: row.first).domain)
        others = {row.domain for row in known} - first
        settled = any(self.sites[domain].days >= self.rules.settle_days for domain in others)
        return None if settled else first

    def passages(self, best: str, found: list[tuple[str, set[str]]]) -> list[dict[str, str]]:
        shown = []
        for text, known in found:
            domain = best if best in known else min(known)
            page = next(row.page for row in self.rows
                        if row.domain == domain and row.sha1 == sha1(text))
            shown.append({"sha1": sha1(text), "text": text, "domain": domain, "page": page})
        return shown

    def learn(self, url: str, html: str, day: int, least_days: int) -> dict[str, Any]:
        domain, texts = domain_of(url), chunks(html)
        if not domain or not texts:  # 12
            return {"learnt": False, "new": 0}
        self.rows = [row for row in self.rows if day - row.seen <= self.rules.max_age]  # 13
        self.drop_empty_sites()
        site = self.sites.setdefault(domain, Site(1, day))  # 14
        if site.seen < day:
            site.days, site.seen = site.days + 1, day
        site.days = max(site.days, least_days)
        first = max((row.first for row in self.rows), default=0) + 1
        new = 0
        for text in texts[:self.rules.max_site_chunks]:  # 15
            mine = [row for row in self.rows if (row.domain, row.sha1) == (domain, sha1(text))]
            if mine:
                mine[0].seen = max(mine[0].seen, day)
            else:
                new += 1
                self.rows.append(Row(domain, sha1(text), page_of(url), day, first))
        self.keep_bounds(domain)
        return {"learnt": True, "new": new}

    def keep_bounds(self, domain: str) -> None:
        while len(mine := [row for row in self.rows if row.domain == domain]
                  ) > self.rules.max_site_chunks:  # 16
            oldest = min(row.seen for row in mine)
            self.rows.remove(max((row for row in mine if row.seen == oldest),
                                 key=lambda row: row.sha1))
        while len(self.sites) > self.rules.max_sites and len(self.sites) > 1:  # 17
            gone = min((site.days, site.seen, name) for name, site in self.sites.items()
                       if name != domain)[2]
            self.rows = [row for row in self.rows if row.domain != gone]
            self.drop_empty_sites()

    def drop_empty_sites(self) -> None:  # 18
        filled = {row.domain for row in self.rows}
        self.sites = {name: site for name, site in self.sites.items() if name in filled}

    def listed(self) -> list[dict[str, Any]]:
        """The sites as vectors have them."""
        return [{"domain": name, "days": site.days, "seen": site.seen,
                 "owner": sorted(self.owner(name)),
                 "chunks": sorted([row.sha1, row.page, row.seen] for row in self.rows
                                  if row.domain == name)}
                for name, site in sorted(self.sites.items())]


def name(found: list[tuple[str, set[str]]]) -> str:  # 9
    """The name of an owner by its evidence."""
    domains = {domain for _, known in found for domain in known}
    return min(domains, key=lambda domain: (-sum(domain in known for _, known in found), domain))


def chunks(html: str) -> list[str]:  # 1
    texts = chunk_texts(html5lib_tree(html))
    return list(dict.fromkeys(
        text for text in texts if len(tokens(text)) >= 5 and len(text.encode()) >= 25
        and sha1(text) not in GENERIC))


def is_login(url: str, html: str, patterns: Iterable[str]) -> bool:  # 2
    return has_password(html) or any(fits(pattern, canonical(url)) for pattern in patterns)


def has_password(html: str) -> bool:
    tree = html5lib.parse(html, namespaceHTMLElements=False)
    held = {id(element) for template in tree.iter("template") for element in template.iter()}
    return any(element.get("type", "").lower() == "password" for element in tree.iter()
               if isinstance(element.tag, str) and element.tag.rpartition("}")[2] == "input"
               and id(element) not in held)


def fits(pattern: str, text: str) -> bool:
    """Whether a pattern fits the whole of a text, by trying everything."""
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(fits(pattern[1:], text[at:]) for at in range(len(text) + 1))
    return text[:1] == pattern[0] and fits(pattern[1:], text[1:])


def domain_of(url: str) -> str:  # 3
    try:
        page = name_page(url)
    except BadUrl:
        return ""
    return page.domain if page.url.startswith(("http:", "https:")) else ""


def canonical(url: str) -> str:
    try:
        return name_page(url).url
    except BadUrl:
        return url


def page_of(url: str) -> str:  # 5
    return canonical(url).partition("?")[0]


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()
