"""Hash tables against dicts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.distinct import find_rows, number_distinct
from beam_reuse.columnar.reduce import Reduction
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.hash_tables import place

# Few values, many that begin alike: what falls to one slot, and what differs only at its end.
HASHES = st.builds(
    lambda head, tail: head + tail, st.sampled_from([bytes(10), b"\xff" * 10, b"0123456789"]),
    st.binary(min_size=10, max_size=10) | st.sampled_from([bytes(10), b"\1" + bytes(9)]))


def column(values: list[bytes]) -> np.ndarray:
    return np.frombuffer(b"".join(values), "V20")


@given(st.lists(HASHES, max_size=60))
def test_numbers_of_distinct_hashes(values: list[bytes]) -> None:
    numbers, first = number_distinct(column(values))
    expected = list(dict.fromkeys(values))
    assert [expected[n] for n in numbers] == values
    assert first.tolist() == [values.index(value) for value in expected]


@given(st.lists(HASHES, max_size=40, unique=True), st.lists(HASHES, max_size=40))
def test_rows_of_known_hashes(known: list[bytes], asked: list[bytes]) -> None:
    expected = [known.index(value) if value in known else -1 for value in asked]
    assert find_rows(column(known), column(asked)).tolist() == expected
    assert find_rows(column(known), column(known)).tolist() == list(range(len(known)))


@given(st.lists(st.tuples(HASHES, st.integers(0, 2**40), st.integers(-9, 9)), max_size=60))
def test_sums_without_sorting_are_the_sums(rows: list[tuple[bytes, int, int]]) -> None:
    block = Block({
        "sha1": column([row[0] for row in rows]),
        "count": np.array([row[1] for row in rows], np.uint64),
        "other": np.array([row[2] for row in rows], np.int64),
    })
    reduction = Reduction(("sha1",), {"count": "sum", "other": "sum"})
    assert reduction.loosely(block).sort(("sha1",)) == reduction(block)
    by_kind = Reduction(("sha1", "kind"), {"count": "sum", "other": "sum"})
    block = block.with_columns(kind=block.array("other").astype(np.uint8) % np.uint8(3))
    assert by_kind.loosely(block).sort(("sha1", "kind")) == by_kind(block)


@given(st.lists(st.sampled_from([0, -1, 1, 2**62, -(2**63), 1 << 32, 3 << 40]), max_size=60))
def test_numbers_of_distinct_integers(values: list[int]) -> None:
    numbers, first = number_distinct(np.array(values, np.int64))
    expected = list(dict.fromkeys(values))
    assert [expected[n] for n in numbers] == values
    assert first.tolist() == [values.index(value) for value in expected]


@pytest.mark.parametrize("step", [1, 2, 256, 1 << 20, 1 << 33, 1 << 56])
def test_integers_of_any_step_are_spread_over_the_table(step: int) -> None:
    """Else a table of integers is searched from end to end."""
    n, mask = 200, 511
    values = frozen(np.arange(n, dtype=np.uint64) * np.uint64(step))
    places = {place(values, row, mask) for row in range(n)}
    assert len(places) > n / 2
