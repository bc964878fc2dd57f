"""Pairs of pages looked up in a result: which algorithm returns them, and how similar they are.

near_duplicates lists pairs of representatives (of identity sets), and of many pages of a site with
equal signatures only a star on the smallest URL. A pair that is not listed itself may still
follow from those that are, and is found so.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import pyarrow as pa

from beam_reuse.io.results.scan import rows_of
from beam_reuse.io.results.tables import read_manifest
from beam_reuse.judging.similarities import ALGORITHMS, NEAR_DUPLICATES, SimilaritySettings

URLS = ("url_a", "url_b")
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
    """What a result says of a pair. A similarity that no row has is None."""

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
    alike = _centres(folder, {equal.get(url, url) for url in urls}, settings)
    ways = {pair: [pair, _through(equal, pair), _through(alike, _through(equal, pair))]
            for pair in pairs}
    rows = _listed(folder, {way for each in ways.values() for way in each})
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


def _present(folder: str, urls: Iterable[str]) -> set[str]:
    """Those of the URLs that are pages of the crawl."""
    rows = rows_of(folder, PAGES, ["url"], """
        SELECT url
        FROM source SEMI JOIN asked USING (url)
        ORDER BY ALL
        """, asked=_asked(["url"], zip(urls)))
    return {row["url"] for row in rows}


def _representatives(folder: str, urls: Iterable[str]) -> dict[str, str]:
    """The representative of each URL that is in an identity set."""
    rows = rows_of(folder, IDENTITY_SETS, ["url", "representative"], """
        SELECT url, representative
        FROM source SEMI JOIN asked USING (url)
        ORDER BY ALL
        """, asked=_asked(["url"], zip(urls)))
    return {row["url"]: row["representative"] for row in rows}


def _centres(folder: str, urls: Iterable[str], settings: SimilaritySettings) -> dict[str, str]:
    """For each URL that has one: the smallest page of its site with the same signatures."""
    columns = [*URLS, "same_site", "b_similarity", "c_similarity"]
    rows = rows_of(folder, NEAR_DUPLICATES, columns, """
        SELECT url_b AS url, min(url_a) AS centre
        FROM source SEMI JOIN asked USING (url_b)
        WHERE same_site AND b_similarity = $most_b AND c_similarity = $most_c
        GROUP BY url_b
        ORDER BY ALL
        """, {"most_b": settings.supershingles, "most_c": settings.projection_bits},
        asked=_asked(["url_b"], zip(urls)))
    return {row["url"]: row["centre"] for row in rows}


def _listed(folder: str, pairs: Iterable[PairKey]) -> dict[PairKey, FoundPair]:
    """Those of the pairs that are rows of near_duplicates."""
    columns = [*URLS, "b_similarity", "c_similarity", *ALGORITHMS]
    rows = rows_of(folder, NEAR_DUPLICATES, columns, """
        SELECT *
        FROM source SEMI JOIN asked USING (url_a, url_b)
        ORDER BY ALL
        """, asked=_asked(URLS, pairs))
    return {(row["url_a"], row["url_b"]): FoundPair(
        How.LISTED, row["b_similarity"], row["c_similarity"],
        frozenset(name for name in ALGORITHMS if row[name])) for row in rows}


def _asked(columns: Sequence[str], rows: Iterable[tuple[str, ...]]) -> pa.Table:
    schema = pa.schema([(name, pa.string()) for name in columns])
    return pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows], schema)
