"""Figures of the near-duplicate graph: its nodes are pages, its edges pairs that are returned."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from beam_reuse.io.results.scan import rows_of
from beam_reuse.io.results.tables import read_manifest
from beam_reuse.judging.figures import degree_figure
from beam_reuse.judging.measures import Rate
from beam_reuse.judging.power_law import likely_exponent, line_exponent
from beam_reuse.judging.reports import Report, Row, report_of
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

Degrees = Mapping[str, Mapping[int, int]]


@dataclass(frozen=True)
class Graph:
    """All figures of a result's graphs. `pages` are all of the crawl, `distinct_pages` those with
    text, of each identity set one. The others are tables of the report: a row for each algorithm;
    how many pages have which degree, from 1 up; pairs of B (C) by B-similarity (C-similarity) with
    the mean of the other one; the TOP_SITES with most pairs of each algorithm."""

    pages: int
    distinct_pages: int
    algorithms: Sequence[Row]
    degrees: Sequence[Row]
    similarities: Sequence[Row]
    sites: Sequence[Row]

    def report(self, drawn: bool) -> Report:
        """All of it, with a figure if it is to be `drawn`."""
        facts = {"pages": self.pages, "distinct_pages": self.distinct_pages}
        tables = {"algorithms": self.algorithms, "degrees": self.degrees,
                  "similarities": self.similarities, "sites": self.sites}
        figures = dict(degree_figure(self.algorithms, self.degrees)) if drawn else {}
        return report_of("graph", facts, tables, figures)


def graph_of(folder: str) -> Graph:
    """The figures of the result in `folder`. Cost: a pass over near_duplicates, the degrees and
    the pairs of sites. Memory: all sites with pairs."""
    manifest = read_manifest(folder)
    kinds = _kinds_of_pairs(folder)
    pairs = {name: _sum(kinds, name) for name in ALGORITHMS}
    degrees = _degrees(folder)
    return Graph(
        manifest.accounting.pages, max(sum(pages.values()) for pages in degrees.values()),
        [_algorithm_row(name, pairs[name], _sum(kinds, name, "same_site"), degrees[name])
         for name in ALGORITHMS],
        [{"algorithm": name, "degree": degree, "pages": pages}
         for name, found in degrees.items() for degree, pages in found.items() if degree],
        list(_similarities(kinds, SimilaritySettings.of(manifest), pairs)),
        [{**row, "share": Rate(row["pairs_within"] + row["pairs_with_others"],
                               pairs[row["algorithm"]]).value} for row in _sites(folder)])


def _kinds_of_pairs(folder: str) -> list[dict[str, Any]]:
    """Pairs with equal similarities, flags and sites, counted."""
    columns = ["b_similarity", "c_similarity", "same_site", *ALGORITHMS]
    return rows_of(folder, NEAR_DUPLICATES, columns, """
        SELECT *, count(*) AS pairs
        FROM source
        GROUP BY ALL
        ORDER BY ALL
        """)


def _sum(kinds: Iterable[Row], *flags: str) -> int:
    """Pairs with all these flags."""
    return sum(kind["pairs"] for kind in kinds if all(kind[flag] for flag in flags))


def _degrees(folder: str) -> dict[str, dict[int, int]]:
    """How many pages of each algorithm's graph have which degree."""
    rows = rows_of(folder, DEGREES, ["algorithm", "degree", "pages"], """
        SELECT algorithm, degree, pages
        FROM source
        ORDER BY ALL
        """)
    return {name: {row["degree"]: row["pages"] for row in rows if row["algorithm"] == name}
            for name in ALGORITHMS}


def _algorithm_row(name: str, pairs: int, same_site: int, degrees: Mapping[int, int]) -> Row:
    linked = {degree: pages for degree, pages in degrees.items() if degree}
    pages = sum(linked.values())
    many = sum(pages for degree, pages in linked.items() if degree >= MANY)
    return {
        "algorithm": name, "pairs": pairs, "same_site_pairs": same_site,
        "same_site_share": Rate(same_site, pairs).value, "pages": pages,
        "share_of_pages": Rate(pages, sum(degrees.values())).value,
        "mean_degree": Rate(sum(d * n for d, n in linked.items()), pages).value,
        f"share_with_{MANY}": Rate(many, pages).value,
        "exponent_line": line_exponent(linked), "exponent_likely": likely_exponent(linked),
    }


def _similarities(kinds: Sequence[Row], settings: SimilaritySettings,
                  pairs: Mapping[str, int]) -> Iterable[Row]:
    for name, other, spans in ((B, C, settings.b_intervals()), (C, B, settings.c_intervals(C))):
        for low, high in spans:
            mine = [kind for kind in kinds
                    if kind[name] and low <= kind[f"{name}_similarity"] <= high]
            others = sum(kind["pairs"] * kind[f"{other}_similarity"] for kind in mine)
            yield {"algorithm": name, "similarity": interval_label((low, high)),
                   "pairs": _sum(mine), "share": Rate(_sum(mine), pairs[name]).value,
                   "mean_other_similarity": Rate(others, _sum(mine)).value}


def _sites(folder: str) -> list[dict[str, Any]]:
    """The sites with most pairs of each algorithm, the most first: with both pages on the site,
    and with one."""
    return rows_of(folder, SITE_PAIRS, ["algorithm", "site_a", "site_b", "pairs"], """
        WITH sides AS (
            SELECT algorithm, pairs, site_a = site_b AS one_site,
                unnest(list_distinct([site_a, site_b])) AS site
            FROM source
        )
        SELECT algorithm, site,
            coalesce(sum(pairs) FILTER (one_site), 0)::BIGINT AS pairs_within,
            coalesce(sum(pairs) FILTER (NOT one_site), 0)::BIGINT AS pairs_with_others
        FROM sides
        GROUP BY algorithm, site
        QUALIFY row_number() OVER (PARTITION BY algorithm ORDER BY sum(pairs) DESC, site) <= $most
        ORDER BY list_position($algorithms, algorithm), sum(pairs) DESC, site
        """, {"most": TOP_SITES, "algorithms": list(ALGORITHMS)})
