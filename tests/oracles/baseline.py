"""Which rows remain of a run over an old and a new crawl, where the old one is a baseline.

Everything is computed over the pages of both, by the definitions of a run, and what concerns old
pages alone is taken out. `new` are the names of pages whose capture is of the new crawl.
"""

import datetime
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.declaring.settings import Settings
from tests.oracles import crawl, reuse
from tests.oracles import near_duplicates as near
from tests.oracles import overlap as lap
from tests.oracles.boilerplate import Boilerplate
from tests.oracles.crawl import Capture, Row, canonical
from tests.oracles.quilts import Quilts

Tables = dict[str, list[Row]]


def tables(captures: list[Capture], is_new: Callable[[Capture], bool],
           settings: Settings) -> Tables:
    """All tables of a run with a baseline, but for `origins`."""
    pages, _ = crawl.accounting(captures, settings)
    new = {name for name, capture in pages.items() if is_new(capture)}
    fresh = [capture for capture in captures if is_new(capture)]
    files = {capture.file for capture in fresh}
    found = {
        "pages": crawl.page_rows(pages, settings),
        "depth_histogram": crawl.depth_histogram(fresh, settings),
        "rejects": [],
        "skipped": [row for row in crawl.skipped_rows(captures, pages, settings)
                    if row["file"] in files],
        **discovery(pages, new, settings),
    }
    found["recrawled"] = recrawled(captures, pages, new, is_new, settings)
    if settings.asks_for("detection"):
        every = reuse.found_labels(reuse.discovery(pages, settings))
        found |= detection(reuse.detection(pages, every, settings), pages, new)
    if settings.asks_for("near-duplicates"):
        found |= NearDuplicates(crawl.near_pages(pages), settings.near_duplicates, new).tables()
    if settings.asks_for("overlap"):
        found |= Overlap(crawl.overlap_pages(pages), settings.overlap, new).tables()
    if settings.asks_for("quilts"):
        quilted = Quilts(crawl.quilt_pages(pages), settings.quilts).tables()
        found |= {name: of_new(rows, new) for name, rows in quilted.items()}
    if settings.asks_for("boilerplate"):
        found |= boilerplate(Boilerplate(crawl.overlap_pages(pages), settings.boilerplate), new)
    return found


def recrawled(
    captures: list[Capture], pages: dict[str, Capture], new: set[str],
    is_new: Callable[[Capture], bool], settings: Settings,
) -> list[Row]:
    """New pages with the latest old capture of the same URL, and how they differ."""
    read, rows = settings.read, list[Row]()
    for name in sorted(new) if read.captures == "latest" else ():
        old = [c for c in captures if canonical(c.url) == name and not is_new(c)
               and (read.statuses is None or c.status in read.statuses)
               and c.kind.label in read.content_types]
        if old:
            never = datetime.datetime.min.replace(tzinfo=datetime.UTC)
            old.sort(key=lambda c: (c.sha1, c.file, c.offset))
            old.sort(key=lambda c: c.time or never, reverse=True)
            rows.append({"url": name, **change(pages[name], old[0], settings)})
    return rows


def change(page: Capture, old: Capture, settings: Settings) -> Row:
    """How a page differs from an old capture of it."""
    times = {"timestamp": page.time, "old_timestamp": old.time}
    unknown = {"b_similarity": None, "c_similarity": None}
    by_words = settings.asks_for("near-duplicates")
    if page.sha1 == old.sha1 or not by_words:
        same = "same-bytes" if page.sha1 == old.sha1 else "changed"
        return {"change": same, **times, **unknown}
    (a,), (b,) = (crawl.near_pages({page.url: each}) for each in (page, old))
    if not a.tokens or not b.tokens:
        return {"change": "other", **times, **unknown}
    wanted = settings.near_duplicates
    alike, agreeing = (
        sum(x == y for x, y in zip(sign(a.tokens, wanted), sign(b.tokens, wanted), strict=False))
        for sign in (near.b_signature, near.c_signature))
    is_near = alike >= wanted.b_threshold or agreeing >= wanted.c_threshold
    return {"change": "same-words" if a.tokens == b.tokens else "near" if is_near else "other",
            **times, "b_similarity": alike, "c_similarity": agreeing}


def of_new(rows: list[Row], new: set[str]) -> list[Row]:
    """Rows about new pages."""
    return [row for row in rows if row["url"] in new]


