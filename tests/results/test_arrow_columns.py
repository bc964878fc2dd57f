"""Block columns become the Arrow columns a table promises."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_reuse.columnar.block import Block, Column, Lists, Maybe, VarBytes
from beam_reuse.columnar.schema import NUMBER, SHA1, TEXT, UNSIGNED, columns, less, types_of
from beam_reuse.io.results.arrow_columns import (
    require_rows,
    to_arrow,
)
from beam_reuse.io.results.tables import SPANS, STRINGS, TIMESTAMP, maybe, page, pages, sha1, table

ALL = table(
    "all", text=pa.string(), hash=pa.string(), note=maybe(pa.string()), number=pa.int64(),
    count=maybe(pa.int64()), time=maybe(TIMESTAMP), flag=pa.bool_(), perhaps=maybe(pa.bool_()),
    share=maybe(pa.float64()), urls=STRINGS,
)
rows = st.lists(
    st.tuples(
        st.text(max_size=6),
        st.binary(min_size=20, max_size=20),
        st.none() | st.text(max_size=6),
        st.integers(-(2**40), 2**40),
        st.none() | st.integers(-5, 5),
        st.none() | st.integers(0, 10**15),
        st.booleans(),
        st.none() | st.booleans(),
        st.none() | st.floats(0, 1),
        st.lists(st.text(max_size=6), max_size=3),
    ),
    max_size=8,
)


def known(values: tuple) -> np.ndarray:
    return np.array([v is not None for v in values], np.bool_)


def maybe_of(values: tuple, kind: type) -> Maybe:
    return Maybe(np.array([v or 0 for v in values], kind), known(values))


def text(values: tuple) -> VarBytes:
    return VarBytes.from_list([(v or "").encode() for v in values])


def block_of(rows: list[tuple]) -> Block:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(ALL.columns)
    urls = tuple(url for row in columns[9] for url in row)
    return Block({
        "unused": np.zeros(len(rows)),
        "text": text(columns[0]),
        "hash": np.array(columns[1], "V20"),
        "note": Maybe(text(columns[2]), known(columns[2])),
        "number": np.array(columns[3], np.int64),
        "count": maybe_of(columns[4], np.int64),
        "time": maybe_of(columns[5], np.int64),
        "flag": np.array(columns[6], np.bool_),
        "perhaps": maybe_of(columns[7], np.bool_),
        "share": maybe_of(columns[8], np.float64),
        "urls": Lists.from_lengths(np.array([len(v) for v in columns[9]], np.int64), text(urls)),
    })


@settings(deadline=None)
@given(rows)
def test_every_value_arrives_and_every_null_is_null(rows: list[tuple]) -> None:
    got = to_arrow(ALL, block_of(rows))
    assert got.schema == ALL.arrow()
    got.validate(full=True)
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    expected = [
        {
            **dict(zip(ALL.names, row, strict=True)),
            "hash": row[1].hex(),
            "time": None if row[5] is None else epoch + datetime.timedelta(microseconds=row[5]),
        }
        for row in rows
    ]
    assert got.to_pylist() == expected


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=True)))
def test_missing_shares_sort_first(values: list[float]) -> None:
    schema = table("t", share=maybe(pa.float64()))
    block = Block({"share": Maybe.unless_nan(np.array(values, np.float64))})
    got = to_arrow(schema, block.sort(["share"]))["share"].to_pylist()
    nulls = sum(np.isnan(values))
    assert got[:nulls] == [None] * nulls
    assert got[nulls:] == sorted(v for v in values if not np.isnan(v))


@given(st.lists(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**40)))))
def test_spans(rows: list[list[tuple[int, int]]]) -> None:
    pairs = np.array([(7, 8), *(pair for row in rows for pair in row)], np.int64)
    spans = Lists.from_lengths(np.array([1, *map(len, rows)], np.int64),
                               Block({"start": pairs[:, 0], "end": pairs[:, 1]}))
    block = Block({"spans": spans}).slice(1, len(spans))
    got = to_arrow(table("t", spans=SPANS), block)
    got.validate(full=True)
    assert got["spans"].to_pylist() == [
        [{"start": start, "end": end} for start, end in row] for row in rows]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.string(), VarBytes.from_list([b"\xff"])),
        (pa.string(), np.array([1])),
        (pa.int64(), VarBytes.from_list([b"1"])),
        (pa.int64(), Maybe.nulls(1, np.int64)),
        (pa.string(), Maybe.nulls(1)),
        (pa.string(), Lists(np.array([0, 1]), VarBytes.from_list([b"a"]))),
        (STRINGS, VarBytes.from_list([b"a"])),
        (STRINGS, Lists(np.array([0, 1]), VarBytes.from_list([b"\xff"]))),
        (SPANS, np.array([1])),
        (SPANS, Lists(np.array([0, 1]), np.array([1]))),
    ],
)
def test_what_a_column_cannot_hold_is_refused_by_name(kind: pa.DataType, values: Column) -> None:
    with pytest.raises(TypeError, match="'here'"):
        to_arrow(table("t", here=kind), Block({"here": values}))


def test_rows_of_a_table_have_its_columns() -> None:
    paged = table("paged", url=page, sha1=sha1, samples=pages, spans=SPANS)
    assert types_of(paged.rows) == {
        "url": "uint64", "sha1": "V20", "samples": "list uint64",
        "spans": "list {start: int64, end: int64}"}
    assert types_of(ALL.rows) == {
        "text": "bytes", "hash": "bytes", "note": "maybe bytes", "number": "int64",
        "count": "maybe int64", "time": "maybe int64", "flag": "bool", "perhaps": "maybe bool",
        "share": "maybe float64", "urls": "list bytes"}


def test_rows_that_do_not_fill_a_table_are_refused() -> None:
    rows = ALL.rows
    require_rows(ALL, columns(rows, more=TEXT), "rows of kernel")
    for wrong, sentence in (
        (less(rows, "time"),
         "table 'all' needs 'time' as maybe int64; rows of kernel have text, hash, note"),
        (columns(rows, number=UNSIGNED),
         "table 'all' needs 'number' as int64; rows of kernel have it as uint64"),
        (columns(rows, text=NUMBER), "needs 'text' as bytes; rows of kernel have it as int64"),
        (columns(rows, hash=SHA1), "needs 'hash' as bytes; rows of kernel have it as V20"),
    ):
        with pytest.raises(ValueError, match=sentence):
            require_rows(ALL, wrong, "rows of kernel")
