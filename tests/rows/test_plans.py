"""Whole plans: unions, values and rows that are read in several rounds, what leaves a graph."""

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any

import apache_beam as beam
import numpy as np
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.matching import match_ranges
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Piece, Store
from beam_reuse.rows import Count, Plan, Tagged
from beam_reuse.rows.building import build
from beam_reuse.rows.nodes import by_number
from tests.columnar import twins
from tests.columnar.strategies import block_lists
from tests.rows.running import SOURCES, beam_examples, made, run, shuffles

ROWS = {"key": "uint16", "value": "int32"}
INLINE = Shuffle(Store("inline"), buckets=3)
sources = st.sampled_from(SOURCES)


def rows_of(*keys: int) -> list[Block]:
    return [Block({"key": np.array([key], np.int64), "one": np.ones(1, np.int64)})
            for key in keys]


def same(block, *_):
    return block


def sizes(block, starts, found):
    return Block({"key": block.array("key")[starts], "rows": found})


def matches(left, right):
    if left is None:
        return None
    low, high = (0, 0) if right is None else match_ranges(left, right, ("key",))
    return Block({"key": left.array("key"), "rows": high - low + 0 * left.array("key")})


def pairs(blocks, column):
    return {key: n for block in blocks for key, n in zip(
        block.array("key").tolist(), block.array(column).tolist(), strict=True)}


LEFT, RIGHT = [1, 2, 2, 3], [2, 3, 3, 3, 4]


@pytest.mark.parametrize("how", SOURCES)
def test_a_union_is_treated_as_one(how):
    def write(plan):
        both = plan.given(rows_of(*LEFT), how, "left") + plan.given(rows_of(*RIGHT), how, "right")
        both += plan.nothing()
        return {
            "same": both, "mapped": both.map(same), "grouped": both.group("key", sizes),
            "reduced": both.reduce("key", {"one": "sum"}),
            "joined": plan.given(rows_of(2, 9), "known", "asked").join(both, "key", matches),
            "later": both.map(same, both.total("one")).reduce("key", {"one": "sum"}),
            "sum": both.total("one"), "keys": both.gathered("key"),
        }

    found = run(INLINE, write)
    expected = Counter(LEFT + RIGHT)
    for name in ("same", "mapped"):
        assert Counter(key for key, _ in twins.rows(found.rows[name])) == expected
    assert pairs(found.rows["grouped"], "rows") == expected
    assert pairs(found.rows["reduced"], "one") == expected
    assert pairs(found.rows["later"], "one") == expected
    assert pairs(found.rows["joined"], "rows") == {2: expected[2], 9: 0}
    assert found.values["sum"] == {"one": len(LEFT + RIGHT)}
    assert found.values["keys"].array("key").tolist() == sorted(expected)


def test_rows_that_are_added_to_themselves_come_twice():
    def write(plan):
        once = plan.given(rows_of(*LEFT))
        return {"same": once + once, "mapped": (once + once).map(same),
                "grouped": (once + once).group("key", sizes), "sum": (once + once).total("one")}

    found = run(INLINE, write)
    twice = Counter(LEFT + LEFT)
    for name in ("same", "mapped"):
        assert Counter(key for key, _ in twins.rows(found.rows[name])) == twice
    assert pairs(found.rows["grouped"], "rows") == twice
    assert found.values["sum"] == {"one": 2 * len(LEFT)}


def more(block, *totals):
    """Each value raised by all totals."""
    return block.with_columns(value=block.array("value").astype(np.int64) + sum(
        total["value"] for total in totals))


def first_rows(block, starts, _, *totals):
    return more(block.take(starts), *totals)


@given(block_lists(ROWS), shuffles(), sources)
@beam_examples
def test_rows_and_values_that_are_read_in_several_rounds(folder, parts, options, how):
    """`first` is there at once, `second` a round later, `third` after that; all read the source,
    and rows that were made in the first round."""

    def write(plan):
        rows = plan.given(parts, how)
        kept = rows.map(same)
        first = rows.total("value")
        second = rows.map(more, first).total("value")
        third = kept.map(more, first, second).total("value")
        lists = kept.group("key", first_rows, first, second, order="value")
        return {
            "once": kept.map(more, first), "twice": kept.map(more, first, second),
            "thrice": rows.map(more, first, second, third), "kept": kept,
            "lists": lists, "late lists": lists.map(more, third),
            "first": first, "second": second, "third": third,
        }

    found = run(made(options, folder), write)
    rows = twins.rows(parts)
    sum_of = sum(value for _, value in rows)
    first = sum_of
    second = sum_of + len(rows) * first
    third = sum_of + len(rows) * (first + second)
    assert {name: each["value"] for name, each in found.values.items()} == {
        "first": first, "second": second, "third": third}
    for name, added in (("kept", 0), ("once", first), ("twice", first + second),
                        ("thrice", first + second + third)):
        assert sorted(twins.rows(found.rows[name])) == sorted((k, v + added) for k, v in rows)
    least = twins.reduced(parts, ["key"], {"value": "min"})
    for name, added in (("lists", first + second), ("late lists", first + second + third)):
        assert sorted(twins.rows(found.rows[name])) == [(k, v + added) for k, v in least]


