"""Near-duplicates by their definition: signatures as whole numbers, all pairs, dicts, sets.

Written from docs/definitions.md alone: nothing but the settings comes from the program.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import comb

from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings

ALGORITHMS = ("b", "c", "combined", "hybrid")
WORD = 2**64
STEP = 0x9E3779B97F4A7C15
MOST_EQUAL = 10
Row = dict[str, object]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Page:
    """What near-duplicates are made of: `tokens` are fingerprints, of text and of images;
    `length` the number of those of the text; `file` is its payload."""

    url: str
    site: str
    tokens: tuple[int, ...]
    length: int = 0
    time: object = None
    domain: str = ""
    file: bytes = b""
    canonical: str | None = None

    @property
    def grams(self) -> set[tuple[int, ...]]:
        """What containment counts: 5-grams of the text's tokens, or tokens if there are none."""
        return self.runs(5 if self.length >= 5 else 1)

    def runs(self, size: int) -> set[tuple[int, ...]]:
        """All runs of so many tokens of the text."""
        text = self.tokens[: self.length]
        return {text[i : i + size] for i in range(len(text) - size + 1)}


def plain(key: str) -> str:
    """The URL of a page, of which the key may name a capture, too."""
    return key.partition("#")[0]


def mix(x: int) -> int:
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % WORD
    return x ^ (x >> 31)


def fp(state: int, words: Iterable[int]) -> int:
    for word in words:
        turned = (state << 23 | state >> 41) % WORD
        state = (turned ^ word) * STEP % WORD
    return mix(state)


def rnd(state: int, i: int) -> int:
    return mix((state + (i + 1) * STEP) % WORD)


def signed(x: int) -> int:
    return x - WORD if x >= WORD // 2 else x


def shingles(tokens: tuple[int, ...], size: int) -> set[int]:
    return {fp(0xA4093822299F31D0, tokens[i : i + size]) for i in range(len(tokens) - size + 1)}


def min_value(found: set[int], i: int) -> int:
    turn, factor = rnd(0x452821E638D01377, i), rnd(0xBE5466CF34E90C6C, i) | 1
    return min(((x ^ turn) * factor % WORD for x in found), key=signed)


def b_signature(tokens: tuple[int, ...], settings: NearDuplicateSettings) -> tuple[int, ...]:
    found = shingles(tokens, settings.shingle_size)
    if not found:
        return ()
    values = [min_value(found, i) for i in range(settings.min_values)]
    each = settings.min_values // settings.supershingles
    return tuple(fp(0x082EFA98EC4E6C89 + n, values[n * each : (n + 1) * each])
                 for n in range(settings.supershingles))


