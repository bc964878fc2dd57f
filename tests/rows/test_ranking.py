"""Ranges of keys, and how many rows are before each, without Beam."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.columnar.block import Block
from beam_reuse.rows.ranking import CountBuckets, SplitKeys, range_buckets
from tests.columnar import twins
from tests.columnar.strategies import ELEMENTS, block_lists


@given(st.data())
def test_splitters_keep_order_and_equal_keys_together(data):
    kind = data.draw(st.sampled_from(list(ELEMENTS)))
    parts = data.draw(block_lists({"k": kind}))
    buckets = data.draw(st.integers(1, 9))
    split = SplitKeys("k", buckets)
    sample = split.start()
    for block in parts:
        sample = split.merge(sample, split.add(split.start(), block))
    splitters = split.finish(sample)
    assert len(splitters) < buckets
    whole = Block.concat(parts)
    placed = range_buckets(whole, buckets, "k", splitters).tolist()
    cuts = twins.values(splitters, "key") if len(splitters) else []
    assert placed == [sum(cut <= key for cut in cuts) for key in twins.values(whole, "k")]


def test_the_sample_does_not_depend_on_how_rows_are_cut():
    words = np.random.default_rng(3).integers(0, 5000, 20_000, np.uint64)
    whole, split = Block({"k": words}), SplitKeys("k", 2)
    samples = []
    for step in (20_000, 777):
        held = split.start()
        for start in range(0, len(words), step):
            held = split.add(held, whole.slice(start, start + step))
        samples.append(held)
    assert samples[0] == samples[1]
    assert len(samples[0]) == split.size == 128


def test_ranges_begin_after_the_rows_of_those_before():
    counts = CountBuckets(4)
    halves = [counts.add(counts.start(), Block({"range_": np.repeat(range_, rows)}))
              for range_, rows in [(2, 5), (0, 1)]]
    held = counts.add(counts.merge(*halves), Block({"range_": np.array([2])}))
    assert counts.finish(held).tolist() == [0, 1, 1, 7, 7]
