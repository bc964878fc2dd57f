import numpy as np
import pytest

from beam_reuse.columnar.arrow import to_batch
from beam_reuse.columnar.block import Block, Lists, Maybe, VarBytes
from beam_reuse.columnar.buffers import detached

NAMES = VarBytes.from_list([b"a", b"bc", b"", b"d"])
PAIRS = Block({"start": np.arange(4), "end": np.arange(4) + 1})


def test_arrow_sees_lists_and_nulls() -> None:
    block = Block({
        "names": Lists(np.array([0, 2, 2, 4]), NAMES),
        "spans": Lists(np.array([1, 1, 3, 4]), PAIRS),
        "page": Maybe(np.array([7, 8, 9], np.uint64), np.array([True, False, True])),
    })
    assert to_batch(block).to_pylist() == [
        {"names": [b"a", b"bc"], "spans": [], "page": 7},
        {"names": [], "spans": [{"start": 1, "end": 2}, {"start": 2, "end": 3}], "page": None},
        {"names": [b"", b"d"], "spans": [{"start": 3, "end": 4}], "page": 9},
    ]
    nullable = {field.name: field.nullable for field in to_batch(block).schema}
    assert nullable == {"names": False, "spans": False, "page": True}


def test_a_column_stays_nullable_without_a_null() -> None:
    block = Block({"a": Maybe(np.arange(2), np.ones(2, np.bool_))})
    assert Block.from_bytes(block.to_bytes()).same_columns(block)
    empty = block.slice(0, 0)
    assert Block.from_bytes(empty.to_bytes()).same_columns(block)
    assert not block.same_columns(Block({"a": np.arange(2)}))


@pytest.mark.parametrize("values", [
    np.array([1, 2, 3]), NAMES.slice(0, 3), Lists(np.array([0, 1, 3, 4]), NAMES),
    np.frombuffer(b"abcdef", "V2"),
])
def test_what_null_hides_does_not_count(values) -> None:
    valid = np.array([True, False, True])
    one = Block({"a": Maybe(values, valid)})
    other = Block({"a": Maybe(values.take(np.array([0, 2, 2])), valid)})
    assert one == other
    assert one.to_bytes() == other.to_bytes()
    assert one.hash_rows(["a"]).tolist() == other.hash_rows(["a"]).tolist()


def test_lists_are_read_without_a_copy() -> None:
    encoded = Block({"a": Lists(np.array([0, 1000]), np.arange(1000))}).to_bytes()
    values = Block.from_bytes(encoded).lists("a").values
    assert np.shares_memory(values, np.frombuffer(encoded, np.uint8))


def test_a_slice_does_not_weigh_what_it_shares() -> None:
    whole = Block({"a": Lists(np.arange(1001), np.arange(1000)), "b": Maybe(
        np.arange(1000), np.ones(1000, np.bool_))})
    few = whole.slice(0, 2)
    assert few.nbytes == 3 * 8 + 2 * 8 + 2 * 9
    assert detached(few) == few
    assert not np.shares_memory(detached(few).lists("a").values, whole.lists("a").values)


def test_filled_and_empty() -> None:
    numbers = Maybe(np.array([1, 2]), np.array([False, True]))
    assert numbers.filled(-5).tolist() == [-5, 2]
    assert Maybe.unless_empty(NAMES).valid.tolist() == [True, True, False, True]


@pytest.mark.parametrize("make, message", [
    (lambda: Lists(np.array([0, 5]), np.arange(4)), "0..5 of 4"),
    (lambda: Lists(np.array([0, 2], np.int32), np.arange(4)), "int64"),
    (lambda: Lists(np.array([0, 2]), np.zeros(2, np.float32)), "float32"),
    (lambda: Maybe(np.arange(3), np.ones(2, np.bool_)), "of 3 values"),
    (lambda: Maybe(np.zeros(2, np.float32), np.ones(2, np.bool_)), "float32"),
    (lambda: Block({"a": NAMES}).lists("a"), "byte strings, not lists"),
    (lambda: Block({"a": NAMES}).maybe("a"), "byte strings without null"),
    (lambda: Block({"a": Lists(np.array([0, 4]), NAMES)}).array("a"), "list bytes values"),
])
def test_what_is_no_column_is_refused(make, message) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make()
