"""Pairs of pages looked up in a result: which algorithm returns them, and how similar they are.

near_duplicates lists pairs of representatives (of identity sets), and of many pages with equal
signatures only a star on the smallest URL. A pair that is not listed itself may still follow
from those that are, and is found so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import pyarrow as pa
import pyarrow.compute as pc

from beam_reuse.io.results.scan import TableScan
from beam_reuse.io.results.tables import read_manifest
from beam_reuse.judging.similarities import (
    ALGORITHMS,
    NEAR_DUPLICATES,
    B,
    SimilaritySettings,
)

IDENTITY_SETS, PAGES = "identity_sets", "pages"

PairKey = tuple[str, str]


class How(Enum):
    """How a pair was found: as a row, by what rows say of pages equal to these, as two pages with
    the same tokens, not at all; or one of the pages is not in the crawl."""

    LISTED = "listed"
    DERIVED = "derived"
    IDENTICAL = "identical"
    UNLISTED = "unlisted"
    ABSENT = "absent"


@dataclass(frozen=True)
class FoundPair:
    """What a result says of a pair. A similarity that no row tells is None."""

    how: How
    b_similarity: int | None = None
    c_similarity: int | None = None
    returned: frozenset[str] = frozenset()

    @property
    def half_known(self) -> bool:
        """B returns the pair, but its C-similarity is not known, so neither is what combined
        says of it."""
        return B in self.returned and self.c_similarity is None


def pair_of(a: str, b: str) -> PairKey:
    return (a, b) if a < b else (b, a)


def look_up(folder: str, pairs: Mapping[PairKey, bool]) -> dict[PairKey, FoundPair]:
    """What the result in `folder` says of `pairs`, each given with whether both pages are of one
    site. Cost: two passes over four columns of near_duplicates, one over identity_sets and one
    over the URLs of pages. Memory: the pairs and one batch."""
    manifest = read_manifest(folder)
    settings = SimilaritySettings.of(manifest)
    urls = {url for pair in pairs for url in pair}
    there = _present(folder, urls) if PAGES in manifest.tables() else urls
    equal = _representatives(folder, urls) if IDENTITY_SETS in manifest.tables() else {}
    stars = _Stars(settings, {equal.get(url, url) for url in urls})
    stars.read(TableScan(folder, NEAR_DUPLICATES))
    inner = {pair: (equal.get(pair[0], pair[0]), equal.get(pair[1], pair[1])) for pair in pairs}
    wanted = {pair_of(*p) for two in inner.values() for p in stars.pairs(two)}
    rows = _rows(TableScan(folder, NEAR_DUPLICATES), wanted)
    return {
        pair: FoundPair(How.ABSENT) if not there.issuperset(pair)
        else _found(pair, inner[pair], same_site, rows, stars, settings)
        for pair, same_site in pairs.items()
    }


def _found(pair: PairKey, inner: PairKey, same_site: bool, rows: Mapping[PairKey, FoundPair],
           stars: "_Stars", settings: SimilaritySettings) -> FoundPair:
    if inner[0] == inner[1]:
        return FoundPair(How.IDENTICAL, settings.supershingles, settings.projection_bits)
    direct, by_b, by_c = (pair_of(*p) for p in stars.pairs(inner))
    if pair in rows:
        return rows[pair]
    if direct in rows:
        by_b = by_c = direct
    b = settings.supershingles if by_b[0] == by_b[1] else (
        rows[by_b].b_similarity if by_b in rows else None)
    c = settings.projection_bits if by_c[0] == by_c[1] else (
        rows[by_c].c_similarity if by_c in rows else None)
    returned = settings.returned(b, c, same_site)
    return FoundPair(How.DERIVED, b, c, returned) if returned else FoundPair(How.UNLISTED)


class _Stars:
    """The smallest page with the same signature as a page: all its supershingles, all its bits."""

    def __init__(self, settings: SimilaritySettings, urls: Iterable[str]) -> None:
        self._full = {"b_similarity": settings.supershingles,
                      "c_similarity": settings.projection_bits}
        self._urls = pa.array(sorted(urls), pa.string())
        self._centres: dict[str, dict[str, str]] = {name: {} for name in self._full}

    def read(self, scan: TableScan) -> None:
        for batch in scan.batches(["url_a", "url_b", *self._full]):
            known = pc.is_in(batch.column("url_b"), self._urls)
            for name, full in self._full.items():
                star = batch.filter(pc.and_(known, pc.equal(batch.column(name), full)))
                centres = self._centres[name]
                for a, b in zip(star.column("url_a").to_pylist(), star.column("url_b").to_pylist(),
                                strict=True):
                    centres[b] = min(a, centres.get(b, a))

    def pairs(self, pair: PairKey) -> tuple[PairKey, PairKey, PairKey]:
        """The pair itself, and the pairs of centres that have its B- and its C-similarity."""
        by_b, by_c = ((c.get(pair[0], pair[0]), c.get(pair[1], pair[1]))
                      for c in self._centres.values())
        return pair, by_b, by_c


def _rows(scan: TableScan, wanted: Iterable[PairKey]) -> dict[PairKey, FoundPair]:
    """The rows of near_duplicates with these URLs."""
    keys = set(wanted)
    first, second = (pa.array(sorted({key[side] for key in keys}), pa.string()) for side in (0, 1))
    found = {}
    for batch in scan.batches(["url_a", "url_b", "b_similarity", "c_similarity", *ALGORITHMS]):
        near = pc.and_(pc.is_in(batch.column("url_a"), first),
                       pc.is_in(batch.column("url_b"), second))
        for row in batch.filter(near).to_pylist():
            if (row["url_a"], row["url_b"]) in keys:
                found[row["url_a"], row["url_b"]] = FoundPair(
                    How.LISTED, row["b_similarity"], row["c_similarity"],
                    frozenset(name for name in ALGORITHMS if row[name]))
    return found


def _representatives(folder: str, urls: Iterable[str]) -> dict[str, str]:
    """The representative of each URL that is in an identity set."""
    return {row["url"]: row["representative"]
            for row in _named(folder, IDENTITY_SETS, ["url", "representative"], urls)}


def _present(folder: str, urls: Iterable[str]) -> set[str]:
    return {row["url"] for row in _named(folder, PAGES, ["url"], urls)}


def _named(folder: str, table: str, columns: Sequence[str],
           urls: Iterable[str]) -> Iterator[dict[str, str]]:
    """The rows of a table whose `url` is one of `urls`."""
    wanted = pa.array(sorted(urls), pa.string())
    for batch in TableScan(folder, table).batches(list(columns)):
        yield from batch.filter(pc.is_in(batch.column("url"), wanted)).to_pylist()
