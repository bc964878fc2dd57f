"""Figures of the near-duplicate graph: its nodes are pages, its edges pairs that are returned."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_reuse.io.results.scan import TableScan
from beam_reuse.io.results.tables import read_manifest
from beam_reuse.judging.measures import Rate
from beam_reuse.judging.power_law import likely_exponent, line_exponent
from beam_reuse.judging.similarities import (
    ALGORITHMS,
    NEAR_DUPLICATES,
    B,
    C,
    SimilaritySettings,
    interval_label,
)

DEGREES, SITE_PAIRS = "near_duplicate_degrees", "site_pairs"
MANY = 100
TOP_SITES = 1000


@dataclass(frozen=True)
class DegreeFigures:
    """The degrees of one algorithm's graph; `degrees` says how many pages have which, from 1 up,
    `alone` how many have none."""

    algorithm: str
    degrees: Mapping[int, int]
    alone: int

    @property
    def pages(self) -> int:
        """Pages with a near-duplicate."""
        return sum(self.degrees.values())

    @property
    def share(self) -> Rate:
        return Rate(self.pages, self.pages + self.alone)

    @property
    def mean_degree(self) -> Rate:
        return Rate(sum(degree * pages for degree, pages in self.degrees.items()), self.pages)

    @property
    def share_of_many(self) -> Rate:
        """Those of the pages with a near-duplicate that have MANY or more."""
        many = sum(pages for degree, pages in self.degrees.items() if degree >= MANY)
        return Rate(many, self.pages)

    @property
    def line_exponent(self) -> float | None:
        return line_exponent(self.degrees)

    @property
    def likely_exponent(self) -> float | None:
        return likely_exponent(self.degrees)


@dataclass(frozen=True)
class SimilarityRow:
    """Pairs of B (C) with one B-similarity (interval of C-similarities), and the mean of the
    other similarity."""

    algorithm: str
    similarity: str
    pairs: int
    of_pairs: int
    mean_other: Rate


@dataclass(frozen=True)
class SiteRow:
    """A site's pairs in one algorithm's graph: with both pages on it, and with one."""

    algorithm: str
    site: str
    within: int
    between: int


@dataclass(frozen=True)
class Graph:
    """All figures of a result's graphs. `pages` are all of the crawl, `distinct_pages` those with
    text, of each identity set one; `pairs` and `same_site` are counted by algorithm; `sites` are
    the TOP_SITES with most pairs of each."""

    pages: int
    distinct_pages: int
    degrees: tuple[DegreeFigures, ...]
    pairs: Mapping[str, int]
    same_site: Mapping[str, int]
    similarities: tuple[SimilarityRow, ...]
    sites: tuple[SiteRow, ...]


def graph_of(folder: str) -> Graph:
    """The figures of the result in `folder`. Cost: a pass over near_duplicates, the degrees and
    the pairs of sites. Memory: one batch, all sites with pairs."""
    manifest = read_manifest(folder)
    pairs, same_site, similarities = _similarities(folder, SimilaritySettings.of(manifest))
    degrees = _degrees(folder)
    return Graph(
        manifest.accounting.pages, max(sum(pages.values()) for pages in degrees.values()),
        tuple(DegreeFigures(name, {d: n for d, n in found.items() if d}, found.get(0, 0))
              for name, found in degrees.items()),
        pairs, same_site, tuple(similarities), tuple(_sites(folder)))


def _degrees(folder: str) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {name: {} for name in ALGORITHMS}
    for batch in TableScan(folder, DEGREES).batches(["algorithm", "degree", "pages"]):
        for row in batch.to_pylist():
            found[row["algorithm"]][row["degree"]] = row["pages"]
    return found


def _similarities(
    folder: str, settings: SimilaritySettings,
) -> tuple[dict[str, int], dict[str, int], list[SimilarityRow]]:
    pairs: Counter[str] = Counter(dict.fromkeys(ALGORITHMS, 0))
    same_site: Counter[str] = Counter(dict.fromkeys(ALGORITHMS, 0))
    size = max(settings.projection_bits, settings.supershingles) + 1
    counts, sums = ({name: np.zeros(size, np.int64) for name in (B, C)} for _ in range(2))
    columns = ["b_similarity", "c_similarity", "same_site", *ALGORITHMS]
    for batch in TableScan(folder, NEAR_DUPLICATES).batches(columns):
        values = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in columns}
        for name in ALGORITHMS:
            pairs[name] += int(values[name].sum())
            same_site[name] += int((values[name] & values["same_site"]).sum())
        for name, other in ((B, C), (C, B)):
            mine = values[name]
            own = values[f"{name}_similarity"][mine]
            counts[name] += np.bincount(own, minlength=size)
            np.add.at(sums[name], own, values[f"{other}_similarity"][mine])
    spans = {B: settings.b_intervals(), C: settings.c_intervals(C)}
    rows = []
    for name, intervals in spans.items():
        for low, high in intervals:
            part = int(counts[name][low:high + 1].sum())
            mean = Rate(int(sums[name][low:high + 1].sum()), part)
            rows.append(SimilarityRow(name, interval_label((low, high)), part, pairs[name], mean))
    return pairs, same_site, rows


def _sites(folder: str) -> Iterable[SiteRow]:
    """The sites with most pairs of each algorithm, the most first."""
    within, between = _site_sums(folder)
    for algorithm in ALGORITHMS:
        sites = {site for name, site in (*within, *between) if name == algorithm}
        rows = [SiteRow(algorithm, site, within[algorithm, site], between[algorithm, site])
                for site in sites]
        rows.sort(key=lambda row: (-row.within - row.between, row.site))
        yield from rows[:TOP_SITES]


def _site_sums(folder: str) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Pairs within and between sites, by algorithm and site."""
    within: Counter[tuple[str, str]] = Counter()
    between: Counter[tuple[str, str]] = Counter()
    for batch in TableScan(folder, SITE_PAIRS).batches():
        table = pa.Table.from_batches([batch])
        one = pc.equal(table["site_a"], table["site_b"])
        _add(within, table.filter(one), "site_a")
        for side in ("site_a", "site_b"):
            _add(between, table.filter(pc.invert(one)), side)
    return within, between


def _add(sums: Counter[tuple[str, str]], rows: pa.Table, side: str) -> None:
    found = rows.group_by(["algorithm", side]).aggregate([("pairs", "sum")])
    keys = zip(found["algorithm"].to_pylist(), found[side].to_pylist(), strict=True)
    for key, pairs in zip(keys, found["pairs_sum"].to_pylist(), strict=True):
        sums[key] += pairs
