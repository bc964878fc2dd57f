"""Figures of the near-duplicate graph against their definitions, on random graphs."""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from scipy.special import zeta

from beam_reuse.core.urls import name_page
from beam_reuse.io.results.manifest import NoResultError
from beam_reuse.judging.graph import graph_of
from beam_reuse.judging.power_law import likely_exponent, line_exponent, mean_log
from beam_reuse.judging.similarities import ALGORITHMS
from tests.judging.near_duplicates import SETTINGS, made_pages, tables_of
from tests.judging.results import write_result
from tests.oracles import graph as oracle


@pytest.mark.parametrize("seed", range(4))
def test_figures_equal_their_definitions(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    tables = tables_of(made_pages(rng, 60))
    rows = [row for part in tables["near_duplicates"] for row in part]
    listed = {name: [(r["url_a"], r["url_b"]) for r in rows if r[name]] for name in ALGORITHMS}
    real = {name: oracle.degrees(pairs) for name, pairs in listed.items()}
    degree_rows = [
        {"algorithm": name, "degree": degree, "pages": pages} for name in ALGORITHMS
        for degree, pages in [(0, 60 - len(real[name])), *Counter(real[name].values()).items()]]
    sites = Counter((name, *sorted((name_page(a).site, name_page(b).site)))
                    for name, pairs in listed.items() for a, b in pairs)
    site_rows = [{"algorithm": name, "site_a": a, "site_b": b, "pairs": n}
                 for (name, a, b), n in sorted(sites.items())]
    folder = write_result(tmp_path / "r", {
        **tables, "near_duplicate_degrees": [degree_rows[:3], degree_rows[3:]],
        "site_pairs": [site_rows[:1], site_rows[1:]]}, **SETTINGS)
    found = graph_of(folder)
    assert found.distinct_pages == 60
    for figures in found.algorithms:
        name = figures["algorithm"]
        values = list(real[name].values())
        assert {row["degree"]: row["pages"] for row in found.degrees
                if row["algorithm"] == name} == Counter(values)
        assert (figures["pages"], figures["share_of_pages"]) == (len(values), len(values) / 60)
        assert figures["mean_degree"] == number(oracle.mean(values))
        assert figures["share_with_100"] == number(oracle.share([v >= 100 for v in values]))
        assert figures["exponent_line"] == pytest.approx(oracle.slope(values))
        assert figures["exponent_likely"] == pytest.approx(oracle.most_likely(values), abs=1e-6)
        same = [row for row in rows if row[name] and row["same_site"]]
        assert (figures["pairs"], figures["same_site_pairs"]) == (len(listed[name]), len(same))
    for row in found.similarities:
        name, (low, _, high) = row["algorithm"], row["similarity"].partition("-")
        other = "c" if name == "b" else "b"
        values = [r[f"{other}_similarity"] for r in rows if r[name]
                  and int(low) <= r[f"{name}_similarity"] <= int(high or low)]
        assert row["pairs"] == len(values)
        assert row["share"] == len(values) / len(listed[name])
        assert row["mean_other_similarity"] == number(oracle.mean(values))
    for row in found.sites:
        name, site = row["algorithm"], row["site"]
        pairs = [{name_page(a).site, name_page(b).site} for a, b in listed[name]]
        assert row["pairs_within"] == sum(pair == {site} for pair in pairs)
        assert row["pairs_with_others"] == sum(site in pair and len(pair) == 2 for pair in pairs)
    order = [(ALGORITHMS.index(row["algorithm"]),
              -row["pairs_within"] - row["pairs_with_others"], row["site"]) for row in found.sites]
    assert order == sorted(order)
    assert {(row["algorithm"], row["site"]) for row in found.sites} == {
        (name, name_page(url).site) for name, pairs in listed.items()
        for pair in pairs for url in pair}


def number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


@pytest.mark.parametrize("exponent", [1.3, 2.0, 3.5])
def test_the_exponent_of_a_power_law_is_found(exponent: float) -> None:
    rng = random.Random(1)
    norm = zeta(exponent, 1)
    histogram = {k: round(1e9 * k ** -exponent / norm) for k in range(1, 3000)}
    assert line_exponent({k: n for k, n in histogram.items() if n > 1000}) == pytest.approx(
        -exponent, abs=0.01)
    values = [min(10**6, int(rng.paretovariate(exponent - 1))) for _ in range(2000)]
    assert likely_exponent(Counter(values)) == pytest.approx(oracle.most_likely(values), abs=1e-5)


@pytest.mark.parametrize("s", [1.001, 1.3, 2.5, 7.0, 40.0])
def test_the_mean_logarithm_is_that_of_the_zeta_distribution(s: float) -> None:
    step = 1e-5 * (s - 1)
    slope = (zeta(s + step, 1) - zeta(s - step, 1)) / (2 * step)
    assert mean_log(s) == pytest.approx(-slope / zeta(s, 1), rel=1e-6)


@pytest.mark.parametrize("fit", [line_exponent, likely_exponent])
def test_no_power_law_is_fitted_to_fewer_than_ten_points(
    fit: Callable[[Mapping[int, int]], float | None],
) -> None:
    histogram = {degree: 1000 // degree ** 2 for degree in range(1, 10)}
    assert fit({}) is None and fit({1: 5}) is None and fit({3: 7}) is None
    assert fit(histogram) is None
    assert fit({**histogram, 0: 7, 10: 0}) is None
    assert fit({**histogram, 10: 10}) == pytest.approx(-2, abs=0.3)


def test_a_result_without_near_duplicates_is_refused(tmp_path: Path) -> None:
    folder = write_result(tmp_path / "r", {"page_reuse": [[]]})
    with pytest.raises(NoResultError, match="no table 'near_duplicates'"):
        graph_of(folder)
