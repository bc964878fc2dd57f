"""Iceberg counting: the pairs of direct counting, whatever the counters and the blocks."""

import pickle
from collections import Counter
from functools import reduce
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.analyses.overlap.iceberg import (
    LEAST_BITS,
    MOST_BITS,
    PAIR,
    CountPairs,
    EstimateBits,
    HeavyPairs,
    PairSample,
    counter_bits,
    pair_load,
    pair_rows,
    sampled_pairs,
)
from beam_reuse.analyses.overlap.pairs import CERTAIN, candidates
from beam_reuse.analyses.overlap.postings import CROWD, LIST, PASSED, crowd_postings
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.reduce import Reduction
from beam_reuse.pages.sides import ONE_SIDE, Sides
from beam_reuse.rows import Tagged

Lists = list[tuple[int, list[int]]]
UNITS = st.lists(st.integers(0, 12) | st.just(2**64 - 1), min_size=2, max_size=9, unique=True)
LISTS = st.lists(st.tuples(st.integers(0, 2), UNITS.map(sorted)), min_size=1, max_size=30)
SIDES = (ONE_SIDE, Sides(first_old=3))
THRESHOLDS = st.tuples(*[st.integers(1, 6) | st.just(300)] * 3)


def block(lists: Lists) -> Block:
    """Postings of the lists."""
    return Block({
        "tag": np.array([tag for tag, units in lists for _ in units], np.uint8),
        "role": np.array([LIST * (i == 0) for _, units in lists for i in range(len(units))],
                         np.uint8),
        "unit": np.array([unit for _, units in lists for unit in units], np.uint64),
    })


def counted(blocks: list[Block], thresholds: tuple[int, ...],
            heavy: HeavyPairs, sides: Sides = ONE_SIDE) -> dict[tuple[int, int, int], int]:
    """The pairs that share enough, counted exactly."""
    rows = [rows for lists in blocks for rows in pair_rows(lists, heavy, sides, 9)]
    sums = Reduction(PAIR, {"shared": "sum"})(Block.concat(rows)).sort(("unit", "tag", "other"))
    (certain,) = (each.rows for each in candidates(sums, None, thresholds)
                  if isinstance(each, Tagged) and each.tag == CERTAIN)
    return dict(zip(keys(certain), certain.array("shared").tolist(), strict=True))


def by_definition(lists: Lists, thresholds: tuple[int, ...]) -> dict[tuple[int, int, int], int]:
    shared = Counter((tag, a, b) for tag, units in lists for a, b in combinations(units, 2))
    return {pair: n for pair, n in shared.items() if n >= thresholds[pair[0]]}


@given(LISTS, THRESHOLDS, st.integers(3, 8), st.integers(1, 30), st.sampled_from(SIDES))
def test_iceberg_is_direct(
    lists: Lists, thresholds: tuple[int, ...], bits: int, size: int, sides: Sides,
) -> None:
    """Also with so few counters that most pairs meet, and counters that are added up; of two sides
    without pairs of old pages."""
    blocks = [block(lists[i : i + size]) for i in range(0, len(lists), size)]
    expected = {(tag, a, b): n for (tag, a, b), n in by_definition(lists, thresholds).items()
                if sides.new(np.array([a, b], np.uint64)).any()}
    assert counted(blocks, thresholds, HeavyPairs.all(3), sides) == expected
    if max(thresholds) == 1:
        return
    folding = CountPairs(thresholds, sides)
    parts = [pickle.loads(pickle.dumps(folding.add(folding.start(bits), each))) for each in blocks]
    heavy = folding.finish(reduce(folding.merge, parts))
    assert counted(blocks, thresholds, pickle.loads(pickle.dumps(heavy)), sides) == expected


def test_few_light_pairs_are_shipped() -> None:
    """With counters as the pilot asks for, hardly any pair below the threshold passes."""
    rng = np.random.default_rng(1)
    lists = [(0, sorted(map(int, rng.choice(4000, 20, replace=False)))) for _ in range(3000)]
    lists += [(0, [1, 2])] * 15
    postings, thresholds = block(lists), (15,)
    (pairs,) = pair_rows(postings, HeavyPairs.all(1))
    bits = counter_bits(pair_load(pairs, thresholds) / 256)
    folding = CountPairs(thresholds)
    heavy = folding.finish(folding.add(folding.start(bits), postings))
    shipped = sum(map(len, pair_rows(postings, heavy)))
    assert 1 <= shipped < 500
    sampled = EstimateBits(thresholds)
    held = sampled.start()
    for rows in sampled_pairs(postings):
        held = sampled.add(held, rows)
    assert abs(sampled.finish(held) - bits) <= 1


