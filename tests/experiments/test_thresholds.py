"""Rates against the threshold equal counting anew at each."""

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.experiments.tables import threshold_rows

COUNTS = st.lists(st.integers(0, 12))


@given(COUNTS, COUNTS)
def test_rates(bad: list[int], benign: list[int]) -> None:
    found = threshold_rows("file", np.array(bad, np.int64), np.array(benign, np.int64))
    at = {row["threshold"]: (row["true_positives"], row["false_positives"]) for row in found}
    expected: Callable[[int], tuple[int, int]] = lambda t: (  # noqa: E731
        sum(n > t for n in bad), sum(n > t for n in benign))
    assert at == {t: expected(t) for t in sorted({0, *bad, *benign})}
    for t in range(14):
        assert at[max(u for u in at if u <= t)] == expected(t), "nothing changes in between"


def test_rows() -> None:
    rows = threshold_rows("chunk", np.array([5, 0, 9]), np.array([7]))
    assert {(row["bad"], row["benign"]) for row in rows} == {(3, 1)}
    assert [(r["threshold"], r["true_positives"], r["false_positives"]) for r in rows] == [
        (0, 2, 1), (5, 1, 1), (7, 1, 0), (9, 0, 0)]
    assert rows[1]["true_positive_rate"] == 1 / 3
    assert rows[1]["precision"] == 1 / 2
    assert rows[3]["precision"] is None
    (first, _) = threshold_rows("file", np.zeros(0, np.int64), np.array([3]))
    assert first["true_positive_rate"] is None
