"""Settings of a shuffle."""

import pytest

from beam_reuse.columnar.shuffle import Shuffle, buckets_for
from beam_reuse.columnar.store import Store


def test_buckets_follow_from_the_size() -> None:
    assert buckets_for(0) == 16
    assert buckets_for(4 << 30, 128 << 20) == 64
    assert buckets_for(1 << 60) == 1 << 16


@pytest.mark.parametrize("wrong", [{"buckets": 0}, {"flush_bytes": 0}, {"bucket_budget": 0}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError):
        Shuffle(Store("inline"), **wrong)