def c_signature(tokens: tuple[int, ...], settings: NearDuplicateSettings) -> tuple[int, ...]:
    """One bit per projection: is the sum of the tokens' signs positive?"""
    counts = Counter(tokens)
    bits = []
    for i in range(settings.projection_bits):
        turn = rnd(0xC0AC29B7C97C50DD, i // 64)
        total = sum(times * (1 if mix(t ^ turn) >> i % 64 & 1 else -1)
                    for t, times in counts.items())
        bits.append(int(total > 0))
    return tuple(bits)


def pieces(bits: int, count: int) -> list[range]:
    return [range(bits * i // count, bits * (i + 1) // count) for i in range(count)]


def c_keys(settings: NearDuplicateSettings) -> list[list[int]] | None:
    """The bits of each key of C; None where every page is compared with every other."""
    bits = settings.projection_bits
    for equal in range(1, bits):
        count = bits - settings.c_threshold + equal
        if count > bits or comb(count, equal) > 500:
            return None
        if equal * (bits // count) >= min(24, bits):
            return [[bit for piece in chosen for bit in piece]
                    for chosen in combinations(pieces(bits, count), equal)]
    return None


def crowd_keys(settings: NearDuplicateSettings) -> list[list[int]]:
    """The bits in which crowds agree where every page is compared with every other."""
    bits = settings.projection_bits
    return [list(piece) for piece in pieces(bits, max(1, min(bits // 29, 62)))]


class NearDuplicates:
    """Everything that is to be found among the pages."""

    def __init__(self, pages: Iterable[Page], settings: NearDuplicateSettings) -> None:
        self.settings = settings
        self.pages = {page.url: page for page in sorted(pages, key=lambda p: p.url.encode())}
        self.rank = {url: n for n, url in enumerate(self.pages)}
        sets: dict[tuple[int, ...], list[str]] = defaultdict(list)
        for url, page in self.pages.items():
            if page.tokens:
                sets[page.tokens].append(url)
        self.sets = {members[0]: members for members in sets.values()}
        self.b = {url: b_signature(self.pages[url].tokens, settings) for url in self.sets}
        self.c = {url: c_signature(self.pages[url].tokens, settings) for url in self.sets}
        self.leader = {url: members[0] for members in self.classes() for url in members}
        self.skipped = {"b": 0, "c": 0}
        self.pairs = self._pairs()
        self.more_asked = 0
        self.declared = {
            url for cluster in self.clusters(settings.keep_by) for url in cluster
            if any(self.pages[other].canonical == plain(url) != plain(other)
                   for other in cluster)}
        self.kept = self.keep()

    def ordered(self, urls: Iterable[str]) -> list[str]:
        return sorted(urls, key=self.rank.__getitem__)

    def similarity(self, a: str, b: str) -> tuple[int, int]:
        return (sum(x == y for x, y in zip(self.b[a], self.b[b], strict=False)),
                sum(x == y for x, y in zip(self.c[a], self.c[b], strict=True)))

    def same_site(self, a: str, b: str) -> bool:
        return self.pages[a].site == self.pages[b].site

    def flags(self, a: str, b: str) -> dict[str, bool]:
        alike, agreeing = self.similarity(a, b)
        is_b, is_c = alike >= self.settings.b_threshold, agreeing >= self.settings.c_threshold
        combined = is_b and agreeing >= self.settings.combined_threshold
        hybrid = combined if self.same_site(a, b) else is_c
        return dict(zip(ALGORITHMS, (is_b, is_c, combined, hybrid), strict=True))

    def classes(self) -> list[list[str]]:
        """Pages, each with those that the first of them stands for: more than MOST_EQUAL of one
        site with shingles and both signatures equal. Every page is in one."""
        equal: dict[object, list[str]] = defaultdict(list)
        for url in self.ordered(self.sets):
            same = (self.pages[url].site, self.b[url], self.c[url])
            equal[same if self.b[url] else url].append(url)
        return [chosen for members in equal.values()
                for chosen in ([members] if len(members) > MOST_EQUAL else [[m] for m in members])]

    def _pairs(self) -> set[Pair]:
        stars = {(first, url) for url, first in self.leader.items() if url != first}
        return stars | {pair for pair in self._candidates() if any(self.flags(*pair).values())}

    def _candidates(self) -> set[Pair]:
        """Pairs that are compared; also counts those that are not."""
        compared: set[Pair] = set()
        groups: dict[tuple, list[str]] = defaultdict(list)
        keys = self.settings.supershingles - self.settings.b_threshold + 1
        leaders = self.ordered(set(self.leader.values()))
        for url in leaders:
            for n, value in enumerate(self.b[url][:keys]):
                groups["b", n, value].append(url)
        bits = c_keys(self.settings)
        exhaustive = bits is None
        for url in leaders:
            for n, key in enumerate(bits or crowd_keys(self.settings)):
                groups["c", n, tuple(self.c[url][bit] for bit in key)].append(url)
        crowded: set[Pair] = set()
        for (algorithm, *_), members in groups.items():
            every = set(combinations(self.ordered(members), 2))
            if len(members) > self.settings.max_group:
                chosen = {(a, b) for a, b in every
                          if a == members[0] or members.index(b) - members.index(a) <= 10}
                self.skipped[algorithm] += len(every) - len(chosen)
                compared |= chosen
                if algorithm == "c":
                    crowded |= every
            elif algorithm == "b" or not exhaustive:
                compared |= every
        if exhaustive:
            compared |= {
                pair for pair in combinations(leaders, 2)
                if pair not in crowded and self.flags(*pair)["c"]}
        return compared

    def tables(self) -> dict[str, list[Row]]:
        """Every table, its rows sorted by all columns from the left, nulls first."""
        return {
            name: sorted(rows, key=lambda row: [(v is not None, v) for v in row.values()])
            for name, rows in self._tables().items()}

    def _tables(self) -> dict[str, list[Row]]:
        return {
            "identity_sets": [
                {"representative": first, "url": url}
                for first, members in self.sets.items() if len(members) > 1 for url in members],
            "near_duplicates": [self._pair_row(a, b) for a, b in self.pairs],
            "near_duplicate_clusters": [
                {"algorithm": algorithm, "cluster": min(members, key=self.rank.__getitem__),
                 "url": url}
                for algorithm in ALGORITHMS for members in self.clusters(algorithm)
                for url in members],
            "near_duplicate_degrees": [
                {"algorithm": algorithm, "degree": degree, "pages": pages}
                for algorithm in ALGORITHMS
                for degree, pages in Counter(map(len, self.adjacent(algorithm).values())).items()],
            "site_pairs": [
                {"algorithm": algorithm, "site_a": a, "site_b": b, "pairs": count}
                for algorithm in ALGORITHMS
                for (a, b), count in self._site_pairs(algorithm).items()],
            "keep": self.kept,
            "families": [row for family in self.families() for row in self._family_rows(family)],
        }

    def noted(self) -> dict[str, int]:
        counts = {"no-tokens": sum(not page.tokens for page in self.pages.values()),
                  "pairs-not-compared-b": self.skipped["b"],
                  "pairs-not-compared-c": self.skipped["c"],
                  "more-than-ten-neighbours": self.more_asked,
                  "pairs-not-listed": sum(
                      (n - 1) * (n - 2) // 2 for n in map(len, self.classes()))}
        return {name: count for name, count in counts.items() if count}

    def _pair_row(self, a: str, b: str) -> Row:
        alike, agreeing = self.similarity(a, b)
        return {"url_a": a, "url_b": b, "b_similarity": alike, "c_similarity": agreeing,
                "same_site": self.same_site(a, b), **self.flags(a, b)}

    def _returned(self, algorithm: str) -> set[Pair]:
        return {pair for pair in self.pairs if self.flags(*pair)[algorithm]}

    def _site_pairs(self, algorithm: str) -> Counter:
        return Counter(
            tuple(sorted((self.pages[a].site, self.pages[b].site)))
            for a, b in self._returned(algorithm))

    def clusters(self, algorithm: str) -> list[set[str]]:
        """Components of the pairs of an algorithm and of sets."""
        return self._components(self._returned(algorithm) | {
            (first, other) for first, members in self.sets.items() for other in members[1:]})

    def words(self, url: str) -> tuple[int, ...]:
        """The words of a page without its images; of fewer than a shingle none."""
        page = self.pages[url]
        return page.tokens[: page.length] if page.length >= self.settings.shingle_size else ()

    def common(self, url: str) -> set[object]:
        """What makes pages on several domains a family: their file, and their words."""
        return {each for each in (self.pages[url].file, self.words(url)) if each}

    def families(self) -> list[set[str]]:
        """Components of clusters and of pages with something in common, on two domains or more."""
        same = {(a, b) for cluster in self.clusters(self.settings.keep_by)
                for a, b in pairwise(self.ordered(cluster))}
        same |= {(a, b) for a, b in combinations(self.pages, 2)
                 if self.common(a) & self.common(b)}
        return [family for family in self._components(same)
                if len({self.pages[url].domain for url in family}) > 1]

    def _family_rows(self, family: set[str]) -> Iterator[Row]:
        first = self.ordered(family)[0]
        for url in family:
            page = self.pages[url]
            others = [o for o in family if self.pages[o].domain != page.domain]
            alike = ("file" if page.file in [self.pages[o].file for o in others] else
                     "words" if any(self._same_words(url, o) for o in others) else "similar")
            yield {"family": first, "url": url, "domain": page.domain, "alike": alike,
                   "similarity": self._likeness(url, self.ordered(family)[0])}

    def _same_words(self, url: str, other: str) -> bool:
        page, tokens = self.pages[url], self.pages[other].tokens
        return bool((page.tokens and page.tokens == tokens)
                    or (self.words(url) and self.words(url) == self.words(other)))

    def _likeness(self, url: str, leader: str) -> float:
        page, first = self.pages[url], self.pages[leader]
        if page.file == first.file or self._same_words(url, leader):
            return 1.0
        if not page.tokens or not first.tokens:
            return 0.0
        c, other = (c_signature(each.tokens, self.settings) for each in (page, first))
        return sum(x == y for x, y in zip(c, other, strict=True)) / len(c)

    def _components(self, edges: set[Pair]) -> list[set[str]]:
        """Of two pages or more, grown page by page."""
        near: dict[str, set[str]] = defaultdict(set)
        for a, b in edges:
            near[a].add(b)
            near[b].add(a)
        found, seen = [], set()
        for url in near:
            if url in seen:
                continue
            cluster, border = {url}, [url]
            while border:
                new = near[border.pop()] - cluster
                cluster |= new
                border += new
            seen |= cluster
            found.append(cluster)
        return found

    def adjacent(self, algorithm: str) -> dict[str, set[str]]:
        """For each representative the others it is adjacent to."""
        near: dict[str, set[str]] = defaultdict(set)
        for one, other in self._similar_classes(algorithm):
            for a, b in product(one, other):
                near[a].add(b)
                near[b].add(a)
        return {url: near[url] - {url} for url in self.sets}

    def _similar_classes(self, algorithm: str) -> Iterator[tuple[list[str], list[str]]]:
        """Classes whose first pages are returned as a pair, and each with itself."""
        classes = {members[0]: members for members in self.classes()}
        yield from ((members, members) for members in classes.values())
        for a, b in self._returned(algorithm):
            yield classes[self.leader[a]], classes[self.leader[b]]

    def keep(self) -> list[Row]:
        """Set by set in the rule's order. Pages of a set have the same tokens, so they take their
        turn together, with the first of them by the rule; each is a neighbour of the others."""
        near = self.adjacent(self.settings.keep_by)
        first = {each: min(members, key=self._turn) for each, members in self.sets.items()}
        stays: dict[str, str] = {}
        for one in sorted(self.sets, key=lambda each: self._turn(first[each])):
            before = sorted((other for other in near[one] if other in stays),
                            key=lambda each: self._turn(first[each]))
            if self.settings.min_containment is not None:
                self.more_asked += len(before) > 10
                before = before[:10]
            stays[one] = next((other for other in before if stays[other] == other
                               and self._is_enough(one, other)), one)
        set_of = {url: one for one, members in self.sets.items() for url in members}
        return [self._kept(url) if url not in set_of
                or (stays[set_of[url]] == set_of[url] and first[set_of[url]] == url)
                else self._dropped(url, set_of[url], stays[set_of[url]], first)
                for url in self.pages]

    def _kept(self, url: str) -> Row:
        return {"url": url, "keep": True, "because_of": None, "reason": None, "containment": None}

    def _dropped(self, url: str, one: str, other: str, first: dict[str, str]) -> Row:
        equal = self.b[one] and (self.b[one], self.c[one]) == (self.b[other], self.c[other])
        reason = "identity" if one == other else "equal-signatures" if equal else "pair"
        proven = self.settings.min_containment is not None
        return {"url": url, "keep": False, "because_of": first[other], "reason": reason,
                "containment": self.containment(one, other) if proven else None}

    def _is_enough(self, one: str, other: str) -> bool:
        least = self.settings.min_containment
        return least is None or self.containment(one, other) >= least

    def containment(self, one: str, other: str) -> float:
        """The share of the grams of a set's smallest page that are on another's; 1 of nothing."""
        grams = self.pages[one].grams
        if one == other or not grams:
            return 1.0
        size = len(next(iter(grams)))
        return len(grams & self.pages[other].runs(size)) / len(grams)

    def _turn(self, url: str) -> tuple:
        page, rank, rule = self.pages[url], self.rank[url], self.settings.keep_rule
        if rule == "plainest-url":
            return (url not in self.declared, "?" in url, len(url.encode()), rank)
        if rule == "earliest":
            return (page.time is None, page.time or 0, rank)
        return (-page.length if rule == "longest" else 0, rank)
