import pickle
from contextlib import suppress
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_reuse.columnar import coders, sorting
from beam_reuse.columnar.arrow import LayoutError
from beam_reuse.columnar.block import Block, VarBytes
from tests.columnar import twins
from tests.columnar.strategies import block_lists, blocks


@given(blocks(), st.data(), st.sampled_from([1, 1024]))
@settings(max_examples=400)
def test_sort_is_pythons_stable_sort(block, data, ranks_from):
    """Also where strings are ranked before rows are sorted, as is done with many."""
    keys = data.draw(st.permutations(block.names).map(lambda n: n[: max(1, len(n) - 1)]))
    numbered = block.with_columns(row=np.arange(len(block)))
    keyed = list(zip(twins.rows(block, keys), range(len(block)), strict=True))
    with mock.patch.object(sorting, "_RANKS_FROM", ranks_from):
        assert numbered.sort(keys).array("row").tolist() == [row for _, row in sorted(keyed)]


@given(blocks())
def test_starts_are_where_the_keys_change(block):
    block = block.sort(block.names)
    rows = twins.rows(block)
    expected = [i for i, row in enumerate(rows) if i == 0 or row != rows[i - 1]]
    assert block.starts(block.names).tolist() == expected


@pytest.mark.parametrize("rows", [1000, 5000])
@pytest.mark.parametrize("spread", [3, 2**64 - 1])
def test_large_groups_sort_alike(rows, spread):
    rng = np.random.default_rng(rows)
    words = rng.integers(0, spread, rows, np.uint64, endpoint=True)
    sha1 = np.frombuffer(bytes(12 * rows), "V12")
    urls = VarBytes.from_list([b"u" * 300 + b"%d" % (w % 97) for w in words])
    block = Block({"flat": sha1, "word": words, "url": urls})
    assert block.sort(["flat", "word"]).array("word").tolist() == sorted(words.tolist())
    assert block.sort(["flat", "url"]).strings("url").to_list() == sorted(urls.to_list())


@given(blocks())
def test_equal_rows_have_equal_hashes_and_others_do_not(block):
    by_row: dict = {}
    hashes = block.hash_rows(block.names).tolist()
    for row, value in zip(twins.rows(block), hashes, strict=True):
        assert by_row.setdefault(row, value) == value
    assert len(set(by_row.values())) == len(by_row)


@given(block_lists(), st.booleans())
def test_bytes_and_back(parts, compress):
    for block in parts:
        encoded = block.to_bytes(compress)
        assert Block.from_bytes(encoded) == block
        copied = Block({name: block[name].take(np.arange(len(block))) for name in block})
        assert copied.to_bytes(compress) == encoded
        assert pickle.loads(pickle.dumps(block)) == block
        shifted = memoryview(b"x" + encoded)[1:]
        assert Block.from_bytes(shifted) == block


@given(block_lists())
def test_concat_take_slice_select(parts):
    whole = Block.concat(parts)
    rows = twins.rows(parts)
    assert twins.rows(whole) == rows
    assert twins.rows(whole.take(np.arange(len(whole))[::-1])) == rows[::-1]
    assert twins.rows(whole.slice(1, 3)) == rows[1:3]
    assert twins.rows(whole.slice(-2, len(whole) + 5)) == rows[-2:]
    last = whole.names[-1]
    assert whole.select([last]).names == (last,)
    assert whole.without(last).names == whole.names[:-1]


def test_reading_copies_nothing():
    encoded = Block({"a": np.arange(1000), "b": VarBytes.from_list([b"xyz"] * 1000)}).to_bytes()
    block = Block.from_bytes(encoded)
    buffer = np.frombuffer(encoded, np.uint8)
    assert np.shares_memory(block.array("a"), buffer)
    assert np.shares_memory(block.strings("b").data, buffer)


def test_columns_cannot_be_written_to():
    block = Block({"a": np.arange(3)})
    with pytest.raises(ValueError, match="read-only"):
        block.array("a")[0] = 1


def test_compressing_costs_nothing_where_it_does_not_pay():
    random = Block({"a": np.frombuffer(np.random.default_rng(1).bytes(80_000), np.uint64)})
    assert len(random.to_bytes(True)) < len(random.to_bytes(False)) + 100
    zeros = Block({"a": np.zeros(10_000, np.uint64)})
    assert len(zeros.to_bytes(True)) < len(zeros.to_bytes(False)) / 100


@pytest.mark.parametrize(
    "columns, message",
    [
        ({"a": np.zeros(2), "b": np.zeros(3)}, "equal lengths"),
        ({"a": np.zeros(2, np.float32)}, "float32"),
        ({"a": np.zeros((2, 2))}, "flat"),
        ({"a": np.array(["x"])}, "must be one of"),
        ({"a": [1, 2]}, "flat array"),
    ],
)
def test_what_is_no_column_is_refused(columns, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Block(columns)


def test_wrong_names_and_types_are_told():
    block = Block({"a": np.zeros(2), "b": VarBytes.from_list([b"", b""])})
    with pytest.raises(KeyError, match="the block has a, b"):
        block["c"]
    with pytest.raises(TypeError, match="byte strings"):
        block.array("b")
    with pytest.raises(TypeError, match="float64"):
        block.strings("a")
    with pytest.raises(ValueError, match="differ in columns"):
        Block.concat([block, block.select(["a"])])


@given(blocks(), st.booleans(), st.data())
def test_broken_bytes_are_refused_with_a_clear_error(block, compress, data):
    encoded = block.to_bytes(compress)
    cut = data.draw(st.integers(0, len(encoded) - 1))
    with suppress(LayoutError):
        assert Block.from_bytes(encoded[:cut]) == block
    with pytest.raises(LayoutError, match="not a block"):
        Block.from_bytes(b"PAR1" + encoded[4:])


def test_a_block_is_weighed_without_encoding_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Block, "to_bytes", None)
    block = Block({"a": np.zeros(10, np.int64), "b": VarBytes.from_list([b"x"] * 10)})
    assert coders.BlockCoder().get_impl().estimate_size(block) == block.nbytes


def test_columns_of_any_byte_order_are_taken_and_other_types_refused() -> None:
    block = Block({"a": np.array([1, 2], ">u4"), "b": np.array([1, 2], np.longlong)})
    assert [block[name].dtype for name in block] == [np.uint32, np.int64]
    assert Block.from_bytes(block.to_bytes()) == block
    for kind in ("float32", "M8[s]", "U3", [("a", "i4")]):
        with pytest.raises(TypeError, match="it must be one of bool"):
            Block({"a": np.zeros(1, kind)})
