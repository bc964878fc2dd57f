"""The edit script of two token sequences: one of the shortest, by the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.diff import edit_masks
from tests.oracles import differences as oracle

FEW = st.lists(st.integers(0, 5), max_size=25)


def masks(a: list[int], b: list[int]) -> tuple[np.ndarray, np.ndarray]:
    first, second = (np.array(values, np.uint64) for values in (a, b))
    deleted, inserted = edit_masks(frozen(first), frozen(second))
    assert first[~deleted].tolist() == second[~inserted].tolist()
    return deleted, inserted


@given(FEW, FEW)
def test_no_script_is_shorter(a: list[int], b: list[int]) -> None:
    deleted, inserted = masks(a, b)
    assert deleted.sum() + inserted.sum() == oracle.term_difference(a, b)


@given(FEW, FEW)
def test_both_oracles_agree(a: list[int], b: list[int]) -> None:
    assert oracle.common_of_many(a, b) == oracle.common(a, b)


@pytest.mark.parametrize("kinds", [2, 40, 3000])
@pytest.mark.parametrize("lengths", [(1500, 1500), (1, 1400), (1300, 2), (3, 1999), (700, 1901)])
def test_sequences_with_many_edits(kinds: int, lengths: tuple[int, int]) -> None:
    """More edits than the search from both ends is used for."""
    rng = np.random.default_rng(sum(lengths) + kinds)
    a, b = (rng.integers(0, kinds, length).tolist() for length in lengths)
    deleted, inserted = masks(a, b)
    expected = len(a) + len(b) - 2 * oracle.common_of_many(a, b)
    assert deleted.sum() + inserted.sum() == expected


def test_long_pages_with_few_edits() -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 5000, 200_000).tolist()
    b = [*a[:1000], 9999, *a[1000:150_000], *a[150_010:]]
    deleted, inserted = masks(a, b)
    assert (deleted.sum(), inserted.sum()) == (10, 1)
