"""From fingerprints to postings, the units that share one. No Beam.

A *unit* is a page or a host. A *tag* says of which chunking a fingerprint is, and whether its
unit is the page (even) or the host (odd). Of postings `head` is true where a list begins. A block
holds whole lists only.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.overlap.copies import is_copy, on_host_of_centre
from beam_reuse.analyses.overlap.definition import WHOLE, chunkings_of
from beam_reuse.analyses.overlap.reading import HOST_ROWS, HOSTS, distinct, host_counts, page_keys
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import HeavyKeys
from beam_reuse.columnar.group import whole_groups
from beam_reuse.columnar.runs import row_key
from beam_reuse.columnar.schema import FINGERPRINT, FLAG, KIND, columns, gives
from beam_reuse.rows import Count, Tagged

KEY = ("tag", "key")
FINGERPRINTS = columns(tag=KIND, key=FINGERPRINT, unit=FINGERPRINT)
POSTINGS = columns(tag=KIND, head=FLAG, unit=FINGERPRINT)


@gives(FINGERPRINTS, {HOSTS: HOST_ROWS})
def fingerprint_rows(
    members: Block, settings: OverlapSettings, repeated: HeavyKeys,
) -> Iterator[Block | Tagged | Count]:
    """Fingerprints that may be on two pages or more. Exact copies have none for their pages, and
    those on the host of their centre none at all where their fingerprints are the same. HOSTS: how
    many fingerprints of hosts are on one page."""
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
            at = np.flatnonzero(shared & ~copied[of])
            yield _units(2 * number, keys[at], page[of[at]])
        at = np.flatnonzero(shared & ~silent[of] if chunking.follows_lines else shared)
        yield distinct(_units(2 * number + 1, keys[at], host[of[at]]), ("key", "unit"))


def _units(tag: int, keys: NDArray[np.uint64], units: NDArray[np.uint64]) -> Block:
    return Block({"tag": np.full(len(keys), tag, np.uint8), "key": keys, "unit": units})


@gives(POSTINGS, {HOSTS: HOST_ROWS})
def postings(slabs: Iterator[Block], settings: OverlapSettings) -> Iterator[Block | Tagged | Count]:
    """Fingerprint rows sorted by tag, key and unit -> postings of what 2 to `max_df` units share.

    HOSTS: host rows that count distinct fingerprints. Counts fingerprints, those left out, how
    often both occur, and the pairs that will be made. Holds a slab and `max_df` + 1 rows of a list.
    """
    hosts: list[Block] = []
    for rows, starts, sizes in whole_groups(
            _distinct_slabs(slabs, hosts), KEY, settings.max_df + 1):
        yield from (Tagged(HOSTS, each) for each in _drained(hosts))
        paired = (sizes >= 2) & (sizes <= settings.max_df)
        yield from _counts(rows.array("tag")[starts], sizes, paired, settings.max_df)
        held = np.minimum(sizes, settings.max_df + 1)
        head = np.zeros(len(rows), np.bool_)
        head[starts] = True
        yield Block({"tag": rows["tag"], "head": head, "unit": rows["unit"]}).take(
            np.repeat(paired, held))
    yield from (Tagged(HOSTS, each) for each in _drained(hosts))


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


def _counts(
    tags: NDArray[np.uint8], sizes: NDArray[np.int64], paired: NDArray[np.bool_], max_df: int,
) -> Iterator[Count]:
    of_pages, frequent = tags % 2 == 0, sizes > max_df
    pairs = sizes[paired]
    yield Count("overlap-fingerprints", int(of_pages.sum()))
    yield Count("overlap-fingerprints-too-frequent", int((frequent & of_pages).sum()))
    yield Count("overlap-occurrences", int(sizes[of_pages].sum()))
    yield Count("overlap-occurrences-too-frequent", int(sizes[frequent & of_pages].sum()))
    yield Count("server-fingerprints-too-frequent", int((frequent & ~of_pages).sum()))
    yield Count("overlap-pairs-made", int((pairs * (pairs - 1) // 2).sum()))


def list_starts(lists: Block) -> NDArray[np.int64]:
    """Where lists begin, and the end of the last."""
    return np.append(np.flatnonzero(lists.array("head")), len(lists))
