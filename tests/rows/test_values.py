"""Values of many large parts: what Beam carries of them, and how they are merged."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coders import PieceCoder
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.repeats import Repeats
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from beam_reuse.rows.folds import FindRepeats, GatherRows, SumColumns, UnionKeys
from beam_reuse.rows.ranking import CountBuckets
from beam_reuse.rows.steps import ValueRef
from beam_reuse.rows.values import Values, get_value, merged, put_value
from tests.rows.running import run

SIZE = 5_000  # 40 KB, more than a store keeps in a reference


@pytest.fixture(params=["files", "inline"])
def store(request, tmp_path):
    return Store(request.param, str(tmp_path))


@dataclass(frozen=True)
class AddArrays:
    """The sum of large arrays, one for each row."""

    def start(self) -> NDArray[np.int64]:
        return np.zeros(SIZE, np.int64)

    def add(self, held: NDArray[np.int64], block: Block) -> NDArray[np.int64]:
        return held + sum(map(array_of, block.array("seed").tolist()))

    def merge(self, held: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        return held + other

    def finish(self, held: NDArray[np.int64] | None) -> NDArray[np.int64]:
        return self.start() if held is None else held


def array_of(seed: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(0, 1 << 40, SIZE)


def with_sum(block, value):
    return block.with_columns(sum=np.full(len(block), int(value.sum())))


@pytest.mark.parametrize("count", [0, 1, 25])
def test_one_value_of_all(store, count):
    def write(plan):
        rows = plan.given([Block({"seed": np.array([n])}) for n in range(count)])
        value = rows.fold(AddArrays())
        return {"value": value, "read": rows.map(with_sum, value)}

    found = run(Shuffle(store, buckets=4), write)
    expected = sum(map(array_of, range(count)), start=np.zeros(SIZE, np.int64))
    assert found.values["value"].tolist() == expected.tolist()
    assert {n for each in found.rows["read"] for n in each.array("sum").tolist()} == (
        {int(expected.sum())} if count else set())


def test_what_beam_holds_of_a_value_is_small(tmp_path):
    store = Store("files", str(tmp_path))
    parts = [put_value(array_of(n), store) for n in range(25)]
    assert all(piece.file and len(PieceCoder().encode(piece)) < 4096 for piece in parts)
    number, piece = merged(3, iter(parts), AddArrays(), store)
    assert number == 3
    assert len(PieceCoder().encode(piece)) < 4096
    assert get_value(piece, store).tolist() == sum(map(array_of, range(25))).tolist()


def test_parts_are_merged_one_by_one(store):
    held, most = [0], [0]

    class Part:
        def __init__(self, number):
            self.number = number

        def __setstate__(self, state):
            self.__dict__ = state
            held[0] += 1
            most[0] = max(most[0], held[0])

    class Add(SumColumns):
        def merge(self, held_, other):
            held[0] -= 1
            held_.number += other.number
            return held_

        def finish(self, held_):
            return held_.number

    globals()["Part"] = Part
    Part.__qualname__ = "Part"
    parts = (put_value(Part(n), store) for n in range(10))
    assert get_value(merged(0, parts, Add(()), store)[1], store) == 45
    assert most == [2]


def test_a_value_is_read_once_by_a_process_and_once_by_a_bundle(tmp_path, monkeypatch):
    store = Store("files", str(tmp_path))
    _, piece = merged(0, [put_value(array_of(1), store)], AddArrays(), store)
    ref = ValueRef(2, 0, AddArrays())
    first = Values(store, [(0, piece)])
    assert first.get(ref) is first.get(ref)
    monkeypatch.setattr(Store, "get", None)
    assert Values(store, [(0, piece)]).get(ref) is first.get(ref)


@pytest.mark.parametrize("folding, nothing", [
    (SumColumns(("a", "b")), {"a": 0, "b": 0}),
    (GatherRows(("a",)), Block({})),
    (AddArrays(), np.zeros(SIZE, np.int64)),
    (CountBuckets(3), np.zeros(4, np.uint64)),
])
def test_the_value_of_no_rows(store, folding, nothing):
    found = Values(store, [(1, [])]).get(ValueRef(1, 0, folding))
    assert np.array_equal(found, nothing) if isinstance(nothing, np.ndarray) else found == nothing


def test_a_filter_of_no_rows_holds_nothing(store):
    rows = Block({"k": np.arange(1000)})
    for folding in (UnionKeys(("k",), 100), FindRepeats(("k",), 10)):
        assert not folding.finish(None).may_hold(rows).any()


def test_filters_are_the_same_after_they_were_put_away(store):
    rows = Block({"k": np.arange(1000) % 700})
    keys, repeats = KeyFilter.sized(["k"], 1000), Repeats.sized(["k"], 16)
    for each in (keys, repeats):
        each.add(rows)
    back = get_value(put_value(keys, store), store)
    assert back.keys == keys.keys and back.words.tolist() == keys.words.tolist()
    again = get_value(put_value(repeats, store), store)
    again.merge(repeats)
    assert again.heavy().may_hold(rows).all()
