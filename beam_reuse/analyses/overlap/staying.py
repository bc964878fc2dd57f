"""Which page of a set of exact copies stays: the first by the order of `keep`. No Beam."""

from collections.abc import Iterator

import numpy as np

from beam_reuse.analyses.graphs.plainest import NOBODY_DECLARES, page_of, turns
from beam_reuse.analyses.overlap.copies import is_copy
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.schema import FINGERPRINT, KIND, PAGE, UNSIGNED, columns, gives, same
from beam_reuse.pages.sides import Sides
from beam_reuse.rows import Rows, Value

FIRST = columns(centre=PAGE, first=UNSIGNED)
_NAMED = columns(FIRST, named=FINGERPRINT, declares=KIND)
_NOBODY = np.uint64((1 << 64) - 1)


def first_pages(sets: Rows, declared: Value, sides: Sides) -> Rows:
    """Sets of exact copies -> of those with several pages the `centre` and the `first` page (a turn
    of `plainest`): one of a baseline, of these one that others of the set declare canonical, else
    without a query, shorter, smaller. `declared` may hold the names that pages declare canonical.
    Cost: 16 bytes per copy."""
    named = sets.map(_names, declared, sides).reduce(
        ("centre", "named"), {"first": "min", "declares": "max"})
    return (sets.map(_turns, sides) + named.map(_declared)).reduce("centre", {"first": "min"})


@gives(FIRST)
def _turns(members: Block, sides: Sides) -> Iterator[Block]:
    """All pages of sets of two or more: the copies, and each centre once."""
    copies = members.take(is_copy(members))
    yield Block({"centre": copies["centre"],
                 "first": turns(copies.strings("url"), copies.array("page"), sides)})
    second = members.take(members.array("place") == 1)
    centre = second.array("centre")
    yield Block({"centre": centre, "first": turns(second.strings("centre_url"), centre, sides)})


@gives(_NAMED)
def _names(members: Block, declared: KeyFilter, sides: Sides) -> Iterator[Block]:
    """Pages that somebody may declare canonical, and the names that pages declare."""
    named = members.take(declared.may_hold(members))
    yield Block({"centre": named["centre"], "named": named["named"],
                 "first": turns(named.strings("url"), named.array("page"), sides),
                 "declares": np.zeros(len(named), np.uint8)})
    declares = members.take(members.array("canonical") > 0)
    yield Block({"centre": declares["centre"], "named": declares["canonical"],
                 "first": np.full(len(declares), _NOBODY),
                 "declares": np.ones(len(declares), np.uint8)})


@gives(FIRST)
def _declared(names: Block) -> Block:
    """The pages that others of their set declare canonical."""
    first = names.array("first")
    some = (first != _NOBODY) & (names.array("declares") > 0)
    return Block({"centre": names["centre"], "first": first & ~NOBODY_DECLARES}).take(some)


@gives(columns(because=PAGE, first=UNSIGNED))
def as_because(firsts: Block) -> Block:
    return Block({"because": firsts["centre"], "first": firsts["first"]})


@gives(same)
def because_of_first(dropped: Block | None, firsts: Block | None) -> Block | None:
    """Dropped centres, with the first page of the set that stays for them as `because`."""
    if dropped is None or firsts is None:
        return dropped
    at = lookup(dropped, firsts, ("because",))
    because = dropped.array("because").copy()
    because[at >= 0] = page_of(firsts.array("first")[at[at >= 0]])
    return dropped.with_columns(because=because)
