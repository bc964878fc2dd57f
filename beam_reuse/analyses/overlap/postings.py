"""From fingerprints to postings, the units that share one; no Beam.

A row of postings has `tag` and `unit`, and `head`, which is true where a list begins. A block
holds whole lists only.
"""

from collections.abc import Iterator

import numpy as np
from apache_beam.pvalue import TaggedOutput
from numpy.typing import NDArray

from beam_reuse.analyses.overlap.reading import FINGERPRINTS, HOSTS, counted_units
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.group import whole_groups
from beam_reuse.columnar.runs import row_key
from beam_reuse.core.settings import OverlapSettings

SAMPLE = "sample"
SAMPLED = 16
"""Of so many units one is in the pilot sample, and so of 256 pairs one."""
KEY = ("tag", "key")


def postings(
    bucket: int, slabs: Iterator[Block], settings: OverlapSettings,
) -> Iterator[Block | TaggedOutput]:
    """Fingerprint rows sorted by tag, key and unit -> postings of what 2 to `max_df` units share.

    Also HOSTS: host rows that count distinct fingerprints; FINGERPRINTS: how many there are, how
    many are left out, how often both occur, and how many pairs will be made; SAMPLE: postings of
    sampled units. Holds a slab and `max_df` + 1 rows of a list.
    """
    hosts: list[Block] = []
    for rows, starts, sizes in whole_groups(
            _distinct_slabs(slabs, hosts), KEY, settings.max_df + 1):
        yield from (TaggedOutput(HOSTS, each) for each in _drained(hosts))
        paired = (sizes >= 2) & (sizes <= settings.max_df)
        yield TaggedOutput(FINGERPRINTS, _counts(
            rows.array("tag")[starts], sizes, paired, settings.max_df))
        held = np.minimum(sizes, settings.max_df + 1)
        head = np.zeros(len(rows), np.bool_)
        head[starts] = True
        lists = Block({"tag": rows["tag"], "head": head, "unit": rows["unit"]}).take(
            np.repeat(paired, held))
        yield lists
        yield TaggedOutput(SAMPLE, _sampled(lists))
    yield from (TaggedOutput(HOSTS, each) for each in _drained(hosts))


def _distinct_slabs(slabs: Iterator[Block], hosts: list[Block]) -> Iterator[Block]:
    """The slabs without repeated rows; what they tell of hosts is added to `hosts`."""
    last: tuple = ()
    for slab in slabs:
        new = slab.starts(slab.names)
        if row_key(slab, 0, slab.names) == last:
            new = new[1:]
        last = row_key(slab, len(slab) - 1, slab.names)
        if len(new):
            rows = slab.take(new) if len(new) < len(slab) else slab
            hosts += counted_units(rows)
            yield rows


def _drained(blocks: list[Block]) -> list[Block]:
    found = blocks.copy()
    blocks.clear()
    return found


def _counts(
    tags: NDArray[np.uint8], sizes: NDArray[np.int64], paired: NDArray[np.bool_], max_df: int,
) -> Block:
    """One row of counts, by the names under which they are noted."""
    of_pages, frequent = tags % 2 == 0, sizes > max_df
    pairs = sizes[paired]
    found = {
        "overlap-fingerprints": of_pages.sum(),
        "overlap-fingerprints-too-frequent": (frequent & of_pages).sum(),
        "overlap-occurrences": sizes[of_pages].sum(),
        "overlap-occurrences-too-frequent": sizes[frequent & of_pages].sum(),
        "server-fingerprints-too-frequent": (frequent & ~of_pages).sum(),
        "overlap-pairs-made": (pairs * (pairs - 1) // 2).sum(),
    }
    return Block({name: np.array([count], np.int64) for name, count in found.items()})


def _sampled(lists: Block) -> Block:
    """The lists with sampled units only."""
    number = np.cumsum(lists.array("head"))
    kept = np.flatnonzero(_lot(lists.array("unit")) % np.uint64(SAMPLED) == 0)
    number = number[kept]
    head = np.ones(len(kept), np.bool_)
    head[1:] = number[1:] != number[:-1]
    return lists.take(kept).with_columns(head=head)


def _lot(units: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return Block({"unit": units}).hash_rows(("unit",))


def list_starts(lists: Block) -> NDArray[np.int64]:
    """Where lists begin, and the end of the last."""
    return np.append(np.flatnonzero(lists.array("head")), len(lists))
