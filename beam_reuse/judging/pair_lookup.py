"""Pairs of pages looked up in a result: which algorithm returns them, and how similar they are.

near_duplicates lists pairs of representatives (of identity sets), and of many pages of a site with
equal signatures only a star on the smallest URL. A pair that is not listed itself may still
follow from those that are, and is found so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import pyarrow as pa
import pyarrow.compute as pc

from beam_reuse.io.results.scan import TableScan
from beam_reuse.io.results.tables import read_manifest
from beam_reuse.judging.similarities import ALGORITHMS, NEAR_DUPLICATES, SimilaritySettings

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


def pair_of(a: str, b: str) -> PairKey:
    return (a, b) if a < b else (b, a)


def look_up(folder: str, pairs: Mapping[PairKey, bool]) -> dict[PairKey, FoundPair]:
    """What the result in `folder` says of `pairs`, each given with whether both pages are of one
    site. Cost: two passes over some columns of near_duplicates, one over identity_sets and one
    over the URLs of pages. Memory: the pairs and one batch."""
    manifest = read_manifest(folder)
    settings = SimilaritySettings.of(manifest)
    urls = {url for pair in pairs for url in pair}
    there = _present(folder, urls) if PAGES in manifest.tables() else urls
    equal = _representatives(folder, urls) if IDENTITY_SETS in manifest.tables() else {}
    alike = _centres(folder, settings, {equal.get(url, url) for url in urls})
    ways = {pair: [pair, _through(equal, pair), _through(alike, _through(equal, pair))]
            for pair in pairs}
    wanted = {way for each in ways.values() for way in each}
    rows = _rows(TableScan(folder, NEAR_DUPLICATES), wanted)
    return {
        pair: FoundPair(How.ABSENT) if not there.issuperset(pair)
        else _found(ways[pair], same_site, rows, settings)
        for pair, same_site in pairs.items()
    }


def _through(stands: Mapping[str, str], pair: PairKey) -> PairKey:
    """The pair of those that stand for two pages."""
    return pair_of(*(stands.get(url, url) for url in pair))


def _found(ways: Sequence[PairKey], same_site: bool, rows: Mapping[PairKey, FoundPair],
           settings: SimilaritySettings) -> FoundPair:
    """The pair, looked up by itself, by its representatives and by the centres of their stars."""
    pair, representatives, centres = ways
    if pair in rows:
        return rows[pair]
    most = settings.supershingles, settings.projection_bits
    if representatives[0] == representatives[1]:
        return FoundPair(How.IDENTICAL, *most)
    row = rows.get(representatives) or rows.get(centres)
    if row is None and centres[0] != centres[1]:
        return FoundPair(How.UNLISTED)
    b, c = most if row is None else (row.b_similarity, row.c_similarity)
    return FoundPair(How.DERIVED, b, c, settings.returned(b, c, same_site))


def _centres(folder: str, settings: SimilaritySettings, urls: Iterable[str]) -> dict[str, str]:
    """For each URL that has one: the smallest page of its site with the same signatures."""
    wanted, found = pa.array(sorted(urls), pa.string()), dict[str, str]()
    full = {"b_similarity": settings.supershingles, "c_similarity": settings.projection_bits}
    for batch in TableScan(folder, NEAR_DUPLICATES).batches(["url_a", "url_b", "same_site", *full]):
        star = pc.and_(pc.is_in(batch.column("url_b"), wanted), batch.column("same_site"))
        for name, value in full.items():
            star = pc.and_(star, pc.equal(batch.column(name), value))
        for row in batch.filter(star).to_pylist():
            found[row["url_b"]] = min(row["url_a"], found.get(row["url_b"], row["url_a"]))
    return found


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
