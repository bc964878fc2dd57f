"""Where a curve meets the threshold."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.experiments.tolerance import Tolerance, mutation_counts, tolerance

F = Fraction


@pytest.mark.parametrize(
    ("means", "crossing", "step"),
    [
        ([F(1), F(1, 2), F(1, 4), F(1, 8)], F(8, 3), F(3)),
        ([F(1), F(1, 6), F(0), F(0)], F(1), F(1)),
        ([F(1, 6), F(1), F(1), F(1)], F(0), F(0)),
        ([F(0), F(1), F(1), F(1)], F(0), F(0)),
        ([F(1), F(1), F(1), F(1)], None, None),
        ([F(1), F(1), None, F(0)], None, None),
        ([None, None, None, None], None, None),
        ([F(1), F(1), F(0), F(1)], F(11, 6), F(2)),
    ],
)
def test_the_first_crossing_on_the_straight_line(
    means: list[Fraction | None], crossing: Fraction | None, step: Fraction | None
) -> None:
    assert tolerance([F(0), F(1), F(2), F(3)], means, F(1, 6)) == Tolerance(crossing, step)


@given(st.lists(st.fractions(0, 9, max_denominator=8), min_size=1), st.fractions(0, 50))
def test_mutations_are_the_nearest_whole_numbers(
    multiples: list[Fraction], mean: Fraction
) -> None:
    found = mutation_counts(multiples, mean)
    assert list(found) == sorted(set(found))
    assert all(any(abs(n - m * mean) <= F(1, 2) for n in found) for m in multiples)
    assert all(any(abs(n - m * mean) <= F(1, 2) for m in multiples) for n in found)
