"""How much of a page occurs on another: of pairs of pages, by lists of the keys that pages have.

A list (LISTS) has the distinct keys (fingerprints) of a page; the first `own` of them are those
that are looked for on other pages, the others are only found. Lists and pairs are of one or more
kinds, which do not meet.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Lists
from beam_reuse.columnar.filters import RowFilter
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.schema import (
    FINGERPRINT,
    KIND,
    NUMBER,
    PAGE,
    columns,
    gives,
    less,
    types_of,
)
from beam_reuse.columnar.schema import lists as schema_lists
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.containment import shared_keys
from beam_reuse.rows import Rows, Value

_PAGE, _PAIR = ("kind", "page"), ("kind", "page", "other")
_BYTES_AT_ONCE = 8 << 20
PAIRS = columns(kind=KIND, page=PAGE, other=PAGE)
LISTS = columns(kind=KIND, page=PAGE, own=NUMBER, keys=schema_lists(FINGERPRINT))


def paired_pages(pairs: Rows) -> Value:
    """A filter of the `kind` and `page` of all pages in pairs: lists of others are not needed."""
    return pairs.map(_ends).keys(_PAGE)


@dataclass(frozen=True)
class PagesOfKind:
    """A filter of pages alone, of one of pages and kinds: those that it may hold of this kind."""

    pages: RowFilter
    kind: int = 0

    def may_hold(self, pages: Block) -> NDArray[np.bool_]:
        return self.pages.may_hold(pages.with_columns(
            kind=np.full(len(pages), self.kind, np.uint8)))


def contained(pairs: Rows, lists: Rows) -> Rows:
    """PAIRS, with any further columns of fixed width, and LISTS of their pages -> the same pairs
    with numbers: `own` keys of `page`, and `found`: how many of them `other` has; `other_own` and
    `other_found` for the other direction. Of all keys, own or not: `size`, `other_size`, and how
    many both have (`common`).

    Exact. A page without a list has no keys. Lists of pages that are in no pair are left where they
    are, all but a few. The list of `page` travels to `other` once, however many pairs of these two
    there are: where lists differ in length, make `page` the one with the shorter. Two rounds. Cost:
    8 bytes and some 10 ns per two pages and key. Memory: the list of one page and 8 MB of those it
    meets, however many these are.
    """
    assert pairs.columns is not None, "pairs that are not declared"
    travelling, staying = pairs.keys(_PAGE), pairs.map(_others).keys(_PAGE)
    at_home = lists.only(staying).map(_at_home, pairs.columns)
    sent = pairs.join(lists.only(travelling), _PAGE, _sent)
    return (at_home + sent).stream(_PAGE, meet, order=("visits", "other"))


@gives(columns(kind=KIND, page=PAGE))
def _ends(pairs: Block) -> Iterator[Block]:
    yield pairs.select(_PAGE)
    yield _others(pairs)


@gives(columns(kind=KIND, page=PAGE))
def _others(pairs: Block) -> Block:
    return Block({"kind": pairs["kind"], "page": pairs["other"]})


def _travelling(pairs: pa.Schema) -> pa.Schema:
    """Lists where pages meet: of the `page` itself, or of an `other` that visits it, with `pairs`
    of the two."""
    return columns(LISTS, other=PAGE, visits=KIND, pairs=schema_lists(less(pairs, *_PAGE)))


@gives(lambda lists, pairs: _travelling(pairs))
def _at_home(lists: Block, pairs: pa.Schema) -> Block:
    """Lists of pages that others visit."""
    none = Block({name: np.zeros(0, kind) for name, kind in types_of(less(pairs, *_PAGE)).items()})
    return lists.with_columns(
        other=lists["page"], visits=np.zeros(len(lists), np.uint8),
        pairs=Lists(np.zeros(len(lists) + 1, np.int64), none))


@gives(lambda pairs, _: _travelling(pairs))
def _sent(pairs: Block | None, lists: Block | None) -> Iterator[Block]:
    """The list of each `page`, turned to visit `other`; as many at once as there is room for."""
    if pairs is None:
        return
    pairs = pairs.sort(_PAIR)
    starts = pairs.starts(_PAIR)
    two = pairs.select(_PAIR).take(starts)
    at = (np.full(len(two), -1) if lists is None else lookup(two, lists, _PAGE))
    turned = two.with_columns(
        page=two["other"], other=two["page"], visits=np.ones(len(two), np.uint8),
        pairs=Lists(np.append(starts, len(pairs)), pairs.without(*_PAGE)))
    nobody = turned.take(at < 0)
    yield nobody.with_columns(
        own=np.zeros(len(nobody), np.int64),
        keys=Lists(np.zeros(len(nobody) + 1, np.int64), np.zeros(0, np.uint64)))
    if lists is None:
        return
    turned, at = turned.take(at >= 0), at[at >= 0]
    size = np.cumsum(8 * lists.lists("keys").lengths()[at])
    start = 0
    while start < len(turned):
        before = size[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(size, before + _BYTES_AT_ONCE, "right")))
        some = at[start:end]
        yield turned.slice(start, end).with_columns(
            own=lists.array("own")[some], keys=lists.lists("keys").take(some))
        start = end


def _counted(rows: pa.Schema) -> pa.Schema:
    each = pa.schema(list(rows.field("pairs").type.value_type))
    return columns(less(rows, "keys", "visits", "pairs"), each, found=NUMBER, other_own=NUMBER,
                   other_found=NUMBER, size=NUMBER, other_size=NUMBER, common=NUMBER)


@gives(_counted)
def meet(slabs: Iterator[Block]) -> Iterator[Block]:
    """Lists sorted by the page where they are, that of the page itself before those that visit it
    -> the pairs that visits are, with what they have in common. Holds a slab, and one list."""
    home: list[Block] = []
    for slab in slabs:
        rows = Block.concat([*home, slab])
        starts = rows.starts(_PAGE)
        offsets, keys = rows.lists("keys").flat()
        visits, own = rows.array("visits"), rows.array("own")
        found, other_own, other_found, other_size, common = shared_keys(
            frozen(starts), frozen(visits), offsets, frozen(keys), frozen(own))
        visitors = np.flatnonzero(visits)
        pairs = rows.lists("pairs").take(visitors)
        each = pairs.used()
        assert isinstance(each, Block)
        yield rows.without("keys", "visits", "pairs").with_columns(
            page=rows["other"], found=found, other_own=other_own, other_found=other_found,
            size=np.diff(offsets), other_size=other_size, common=common,
        ).take(np.repeat(visitors, pairs.lengths())).with_columns(
            **{name: each[name] for name in each})
        last = int(starts[-1])
        home = [] if visits[last] else [rows.slice(last, last + 1)]
