"""Mutations by arithmetic equal mutations made on lists of chunks."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.core.settings import WAYS
from beam_reuse.core.shares import ONE
from beam_reuse.experiments import mutate as module
from beam_reuse.experiments.draws import Draws
from beam_reuse.experiments.mutate import KnownChunks, Mutation, lives, mutate
from beam_reuse.experiments.vectors import SiteChunks
from tests.experiments import twins


def vectors_of(chunks: SiteChunks) -> list[list[int]]:
    bounds = zip(chunks.offsets[:-1], chunks.offsets[1:], strict=True)
    return [chunks.number[a:b].tolist() for a, b in bounds]


@pytest.mark.parametrize("way", WAYS)
@given(
    seed=st.integers(0, 10**6), mutations=st.sets(st.integers(0, 30), min_size=1, max_size=5),
    threshold=st.fractions(0, 1, max_denominator=9), known=st.sets(st.integers(0, 8)),
)
def test_every_number_equals_its_definition(
    way: str, seed: int, mutations: set[int], threshold: Fraction, known: set[int],
) -> None:
    chunks = twins.site_of(twins.random_pages(seed)).chunks
    ns = sorted(mutations)
    blind = np.isin(np.arange(chunks.distinct), sorted(known))
    labels = {
        "expert": KnownChunks(np.ones(chunks.distinct, np.bool_), ONE // 3),
        "blind": KnownChunks(blind, int(threshold * ONE)),
    }
    found = mutate(chunks, labels, Mutation(way, tuple(ns), runs=3, seed=seed))
    for name, sought in labels.items():
        runs = [
            twins.one_run(vectors_of(chunks), set(np.flatnonzero(sought.known).tolist()), way, ns,
                          seed, run, Fraction(sought.threshold, ONE))
            for run in range(3)
        ]
        for k, step in enumerate(found[name]):
            assert (step.mutations, step.pages, step.chunks) == (ns[k], *runs[0][k][:2])
            for value, column in ((step.page, 2), (step.neighbourhood, 3), (step.detected, 4)):
                values = [run[k][column] for run in runs]
                if values[0] is None:
                    assert (value.mean, value.error) == (None, None)
                else:
                    mean, error = twins.mean_and_error([Fraction(v) for v in values])
                    assert value.mean == mean
                    assert value.error == pytest.approx(error, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("way", WAYS)
def test_how_the_pages_are_batched_changes_nothing(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks = twins.site_of(twins.random_pages(5, 40)).chunks
    labels = {"some": KnownChunks(np.arange(chunks.distinct) % 2 == 0, ONE // 7)}
    how = Mutation(way, (0, 3, 7), runs=4, seed=1)
    whole = mutate(chunks, labels, how)
    monkeypatch.setattr(module, "_BATCH", 1)
    assert mutate(chunks, labels, how) == whole
    assert mutate(chunks, labels, Mutation("change", (0, 3, 7), 4, 2)) != whole


def test_changes_hit_as_chance_has_it() -> None:
    """A chunk among c outlives n changes with probability (1 - 1/c)^n."""
    c, n, pages = 5, 7, 20_000
    life = lives("change", np.arange(pages + 1) * c, n, Draws("chance"))
    expected = (1 - 1 / c) ** n
    assert np.mean(life >= n) == pytest.approx(expected, abs=0.005)
    by_position = (life.reshape(pages, c) >= n).mean(axis=0)
    assert by_position == pytest.approx(np.full(c, expected), abs=0.012)


def test_deletions_take_every_order_alike() -> None:
    """Of 5 chunks with 2 labelled, 3 deletions leave 0, 1 or 2 of them as the hypergeometric
    distribution says, and each of the 24 orders of four chunks is as frequent."""
    pages = 24_000
    life = lives("delete", np.arange(pages + 1) * 5, 9, Draws("chance")).reshape(pages, 5)
    left = np.bincount((life[:, :2] >= 3).sum(axis=1), minlength=3) / pages
    assert left == pytest.approx([comb(3, 2) / 10, 6 / 10, 1 / 10], abs=0.015)
    orders = lives("delete", np.arange(pages + 1) * 4, 9, Draws("orders")).reshape(pages, 4)
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 24
    assert counts / 1000 == pytest.approx(np.ones(24), abs=0.15)


def test_lots_are_the_same_everywhere() -> None:
    """Raw bits of PCG64 and SHA-256: fixed for good, so the numbers can be written here."""
    assert Draws(0, "change", 1).below(np.array([10, 1, 1000]), 4).tolist() == [
        [8, 5, 6, 4], [0, 0, 0, 0], [704, 290, 945, 273]]
    assert Draws(0, "change", 1).words(3).tolist() != Draws(0, "change", 2).words(3).tolist()
    assert len(Draws("none").words(0)) == 0


def test_the_papers_curves() -> None:
    """A site of equal pages, all known: adding dilutes to 1/(1+x), deleting never hurts, and
    x changes per chunk leave about exp(-x)."""
    c = 48
    chunks = SiteChunks(np.arange(0, 101 * c, c), np.arange(100 * c), 100 * c)
    labels = {"expert": KnownChunks(np.ones(100 * c, np.bool_), ONE // 7)}
    ns = (0, c, 2 * c, 4 * c)
    found = {
        way: mutate(chunks, labels, Mutation(way, ns, 10, 0))["expert"] for way in WAYS
    }
    assert [step.neighbourhood.mean for step in found["add"]] == [
        1, Fraction(1, 2), Fraction(1, 3), Fraction(1, 5)]
    assert [step.page.mean for step in found["delete"]] == [1, None, None, None]
    for step in found["change"]:
        assert float(step.page.mean or 0) == pytest.approx(
            (1 - 1 / c) ** step.mutations, abs=0.01)
    assert found["change"][1].detected.mean == 100
    assert found["change"][3].detected.mean == 0
