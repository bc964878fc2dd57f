"""Iceberg counting: the pairs of direct counting, whatever the counters and the blocks."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.analyses.overlap.iceberg import (
    LEAST_BITS,
    MOST_BITS,
    PAIR,
    HeavyPairs,
    HeavyPairsCoder,
    PairCounters,
    PairCountersCoder,
    PairTable,
    counter_bits,
    enough,
    heavy_of,
    light_load,
)
from beam_reuse.columnar import Block
from beam_reuse.columnar.reduce import Reduction

Lists = list[tuple[int, list[int]]]
UNITS = st.lists(st.integers(0, 12) | st.just(2**64 - 1), min_size=2, max_size=9, unique=True)
LISTS = st.lists(st.tuples(st.integers(0, 2), UNITS.map(sorted)), min_size=1, max_size=30)
THRESHOLDS = st.tuples(*[st.integers(1, 6) | st.just(300)] * 3)


def block(lists: Lists) -> Block:
    """Postings of the lists."""
    return Block({
        "tag": np.array([tag for tag, units in lists for _ in units], np.uint8),
        "head": np.array([i == 0 for _, units in lists for i in range(len(units))]),
        "unit": np.array([unit for _, units in lists for unit in units], np.uint64),
    })


def pair_rows(blocks: list[Block], tags: int, heavy: HeavyPairs | None = None,
              held: int = 1 << 20) -> list[Block]:
    table = PairTable(tags, heavy, held)
    return [*(rows for lists in blocks for rows in table.add(lists)), table.drain()]


def counted(blocks: list[Block], thresholds: tuple[int, ...],
            heavy: HeavyPairs | None) -> dict[tuple[int, int, int], int]:
    """The pairs that share enough, counted exactly."""
    rows = pair_rows(blocks, len(thresholds), heavy, 9)
    sums = enough(Reduction(PAIR, {"shared": "sum"})(Block.concat(rows)), thresholds)
    return {(tag, a, b): n for tag, a, b, n in zip(
        *(sums.array(name).tolist() for name in (*PAIR, "shared")), strict=True)}


def by_definition(lists: Lists, thresholds: tuple[int, ...]) -> dict[tuple[int, int, int], int]:
    shared = Counter((tag, a, b) for tag, units in lists for a, b in combinations(units, 2))
    return {pair: n for pair, n in shared.items() if n >= thresholds[pair[0]]}


@given(LISTS, THRESHOLDS, st.integers(3, 8), st.integers(1, 30))
def test_iceberg_is_direct(
    lists: Lists, thresholds: tuple[int, ...], bits: int, size: int,
) -> None:
    """Also with so few counters that most pairs meet, and counters that are added up."""
    blocks = [block(lists[i : i + size]) for i in range(0, len(lists), size)]
    expected = by_definition(lists, thresholds)
    assert counted(blocks, thresholds, None) == expected
    if max(thresholds) == 1:
        return
    counters = PairCounters.sized(max(thresholds))
    for each in blocks:
        part = PairCounters.sized(max(thresholds), 1 << bits)
        part.add(each, np.array(thresholds) > 1)
        coder = PairCountersCoder()
        counters = counters.merged(coder.decode(coder.encode(part)))
    heavy = HeavyPairsCoder().decode(HeavyPairsCoder().encode(heavy_of(counters, thresholds)))
    assert counted(blocks, thresholds, heavy) == expected


def test_few_light_pairs_are_shipped() -> None:
    """With counters as the pilot asks for, hardly any pair below the threshold passes."""
    rng = np.random.default_rng(1)
    lists = [(0, sorted(map(int, rng.choice(4000, 20, replace=False)))) for _ in range(3000)]
    lists += [(0, [1, 2])] * 15
    postings, thresholds = block(lists), (15,)
    (pairs,) = pair_rows([postings], 1)
    bits = counter_bits(light_load(pairs, thresholds) / 256)
    counters = PairCounters.sized(15, 1 << bits)
    counters.add(postings, np.array([True]))
    shipped = sum(map(len, pair_rows([postings], 1, heavy_of(counters, thresholds))))
    assert 1 <= shipped < 500


@pytest.mark.parametrize(("load", "bits"), [(0.0, LEAST_BITS), (1e-9, LEAST_BITS), (8.0, 13),
                                            (8.1, 14), (1e30, MOST_BITS)])
def test_bits_follow_the_load(load: float, bits: int) -> None:
    assert counter_bits(load) == bits


def test_a_list_longer_than_what_is_held() -> None:
    """Pairs come out in parts where they do not fit at once."""
    lists: Lists = [(0, list(range(700))), (1, list(range(5, 400))), (0, list(range(350)))]
    found = counted([block(lists)], (2, 1, 1), None)
    assert found == by_definition(lists, (2, 1, 1))
