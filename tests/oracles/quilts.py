"""Quilted pages by their definition: dicts and sets of tuples of words."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from beam_reuse.analyses.quilts.settings import QuiltSettings

Row = dict[str, object]
Gram = tuple[object, ...]


@dataclass(frozen=True)
class Page:
    """`links` are canonical URLs with the domains they lead to; `address` is '' where unknown."""

    url: str
    domain: str
    words: tuple[object, ...]
    address: str = ""
    links: tuple[tuple[str, str], ...] = ()

    def positions(self, size: int) -> dict[Gram, list[int]]:
        found = defaultdict(list)
        for at in range(len(self.words) - size + 1):
            found[self.words[at:at + size]].append(at)
        return found


class Quilts:
    """The quilts of a corpus, and what they are made of."""

    def __init__(self, pages: Sequence[Page], settings: QuiltSettings) -> None:
        self.pages = {page.url: page for page in pages}
        self.settings = settings
        self._grams: dict[tuple[str, int], set[Gram]] = {}

    def combinations(self) -> list[tuple]:
        s = self.settings
        lists = [s.gram_size, s.max_pages_per_gram, s.min_sources, s.min_patch_fraction]
        if s.sweep == "grid":
            return list(product(*lists))
        found = []
        for place, values in enumerate(lists):
            for value in values:
                one = [each[0] for each in lists]
                one[place] = value
                if tuple(one) not in found:
                    found.append(tuple(one))
        return found

    def pages_by_gram(self, size: int) -> dict[Gram, set[str]]:
        found = defaultdict(set)
        for page in self.pages.values():
            for gram in page.positions(size):
                found[gram].add(page.url)
        return found

    def allowed(self, page: Page, source: Page) -> bool:
        if page.url == source.url:
            return False
        if self.settings.variant == "any":
            return True
        if page.domain == source.domain:
            return False
        known = bool(page.address) and bool(source.address)
        return not (self.settings.variant == "ip" and known and page.address == source.address)

    def copies(self, page: Page, size: int, shared: set[Gram]) -> set[str]:
        """The other pages that hold most of its grams; with none of those that may be patches a
        page is no matter."""
        grams = self.grams(page, size)
        least = Fraction(str(self.settings.quilt_copy))
        return {
            other.url for other in self.pages.values()
            if other.url != page.url and shared & self.grams(other, size)
            and Fraction(len(grams & self.grams(other, size)), len(grams)) >= least}

    def grams(self, page: Page, size: int) -> set[Gram]:
        if (page.url, size) not in self._grams:
            self._grams[page.url, size] = set(page.positions(size))
        return self._grams[page.url, size]

    def cover(
        self, page: Page, on: dict[Gram, set[str]], patch: set[Gram], copies: set[str],
    ) -> list[tuple]:
        """Sources and the grams they newly cover, in order."""
        left = {
            gram: {url for url in on[gram] - copies if self.allowed(page, self.pages[url])}
            for gram in patch}
        chosen = []
        while True:
            gains = defaultdict(set)
            for gram, urls in left.items():
                for url in urls:
                    gains[url].add(gram)
            if not gains:
                return chosen
            best = min(gains, key=lambda url: (-len(gains[url]), url))
            if Fraction(len(gains[best]), len(patch)) < Fraction(
                    str(self.settings.min_source_share)):
                return chosen
            chosen.append((best, gains[best]))
            left = {gram: urls for gram, urls in left.items() if gram not in gains[best]}

    def tables(self) -> dict[str, list[Row]]:
        quilts, sources = [], []
        for number, combination in enumerate(self.combinations()):
            size, limit, least, fraction = combination
            on = self.pages_by_gram(size)
            for page in self.pages.values():
                positions = page.positions(size)
                shared = {gram for gram in positions if 1 < len(on[gram]) <= limit}
                copies = self.copies(page, size, shared)
                patch = {gram for gram in shared if on[gram] - copies - {page.url}}
                if not patch or Fraction(len(patch), len(positions)) < Fraction(str(fraction)):
                    continue
                cover = self.cover(page, on, patch, copies)
                if len(cover) < least:
                    continue
                names = ("gram_size", "max_pages_per_gram", "min_sources", "min_patch_fraction")
                settings = {
                    "url": page.url, **dict(zip(names, combination, strict=True)),
                    "variant": self.settings.variant,
                    "min_source_share": self.settings.min_source_share}
                rows = [
                    settings | {
                        "rank": rank, "source_url": url, "grams": len(grams),
                        "share": len(grams) / len(patch), "linked": self.linked(page, url),
                        "spans": spans(positions, grams, size)}
                    for rank, (url, grams) in enumerate(cover, 1)]
                if number == 0 or self.settings.sweep_sources:
                    sources += rows
                shares = {
                    f"linked_{name}_share": sum(
                        len(grams) for (_, grams), row in zip(cover, rows, strict=True)
                        if row["linked"] in kinds) / len(patch)
                    for name, kinds in (("page", {"page"}), ("domain", {"page", "domain"}))}
                quilts.append(settings | {
                    "grams": len(positions), "patch_grams": len(patch),
                    "patch_fraction": len(patch) / len(positions), "sources": len(cover),
                } | shares | {"copies": len(copies), "covered": len(
                    set().union(*(grams for _, grams in cover))) / len(patch)})
        return {"quilts": sorted(quilts, key=in_order), "quilt_sources": sorted(
            sources, key=in_order)}

    def linked(self, page: Page, source: str) -> str:
        url = source.partition("#")[0]
        if url in {link for link, _ in page.links}:
            return "page"
        return "domain" if self.pages[source].domain in {d for _, d in page.links} else "none"

    def noted(self) -> dict[str, int]:
        short = sum(0 < len(page.words) < min(c[0] for c in self.combinations())
                    for page in self.pages.values())
        most = max(c[1] for c in self.combinations())
        popular = sum(len(urls) > most for size in {c[0] for c in self.combinations()}
                      for urls in self.pages_by_gram(size).values())
        found = {"pages-shorter-than-a-gram": short, "grams-on-too-many-pages": popular}
        return {name: count for name, count in found.items() if count}


def spans(positions: dict[Gram, list[int]], grams: set[Gram], size: int) -> list[Row]:
    """Unions of the token ranges of all positions of the grams."""
    tokens = {at + i for gram in grams for at in positions[gram] for i in range(size)}
    starts = sorted(at for at in tokens if at - 1 not in tokens)
    ends = sorted(at + 1 for at in tokens if at + 1 not in tokens)
    return [{"start": start, "end": end} for start, end in zip(starts, ends, strict=True)]


def in_order(row: Row) -> tuple:
    return tuple(row[name] for name in row if name in (
        "url", "gram_size", "max_pages_per_gram", "min_sources", "min_patch_fraction", "rank"))
