"""Filters of keys: those on two rows or more are never lost, whatever the bundles and the bits."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import Counters
from beam_reuse.columnar.filters import KeyFilter
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
    expected = counters.heavy(2).bitmap.tolist()
    assert together.heavy().bitmap.tolist() == merged.heavy().bitmap.tolist() == expected


def test_a_key_filter_passes_few_others() -> None:
    filled = KeyFilter.sized(["k"], 100_000)
    filled.add(Block({"k": np.arange(100_000)}))
    assert filled.may_hold(Block({"k": np.arange(100_000)})).all()
    assert filled.may_hold(Block({"k": np.arange(100_000, 300_000)})).mean() < 0.008
