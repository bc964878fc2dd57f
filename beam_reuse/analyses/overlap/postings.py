"""From fingerprints to postings, the units that share one. No Beam.

A *unit* is a page or a host. A *tag* says of which chunking a fingerprint is, and whether its
unit is the page (even) or the host (odd). Postings are lists of units: the `role` of the first row
of a list is LIST, or CROWD if more than `max_df` units share the fingerprint. A block holds whole
lists only, but for crowds, of which it may hold a part: the first unit, the last that PASSED
before, and others.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.graphs.crowds import NEXT, compared, not_compared
from beam_reuse.analyses.overlap.copies import is_copy, on_host_of_centre
from beam_reuse.analyses.overlap.definition import WHOLE, chunkings_of
from beam_reuse.analyses.overlap.reading import HOST_ROWS, HOSTS, distinct, host_counts, page_keys
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import HeavyKeys
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.runs import row_key
from beam_reuse.columnar.schema import FINGERPRINT, KIND, TEXT, columns, gives
from beam_reuse.rows import Count, Tagged

KEY = ("tag", "key")
FINGERPRINTS = columns(tag=KIND, key=FINGERPRINT, unit=FINGERPRINT)
POSTINGS = columns(tag=KIND, role=KIND, unit=FINGERPRINT)
SERVERS, CROWDED, SERVER_CROWDS = "servers", "crowded", "server crowds"
LIST, CROWD, PASSED = 1, 2, 3


@gives(FINGERPRINTS, {HOSTS: HOST_ROWS})
def fingerprint_rows(
    members: Block, settings: OverlapSettings, repeated: HeavyKeys, new: HeavyKeys | None,
) -> Iterator[Block | Tagged | Count]:
    """Fingerprints that may be on two pages or more; of pages only those that may be on a `new`
    one, if there is a baseline. Exact copies have none for their pages, and those on the host of
    their centre none at all where their fingerprints are the same. HOSTS: how many fingerprints of
    hosts are on one page."""
    page, host, copied = members.array("page"), members.array("host"), is_copy(members)
    silent = copied & on_host_of_centre(members)
    for number, chunking in enumerate(chunkings_of(settings)):
        offsets, keys = page_keys(members, chunking)
        of = np.repeat(np.arange(len(page)), np.diff(offsets))
        shared = repeated.may_hold(Block({"key": keys}))
        alone = np.bincount(of[~shared], minlength=len(page))
        yield Tagged(HOSTS, host_counts(host, alone, number))
        if chunking.unit != WHOLE:
            own = int(alone[~copied].sum())
            yield Count("overlap-fingerprints", own)
            yield Count("overlap-occurrences", own)
            asked = shared & ~copied[of]
            at = np.flatnonzero(asked if new is None else asked & new.may_hold(
                Block({"key": keys})))
            yield _units(2 * number, keys[at], page[of[at]])
        at = np.flatnonzero(shared & ~silent[of] if chunking.follows_lines else shared)
        yield distinct(_units(2 * number + 1, keys[at], host[of[at]]), ("key", "unit"))


def _units(tag: int, keys: NDArray[np.uint64], units: NDArray[np.uint64]) -> Block:
    return Block({"tag": np.full(len(keys), tag, np.uint8), "key": keys, "unit": units})


@gives(POSTINGS, {SERVERS: POSTINGS, CROWDED: FINGERPRINTS, SERVER_CROWDS: FINGERPRINTS,
                  HOSTS: HOST_ROWS})
def postings(slabs: Iterator[Block], settings: OverlapSettings) -> Iterator[Block | Tagged | Count]:
    """Fingerprint rows sorted by tag, key and unit -> postings of pages that share one.

    SERVERS: postings of hosts, without crowds, as these are to be in the order of names; CROWDED
    and SERVER_CROWDS: the rows of crowds. HOSTS: host rows that count distinct fingerprints. Counts
    fingerprints, those of crowds, how often both occur, the pairs that will be made and those that
    will not. Holds a slab and `max_df` + 1 rows of a list.
    """
    hosts: list[Block] = []
    for each in _Lists(settings.max_df).of(_distinct_slabs(slabs, hosts)):
        yield from (Tagged(HOSTS, rows) for rows in _drained(hosts))
        yield from _counts(each.tags, each.sizes, settings.max_df)
        of_pages = each.lists.array("tag") % 2 == 0
        yield each.lists.take(of_pages)
        yield Tagged(SERVERS, each.lists.take(~of_pages & ~each.in_crowd))
        of_pages = each.crowded.array("tag") % 2 == 0
        yield Tagged(CROWDED, each.crowded.take(of_pages))
        yield Tagged(SERVER_CROWDS, each.crowded.take(~of_pages))
    yield from (Tagged(HOSTS, rows) for rows in _drained(hosts))


@gives(columns(FINGERPRINTS, name=TEXT))
def with_names(crowds: Block | None, names: Block | None) -> Block | None:
    """Rows of crowds of hosts, with their names."""
    if crowds is None:
        return None
    assert names is not None, "a host without a name"
    return crowds.with_columns(name=names.strings("name").take(lookup(crowds, names, ("unit",))))


@gives(POSTINGS)
def crowd_postings(slabs: Iterator[Block]) -> Iterator[Block]:
    """Rows of crowds sorted by tag, key and the order that counts -> postings."""
    for each in _Lists(0).of(slabs):
        yield each.lists


@dataclass(frozen=True)
class _Passed:
    """What came of some rows: postings, and which of their rows are of crowds; rows of crowds; the
    tags and sizes of lists that have come to their end."""

    lists: Block
    in_crowd: NDArray[np.bool_]
    crowded: Block
    tags: NDArray[np.uint8]
    sizes: NDArray[np.int64]


class _Lists:
    """The lists of one bucket as their rows pass. Holds what is open of the last list: all of it,
    or of a crowd the first row and the NEXT that came last."""

    def __init__(self, max_df: int) -> None:
        self.max_df = max_df
        self.held: Block | None = None
        self.size = 0  # of the open list, with what is not held
        self.is_crowd = False  # has the open list been given, as far as it is held?

    def of(self, slabs: Iterator[Block]) -> Iterator[_Passed]:
        slab = next(slabs, None)
        while slab is not None:
            following = next(slabs, None)
            yield self._pass(slab.select(FINGERPRINTS.names), last=following is None)
            slab = following

    def _pass(self, slab: Block, last: bool) -> _Passed:
        held = 0 if self.held is None else len(self.held)
        rows = slab if self.held is None else Block.concat([self.held, slab])
        starts = rows.starts(KEY)
        lengths = np.diff(np.append(starts, len(rows)))
        sizes = lengths.copy()
        sizes[0] += self.size - held
        given = np.zeros(len(rows), np.bool_)
        given[:held] = self.is_crowd
        crowds = sizes > self.max_df
        closed = np.ones(len(starts), np.bool_)
        closed[-1] = last
        role = np.where(given, np.uint8(PASSED), np.uint8(0))
        role[starts] = np.where(crowds, np.uint8(CROWD), np.uint8(LIST))
        in_crowd = np.repeat(crowds, lengths)
        listed = np.repeat((crowds | closed) & (sizes > 1), lengths)
        self._hold(rows, int(starts[-1]), int(sizes[-1]), bool(crowds[-1]))
        return _Passed(
            Block({"tag": rows["tag"], "role": role, "unit": rows["unit"]}).take(listed),
            in_crowd[listed], rows.take(in_crowd & ~given), rows.array("tag")[starts[closed]],
            sizes[closed])

    def _hold(self, rows: Block, start: int, size: int, crowd: bool) -> None:
        at = np.arange(start, len(rows))
        self.held = rows.take(at[(at == start) | (at >= len(rows) - NEXT)] if crowd else at)
        self.size, self.is_crowd = size, crowd


def _distinct_slabs(slabs: Iterator[Block], hosts: list[Block]) -> Iterator[Block]:
    """The slabs without repeated rows; what they count of hosts is added to `hosts`."""
    last: tuple = ()
    for slab in slabs:
        new = slab.starts(slab.names)
        if row_key(slab, 0, slab.names) == last:
            new = new[1:]
        last = row_key(slab, len(slab) - 1, slab.names)
        if len(new):
            rows = slab.take(new) if len(new) < len(slab) else slab
            hosts += _counted_units(rows)
            yield rows


def _counted_units(rows: Block) -> Iterator[Block]:
    """Host rows of distinct fingerprint rows: each adds one to its host."""
    tag = rows.array("tag")
    for number in np.unique(tag[tag % 2 == 1]).tolist():
        yield host_counts(*np.unique(rows.array("unit")[tag == number], return_counts=True),
                          number // 2)


def _drained(blocks: list[Block]) -> list[Block]:
    found = blocks.copy()
    blocks.clear()
    return found


def _counts(tags: NDArray[np.uint8], sizes: NDArray[np.int64], max_df: int) -> Iterator[Count]:
    of_pages, crowds = tags % 2 == 0, sizes > max_df
    some = sizes[~crowds]
    yield Count("overlap-fingerprints", int(of_pages.sum()))
    yield Count("overlap-fingerprints-too-frequent", int((crowds & of_pages).sum()))
    yield Count("overlap-occurrences", int(sizes[of_pages].sum()))
    yield Count("overlap-occurrences-too-frequent", int(sizes[crowds & of_pages].sum()))
    yield Count("server-fingerprints-too-frequent", int((crowds & ~of_pages).sum()))
    yield Count("overlap-pairs-made", int(
        (some * (some - 1) // 2).sum() + compared(sizes[crowds]).sum()))
    for which, name in ((of_pages, "overlap-pairs-not-compared"),
                        (~of_pages, "server-pairs-not-compared")):
        yield Count(name, int(not_compared(sizes[crowds & which]).sum()))


def list_starts(lists: Block) -> NDArray[np.int64]:
    """Where lists begin, and the end of the last."""
    role = lists.array("role")
    return np.append(np.flatnonzero((role == LIST) | (role == CROWD)), len(lists))
