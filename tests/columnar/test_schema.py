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

KINDS = {"bytes": TEXT, "V20": raw(20), "V3": raw(3)}
ALL = {kind: kind for kind in TYPES}
DECLARED = columns(**{name: KINDS.get(name) or pa.type_for_alias(
    "double" if name == "float64" else name) for name in TYPES})


@given(blocks(ALL))
def test_types_are_named_as_blocks_name_them(block):
    assert block.types() == types_of(DECLARED) == ALL


def test_columns_are_added_replaced_and_left_out():
    some = columns(page=PAGE, url=TEXT)
    assert types_of(columns(some, url=NUMBER, share=SHARE)) == {
        "page": "uint64", "url": "int64", "share": "float64"}
    assert less(some, "url") == only(some, "page") == columns(page=PAGE)
    assert columns(some, less(some, "page")) == some
    assert not NOTHING


def test_nulls_and_lists_have_types_of_their_own():
    assert types_of(columns(a=maybe(PAGE), b=lists(TEXT), c=maybe(lists(PAGE)))) == {
        "a": "Maybe[uint64]", "b": "Lists[bytes]", "c": "Maybe[Lists[uint64]]"}


@given(blocks(ALL))
def test_reduced_rows_are_what_the_reduction_declares(block):
    reduction = Reduction(("bytes", "V20"), {
        "bool": "sum", "uint8": "sum", "int32": "sum", "float64": "max", "uint64": "any"})
    assert reduction(block).types() == types_of(reduction.schema(DECLARED))


@pytest.mark.parametrize("kind", [TEXT, SHARE, raw(20)])
def test_only_integers_are_summed(kind):
    with pytest.raises(TypeError, match=r"column 'b'.*only integers are summed"):
        Reduction(("a",), {"b": "sum"}).schema(columns(a=FLAG, b=kind))
