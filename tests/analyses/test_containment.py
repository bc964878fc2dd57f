"""What pages share, counted by lists that travel, is what sets have in common."""

from collections.abc import Iterator, Sequence
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.analyses.graphs import containment
from beam_reuse.analyses.graphs.containment import LISTS, PAIRS, contained, meet, paired_pages
from beam_reuse.columnar.block import Block, Lists
from beam_reuse.columnar.schema import NUMBER, columns, gives
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from tests.rows.running import beam_examples, run

Pair = tuple[int, int, int, int]
Listed = dict[tuple[int, int], tuple[list[int], list[int]]]
"""Of a kind and page the keys that are its own, and its others."""

PAIR_COLUMNS = columns(PAIRS, weight=NUMBER)
COUNTED = ("kind", "page", "other", "weight", "own", "found", "other_own", "other_found", "size",
           "other_size", "common")
SHUFFLES: list[dict[str, Any]] = [
    {}, {"buckets": 1}, {"buckets": 3, "flush_bytes": 60, "bucket_budget": 200},
    {"buckets": 2, "flush_bytes": 1, "bucket_budget": 1}]


@st.composite
def worlds(draw: Any) -> tuple[Listed, list[Pair]]:
    """Lists of some pages, and pairs, of which some have pages without a list."""
    listed: Listed = {}
    key = st.sampled_from([0, 1, 2, 3, 4, 5, 6, 16, 32, 2**63, 2**64 - 1])
    for kind in range(2):
        for page in draw(st.sets(st.integers(0, 7))):
            own = draw(st.sets(key))
            listed[kind, page] = (sorted(own), sorted(draw(st.sets(key)) - own))
    pairs = draw(st.lists(st.tuples(
        st.integers(0, 1), st.integers(0, 8), st.integers(0, 8), st.integers(-3, 3)), max_size=25))
    return listed, pairs


def expected(listed: Listed, pairs: Sequence[Pair]) -> list[tuple[int, ...]]:
    """By sets, pair by pair."""
    def keys(kind: int, page: int) -> tuple[set[int], set[int]]:
        own, others = listed.get((kind, page), ([], []))
        return set(own), set(own) | set(others)

    out = []
    for kind, page, other, weight in pairs:
        (own, every), (other_own, other_every) = keys(kind, page), keys(kind, other)
        out.append((kind, page, other, weight, len(own), len(own & other_every), len(other_own),
                    len(other_own & every), len(every), len(other_every),
                    len(every & other_every)))
    return sorted(out)


def pair_block(pairs: Sequence[Pair]) -> Block:
    kind, page, other, weight = zip(*pairs, strict=True) if pairs else ((), (), (), ())
    return Block({"kind": np.array(kind, np.uint8), "page": np.array(page, np.uint64),
                  "other": np.array(other, np.uint64), "weight": np.array(weight, np.int64)})


def list_block(listed: Listed) -> Block:
    keys = [[*own, *others] for own, others in listed.values()]
    return Block({
        "kind": np.array([kind for kind, _ in listed], np.uint8),
        "page": np.array([page for _, page in listed], np.uint64),
        "own": np.array([len(own) for own, _ in listed.values()], np.int64),
        "keys": Lists.from_lengths(np.array([len(each) for each in keys], np.int64),
                                   np.array([k for each in keys for k in each], np.uint64))})


def counted(
    shuffle: dict[str, Any], lists: Sequence[Block], pairs: Sequence[Block],
) -> list[tuple[int, ...]]:
    found = run(Shuffle(Store("inline"), **shuffle), lambda plan: {"found": contained(
        plan.rows(pairs, "pairs", PAIR_COLUMNS), plan.rows(lists, "lists", LISTS))})
    return sorted(row for block in found.rows["found"] for row in zip(
        *(block.array(name).tolist() for name in COUNTED), strict=True))


LARGEST: list[int] = []


@gives(lambda rows: meet.gives.main(rows))  # type: ignore[attr-defined]
def noting(slabs: Iterator[Block]) -> Iterator[Block]:
    """`meet`; how large its slabs are is kept."""
    def noted() -> Iterator[Block]:
        for slab in slabs:
            LARGEST.append(slab.nbytes)
            yield slab

    return meet(noted())


@beam_examples
@given(worlds(), st.sampled_from(SHUFFLES), st.sampled_from([1, 40, 8 << 20]))
def test_any_pairs_and_lists(
    world: tuple[Listed, list[Pair]], shuffle: dict[str, Any], at_once: int,
) -> None:
    listed, pairs = world
    keys = list(listed)
    lists = [list_block({key: listed[key] for key in keys[n::2]}) for n in range(2)]
    with mock.patch.object(containment, "_BYTES_AT_ONCE", at_once):
        found = counted(shuffle, lists, [pair_block(pairs[n::3]) for n in range(3)])
    assert found == expected(listed, pairs)


@pytest.mark.parametrize("centre_travels", [False, True])
def test_a_crowd_around_one_page_is_met_in_slabs(centre_travels: bool) -> None:
    """However many pages meet one: no block is larger than slabs and what is sent at once."""
    rng = np.random.default_rng(3)
    pages, size = 3000, 200
    listed: Listed = {(0, page): (np.unique(rng.integers(0, 4 * size, size)).tolist(), [])
                      for page in range(pages)}
    pairs: list[Pair] = [(0, 0, page, 0) if centre_travels else (0, page, 0, 0)
                         for page in range(1, pages)]
    LARGEST.clear()
    lists = [list_block(dict(list(listed.items())[n::8])) for n in range(8)]
    with (mock.patch.object(containment, "_BYTES_AT_ONCE", 50_000),
          mock.patch.object(containment, "meet", noting)):
        found = counted({"buckets": 4, "bucket_budget": 1 << 20}, lists, [pair_block(pairs)])
    assert found == expected(listed, pairs)
    assert 0 < max(LARGEST) < 200_000


def test_lists_of_pages_without_pairs_stay_where_they_are() -> None:
    pairs = pair_block([(0, 1, 2, 0), (1, 5, 6, 0)])
    found = run(Shuffle(Store("inline")), lambda plan: {
        "filter": paired_pages(plan.rows([pairs], "pairs", PAIR_COLUMNS))})
    asked = Block({"kind": np.array([0, 0, 1, 1, 0, 1], np.uint8),
                   "page": np.array([1, 2, 5, 6, 5, 1], np.uint64)})
    assert found.values["filter"].may_hold(asked).tolist() == [True] * 4 + [False] * 2
