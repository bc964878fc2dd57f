"""Lists of numbers with three dots."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.cli.arguments import parse
from beam_reuse.core.settings import ExperimentSettings, SettingError
from beam_reuse.declaring.kinds import parse_series, show_series
from beam_reuse.declaring.settings import Settings
from beam_reuse.options.table import MUTATE
from beam_reuse.options.values import recorded_settings, settings_from, shown_settings


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,2,5", [1, 2, 5]), ("1,2,...,5", [1, 2, 3, 4, 5]), ("0,0.1,...,0.3", [0, 0.1, 0.2, 0.3]),
        ("1, 5,10,...,20 ,100", [1, 5, 10, 15, 20, 100]), ("1,2,…,3", [1, 2, 3]), ("7", [7]),
    ],
)
def test_series(text: str, numbers: list[float]) -> None:
    assert parse_series(text) == tuple(Fraction(str(n)) for n in numbers)


@pytest.mark.parametrize("text", ["", "...", "1,...,5", "1,2,...", "1,3,...,6", "1,1,...,5",
                                  "1,2,...,0", "a", "1,2,...,b", "0,1,...,1000000"])
def test_no_series(text: str) -> None:
    with pytest.raises(SettingError, match=r"--multiples: .* it must be a list of ascending"):
        parse(["experiment", "mutate", "a", "-o", "x", "--multiples", text])


@given(st.integers(0, 50), st.integers(1, 9), st.integers(1, 30))
def test_a_series_reads_as_it_is_shown(start: int, step: int, n: int) -> None:
    whole = tuple(range(start, start + n * step, step))
    assert parse_series(show_series(whole)) == whole
    tenths = tuple(k / 10 for k in whole)
    assert tuple(map(float, parse_series(show_series(tenths)))) == tenths


def test_experiments_record_and_show_their_settings() -> None:
    got = parse(["experiment", "mutate", "a", "-o", "x", "--multiples", "0,0.5,...,2",
                 "--background", "b", "c", "--seed", "4"])
    assert got.values["background"] == ("b", "c")
    settings = settings_from(got.values)
    assert settings.experiment == ExperimentSettings(multiples=(0, 0.5, 1, 1.5, 2), seed=4)
    assert recorded_settings(MUTATE, settings)["multiples"] == [0, 0.5, 1, 1.5, 2]
    assert "background" not in recorded_settings(MUTATE, settings)
    assert shown_settings(MUTATE, Settings())["multiples"] == "0,0.25,...,8"
