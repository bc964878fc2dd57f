"""Filters of keys: those on two rows or more are never lost, whatever the bundles and the bits."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import Counters
from beam_reuse.columnar.filters import KeyFilter, KeysSeen
from beam_reuse.columnar.repeats import Repeats

KEYS = st.lists(st.lists(st.integers(0, 30), max_size=8), max_size=6)


def blocks_of(parts: list[list[int]]) -> list[Block]:
    return [Block({"key": np.array(part, np.uint64)}) for part in parts]


@given(KEYS, st.integers(3, 12))
def test_the_same_as_counters_that_end_at_two(parts: list[list[int]], bits: int) -> None:
    """Counted together, or apart and merged."""
    blocks, counters = blocks_of(parts), Counters.sized(["key"], bits, 2)
    together, merged = Repeats.sized(["key"], bits), Repeats.sized(["key"], bits)
    for block in blocks:
        counters.add(block)
        together.add(block)
        alone = Repeats.sized(["key"], bits)
        alone.add(block)
        merged.merge(alone)
    expected = counters.heavy().bitmap.tolist()
    assert together.heavy().bitmap.tolist() == merged.heavy().bitmap.tolist() == expected


@given(KEYS, st.integers(3, 8), st.sampled_from([1, 3, 5, 15, 16, 300]))
def test_counters_are_never_below_the_count(
    parts: list[list[int]], bits: int, cap: int,
) -> None:
    """Nor do they know more than their cap, whether counted together, or apart and merged; with
    enough of them they are exact."""
    together, merged = Counters.sized(["key"], bits, cap), Counters.sized(["key"], bits, cap)
    exact = Counters.sized(["key"], 18, cap)
    for block in blocks_of(parts):
        alone = Counters.sized(["key"], bits, cap)
        for each in (together, alone, exact):
            each.add(block)
        merged.merge(alone)
    found = Counter(key for part in parts for key in part)
    keys = Block({"key": np.array(sorted(found), np.uint64)})
    expected = [found[key] >= cap for key in sorted(found)]
    if found:
        assert together.heavy().may_hold(keys)[expected].all()
        assert exact.heavy().may_hold(keys).tolist() == expected
    assert together.heavy().bitmap.tolist() == merged.heavy().bitmap.tolist()


def test_a_key_filter_passes_few_others() -> None:
    filled = KeyFilter.sized(["k"], 100_000)
    filled.add(Block({"k": np.arange(100_000)}))
    assert filled.may_hold(Block({"k": np.arange(100_000)})).all()
    assert filled.may_hold(Block({"k": np.arange(100_000, 300_000)})).mean() < 0.008


@given(KEYS, st.integers(1, 200))
def test_a_filter_is_as_large_as_its_keys_need(parts: list[list[int]], expected: int) -> None:
    """Whether keys were seen together, or apart and merged; never larger than for those that were
    expected, and no key is lost."""
    together, merged = KeysSeen(["key"], expected), KeysSeen(["key"], expected)
    for block in blocks_of(parts):
        together.add(block)
        alone = KeysSeen(["key"], expected)
        alone.add(block)
        merged.merge(alone)
    distinct = len({key for part in parts for key in part})
    for made in (together.filter(), merged.filter()):
        assert all(made.may_hold(block).all() for block in blocks_of(parts))
        most = KeyFilter.sized(["key"], max(expected, distinct)).words
        assert len(made.words) <= len(most)


def test_few_of_many_expected_keys_make_a_small_filter() -> None:
    seen = KeysSeen(["k"], 1_000_000)
    for start in range(0, 50_000, 1000):
        for _ in range(5):  # more rows than are held, of fewer keys
            seen.add(Block({"k": np.arange(start, start + 1000)}))
    filled = seen.filter()
    assert len(filled.words) == len(KeyFilter.sized(["k"], 50_000).words)
    assert filled.may_hold(Block({"k": np.arange(50_000)})).all()
    assert filled.may_hold(Block({"k": np.arange(100_000, 300_000)})).mean() < 0.008
