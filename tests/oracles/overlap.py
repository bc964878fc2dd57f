"""Overlap by its definition: chunks as texts, dicts and sets, every page with every other."""

from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import combinations
from urllib.parse import urlsplit

from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings
from beam_reuse.analyses.overlap.settings import OverlapSettings
from tests.oracles.tokens import lines, tokens

Row = dict[str, object]
Sets = dict[str, set[Hashable]]
PAGE_THRESHOLDS = {"whole": 1, "1-lines": 25, "2-lines": 25, "paragraph": 10}
NEXT = 10
NEARLY_ALL = 0.8
MOST_OF_IT = 0.5


@dataclass(frozen=True)
class Page:
    """A page: `text` has a form feed between blocks and a newline between lines."""

    url: str
    text: str
    size: int
    ip: str | None = None
    canonical: str | None = None

    @property
    def host(self) -> str:
        return str(urlsplit(self.url).hostname)

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(line for line, _ in lines(self.text))


def paragraphs(text: str) -> list[tuple[str, ...]]:
    found: list[list[str]] = []
    for line, start in lines(text):
        if start:
            found.append([])
        found[-1].append(line)
    return [tuple(each) for each in found]


def sentences(text: str) -> list[str]:
    found = []
    for paragraph in paragraphs(text):
        sentence = ""
        words = " ".join(paragraph)
        for i, char in enumerate(words):
            sentence += char
            if char in ".!?。！？" and words[i + 1 : i + 2] in ("", " "):  # noqa: RUF001
                found.append(sentence.strip())
                sentence = ""
        found.append(sentence.strip())
    return [sentence for sentence in found if sentence]


def cut(page: Page, chunking: str) -> set[Hashable]:
    """The distinct chunks of a page."""
    if not page.lines:
        return set()
    if chunking == "whole":
        return {page.lines}
    if chunking == "paragraph":
        return set(paragraphs(page.text))
    if chunking == "sentence":
        return set(sentences(page.text))
    number, unit = chunking.split("-")
    items = page.lines if unit == "lines" else tuple(tokens(page.text))
    return {items[i : i + int(number)] for i in range(0, len(items), int(number))}


def threshold(given: tuple[str, ...] | None, chunking: str, otherwise: int) -> int:
    for entry in given or ():
        if entry.startswith(f"{chunking}="):
            return int(entry.split("=")[1])
    for entry in given or ():
        if "=" not in entry:
            return int(entry)
    return otherwise


def prefixes(url: str) -> list[str]:
    path = urlsplit(url).path
    host = str(urlsplit(url).hostname)
    return [host + path[: i + 1] for i, char in enumerate(path) if char == "/"]


