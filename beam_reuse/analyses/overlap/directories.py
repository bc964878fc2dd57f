"""Directories whose pages are on several hosts: as exact copies, or nearly all of each. No Beam.

A page is a centre. Where two centres on different hosts have nearly all of each other, the smaller
URL is content of its directories and the other is not: a collection is named once. For the same
reason a directory with nothing but one other below it is left to that one.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.overlap.copies import is_copy, on_host_of_centre
from beam_reuse.analyses.overlap.definition import LEAST_COLLECTION, NEARLY_ALL
from beam_reuse.analyses.overlap.pairs import share_of
from beam_reuse.analyses.overlap.reading import distinct, sums
from beam_reuse.analyses.overlap.schemas import POPULAR_COLLECTIONS
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.columnar.block import Block, Lists, VarBytes
from beam_reuse.columnar.matching import lookup, match_ranges, pairs_of
from beam_reuse.columnar.schema import FINGERPRINT, KIND, NUMBER, PAGE, TEXT, columns, gives
from beam_reuse.kernels.prefixes import directory_prefixes
from beam_reuse.pages.sides import Sides
from beam_reuse.rows import Rows, Tagged

SAMPLES = 10
NAMED_ELSEWHERE, BELOW = "named elsewhere", "below"
CENTRES = columns(centre=PAGE)
COPIED = columns(centre=PAGE, host=FINGERPRINT, first=PAGE, new=KIND)
IN_DIRECTORIES = columns(id=FINGERPRINT, prefix=TEXT, host=FINGERPRINT, own=KIND, first=PAGE,
                         centres=NUMBER, new=KIND)
IN_ALL = columns(id=FINGERPRINT, pages=NUMBER, bytes=NUMBER, low=FINGERPRINT, high=FINGERPRINT)
_ROWS_AT_ONCE = 1 << 18


def popular_collections(
    sets: Rows, pairs: Rows, settings: OverlapSettings, sides: Sides,
) -> Rows:
    """Rows of that table, from sets of exact copies and pairs of overlapping centres; of
    collections with a page, on any of their hosts, that is `new`."""
    near = pairs.map(near_centres, settings)
    elsewhere = near.tagged(NAMED_ELSEWHERE)
    copied = sets.map(copied_rows, sides) + near.join(
        sets.map(hosts_of_sets, sides), "set", on_hosts)
    known = sets.map(centre_rows).only(
        (copied.map(_centres) + elsewhere).keys("centre"))
    held = copied.join([known, elsewhere], "centre", in_directories, sides, order="host",
                       reducing={"first": "min", "new": "max"})
    return held.join(
        sets.map(centres_below) + held.tagged(BELOW), "id", collections, settings.mirror,
        order="host",
        reducing={"prefix": "any", "own": "max", "first": "min", "centres": "sum", "new": "max"},
        other_reducing={"pages": "sum", "bytes": "sum", "low": "min", "high": "max"})


@gives(COPIED)
def copied_rows(members: Block, sides: Sides) -> Block:
    """Of sets on several hosts: for each `host` but the centre's the `first` page there, of each
    side."""
    across = members.take(~on_host_of_centre(members))
    return _firsts("centre", across, sides)


@gives(columns(set=PAGE, host=FINGERPRINT, first=PAGE, new=KIND))
def hosts_of_sets(members: Block, sides: Sides) -> Block:
    """For each host of a set the `first` page there, of each side."""
    return _firsts("set", members, sides)


def _firsts(name: str, members: Block, sides: Sides) -> Block:
    page = members.array("page")
    return distinct(Block({
        name: members["centre"], "host": members["host"], "first": page,
        "new": sides.new(page).astype(np.uint8)}), (name, "host", "new"))


@gives(columns(set=PAGE, centre=PAGE), {NAMED_ELSEWHERE: CENTRES})
def near_centres(pairs: Block, settings: OverlapSettings) -> Iterator[Block | Tagged]:
    """Each `centre` of which nearly all is on the pages of another `set`. NAMED_ELSEWHERE: those
    that are the greater of two on different hosts that nearly are each other."""
    of_a, of_b = (share_of(pairs, turn, settings) >= NEARLY_ALL for turn in "ab")
    other_host = pairs.array("host_a") != pairs.array("host_b")
    elsewhere = of_a & of_b & other_host
    a, b = pairs.array("unit"), pairs.array("other")
    yield Block({"set": b, "centre": a}).take(of_a)
    yield Block({"set": a, "centre": b}).take(of_b & ~elsewhere)
    yield Tagged(NAMED_ELSEWHERE, Block({"centre": b[elsewhere]}))


@gives(COPIED)
def on_hosts(near: Block | None, hosts: Block | None) -> Iterator[Block]:
    """Each centre with every host of a set that has nearly all of it."""
    if near is None:
        return
    assert hosts is not None, "a set without pages"
    for start in range(0, len(near), _ROWS_AT_ONCE):
        some = near.slice(start, start + _ROWS_AT_ONCE)
        row, at = pairs_of(*match_ranges(some, hosts, ("set",)))
        yield Block({"centre": some.array("centre")[row], "host": hosts.array("host")[at],
                     "first": hosts.array("first")[at], "new": hosts.array("new")[at]})


@gives(CENTRES)
def _centres(copied: Block) -> Block:
    return copied.select(("centre",))


@gives(columns(centre=PAGE, url=TEXT, name=FINGERPRINT, bytes=NUMBER))
def centre_rows(members: Block) -> Block:
    """Centres with their URL and `name`, the host."""
    return Block({"centre": members["page"], "url": members["url"], "name": members["host"],
                  "bytes": members["bytes"]}).take(~is_copy(members))


@gives(IN_DIRECTORIES, {BELOW: IN_ALL})
def in_directories(
    copied: Block | None, known: Block | None, elsewhere: Block | None, sides: Sides,
) -> Iterator[Block | Tagged]:
    """A row for each directory above a centre, and each host that has the centre, its `own`, too.
    BELOW: what centres that are named elsewhere take away from their directories."""
    if known is None:
        return
    named = np.zeros(len(known), np.bool_)
    if elsewhere is not None:
        named[np.searchsorted(known.array("centre"), elsewhere.array("centre"))] = True
        gone = known.take(named)
        row, rows = _prefixes(gone.strings("url"))
        yield Tagged(BELOW, Block({"id": rows["id"], "pages": np.full(len(row), -1),
                                   "bytes": -gone.array("bytes")[row],
                                   "low": rows["child"], "high": rows["child"]}))
    if copied is None:
        return
    at = lookup(copied, known, ("centre",))
    there = (copied.array("host") != known.array("name")[at]) & ~named[at]
    copied, at = copied.take(there), at[there]
    own = known.take(np.unique(at))
    for part, urls, is_own in (
            (copied, known.strings("url").take(at), 0),
            (Block({"host": own["name"], "first": own["centre"],
                    "new": sides.new(own.array("centre")).astype(np.uint8)}),
             own.strings("url"), 1)):
        row, rows = _prefixes(urls)
        yield rows.without("child").with_columns(
            host=part.array("host")[row], first=part.array("first")[row],
            new=part.array("new")[row],
            own=np.full(len(row), is_own, np.uint8), centres=np.ones(len(row), np.int64))


@gives(IN_ALL)
def centres_below(members: Block) -> Block:
    """How many centres are below each directory, and their bytes; `low` and `high` are the least
    and the greatest id of the directories right below that have them, 0 for itself."""
    centres = members.select(("url", "bytes")).take(~is_copy(members))
    row, rows = _prefixes(centres.strings("url"))
    ids, which = np.unique(rows.array("id"), return_inverse=True)
    low, high = np.full(len(ids), np.iinfo(np.uint64).max), np.zeros(len(ids), np.uint64)
    np.minimum.at(low, which, rows.array("child"))
    np.maximum.at(high, which, rows.array("child"))
    return Block({"id": ids, "pages": np.bincount(which, minlength=len(ids)),
                  "bytes": sums(which, centres.array("bytes")[row], len(ids)),
                  "low": low, "high": high})


def _prefixes(urls: VarBytes) -> tuple[NDArray[np.int64], Block]:
    """For each directory above each page the row of the page; and `id`, `prefix`, and `child`: the
    id of the directory right below it, 0 if that is the page itself."""
    page, _, offsets, data = directory_prefixes(urls.offsets, urls.data)
    prefix = VarBytes(offsets, data)
    ids = prefix.hash64()
    below = np.append(page, -1)[1:] == page
    child = np.where(below, np.append(ids, np.uint64(0))[1:], np.uint64(0))
    return page, Block({"id": ids, "prefix": prefix, "child": child})


@gives(POPULAR_COLLECTIONS.rows)
def collections(held: Block | None, below: Block | None, mirror: float) -> Block | None:
    """Rows of `popular_collections`: directories of LEAST_COLLECTION pages or more that two hosts
    or more hold, and of which not all centres are in one directory right below. A host holds one if
    it has the share `mirror` of the centres below it, or is its own.

    `held` has a row for each directory and host, `below` how much is below each."""
    if held is None:
        return None
    assert below is not None, "a directory that nobody counted"
    starts = held.starts(("id",))
    new = np.repeat(np.maximum.reduceat(held.array("new"), starts) > 0,
                    np.diff(np.append(starts, len(held))))
    held = held.take(new)
    at, _ = match_ranges(held, below, ("id",))
    pages, low = below.array("pages")[at], below.array("low")[at]
    same_below = (low > 0) & (low == below.array("high")[at])
    holds = (held.array("own") > 0) | (held.array("centres") / pages >= mirror)
    rows = held.with_columns(pages=pages, bytes=below.array("bytes")[at]).take(
        holds & ~same_below).sort(
        ("id", "first"))
    starts = rows.starts(("id",))
    hosts = np.diff(np.append(starts, len(rows)))
    place = np.arange(len(rows)) - np.repeat(starts, hosts)
    popular = (hosts > 1) & (rows.array("pages")[starts] >= LEAST_COLLECTION)
    samples = rows.array("first")[(place < SAMPLES) & np.repeat(popular, hosts)]
    hosts = hosts[popular]
    return rows.select(("prefix", "pages", "bytes")).take(starts[popular]).with_columns(
        hosts=hosts, sample_urls=Lists.from_lengths(np.minimum(hosts, SAMPLES), samples))
