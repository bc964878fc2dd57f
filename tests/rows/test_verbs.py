"""Each verb equals its twin, for any block sizes, bucket counts, budgets, sources, both stores."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.filters import keep_matching
from beam_reuse.columnar.matching import match_ranges, pairs_of
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from beam_reuse.rows import Count, Plan, Tagged
from beam_reuse.rows.folds import FindFrequent
from beam_reuse.rows.ranking import rank
from tests.columnar import twins
from tests.columnar.strategies import block_lists
from tests.rows.running import SOURCES, beam_examples, made, run, shuffles

ROWS = {"key": "bytes", "sha1": "V20", "number": "uint8", "value": "int32"}
COLUMNS = {"number": "sum", "value": "min", "sha1": "max"}
sources = st.sampled_from(SOURCES)


def shuffled(blocks, seed):
    return random.Random(seed).sample(blocks, len(blocks))


def with_ones(block):
    return block.select(["sha1", "key"]).with_columns(count=np.ones(len(block), np.uint64))


def big_numbers(block, least):
    yield Count("rows", len(block))
    large = block.array("number") >= least
    yield block.take(large)
    yield Tagged("small", block.take(~large))
    yield Count("small", int((~large).sum()))


@given(block_lists(ROWS), shuffles(), sources, st.integers(0, 255))
@beam_examples
def test_map(folder, parts, options, how, least):
    def write(plan):
        large = plan.given(parts, how).map(big_numbers, least)
        return {"large": large, "small": large.tagged("small"), "unread": large.tagged("none")}

    found = run(made(options, folder), write)
    rows = twins.rows(parts)
    small = [row for row in rows if row[2] < least]
    assert sorted(twins.rows(found.rows["large"])) == sorted(r for r in rows if r[2] >= least)
    assert sorted(twins.rows(found.rows["small"])) == sorted(small)
    assert found.rows["unread"] == []
    assert all(len(block) for each in found.rows.values() for block in each)
    expected = {"rows": len(rows), "small": len(small)}
    assert found.counts == {name: number for name, number in expected.items() if number}


@given(block_lists(ROWS), shuffles(), sources)
@beam_examples
def test_reduce_and_distinct(folder, parts, options, how):
    def write(plan):
        rows = plan.given(parts, how)
        return {
            "reduced": rows.reduce("key", COLUMNS),
            "counted": rows.map(with_ones).reduce(["sha1", "key"], {"count": "sum"}),
            "distinct": rows.distinct(["number", "key"]),
            "few": rows.reduce("key", {"value": "max"}, buckets=1),
        }

    found = run(made(options, folder), write).rows
    assert sorted(twins.rows(found["reduced"])) == twins.reduced(parts, ["key"], COLUMNS)
    for block in found["reduced"]:
        assert twins.rows(block, ["key"]) == sorted(twins.rows(block, ["key"]))
    counts = {row[:2]: row[2] for row in twins.rows(found["counted"])}
    assert counts == twins.counted(parts, ["sha1", "key"])
    assert len(counts) == sum(map(len, found["counted"]))
    assert sorted(twins.rows(found["distinct"])) == sorted(
        set(twins.rows(parts, ["number", "key"])))
    assert twins.rows(found["few"]) == twins.reduced(parts, ["key"], {"value": "max"})


def first_of_groups(block, starts, sizes, total):
    yield block.take(starts).with_columns(size=sizes, total=np.full(len(starts), total["number"]))
    yield Tagged("all", block)
    yield Count("groups", len(starts))


def distinct_sizes(block, starts, sizes):
    return block.take(starts).with_columns(size=sizes, sum=np.add.reduceat(
        block.array("value"), starts))


@given(block_lists(ROWS), shuffles(), sources, st.none() | st.integers(1, 4))
@beam_examples
def test_group(folder, parts, options, how, limit):
    names = ["key", "number", "sha1", "value"]

    def write(plan):
        rows = plan.given(parts, how)
        groups = rows.group("key", first_of_groups, rows.total("number"),
                            order=names[1:], limit=limit)
        return {"first": groups, "all": groups.tagged("all"),
                "reduced": rows.group("number", distinct_sizes, order="key",
                                      reducing={"value": "sum"})}

    found = run(made(options, folder), write)
    groups = twins.groups(parts, ["key"], names[1:])
    total = sum(number for number, in twins.rows(parts, ["number"]))
    assert sorted(twins.rows(found.rows["first"], [*names, "size", "total"])) == sorted(
        (*key, *min(members), len(members), total) for key, members in groups.items())
    assert sorted(twins.rows(found.rows["all"], names)) == sorted(
        (*key, *row) for key, members in groups.items()
        for row in sorted(members)[: limit or len(members)])
    assert found.counts.get("groups", 0) == len(groups)
    reduced = twins.groups(parts, ["number"], ["key", "value"])
    assert sorted(twins.rows(found.rows["reduced"], ["number", "key", "size", "sum"])) == sorted(
        (*number, min(members)[0], len({key for key, _ in members}), sum(v for _, v in members))
        for number, members in reduced.items())


def first_and_size(slabs, more):
    """The first row of a bucket, and how many there are and in how many slabs."""
    first, size = None, more
    for slab in slabs:
        first = slab.slice(0, 1) if first is None else first
        size += len(slab)
        yield Tagged("all", slab)
    yield first.with_columns(size=np.array([size]))


def bucket_of_number(block, buckets, modulus, total):
    assert total["number"] >= int(block.array("number").max())
    return (block.array("number") % min(modulus, buckets)).astype(np.int64)


@given(block_lists(ROWS), shuffles(), sources, st.integers(1, 9))
@beam_examples
def test_stream_and_buckets_by_a_given_rule(folder, parts, options, how, modulus):
    shuffle = made(options, folder)

    def write(plan):
        rows = plan.given(parts, how)
        one = rows.stream("number", first_and_size, 0, order=["key"], buckets=1)
        ruled = rows.into_buckets(
            bucket_of_number, modulus, rows.total("number"), order=["number", "key"],
            kernel=first_and_size, kernel_args=(1000,))
        return {"one": one, "in order": one.tagged("all"), "ruled": ruled,
                "streamed": rows.stream("key", first_and_size, 0).tagged("all")}

    found = run(shuffle, write).rows
    rows = sorted(twins.rows(parts, ["number", "key"]))
    assert twins.rows(found["in order"], ["number", "key"]) == rows
    assert sorted(twins.rows(found["streamed"])) == sorted(twins.rows(parts))
    assert twins.rows(found["one"], ["number", "key", "size"]) == [
        (*row, len(rows)) for row in rows[:1]]
    expected: dict = {}
    for row in rows:
        expected.setdefault(row[0] % min(modulus, shuffle.buckets), []).append(row)
    assert sorted(twins.rows(found["ruled"], ["number", "key", "size"])) == sorted(
        (*members[0], 1000 + len(members)) for members in expected.values())


def matched(left, right, *keys):
    if left is None or right is None:
        return None
    rows = pairs_of(*match_ranges(left, right, keys))
    return left.take(rows[0]).with_columns(other=right.array("value")[rows[1]])


def of_one_side(left, right):
    if right is None:
        return Tagged("left", left)
    return Tagged("right", right) if left is None else None


@given(block_lists(ROWS), block_lists(ROWS), shuffles(), sources)
@beam_examples
def test_join(folder, left, right, options, how):
    def write(plan):
        mine, others = plan.given(left, how, "left"), plan.given(right, "known", "right")
        alone = mine.join(others, "key", of_one_side)
        return {
            "joined": mine.join(others, "key", matched, "key"),
            "dealt": mine.join(others, "number", matched, "number", dealt=True),
            "reduced": mine.join(others, "key", matched, "key", reducing={"number": "sum"},
                                 other_reducing={"value": "max"}),
            "self": mine.join(mine, "key", matched, "key", other_reducing={"value": "min"}),
            "left": alone.tagged("left"), "right": alone.tagged("right"),
        }

    found = run(made(options, folder), write).rows
    assert sorted(twins.rows(found["joined"], ["key", "number", "other"])) == twins.joined(
        left, right, "key", "number", "value")
    assert sorted(twins.rows(found["dealt"], ["number", "key", "other"])) == twins.joined(
        left, right, "number", "key", "value")
    sums = dict(twins.reduced(left, ["key"], {"number": "sum"}))
    largest = dict(twins.reduced(right, ["key"], {"value": "max"}))
    assert sorted(twins.rows(found["reduced"])) == sorted(
        (key, sums[key], largest[key]) for key in sums if key in largest)
    smallest = dict(twins.reduced(left, ["key"], {"value": "min"}))
    assert sorted(twins.rows(found["self"], ["key", "value", "other"])) == sorted(
        (key, value, smallest[key]) for key, value in twins.rows(left, ["key", "value"]))
    assert sum(map(len, found["left"])) + sum(map(len, found["right"])) <= sum(
        map(len, [*left, *right]))
    assert {key for key, in twins.rows(found["right"], ["key"])} <= set(largest)


@given(block_lists({"key": "bytes", "value": "int64"}), shuffles(), sources, st.integers(1, 20))
@beam_examples
def test_top(folder, parts, options, how, n):
    found = run(made(options, folder),
                lambda plan: {"top": plan.given(parts, how).top(n, "value", "key")}).rows["top"]
    best = sorted((-value, key) for key, value in twins.rows(parts))[:n]
    assert twins.rows(found) == [(key, -value) for value, key in best]
    assert len(found) <= 1


@given(block_lists(ROWS), block_lists(ROWS), shuffles(), sources)
@beam_examples
def test_filters_lose_no_match(folder, parts, wanted, options, how):
    def write(plan):
        rows = plan.given(parts, how)
        keys = plan.given(wanted, "known", "wanted").keys(["sha1", "key"])
        return {"only": rows.only(keys), "repeated": rows.repeated("key", 20)}

    found = run(made(options, folder), write).rows
    rows, keys = twins.rows(parts), set(twins.rows(wanted, ["sha1", "key"]))
    kept = sorted(twins.rows(found["only"]))
    assert set(kept) <= set(rows)
    assert [row for row in kept if (row[1], row[0]) in keys] == sorted(
        row for row in rows if (row[1], row[0]) in keys)
    often = {key for key, number in twins.counted(parts, ["key"]).items() if number > 1}
    assert sorted(twins.rows(found["repeated"])) == sorted(row for row in rows if row[:1] in often)


@given(block_lists(ROWS), st.integers(1, 20), st.integers(3, 12), shuffles())
@beam_examples
def test_a_coarse_count_loses_no_frequent_key(folder, parts, least, bits, options):
    def write(plan):
        rows = plan.given(parts)
        return {"kept": rows.map(
            keep_matching, rows.fold(FindFrequent(("key",), bits, least)))}

    kept = twins.rows(run(made(options, folder), write).rows["kept"])
    rows = twins.rows(parts)
    numbers = Counter(row[0] for row in rows)
    frequent = {key for key, number in numbers.items() if number >= least}
    assert sorted(row for row in kept if row[0] in frequent) == sorted(
        row for row in rows if row[0] in frequent)
    if bits == 12 and len(numbers) < 2:
        assert {row[0] for row in kept} == frequent


@given(block_lists({"a": "uint64", "b": "int64", "c": "bool"}), shuffles(), sources)
@beam_examples
def test_totals_are_exact_and_gathered_rows_distinct(folder, parts, options, how):
    def write(plan):
        rows = plan.given(parts, how)
        return {"sums": rows.total("a", "b", "c"), "rows": rows.gathered(["b", "a", "c"])}

    found = run(made(options, folder), write).values
    rows = twins.rows(parts)
    assert found["sums"] == {n: sum(row[i] for row in rows) for i, n in enumerate("abc")}
    gathered = twins.rows(found["rows"], ["b", "a", "c"]) if rows else []
    assert gathered == sorted(set(twins.rows(parts, ["b", "a", "c"])))


def first_of_runs(block, starts, drop):
    if not drop:
        return block
    rest = np.ones(len(block), bool)
    rest[starts] = False
    return block.take(starts), Tagged("dropped", block.take(rest))


@given(block_lists(ROWS), shuffles(), sources, st.sampled_from(["key", "number", "sha1"]),
       st.booleans(), st.booleans(), st.integers())
@beam_examples
def test_rank(folder, parts, options, how, key, drop, early, seed):
    order = [name for name in ROWS if name != key]

    def write(plan):
        rows = plan.given(shuffled(parts, seed), how)
        sampled = plan.given(parts[:2], "known", "sampled") if early else None
        ranked = rank(rows, key, first_of_runs, drop, order=order, sampled=sampled)
        return {"ranked": ranked.rows, "dropped": ranked.found.tagged("dropped")}

    found = run(made(options, folder), write).rows
    rows = sorted(twins.rows(parts, [key, *order]))
    firsts = {row[0]: row for row in reversed(rows)}
    survivors = sorted(firsts.values()) if drop else rows
    assert sorted(twins.rows(found["ranked"], ["rank", key, *order])) == [
        (i, *row) for i, row in enumerate(survivors)]
    assert len(twins.rows(found["dropped"])) == len(rows) - len(survivors)


def test_a_limit_that_makes_no_sense_is_refused():
    rows = Plan(Shuffle(Store("inline"))).rows([Block({"k": np.zeros(1)})])
    with pytest.raises(ValueError, match="limit"):
        rows.group("k", first_of_groups, limit=0)
