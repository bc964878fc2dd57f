"""Hypothesis strategies for columns and blocks: few distinct values, so that keys repeat."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from beam_reuse.columnar.block import Block, Column, Lists, Maybe, VarBytes

PREFIXES = (b"", b"\0", b"http://", b"x" * 40, b"y" * 200)

_strings = st.one_of(
    st.binary(max_size=3),
    st.builds(lambda p, s: p + s, st.sampled_from(PREFIXES), st.binary(max_size=2)),
)
ELEMENTS = {
    "bool": st.booleans(),
    "uint8": st.integers(0, 255),
    "uint16": st.integers(0, 3),
    "uint32": st.integers(0, 2**32 - 1),
    "uint64": st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1)),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.one_of(st.integers(-2, 2), st.integers(-(2**63), 2**63 - 1)),
    "float64": st.floats(allow_nan=False).map(lambda x: x + 0.0),
    "V20": st.builds(lambda a, b: a * 9 + b * 11, st.sampled_from([b"a", b"\xff"]),
                     st.sampled_from([b"a", b"b", b"\0"])),
    "V3": st.binary(min_size=3, max_size=3),
    "bytes": _strings,
}
_PAIRS = st.tuples(st.integers(0, 2), st.one_of(st.none(), st.binary(max_size=2)))
NESTED = ("maybe bool", "maybe int64", "maybe float64", "maybe V3", "maybe bytes", "list bool",
          "list int64", "list V3", "list bytes", "list list uint8", "list maybe int64",
          "list maybe bytes", "maybe list int64", "maybe list bytes", "list pair")
_ZERO = {"V3": bytes(3), "bytes": b"", "list int64": [], "list bytes": []}
TYPES = (*ELEMENTS, *NESTED)


def elements_of(kind: str) -> st.SearchStrategy:
    """Python values of a kind: null is None, and lists are lists."""
    first, _, rest = kind.partition(" ")
    if first == "maybe":
        return st.one_of(st.none(), elements_of(rest))
    if first == "list":
        return st.lists(elements_of(rest), max_size=3)
    return _PAIRS if kind == "pair" else ELEMENTS[kind]


def column_of(kind: str, elements: list) -> Column:
    first, _, rest = kind.partition(" ")
    if first == "maybe":
        some = next((each for each in elements if each is not None), _ZERO.get(rest, 0))
        values = [some if each is None else each for each in elements]
        return Maybe(column_of(rest, values), np.array([e is not None for e in elements], bool))
    if first == "list":
        return Lists.from_lengths(np.array([len(each) for each in elements], np.int64),
                                  column_of(rest, [value for each in elements for value in each]))
    if kind == "pair":
        columns = list(zip(*elements, strict=True)) or [(), ()]
        return Block({name: column_of(of, list(values)) for name, of, values in zip(
            "ab", ("uint8", "maybe bytes"), columns, strict=True)})
    if kind == "bytes":
        return VarBytes.from_list(elements)
    if kind.startswith("V"):
        return np.frombuffer(b"".join(elements), kind)
    return np.array(elements, kind)


@st.composite
def blocks(draw, kinds: dict[str, str] | None = None, max_rows: int = 40) -> Block:
    """A block of the given {name: kind}, or of one to three columns of any kind."""
    if kinds is None:
        drawn = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=3))
        kinds = {f"c{i}": kind for i, kind in enumerate(drawn)}
    rows = draw(st.integers(0, max_rows))
    out = {}
    for name, kind in kinds.items():
        pool = draw(st.lists(elements_of(kind), min_size=1, max_size=6))
        out[name] = column_of(
            kind, draw(st.lists(st.sampled_from(pool), min_size=rows, max_size=rows))
        )
    return Block(out)


@st.composite
def block_lists(draw, kinds: dict[str, str] | None = None, max_rows: int = 30) -> list[Block]:
    """Up to five blocks with the same columns, some without rows."""
    whole = draw(blocks(kinds, max_rows=5 * max_rows))
    cuts = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    edges = [0, *cuts, len(whole)]
    return [whole.slice(a, b) for a, b in pairwise(edges)]
