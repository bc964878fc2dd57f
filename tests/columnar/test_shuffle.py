"""Settings of a shuffle."""

import pytest

from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store


@pytest.mark.parametrize("wrong", [{"buckets": 0}, {"flush_bytes": 0}, {"bucket_budget": 0}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError):
        Shuffle(Store("inline"), **wrong)