def discovery(pages: dict[str, Capture], new: set[str], settings: Settings) -> Tables:
    """What occurs on a new page; its occurrences on all pages are counted."""
    found = reuse.discovery(pages, settings)
    on_new, counts = {}, {}
    for kind, occurrences in reuse.occurrences(pages, settings).items():
        on_new[kind] = {each.sha1 for each in occurrences if each.page in new}
        counts[kind] = Counter(each.sha1 for each in occurrences)
    histogram = Counter((kind, counts[kind][sha1]) for kind in on_new for sha1 in on_new[kind])
    return {
        **{f"frequent_{kind}s": [row for row in found[f"frequent_{kind}s"]
                                 if row["sha1"] in on_new[kind]] for kind in on_new},
        "labels": [row for row in found["labels"] if row["sha1"] in on_new[row["kind"]]],
        "frequency_histogram": [
            {"kind": kind, "occurrences": n, "distinct": distinct}
            for (kind, n), distinct in sorted(histogram.items())],
    }


def detection(found: Tables, pages: dict[str, Capture], new: set[str]) -> Tables:
    """New pages, and directories above one."""
    above = {prefix for name in new for prefix in reuse.prefixes(canonical(pages[name].url))}
    return {
        **{name: of_new(found[name], new)
           for name in ("matched_files", "matched_chunks", "page_reuse")},
        **{name: [row for row in found[name] if row["prefix"] in above]
           for name in ("neighbourhoods", "neighbourhood_sources")},
    }


def boilerplate(known: Boilerplate, new: set[str]) -> Tables:
    """Lines of hosts with a new page that has lines, and new pages."""
    hosts = {page.host for page in known.pages if page.url in new and page.lines}
    return {
        "boilerplate": [row for row in known.boilerplate() if row["host"] in hosts],
        "boilerplate_pages": of_new(known.boilerplate_pages(), new),
    }


class NearDuplicates(near.NearDuplicates):
    """Pairs with a new page, sets with a new member, and what follows from these pairs. Old pages
    are kept."""

    def __init__(self, pages: Iterable[near.Page], settings: NearDuplicateSettings,
                 new: set[str]) -> None:
        self.new = new
        super().__init__(pages, settings)

    def _pairs(self) -> set[near.Pair]:
        return {pair for pair in super()._pairs() if self.new & {*pair}}

    def _tables(self) -> Tables:
        found = super()._tables()
        some = {first for first, members in self.sets.items() if self.new & {*members}}
        found["identity_sets"] = [
            row for row in found["identity_sets"] if row["representative"] in some]
        clusters: dict[object, set[object]] = defaultdict(set)
        for row in found["near_duplicate_clusters"]:
            clusters[row["algorithm"], row["cluster"]].add(row["url"])
        found["near_duplicate_clusters"] = [
            row for row in found["near_duplicate_clusters"]
            if self.new & clusters[row["algorithm"], row["cluster"]]]
        found["near_duplicate_degrees"] = [
            {"algorithm": algorithm, "degree": degree, "pages": count}
            for algorithm in near.ALGORITHMS for degree, count in Counter(
                len(others) for url, others in self.adjacent(algorithm).items()
                if url in self.new).items()]
        found["keep"] = of_new(found["keep"], self.new)
        return found

    def families(self) -> list[set[str]]:
        """Of which one is new, by files and words that a new page has."""
        known = {each for url in self.new for each in self.common(url)}
        same = {(a, b) for cluster in self.clusters(self.settings.keep_by)
                for a, b in zip(self.ordered(cluster), self.ordered(cluster)[1:], strict=False)}
        same |= {(a, b) for a in self.pages for b in self.pages
                 if a < b and self.common(a) & self.common(b) & known}
        return [family for family in self._components(same) if self.new & family
                and len({self.pages[url].domain for url in family}) > 1]

    def _turn(self, url: str) -> tuple:
        return (url in self.new, *super()._turn(url))

    def keep(self) -> list[Row]:
        """A set with an old page stays for its new ones; others as always, old sets before new."""
        similar = self.adjacent(self.settings.keep_by)
        first = {each: min(members, key=self._turn) for each, members in self.sets.items()}
        stays: dict[str, str] = {}
        for one in sorted(self.sets, key=lambda each: self._turn(first[each])):
            before = sorted((other for other in similar[one] if other in stays),
                            key=lambda each: self._turn(first[each]))
            if first[one] not in self.new:
                stays[one] = self._first_equal(one, first)
                continue
            if self.settings.min_containment is not None:
                before = before[:10]
            stays[one] = next((other for other in before if stays[other] == other
                               and self._is_enough(one, other)), one)
        set_of = {url: one for one, members in self.sets.items() for url in members}
        return [self._kept(url) if url not in set_of
                or (stays[set_of[url]] == set_of[url] and first[set_of[url]] == url)
                else self._dropped(url, set_of[url], stays[set_of[url]], first)
                for url in self.pages]

    def _first_equal(self, one: str, first: dict[str, str]) -> str:
        """Of a class that one page stands for the first set; without a proof it stays for all."""
        if self.settings.min_containment is not None:
            return one
        members = next(each for each in self.classes() if one in each)
        return min(members, key=lambda each: self._turn(first[each]))


