"""Declared columns say of a block what it says of itself."""

import pyarrow as pa
import pytest
from hypothesis import given

from beam_reuse.columnar.reduce import Reduction
from beam_reuse.columnar.schema import (
    FLAG,
    NOTHING,
    NUMBER,
    PAGE,
    SHARE,
    TEXT,
    columns,
    less,
    lists,
    maybe,
    only,
    raw,
    types_of,
)
from tests.columnar.strategies import TYPES, blocks

PAIR = pa.struct([pa.field("a", pa.uint8(), nullable=False), pa.field("b", TEXT)])
KINDS = {"bytes": TEXT, "V20": raw(20), "V3": raw(3), "float64": SHARE, "pair": PAIR}
ALL = {kind: kind for kind in TYPES}


def declared(kind: str) -> pa.DataType | pa.Field:
    """The type that tests call so."""
    first, _, rest = kind.partition(" ")
    if first == "maybe":
        return maybe(declared(rest))
    return lists(declared(rest)) if first == "list" else KINDS.get(kind) or pa.type_for_alias(kind)


DECLARED = columns(**{kind: declared(kind) for kind in TYPES})


@given(blocks(ALL))
def test_types_are_named_as_blocks_name_them(block):
    assert block.types() == types_of(DECLARED) == {
        kind: kind.replace("pair", "{a: uint8, b: maybe bytes}") for kind in TYPES}


def test_columns_are_added_replaced_and_left_out():
    some = columns(page=PAGE, url=TEXT)
    assert types_of(columns(some, url=NUMBER, share=SHARE)) == {
        "page": "uint64", "url": "int64", "share": "float64"}
    assert less(some, "url") == only(some, "page") == columns(page=PAGE)
    assert columns(some, less(some, "page")) == some
    assert not NOTHING


def test_nulls_and_lists_have_types_of_their_own():
    assert types_of(columns(a=maybe(PAGE), b=lists(TEXT), c=maybe(lists(PAGE)))) == {
        "a": "maybe uint64", "b": "list bytes", "c": "maybe list uint64"}


@given(blocks(ALL))
def test_reduced_rows_are_what_the_reduction_declares(block):
    reduction = Reduction(("bytes", "V20"), {
        "bool": "sum", "uint8": "sum", "int32": "sum", "float64": "max", "uint64": "any"})
    assert reduction(block).types() == types_of(reduction.schema(DECLARED))


@pytest.mark.parametrize("kind", [TEXT, SHARE, raw(20)])
def test_only_integers_are_summed(kind):
    with pytest.raises(TypeError, match=r"column 'b'.*only integers are summed"):
        Reduction(("a",), {"b": "sum"}).schema(columns(a=FLAG, b=kind))
