import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.columnar.block import Maybe
from beam_reuse.pages.captures import ages, earliest_first, timestamps_of

TIMES = st.lists(st.none() | st.integers(-(2**62), 2**62))


@given(TIMES)
def test_numbers_are_in_the_order_of_time_and_an_unknown_time_is_last(times) -> None:
    known = Maybe(np.array([time or 0 for time in times], np.int64),
                  np.array([time is not None for time in times], np.bool_))
    rows = range(len(times))
    order, age = earliest_first(known).tolist(), ages(known).tolist()
    assert sorted(rows, key=order.__getitem__) == sorted(
        rows, key=lambda row: (times[row] is None, times[row] or 0))
    assert sorted(rows, key=age.__getitem__) == sorted(
        rows, key=lambda row: (times[row] is None, -(times[row] or 0)))
    assert timestamps_of(earliest_first(known)) == known
