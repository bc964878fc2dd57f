"""The index of labels against comparing each query with every label."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from beam_reuse.core import nilsimsa_index
from beam_reuse.core.nilsimsa_index import NO_SCORE, NilsimsaIndex, choose_plan, possible_plans
from beam_reuse.core.settings import SettingError
from tests.oracles import nilsimsa as oracle

Digests = NDArray[np.uint8]


def uniform(rng: np.random.Generator, count: int) -> Digests:
    return rng.integers(0, 256, (count, 32), np.uint8)


def near(rng: np.random.Generator, centres: Digests, count: int, most: int) -> Digests:
    """`count` digests, each some centre with up to `most` bits changed."""
    bits = np.unpackbits(centres[rng.integers(0, len(centres), count)], axis=1)
    for row in bits:
        row[rng.choice(256, rng.integers(0, most + 1), replace=False)] ^= 1
    return np.packbits(bits, axis=1)


def by_comparing_all(
    labels: Digests, queries: Digests, threshold: int
) -> tuple[list[int], list[int]]:
    """Row and score of the best label, for labels that have a digest."""
    a, b = queries.view(np.uint64), labels.view(np.uint64)
    scores = np.stack([128 - np.bitwise_count(b ^ query).sum(1, dtype=np.int64) for query in a])
    row = scores.argmax(axis=1)
    top = scores[np.arange(len(queries)), row]
    return np.where(top >= threshold, row, -1).tolist(), np.where(
        top >= threshold, top, NO_SCORE).tolist()


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[tuple[bytes, int]], list[bytes]]:
    """Labels with rows and queries, many of them alike, some equal, some zero."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    centres = np.concatenate([uniform(rng, 3), np.zeros((1, 32), np.uint8)])
    most = draw(st.sampled_from([0, 1, 3, 8, 20, 60]))
    labels = near(rng, centres, draw(st.integers(0, 40)), most)
    queries = near(rng, centres, draw(st.integers(1, 20)), most)
    return ([(label.tobytes(), row) for row, label in enumerate(labels)],
            [query.tobytes() for query in queries])


def as_array(digests: list[bytes]) -> Digests:
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 32)


@settings(max_examples=200)
@given(cases(), st.one_of(st.integers(-128, 128), st.integers(90, 128)), st.integers(0, 3))
def test_best_is_the_best_of_all(
    case: tuple[list[tuple[bytes, int]], list[bytes]], threshold: int, choice: int
) -> None:
    """With every plan that promises to miss nothing, and without one."""
    labels, queries = case
    digests = as_array([digest for digest, _ in labels])
    plans = [*possible_plans(len(labels), threshold), None]
    plan = plans[choice % len(plans)]
    with mock.patch.object(nilsimsa_index, "choose_plan", lambda *_: plan):
        index = NilsimsaIndex(digests, threshold)
    assert index.plan == plan
    row, score = index.best(as_array(queries))
    assert (row.dtype, score.dtype) == (np.int64, np.int16)
    assert list(zip(row.tolist(), score.tolist(), strict=True)) == [
        oracle.best(labels, query, threshold) for query in queries]


@pytest.mark.parametrize("threshold", [128, 127, 120, 115, 110, 100, 90, 64, 0, -128])
@pytest.mark.parametrize("clustered", [False, True])
def test_thousands_of_labels(threshold: int, clustered: bool) -> None:
    rng = np.random.default_rng(threshold % 97)
    labels = uniform(rng, 3_000)
    if clustered:
        labels = near(rng, labels[:20], 3_000, 40)
    queries = np.concatenate([near(rng, labels, 150, 40), near(rng, labels, 50, 2),
                              uniform(rng, 50), labels[:50]])
    row, score = NilsimsaIndex(labels, threshold).best(queries)
    assert (row.tolist(), score.tolist()) == by_comparing_all(labels, queries, threshold)


def test_labels_crowded_in_one_bucket_of_every_piece() -> None:
    """Queries whose buckets hold nearly all labels are compared with all, and still right."""
    rng = np.random.default_rng(5)
    labels = near(rng, uniform(rng, 1), 5_000, 3)
    queries = near(rng, labels, 100, 20)
    index = NilsimsaIndex(labels, 115)
    assert index.plan is not None
    row, score = index.best(queries)
    assert (row.tolist(), score.tolist()) == by_comparing_all(labels, queries, 115)


@given(st.integers(0, 10**9), st.integers(-128, 128))
def test_every_plan_keeps_its_promise(labels: int, threshold: int) -> None:
    """Pigeonholes: differing bits that break the allowance of every piece are too many."""
    for plan in possible_plans(labels, threshold):
        assert sum(flips + 1 for flips in plan.flips) == 128 - threshold + 1
        assert min(plan.flips) >= 0
        ends = plan.starts + plan.bits
        assert ends[-1] <= 256
        assert np.all(ends[:-1] <= plan.starts[1:])
        assert plan.found_within[-1] == 128 - threshold
        changes = plan.patterns()
        assert len(set(changes.tolist())) == len(changes) == plan.probes.max()
        assert np.all(np.diff(np.bitwise_count(changes).astype(int)) >= 0)


@pytest.mark.parametrize(("labels", "lowest"), [(10**4, 106), (10**5, 93), (10**6, 85)])
def test_when_all_pairs_are_compared(labels: int, lowest: int) -> None:
    """The thresholds that docs/definitions.md names; far above them pieces pay well."""
    assert choose_plan(labels, lowest) is not None
    assert choose_plan(labels, lowest - 1) is None
    plan = choose_plan(labels, 115)
    assert plan is not None
    assert plan.cost(labels) < labels / 10


def test_few_labels_need_no_pieces() -> None:
    assert choose_plan(0, 115) is None
    assert choose_plan(1_000, 115) is None
    assert NilsimsaIndex(uniform(np.random.default_rng(0), 50), 115).plan is None


def test_equal_labels_are_one_with_their_smallest_row() -> None:
    label = b"\x11" * 32
    labels = as_array([b"\x22" * 32, label, b"\x22" * 32, label, label])
    index = NilsimsaIndex(labels, 100)
    assert len(index) == 2
    row, score = index.best(as_array([label]))
    assert (row.tolist(), score.tolist()) == ([1], [128])


def test_digests_of_zeros_never_match() -> None:
    """Not even each other, and not at a threshold that everything reaches."""
    zero, other = bytes(32), bytes(31) + b"\x01"
    index = NilsimsaIndex(as_array([zero, other]), -128)
    assert len(index) == 1
    row, score = index.best(as_array([zero, other]))
    assert (row.tolist(), score.tolist()) == ([-1, 1], [NO_SCORE, 128])
    nothing = NilsimsaIndex(as_array([zero, zero]), 115)
    assert nothing.best(as_array([other]))[0].tolist() == [-1]


def test_a_higher_threshold_is_read_from_the_scores() -> None:
    rng = np.random.default_rng(7)
    labels = uniform(rng, 2_000)
    queries = near(rng, labels, 300, 40)
    row, score = NilsimsaIndex(labels, 90).best(queries)
    for threshold in (100, 115, 128):
        expected = NilsimsaIndex(labels, threshold).best(queries)
        reached = score >= threshold
        assert np.array_equal(np.where(reached, row, -1), expected[0])
        assert np.array_equal(np.where(reached, score, NO_SCORE), expected[1])


@pytest.mark.parametrize("threshold", [129, -129])
def test_a_threshold_out_of_range_is_refused(threshold: int) -> None:
    with pytest.raises(SettingError, match=f"^threshold: {threshold} .* -128 to 128"):
        NilsimsaIndex(np.zeros((0, 32), np.uint8), threshold)
