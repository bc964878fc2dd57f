"""From what halves of a sample take to what the whole will take."""

import pytest

from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from beam_reuse.estimates.measuring import Measured
from beam_reuse.estimates.scaling import Estimate, Range, scaled

IDLE = Measured(0, 0, {}, {}, 1000, 2.0)


def took(size: int, power: float, pages: float = 1.0) -> Measured:
    """A run whose rows grow by a power of its size."""
    rows = round(size**power)
    return Measured(size, round(size * pages), {"pairs": rows, "none": 0},
                    {"pairs": 24 * rows, "none": 0}, 5 * size + 24 * rows, 2.0 + size / 1000)


def estimate(power: float, size: int = 1_000_000) -> Estimate:
    shuffle = Shuffle(Store("inline", ""), buckets=16, flush_bytes=1 << 20, bucket_budget=1 << 22)
    return scaled((took(5000, power, 0.9), took(5000, power, 1.1)), took(10_000, power), IDLE, size,
                  shuffle)


@pytest.mark.parametrize("power", [0.8, 1.0, 1.3, 2.0])
def test_what_grows_by_a_power_is_within_the_spread(power: float) -> None:
    found = estimate(power)
    (pairs,) = (each for each in found.groupings if each.name == "pairs")
    assert pairs.rows.holds(1_000_000**power) and pairs.bytes.holds(24 * 1_000_000**power)
    assert found.pages.holds(1_000_000) and found.cpu.holds(1002)
    assert found.disk.low < found.disk.likely < found.disk.high
    assert found.shuffled.likely == pytest.approx(pairs.bytes.likely)


def test_what_is_linear_is_scaled_by_bytes() -> None:
    found = estimate(1.0)
    assert found.pages.likely == pytest.approx(1_000_000)
    assert found.cpu.likely == pytest.approx(1002)
    assert found.seconds(1).likely == pytest.approx(found.cpu.likely)
    assert found.seconds(4).likely < found.cpu.likely / 2
    assert found.start == 2.0


def test_halves_that_differ_make_the_spread_wider() -> None:
    equal = scaled((took(5000, 1), took(5000, 1)), took(10_000, 1), IDLE, 10**6,
                   Shuffle(Store("inline", "")))
    assert equal.pages.high / equal.pages.low < estimate(1.0).pages.high / estimate(1.0).pages.low


def test_groupings_without_rows_have_none() -> None:
    (none,) = (each for each in estimate(1.0).groupings if each.name == "none")
    assert none.rows == none.pieces == Range(0.0, 0.0, 0.0)
