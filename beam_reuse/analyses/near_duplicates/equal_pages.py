"""Pages that are equal: sets with the same tokens, and classes with the same signatures.

Pages with the same tokens have the same signatures, so one order of all pages shows both.
"""

from collections.abc import Iterator

import numpy as np

from beam_reuse.analyses.graphs import keep
from beam_reuse.analyses.near_duplicates.comparisons import PAIRS, star_pairs
from beam_reuse.analyses.near_duplicates.definition import MOST_EQUAL, as_words
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.group import with_leaders
from beam_reuse.columnar.schema import PAGE, columns, gives, less
from beam_reuse.rows import Count, Tagged

SETS, MEMBERS, KNOWN, STARS = "sets", "members", "known", "stars"

_OF_SETS = ("identity", "order", "short", "url", "canonical")


@gives(
    lambda signed, *_: less(signed, *_OF_SETS, "equal"),
    {MEMBERS: keep.SETS, KNOWN: keep.SETS, STARS: PAIRS,
     SETS: columns(representative=PAGE, page=PAGE)})
def distinct_pages(
    slabs: Iterator[Block], settings: NearDuplicateSettings, declared: KeyFilter,
) -> Iterator[Block | Tagged | Count]:
    """Signatures sorted by `equal`, identity and page -> those of the pages that are compared: the
    first of each set with the same tokens; and where more than MOST_EQUAL of these, on one site,
    have both signatures equal, only the first of the class. `declared` may hold the `url` of pages
    that others declare canonical.

    Also MEMBERS: rows of `graphs.keep`, of all pages, and KNOWN: of what else it asks for; SETS:
    the pages of sets of two or more, each with its `representative`, the first; STARS: pairs of
    the first page and each other of a large class. Counts the pairs that these leave out. Holds a
    slab, and the first pages of all sets with one pair of signatures.
    """
    held: list[Block] = []
    for rows, leaders, place in with_leaders(slabs, ("equal", "identity")):
        first = leaders.array("page")
        page, order = rows.array("page"), rows.array("order")
        yield Tagged(MEMBERS, keep.set_rows(first, keep.MEMBER, page, order))
        url, canonical = rows.array("url"), rows.array("canonical")
        for row, value, some in (
                (keep.SHORT, order, (place == 0) & (rows.array("short") > 0)),
                (keep.NAMED, url, declared.may_hold(rows)),
                (keep.DECLARES, canonical, canonical > 0)):
            yield Tagged(KNOWN, keep.set_rows(first[some], row, page[some], value[some]))
        for some, member in ((place > 0, page), (place == 1, first)):
            yield Tagged(SETS, Block({"representative": first[some], "page": member[some]}))
        firsts = Block.concat([*held, rows.take(place == 0).without(*_OF_SETS)])
        whole = int(np.searchsorted(firsts.array("equal"), rows.array("equal")[-1]))
        yield from _compared(firsts.slice(0, whole), settings)
        held = [firsts.slice(whole, len(firsts))]
    for firsts in held:
        yield from _compared(firsts, settings)


def _compared(
    rows: Block, settings: NearDuplicateSettings,
) -> Iterator[Block | Tagged | Count]:
    """Rows sorted by `equal`, all that are equal -> those that are compared."""
    starts = rows.starts(("equal",))
    sizes = np.diff(np.append(starts, len(rows)))
    many = np.repeat(sizes > MOST_EQUAL, sizes) & has_shingles(rows)
    yield rows.take(~many).without("equal")
    rows = rows.take(many).sort(("equal", "site", "page"))
    starts = rows.starts(("equal", "site"))
    sizes = np.diff(np.append(starts, len(rows)))
    first = np.repeat(starts, sizes)
    place = np.arange(len(rows)) - first
    follows = np.repeat(sizes > MOST_EQUAL, sizes) & (place > 0)
    yield Tagged(STARS, star_pairs(rows.take(first[follows]), rows.take(follows), settings))
    yield Count("pairs-not-listed", int((place[follows] - 1).sum()))
    yield rows.take(~follows).without("equal")


def has_shingles(rows: Block) -> np.ndarray:
    """Which rows have a B signature."""
    return np.asarray(as_words(rows.array("b")).any(axis=1))