@given(LISTS, st.integers(1, 40), st.randoms())
def test_a_pilot_sample_that_does_not_fit_is_thinned_whatever_the_order(
    lists: Lists, most: int, random: Random,
) -> None:
    folding = EstimateBits((7, 7, 7), most)
    rows = [pairs for each in lists for pairs in pair_rows(block([each]), HeavyPairs.all(3))]
    (every,) = pair_rows(block(lists), HeavyPairs.all(3))

    def parts(size: int) -> list[PairSample]:
        random.shuffle(rows)
        found = []
        for start in range(0, len(rows), size):
            held = folding.start()
            for each in rows[start : start + size]:
                held = folding.add(held, each)
            found.append(held)
        return found

    one, other = (reduce(folding.merge, parts(size)) for size in (2, 5))
    assert one.level == other.level and one.pairs == other.pairs
    assert len(one.pairs) <= most
    counts = dict(zip(keys(every), every.array("shared").tolist(), strict=True))
    assert all(counts[pair] == n for pair, n in zip(
        keys(one.pairs), one.pairs.array("shared").tolist(), strict=True))
    if len(every) <= most:
        assert one.level == 0 and len(one.pairs) == len(every)


def keys(pairs: Block) -> list[tuple[int, ...]]:
    return list(zip(*(pairs.array(name).tolist() for name in PAIR), strict=True))


@given(st.integers(2, 60), st.integers(1, 25), st.sets(st.integers(0, 59)), st.booleans())
def test_pairs_of_crowds(units: int, slab: int, light: set[int], coarsely: bool) -> None:
    """Each with the first and the ten after it, in the order in which they come, in however many
    parts; pairs of other lists that are among them are counted though they are light."""
    order = np.random.default_rng(units).permutation(60)[:units].astype(np.uint64)
    rows = Block({"tag": np.zeros(units, np.uint8), "key": np.full(units, 7, np.uint64),
                  "unit": order})
    slabs = (rows.slice(i, i + slab) for i in range(0, units, slab))
    blocks = [each for each in crowd_postings(slabs) if len(each)]
    assert all(each.array("role")[0] == CROWD for each in blocks)
    assert sum((each.array("role") == PASSED).sum() for each in blocks) <= 11 * len(blocks)
    others = sorted(light)
    blocks += [block([(0, others)])] if len(others) > 1 else []
    heavy = HeavyPairs.all(1)
    if coarsely:
        folding = CountPairs((5,))
        held = folding.start(16)
        for each in blocks:
            held = folding.add(held, each)
        heavy = folding.finish(held)
    found = Reduction(PAIR, {"shared": "sum"})(Block.concat([
        found for each in blocks for found in pair_rows(each, heavy, most=40)]))
    compared = {tuple(sorted((int(order[i]), int(order[j])))): (i, j)
                for i, j in combinations(range(units), 2) if i == 0 or j - i <= 10}
    shared = dict(zip(((a, b) for _, a, b in keys(found)), found.array("shared").tolist(),
                      strict=True))
    assert {pair for pair, n in shared.items() if n >= 1 << 32} == compared.keys()
    assert all(n >> 32 <= 1 and n % (1 << 32) == (set(pair) <= light)
               for pair, n in shared.items())
    if not coarsely:
        assert shared.keys() == compared.keys() | set(combinations(others, 2))


@pytest.mark.parametrize(("load", "bits"), [(0.0, LEAST_BITS), (1e-9, LEAST_BITS), (8.0, 13),
                                            (8.1, 14), (1e30, MOST_BITS)])
def test_bits_follow_the_load(load: float, bits: int) -> None:
    assert counter_bits(load) == bits


def test_a_list_longer_than_what_is_held() -> None:
    """Pairs come out in parts where they do not fit at once."""
    lists: Lists = [(0, list(range(700))), (1, list(range(5, 400))), (0, list(range(350)))]
    found = counted([block(lists)], (2, 1, 1), HeavyPairs.all(3))
    assert found == by_definition(lists, (2, 1, 1))