@given(block_lists(ROWS), shuffles(), sources)
@beam_examples
def test_rows_that_are_put_away_leave_as_references(folder, parts, options, how):
    shuffle = made(options, folder)

    def write(plan):
        rows = plan.given(parts, how)
        return {"put": rows, "put later": rows.map(more, rows.total("value")) + rows,
                "not put": rows, "put nothing": plan.nothing()}

    found = run(shuffle, write, put=("put", "put later", "put nothing")).rows
    assert all(isinstance(each, Piece) for name in ("put", "put later") for each in found[name])
    assert found["put nothing"] == []
    rows = sorted(twins.rows(parts))
    back = {name: [shuffle.store.get_block(piece) for piece in found[name]]
            for name in ("put", "put later")}
    assert sorted(twins.rows(back["put"])) == sorted(twins.rows(found["not put"])) == rows
    total = sum(value for _, value in rows)
    assert sorted(twins.rows(back["put later"])) == sorted(
        rows + [(key, value + total) for key, value in rows])


@dataclass(frozen=True)
class Largest:
    """The largest value, at least `least`; -1 of no rows."""

    def start(self, least: int = 0) -> int:
        return least

    def add(self, held: int, block: Block) -> int:
        return max(held, int(block.array("key").max()))

    def merge(self, held: int, other: int) -> int:
        return max(held, other)

    def finish(self, held: int | None) -> int:
        return -1 if held is None else held


def with_values(block, *values):
    yield Count("calls", 1)
    yield block.with_columns(**{f"v{n}": np.full(len(block), v) for n, v in enumerate(values)})


def nobody(block, *_):
    return None


def counts_in(filter_, keys):
    return int(filter_.may_hold(Block({"key": np.array(keys)})).sum())


def test_a_value_of_no_rows_is_what_its_folding_says():
    """Of rows that are none in the plan, that a kernel dropped, and that have not come; also
    where the folding itself waits for such a value."""

    def write(plan):
        rows = plan.given(rows_of(*LEFT))
        dropped, outside = rows.map(nobody), plan.given([], "blocks", "outside")
        values = [each.fold(Largest()) for each in (plan.nothing(), dropped, outside, rows)]
        values.append(dropped.fold(Largest(), values[0]))
        values.append(rows.fold(Largest(), values[3]))
        grouped = plan.nothing().group("key", sizes, values[3])
        return {
            "seen": rows.map(with_values, *values), "grouped": grouped,
            "alone": plan.nothing().group("key", sizes).map(same, values[0]),
            "sum": dropped.total("one"), "rows": dropped.gathered("key"),
            "keys": dropped.keys("key"), **{f"value {n}": v for n, v in enumerate(values)},
        }

    found = run(INLINE, write)
    expected = [-1, -1, -1, 3, -1, 3]
    assert {row[2:] for row in twins.rows(found.rows["seen"])} == {tuple(expected)}
    assert [found.values[f"value {n}"] for n in range(len(expected))] == expected
    assert found.rows["grouped"] == found.rows["alone"] == []
    assert found.values["sum"] == {"one": 0}
    assert len(found.values["rows"]) == 0
    assert counts_in(found.values["keys"], LEFT) == 0
    assert found.counts == {"calls": len(LEFT)}


def test_a_plan_without_rows_gives_nothing():
    found = run(INLINE, lambda plan: {
        "nothing": plan.nothing(), "joined": plan.nothing().join(plan.nothing(), "key", matches),
        "value": plan.nothing().fold(Largest())})
    assert found.rows == {"nothing": [], "joined": []}
    assert found.values == {"value": -1}
    assert found.counts == {}
    assert run(INLINE, lambda plan: {"nothing": plan.nothing()}).rows == {"nothing": []}


def must_have_rows(block):
    assert len(block)
    return block


