import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.columnar.hashing import SEED, mix
from beam_reuse.columnar.varbytes import VarBytes

byte_lists = st.lists(st.binary(max_size=70), max_size=20)


@given(byte_lists)
def test_holds_what_it_was_given(values):
    column = VarBytes.from_list(values)
    assert len(column) == len(values)
    assert column.to_list() == values
    assert [column[i] for i in range(len(values))] == values
    assert column.lengths().tolist() == [len(v) for v in values]


@given(byte_lists, st.data())
def test_take_and_slice_equal_list_indexing(values, data):
    column = VarBytes.from_list(values)
    a = data.draw(st.integers(0, len(values)))
    b = data.draw(st.integers(a, len(values)))
    part = column.slice(a, b)
    assert part.to_list() == values[a:b]
    assert part.nbytes == 8 * (b - a + 1) + sum(map(len, values[a:b]))
    index = data.draw(st.lists(st.integers(-(b - a), b - a - 1), max_size=20)) if b > a else []
    assert part.take(np.array(index, np.int64)).to_list() == [values[a:b][i] for i in index]
    mask = np.array([len(v) % 2 == 0 for v in values[a:b]], bool)
    assert part.take(mask).to_list() == [v for v in values[a:b] if len(v) % 2 == 0]


@given(st.lists(byte_lists, min_size=1, max_size=4))
def test_concat_equals_list_concatenation(lists):
    whole = VarBytes.concat([VarBytes.from_list(values) for values in lists])
    values = [value for part in lists for value in part]
    assert whole.to_list() == values
    assert whole == VarBytes.from_list(values)


@given(byte_lists)
def test_hash_is_xxh64(values):
    hashes = VarBytes.from_list(values).hash64().tolist()
    assert hashes == [xxhash.xxh64(v, seed=int(SEED)).intdigest() for v in values]


def test_rows_out_of_range_are_refused():
    column = VarBytes.from_list([b"a", b"b"])
    for index in ([2], [-3]):
        with pytest.raises(IndexError):
            column.take(np.array(index))
    with pytest.raises(IndexError):
        column[2]


def test_offsets_beyond_the_data_are_refused():
    with pytest.raises(ValueError, match="offsets"):
        VarBytes(np.array([0, 5]), np.zeros(4, np.uint8))


def test_mix_is_a_bijection_on_a_sample():
    words = np.arange(100_000, dtype=np.uint64)
    assert len(np.unique(mix(words))) == len(words)