class Overlap(lap.Overlap):
    """Pairs with a new page, sets with a new member, pairs of hosts of which one has a new page,
    and what follows. Old pages stay."""

    def __init__(self, pages: list[lap.Page], settings: OverlapSettings, new: set[str]) -> None:
        super().__init__(pages, settings)
        self.new = new & self.pages.keys()
        self.page_pairs = {
            name: {pair: value for pair, value in pairs.items() if self.new & {*pair}}
            for name, pairs in self.page_pairs.items()}

    def members(self, centre: str) -> set[str]:
        return {*self.sets[self.pages[centre].lines]}

    def tables(self) -> Tables:
        found = super().tables()
        hosts = {self.pages[url].host for url in self.new}
        found["server_overlap"] = [
            row for row in found["server_overlap"] if {row["host_a"], row["host_b"]} & hosts]
        found["exact_copies"] = [
            row for row in found["exact_copies"] if self.members(str(row["centre"])) & self.new]
        return found

    def replicas(self) -> list[Row]:
        rows: list[Row] = []
        for name in sorted(self.settings.chunkings):
            copies = {centre: len(self.members(centre)) for centre in self.centres}
            around = dict(copies)
            for a, b in self.page_pairs[name]:
                around[a] += copies[b]
                around[b] += copies[a]
            pages = Counter(around[self.centre[url]] for url in self.new)
            rows += [{"chunking": name, "copies": n, "pages": pages[n]} for n in sorted(pages)]
        return rows

    def kept_for(self, chunking: str) -> dict[str, str]:
        old = {centre for centre in self.centres if self.members(centre) - self.new}
        around = defaultdict(set)
        for pair in self.page_pairs[chunking]:
            for page, other in (pair, pair[::-1]):
                if (page not in old and (other in old or other < page)
                        and self.has_enough(other, page)):
                    around[page].add(other)
        kept = set(old)
        for url in self.centres:
            if not around[url] & kept:
                kept.add(url)
        return {url: self.best(around[url] & kept, url)
                for url in self.centres if url not in kept}

    def first(self, centre: str) -> str:
        members = self.sets[self.pages[centre].lines]
        plain = {url: url.split("#")[0] for url in members}
        declared = {self.pages[url].canonical for url in members
                    if self.pages[url].canonical != plain[url]}
        return min(members, key=lambda url: (
            url in self.new, plain[url] not in declared, "?" in url, len(url.encode()), url))

    def skippable(self) -> list[Row]:
        return of_new(super().skippable(), self.new)

    def crawl_savings(self) -> list[Row]:
        skipped = {(row["chunking"], row["url"]) for row in self.skippable()}
        pages = [self.pages[url] for url in self.new]
        rows: list[Row] = []
        for name in sorted(self.settings.chunkings):
            for host in sorted({page.host for page in pages}):
                mine = [page for page in pages if page.host == host]
                gone = [page for page in mine if (name, page.url) in skipped]
                rows.append({
                    "chunking": name, "host": host, "pages": len(mine),
                    "redundant_pages": len(gone), "bytes": sum(page.size for page in mine),
                    "redundant_bytes": sum(page.size for page in gone)})
        return rows

    def popular_collections(self) -> list[Row]:
        """Those of which a page that counts is new, on any host."""
        hosts, elsewhere = self.on_hosts()
        counts: set[str] = set()
        for centre in self.centres:
            if hosts[centre] and centre not in elsewhere and self.new & self._of_content(centre):
                counts |= {*lap.prefixes(centre)}
        return [row for row in super().popular_collections() if row["prefix"] in counts]

    def _of_content(self, centre: str) -> set[str]:
        """A centre, and the pages on other hosts that are copies, or contain nearly all of it."""
        found = self.members(centre)
        for pairs in self.page_pairs.values():
            for (a, b), (_, in_a, in_b) in pairs.items():
                if (centre, True) in ((a, in_a >= lap.NEARLY_ALL), (b, in_b >= lap.NEARLY_ALL)):
                    found |= self.members(b if centre == a else a)
        own = self.pages[centre].host
        return {centre} | {url for url in found if self.pages[url].host != own}
