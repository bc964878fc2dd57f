"""Scales: every value has a place, in order, and ticks are between the ends."""

from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.report.scales import Scale, short
from beam_reuse.report.values import Axis

AXES = st.sampled_from([
    Axis("x"), Axis("x", log=True), Axis("x", share=True), Axis("x", from_zero=False)])
COUNTS = st.lists(st.floats(0, 1e12).filter(lambda x: x == 0 or x > 1e-6), max_size=20)


@given(AXES, COUNTS)
def test_values_have_places_in_order(axis: Axis, values: list[float]) -> None:
    scale = Scale.of(axis, values, 10.0, 110.0)
    places = [scale.place(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(9.9 <= place <= 110.1 for place in places)


@given(AXES, COUNTS)
def test_ticks_are_few_and_between_the_ends(axis: Axis, values: list[float]) -> None:
    scale = Scale.of(axis, values, 10.0, 110.0)
    places = [scale.place(value) for value, _ in scale.ticks()]
    assert 2 <= len(places) <= 12
    assert places == sorted(set(places))
    assert all(9.9 <= place <= 110.1 for place in places)


def test_numbers_are_short() -> None:
    assert [short(n) for n in (0, 1, 999, 1000, 20_000, 3_500_000, 2e9)] == [
        "0", "1", "999", "1k", "20k", "3.5M", "2G"]
