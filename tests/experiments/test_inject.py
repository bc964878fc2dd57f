"""Inject by counting equals inject by copying."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.analyses.reuse.settings import DiscoverySettings
from beam_reuse.experiments.inject import Injection, found_chunks, found_files
from beam_reuse.experiments.tables import inject_rows
from beam_reuse.experiments.vectors import Background
from tests.experiments import twins


@given(
    seed=st.integers(0, 10**6), d=st.integers(0, 30), partial=st.booleans(),
    threshold=st.none() | st.integers(0, 40), around=st.integers(0, 40),
)
def test_counting_finds_what_discovery_finds_among_copies(
    seed: int, d: int, partial: bool, threshold: int | None, around: int,
) -> None:
    pages, others = twins.random_pages(seed), twins.random_pages(seed + 1, around)
    site, background = twins.site_of(pages), twins.background_of(others, pages)
    how = Injection(DiscoverySettings(threshold, threshold), partial)
    corpus = others + twins.copied(pages, d, partial)
    for kind, find, names in (
        ("file", found_files, dict.fromkeys(f for f, _ in pages)),
        ("chunk", found_chunks, dict.fromkeys(c for _, p in pages for c in p)),
    ):
        found, used = find(site, background, d, how)
        expected, expected_threshold = twins.discovered(corpus, kind, threshold)
        assert used == expected_threshold
        assert {n for n, hit in zip(names, found, strict=True) if hit} == expected & set(names)


def test_thresholds_grow_with_the_copies() -> None:
    """At the papers' ratio a chunk must keep pace with the corpus it is in."""
    pages = [("a", [f"chunk {i}" for i in range(405_000)])]
    site = twins.site_of(pages)
    found = inject_rows(site, Background.empty(site), [10, 11, 12, 50], Injection(
        DiscoverySettings()))
    assert [f["chunk_threshold"] for f in found] == [10, 11, 12, 50]
    assert [f["chunks"] for f in found] == [0, 0, 0, 0]
    assert [f["file_threshold"] for f in found] == [10, 10, 10, 10]
    assert [f["files"] for f in found] == [0, 1, 1, 1]
    assert found[0]["distinct_chunks"] == 405_000
    assert found[1]["file_share"] == 1


@pytest.mark.parametrize("partial", [False, True])
def test_partial_copies_hide_files_but_not_chunks(partial: bool) -> None:
    pages = [("a", ["x", "y", "x"]), ("picture", [])]
    site = twins.site_of(pages)
    how = Injection(DiscoverySettings(3, 3), partial)
    (found,) = inject_rows(site, Background.empty(site), [2], how)
    assert (found["files"], found["chunks"]) == (0, 1)
    (found,) = inject_rows(site, Background.empty(site), [4], how)
    assert (found["files"], found["chunks"]) == (1 if partial else 2, 2)