@pytest.mark.parametrize("how", SOURCES)
def test_blocks_without_rows_reach_no_kernel(how):
    parts = [Block({}), *rows_of(1), *(block.slice(0, 0) for block in rows_of(2))]
    found = run(INLINE, lambda plan: {
        "out": plan.given(parts, how).map(must_have_rows), "given": plan.given(parts, how, "b")})
    assert twins.rows(found.rows["out"]) == twins.rows(found.rows["given"]) == [(1, 1)]


def test_any_name_is_good_for_rows_and_a_kernel_needs_none():
    names = ("counts", "rounds", "round1", "values1", "main", "None")
    found = run(INLINE, lambda plan: {
        name: plan.given(rows_of(*LEFT), how, name).map(partial(same)).distinct("key").map(same)
        for name, how in zip(names, 2 * SOURCES, strict=True)})
    assert set(found.rows) == set(names)
    assert all(sorted(twins.rows(each)) == [(1,), (2,), (3,)] for each in found.rows.values())


def test_sources_from_outside_need_no_names_of_their_own():
    plan = Plan(INLINE)
    pipeline = beam.Pipeline(runner=FnApiRunner())
    some = [plan.pieces(pipeline | f"some {n}" >> beam.Create(rows_of(n))) for n in range(3)]
    assert build(pipeline, plan, {"all": some[0] + some[1] + some[2]}).rows["all"] is not None


def by_tags(block):
    for key in block.array("key").tolist():
        yield Tagged("odd" if key % 2 else "even", Block({"key": np.array([key])}))


def of_group(block, starts, _):
    yield Count("groups", len(starts))
    yield Tagged("groups", block.take(starts))


def test_tags_are_read_where_they_are_asked_for():
    def write(plan):
        rows = plan.given(rows_of(*LEFT)) + plan.given(rows_of(*RIGHT), "blocks", "right")
        tagged = rows.map(by_tags)
        groups = tagged.tagged("odd").group("key", of_group)
        return {"main": tagged, "even": tagged.tagged("even"), "odd": groups.tagged("groups"),
                "later": tagged.tagged("even").map(same, rows.total("one"))}

    found = run(INLINE, write)
    assert found.rows["main"] == []
    assert sorted(twins.rows(found.rows["odd"])) == [(1,), (3,)]
    for name in ("even", "later"):
        assert sorted(twins.rows(found.rows[name])) == [(2,), (2,), (2,), (4,)]
    assert found.counts == {"groups": 2}


def numbered(block, starts, counts, keys):
    assert keys.may_hold(block).all()
    return block.take(starts).with_columns(size=counts)


def of_both(left, right, total):
    yield Count("left", 0 if left is None else len(left))
    if left is not None and right is not None:
        yield more(left, total)


@pytest.mark.parametrize("kind", ["files", "inline"])
def test_results_do_not_depend_on_how_rows_travel(tmp_path, kind):
    rng = np.random.default_rng(7)
    parts = [Block({"key": rng.integers(0, 400, 500), "value": rng.integers(-9, 9, 500)})
             for _ in range(8)]

    def write(plan):
        rows = plan.given(parts)
        often = rows.repeated("key", 20)
        groups = often.group("key", numbered, rows.keys("key"), order="value", limit=3)
        least = rows.reduce("key", {"value": "min"})
        return {"groups": groups, "top": rows.top(20, "value", "key"),
                "joined": groups.join(least, "key", of_both, least.total("value")),
                "sums": groups.total("size", "key")}

    def found_with(**options: Any) -> Any:
        found = run(Shuffle(Store(kind, str(tmp_path)), **options), write)
        return ({name: sorted(twins.rows(each)) for name, each in found.rows.items()},
                found.values, found.counts)

    one = found_with(buckets=1)
    assert one[0]["joined"] and one[0]["groups"]
    for options in ({"buckets": 16}, {"buckets": 7, "flush_bytes": 1}, {"bucket_budget": 1},
                    {"flush_bytes": 5000, "bucket_budget": 5000, "compress": True}):
        assert found_with(**options) == one


@pytest.mark.parametrize("kind", [np.uint8, np.uint32, np.uint64, np.int64])
def test_numbers_of_any_type_are_dealt_to_any_number_of_buckets(kind: type) -> None:
    block = Block({"key": np.arange(200, dtype=kind)})
    for buckets in (1, 7, 512, 1 << 13):
        assert by_number(block, buckets, "key").tolist() == [n % buckets for n in range(200)]