class Overlap:
    """All tables of pages, by their definitions."""

    def __init__(
        self, pages: list[Page], settings: OverlapSettings,
        boilerplate: BoilerplateSettings | None = None,
    ) -> None:
        self.settings, self.given = settings, pages
        self.boilerplate = boilerplate or BoilerplateSettings()
        self.pages = {page.url: page for page in sorted(pages, key=lambda p: p.url) if page.lines}
        self.sets: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for url, page in self.pages.items():
            self.sets[page.lines].append(url)
        self.centre = {url: members[0] for members in self.sets.values() for url in members}
        self.centres = [url for url, centre in self.centre.items() if url == centre]
        self.counts: Counter[str] = Counter()
        self.templates: dict[str, set[str]] = {}
        self.page_pairs = {name: self._page_pairs(name) for name in settings.chunkings}
        self.host_pairs = {name: self._host_pairs(name) for name in settings.chunkings}

    def _page_pairs(self, chunking: str) -> dict[tuple[str, str], tuple[int, float, float]]:
        if chunking == "whole":
            return {}
        units = {url: cut(self.pages[url], chunking) for url in self.centres}
        distinct, left_out = self._counts(units)
        self.counts["overlap-fingerprints"] += distinct
        self.counts["overlap-fingerprints-too-frequent"] += left_out
        every = [chunk for chunks in units.values() for chunk in chunks]
        self.counts["overlap-occurrences"] += len(every)
        self.counts["overlap-occurrences-too-frequent"] += sum(
            every.count(chunk) for chunk in set(every)
            if every.count(chunk) > self.settings.max_df)
        least = threshold(self.settings.thresholds, chunking, PAGE_THRESHOLDS.get(chunking, 15))
        return self._pairs(units, least, "overlap-pairs-not-compared")

    def _host_pairs(self, chunking: str) -> dict[tuple[str, str], tuple[int, float, float]]:
        units: Sets = defaultdict(set)
        for page in self.pages.values():
            units[page.host] |= cut(page, chunking)
        self.counts["server-fingerprints-too-frequent"] += self._counts(units)[1]
        otherwise = 5 if chunking == "whole" else 25
        return self._pairs(units, threshold(self.settings.server_thresholds, chunking, otherwise),
                           "server-pairs-not-compared")

    def _counts(self, units: Sets) -> tuple[int, int]:
        df = Counter(chunk for chunks in units.values() for chunk in chunks)
        return len(df), sum(n > self.settings.max_df for n in df.values())

    def _pairs(
        self, units: Sets, least: int, not_compared: str,
    ) -> dict[tuple[str, str], tuple[int, float, float]]:
        """Pairs in order of name with what they share and how much of each that is: of those that
        share enough chunks that are no crowds, and of those that a crowd compares."""
        crowds = defaultdict(list)
        for name in sorted(units):
            for chunk in units[name]:
                crowds[chunk].append(name)
        crowds = {chunk: names for chunk, names in crowds.items()
                  if len(names) > self.settings.max_df}
        compared: set[tuple[str, str]] = set()
        for names in crowds.values():
            pairs = {(names[0], name) for name in names[1:]} | {
                (name, later) for i, name in enumerate(names) for later in names[i + 1 :][:NEXT]}
            self.counts["overlap-pairs-made"] += len(pairs)
            self.counts[not_compared] += len(names) * (len(names) - 1) // 2 - len(pairs)
            compared |= pairs
        found = {}
        for a, b in combinations(sorted(units), 2):
            shared = units[a] & units[b]
            rare = len(shared - crowds.keys())
            self.counts["overlap-pairs-made"] += rare
            if len(shared) >= least and (rare >= least or (a, b) in compared):
                self.counts["overlap-pairs-kept"] += 1
                found[a, b] = (len(shared), len(shared) / len(units[a]),
                               len(shared) / len(units[b]))
        return found

    def page_overlap(self) -> list[Row]:
        return [{"chunking": name, "url_a": a, "url_b": b, "shared": n, "containment_a": in_a,
                 "containment_b": in_b}
                for name in sorted(self.page_pairs)
                for (a, b), (n, in_a, in_b) in sorted(self.page_pairs[name].items())]

    def server_overlap(self) -> list[Row]:
        return [{"chunking": name, "host_a": a, "host_b": b, "shared": n, "containment_a": in_a,
                 "containment_b": in_b, "relation": self.relation(in_a, in_b)}
                for name in sorted(self.host_pairs)
                for (a, b), (n, in_a, in_b) in sorted(self.host_pairs[name].items())]

    def relation(self, *contained: float) -> str:
        near = sum(share >= self.settings.mirror for share in contained)
        return ("overlap", "part", "mirror")[near]

    def exact_copies(self) -> list[Row]:
        mirrors = {(row["host_a"], row["host_b"]) for row in self.server_overlap()
                   if row["relation"] == "mirror"
                   and (row["chunking"] != "whole" or int(str(row["shared"])) >= 5)}
        rows: list[Row] = []
        for members in self.sets.values():
            centre = self.pages[members[0]]
            for page in map(self.pages.__getitem__, members if len(members) > 1 else ()):
                hosts = tuple(sorted((centre.host, page.host)))
                cause = ("url-alias" if page.host == centre.host else
                         "server-alias" if hosts in mirrors else "replication")
                copy = page is not centre
                rows.append({
                    "centre": centre.url, "url": page.url, "cause": cause if copy else None,
                    "same_ip": centre.ip == page.ip if copy and centre.ip and page.ip else None})
        return sorted(rows, key=lambda row: (str(row["centre"]), str(row["url"])))

    def replicas(self) -> list[Row]:
        rows: list[Row] = []
        for name in sorted(self.settings.chunkings):
            copies = {centre: len(self.sets[self.pages[centre].lines]) for centre in self.centres}
            near = dict(copies)
            for a, b in self.page_pairs[name]:
                near[a] += copies[b]
                near[b] += copies[a]
            pages = Counter(near[centre] for centre in self.centre.values())
            rows += [{"chunking": name, "copies": n, "pages": pages[n]} for n in sorted(pages)]
        return rows

    def kept_for(self, chunking: str) -> dict[str, str]:
        """Centres that the rule drops, with the page that stays for them: in order of URLs, one
        undecided is kept and drops its undecided neighbours."""
        near = defaultdict(set)
        for a, b in self.page_pairs[chunking]:
            if self.has_enough(a, b):
                near[b].add(a)
        kept: set[str] = set()
        for url in self.centres:
            if not near[url] & kept:
                kept.add(url)
        return {url: self.best(near[url] & kept, url) for url in self.centres if url not in kept}

    def has_enough(self, stays: str, goes: str) -> bool:
        """Whether a page has enough of another's own lines, and of all its lines."""
        own = self.own_lines(self.pages[goes])
        least = self.settings.skip
        return (len(own & {*self.pages[stays].lines}) / len(own) >= least
                and self.contained(goes, stays) >= min(least, MOST_OF_IT))

    def contained(self, page: str, other: str) -> float:
        """The share of a page's lines that another has."""
        lines = {*self.pages[page].lines}
        return len(lines & {*self.pages[other].lines}) / len(lines)

    def best(self, some: set[str], url: str) -> str:
        """The page that has most of another, of several the smallest."""
        return min(some, key=lambda each: (-self.contained(url, each), each))

    def own_lines(self, page: Page) -> set[str]:
        """The lines of a page that are not its host's template; if there are none, all."""
        if page.host not in self.templates:
            mine = [other.lines for other in self.pages.values() if other.host == page.host]
            on = Counter(line for lines in mine for line in {*lines})
            self.templates[page.host] = {
                line for line, n in on.items() if n >= self.boilerplate.min_pages
                and n / len(mine) >= self.boilerplate.min_share and not self.boilerplate.ignore}
        return {*page.lines} - self.templates[page.host] or {*page.lines}

    def first(self, centre: str) -> str:
        """The page of a set that stays: what others of it declare canonical, then without a query,
        then the shorter, then the smaller URL."""
        members = self.sets[self.pages[centre].lines]
        plain = {url: url.split("#")[0] for url in members}
        declared = {self.pages[url].canonical for url in members
                    if self.pages[url].canonical != plain[url]}
        return min(members, key=lambda url: (
            plain[url] not in declared, "?" in url, len(url.encode()), url))

    def skippable(self) -> list[Row]:
        rows: list[Row] = []
        kept_for = {name: self.kept_for(name) for name in self.settings.chunkings}
        for url, page in self.pages.items():
            for name in sorted(self.settings.chunkings):
                centre = self.centre[url]
                stays = self.first(kept_for[name].get(centre, centre))
                if stays != url:
                    rows.append({"url": url, "chunking": name, "because_of": stays,
                                 "host": page.host, "bytes": page.size,
                                 "containment": self.contained(url, stays)})
        return rows

    def crawl_savings(self) -> list[Row]:
        rows: list[Row] = []
        skippable = {(row["chunking"], row["url"]) for row in self.skippable()}
        for name in sorted(self.settings.chunkings):
            for host in sorted({page.host for page in self.pages.values()}):
                mine = [page for page in self.pages.values() if page.host == host]
                gone = [page for page in mine if (name, page.url) in skippable]
                rows.append({
                    "chunking": name, "host": host, "pages": len(mine),
                    "redundant_pages": len(gone), "bytes": sum(page.size for page in mine),
                    "redundant_bytes": sum(page.size for page in gone)})
        return rows

    def on_hosts(self) -> tuple[dict[str, dict[str, str]], set[str]]:
        """For each centre the hosts beside its own that have a copy of it, or a page that contains
        nearly all of it, with the smallest URL there; and centres on another host than a smaller
        one that contains nearly all of them and is contained so in them."""
        urls = {centre: [*self.sets[self.pages[centre].lines]] for centre in self.centres}
        found, elsewhere = {c: [*urls[c]] for c in urls}, set()
        for pairs in self.page_pairs.values():
            for (a, b), (_, in_a, in_b) in pairs.items():
                if in_a >= NEARLY_ALL:
                    found[a] += urls[b]
                if in_b >= NEARLY_ALL:
                    found[b] += urls[a]
                if min(in_a, in_b) >= NEARLY_ALL and self.pages[a].host != self.pages[b].host:
                    elsewhere.add(b)
        hosts: dict[str, dict[str, str]] = {}
        for centre, every in found.items():
            own = self.pages[centre].host
            hosts[centre] = {self.pages[url].host: url for url in sorted(every, reverse=True)
                             if self.pages[url].host != own}
        return hosts, elsewhere

    def popular_collections(self) -> list[Row]:
        hosts, elsewhere = self.on_hosts()
        below, children = defaultdict(list), defaultdict(set)
        for centre in self.centres:
            above = prefixes(centre)
            for prefix, child in zip(above, [*above[1:], None], strict=True):
                children[prefix].add(child)
                if centre not in elsewhere:
                    below[prefix].append(centre)
        rows: list[Row] = []
        for prefix, centres in sorted(below.items()):
            there: dict[str, list[str]] = defaultdict(list)
            for centre in centres:
                for host, url in hosts[centre].items():
                    there[host].append(url)
            holders = [min(urls) for urls in there.values()
                       if len(urls) / len(centres) >= self.settings.mirror]
            alone = len(children[prefix]) == 1 and None not in children[prefix]
            if holders and len(centres) > 1 and not alone:
                holders.append(min(centre for centre in centres if hosts[centre]))
                rows.append({
                    "prefix": prefix, "hosts": len(holders), "pages": len(centres),
                    "bytes": sum(self.pages[c].size for c in centres),
                    "sample_urls": sorted(holders)[:10]})
        return rows

    def tables(self) -> dict[str, list[Row]]:
        return {
            "page_overlap": self.page_overlap(), "server_overlap": self.server_overlap(),
            "exact_copies": self.exact_copies(), "replicas": self.replicas(),
            "skippable": self.skippable(), "crawl_savings": self.crawl_savings(),
            "popular_collections": self.popular_collections(),
        }

    def noted(self) -> dict[str, int]:
        """What a run counts beside its tables."""
        return dict(+(self.counts + Counter({"no-lines": len(self.given) - len(self.pages)})))
