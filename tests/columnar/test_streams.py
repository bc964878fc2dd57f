"""The streams inside a bucket, without Beam: sorting within a budget, groups, reductions,
aligned sides, matches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_reuse.columnar import runs
from beam_reuse.columnar.arrange import arranged
from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.buffers import Buffer, detached, joined
from beam_reuse.columnar.group import whole_groups
from beam_reuse.columnar.join import aligned
from beam_reuse.columnar.matching import lookup, match_ranges, pairs_of
from beam_reuse.columnar.reduce import Reduction
from beam_reuse.columnar.runs import merge_runs, slices, sorted_slabs
from beam_reuse.columnar.splitting import hash_buckets, split_by_bucket
from beam_reuse.columnar.sums import exact_sum
from beam_reuse.kernels.union_find import components
from tests.columnar import twins
from tests.columnar.strategies import ELEMENTS, TYPES, block_lists, blocks, column_of

ROWS = {"key": "bytes", "number": "uint8", "value": "int32"}
budgets = st.sampled_from([1, 40, 400, 4000, 1 << 20])
sizes = st.integers(30, 3000)


@given(block_lists(), budgets)
def test_slabs_hold_all_rows_in_order_within_any_budget(parts, budget):
    keys = parts[0].names
    out = list(sorted_slabs(iter(parts), keys, budget))
    assert all(len(slab) for slab in out)
    assert twins.rows(out) == sorted(twins.rows(parts))


@pytest.mark.parametrize("budget", [40, 400, 4000])
def test_many_runs_are_merged_in_several_passes(budget):
    rng = np.random.default_rng(budget)
    parts = [Block({"a": rng.integers(0, 50, 3), "b": rng.integers(0, 9, 3)}) for _ in range(300)]
    out = list(sorted_slabs(iter(parts), ["a", "b"], budget))
    assert twins.rows(out) == sorted(twins.rows(parts))


def test_a_run_that_disappears_is_reported(monkeypatch):
    monkeypatch.setattr(runs.os, "pread", lambda *_: b"")
    parts = [Block({"a": np.arange(10)}) for _ in range(4)]
    with pytest.raises(OSError, match="cut short"):
        list(sorted_slabs(iter(parts), ["a"], 10))


@given(st.lists(block_lists(ROWS), min_size=1, max_size=3), sizes)
def test_merging_sorted_runs_is_sorting(lists, nbytes):
    keys = ["key", "number"]
    streams = [slices(iter([Block.concat(parts).sort(keys)]), nbytes) for parts in lists]
    merged = list(merge_runs(streams, keys))
    rows = [row for parts in lists for row in twins.rows(parts)]
    assert sorted(twins.rows(merged)) == sorted(rows)
    assert twins.rows(merged, keys) == sorted(row[:2] for row in rows)


@given(block_lists(ROWS), sizes, st.none() | st.integers(1, 5))
def test_groups_come_whole_and_with_their_true_sizes(parts, nbytes, limit):
    slabs = slices(sorted_slabs(parts, list(ROWS), 1 << 20), nbytes)
    seen = {}
    for block, starts, counts in whole_groups(slabs, ["key"], limit):
        ends = np.append(starts[1:], len(block))
        for start, end, count in zip(starts, ends, counts, strict=True):
            rows = twins.rows(block.slice(int(start), int(end)))
            assert rows[0][:1] not in seen
            seen[rows[0][:1]] = count, [row[1:] for row in rows]
    groups = twins.groups(parts, ["key"], ["number", "value"])
    assert seen == {k: (len(g), sorted(g)[: limit or len(g)]) for k, g in groups.items()}


@given(block_lists(), sizes, budgets, st.data())
def test_reducing_a_stream_equals_reducing_groups(parts, nbytes, budget, data):
    names = list(parts[0].names)
    keys = names[: data.draw(st.integers(1, len(names)))]
    columns = {}
    for name in names[len(keys) :]:
        column = parts[0][name]
        exact = isinstance(column, np.ndarray) and column.dtype.kind in "bui"
        small = exact and column.dtype.itemsize < 8
        columns[name] = data.draw(st.sampled_from(["min", "max"] + ["sum"] * small))
    reduction = Reduction(keys, columns)
    slabs = sorted_slabs(map(reduction.prepared, parts), keys, budget, collapse=reduction)
    out = list(reduction.merge(slices(slabs, nbytes)))
    assert twins.rows(out) == twins.reduced(parts, keys, columns)
    if sum(map(len, parts)):
        assert twins.rows(reduction(Block.concat(parts))) == twins.rows(out)


@given(block_lists(ROWS), block_lists(ROWS), sizes, sizes)
@settings(max_examples=50)
def test_aligned_sides_hold_every_key_once_and_whole(left, right, left_size, right_size):
    streams = [
        slices(sorted_slabs(parts, ["key"], 1 << 20), size)
        for parts, size in ((left, left_size), (right, right_size))
    ]
    seen = set()
    rows: list[list] = [[], []]
    for pair in aligned(streams, ["key"]):
        keys = {row for block in pair if block is not None for row in twins.rows(block, ["key"])}
        assert keys and not keys & seen
        seen |= keys
        for block, all_rows in zip(pair, rows, strict=True):
            if block is not None:
                assert twins.rows(block, ["key"]) == sorted(twins.rows(block, ["key"]))
                all_rows += twins.rows(block)
    assert sorted(rows[0]) == sorted(twins.rows(left))
    assert sorted(rows[1]) == sorted(twins.rows(right))


@given(st.data())
def test_matches_are_all_equal_pairs(data):
    kinds = data.draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=2))
    names = {f"c{i}": kind for i, kind in enumerate(kinds)}
    whole = data.draw(blocks(names)).sort(list(names))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(whole), max_size=len(whole))),
                    bool)
    left, right = whole.take(mask), whole.take(~mask)
    pairs = pairs_of(*match_ranges(left, right, list(names)))
    found = set(zip(*(p.tolist() for p in pairs), strict=True))
    rows = twins.rows(left), twins.rows(right)
    assert found == {
        (i, j) for i, a in enumerate(rows[0]) for j, b in enumerate(rows[1]) if a == b
    }
    unique = right.take(right.starts(list(names)))
    index = lookup(left, unique, list(names))
    where = {row: i for i, row in enumerate(twins.rows(unique))}
    assert index.tolist() == [where.get(row, -1) for row in rows[0]]


def test_lookup_refuses_a_right_side_with_repeats():
    left, right = Block({"k": np.array([1])}), Block({"k": np.array([1, 1])})
    with pytest.raises(ValueError, match="more than once"):
        lookup(left, right, ["k"])
    with pytest.raises(TypeError, match="different types"):
        lookup(left, Block({"k": np.array([1], np.uint64)}), ["k"])


@given(block_lists(), st.randoms(use_true_random=False))
def test_arranging_blocks_is_joining_and_taking(parts, random):
    order = list(range(sum(map(len, parts))))
    random.shuffle(order)
    index = np.array(order, np.int64)
    assert arranged(parts, index) == Block.concat(parts).take(index)


def test_blocks_to_arrange_must_have_the_same_columns():
    with pytest.raises(ValueError, match="differ in columns"):
        arranged([Block({"a": np.zeros(1)}), Block({"b": np.zeros(1)})], np.arange(2))


@given(blocks(), st.integers(1, 40))
def test_split_rows_keep_their_order_and_equal_keys_stay_together(block, count):
    buckets = hash_buckets(block, block.names, count)
    parts = split_by_bucket([block], [buckets], count)
    assert [bucket for bucket, _ in parts] == sorted(set(buckets.tolist()))
    rows = twins.rows(block)
    for bucket, part in parts:
        assert twins.rows(part) == [r for r, b in zip(rows, buckets, strict=True) if b == bucket]
    assert len(set(zip(rows, buckets.tolist(), strict=True))) == len(set(rows))


def test_a_bucketer_that_names_no_bucket_is_refused():
    with pytest.raises(ValueError, match="of 3"):
        split_by_bucket([Block({"a": np.zeros(1)})], [np.array([3])], 3)


@given(st.sampled_from(["bool", "uint8", "uint64", "int32", "int64"]), st.data())
def test_sums_are_exact(kind, data):
    elements = data.draw(st.lists(ELEMENTS[kind], max_size=30))
    assert exact_sum(column_of(kind, elements)) == sum(elements)


@given(block_lists(ROWS), sizes)
def test_joining_small_blocks_keeps_the_rows(parts, nbytes):
    out = list(joined(parts, nbytes))
    assert twins.rows(out) == twins.rows(parts)
    other = Block({"x": np.arange(2)})
    assert list(joined([other, *parts, other], nbytes))[-1] == other


def test_a_narrow_view_does_not_keep_a_wide_buffer():
    wide = Block.from_bytes(
        Block({"a": np.arange(1000), "b": VarBytes.from_list([bytes(1000)] * 1000)}).to_bytes()
    )
    narrow = detached(wide.select(["a"]))
    assert narrow == wide.select(["a"])
    assert not np.shares_memory(narrow.array("a"), wide.array("a"))
    assert detached(wide) is wide


def test_arrays_that_kernels_made_can_be_held():
    edges = np.array([0, 1])
    buffer = Buffer(10)
    assert buffer.add(Block({"root": components(100, edges, edges[::-1].copy())[:50]}))
    assert len(buffer.drain()[0]) == 50


@pytest.mark.parametrize("columns", [{"a": "mean"}, {"k": "sum"}])
def test_reductions_that_make_no_sense_are_refused(columns):
    with pytest.raises(ValueError, match="cannot reduce"):
        Reduction(["k"], columns)


def test_floats_are_not_summed():
    block = Block({"k": np.zeros(1), "x": np.zeros(1)})
    with pytest.raises(TypeError, match="exactly"):
        Reduction(["k"], {"x": "sum"})(block)
