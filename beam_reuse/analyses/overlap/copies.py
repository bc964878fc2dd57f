"""Exact copies: pages with the same sequence of lines. The smallest URL is the centre. No Beam."""

from collections.abc import Iterator
from itertools import tee

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.analyses.overlap.definition import chunkings_of
from beam_reuse.analyses.overlap.reading import page_keys, size_columns, size_names
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.group import with_leaders
from beam_reuse.columnar.schema import (
    FINGERPRINT,
    FLAG,
    KIND,
    NUMBER,
    PAGE,
    TEXT,
    UNSIGNED,
    columns,
    gives,
)
from beam_reuse.rows import Tagged

CENTRES, SHARING = "centres", "sharing"
SHARED_PAGE = 255
"""The tag of two hosts that are only known to share a page."""
MEMBERS = columns(centre=PAGE, page=PAGE, name=TEXT, bytes=NUMBER)
COPIES = columns(centre=PAGE, page=PAGE, second=FLAG, host_a=FINGERPRINT, host_b=FINGERPRINT)
COUNTED_PAIRS = columns(tag=KIND, unit=FINGERPRINT, other=FINGERPRINT, shared=UNSIGNED)


def _in_sets(pages: pa.Schema) -> pa.Schema:
    return columns(pages, place=NUMBER, centre=PAGE, centre_host=FINGERPRINT, centre_url=TEXT)


def _of_copies(members: pa.Schema, settings: OverlapSettings) -> dict[str, pa.Schema]:
    sizes = dict.fromkeys(size_names(len(settings.chunkings)), NUMBER)
    return {SHARING: COUNTED_PAIRS, CENTRES: columns(unit=PAGE, **sizes, members=NUMBER)}


@gives(_in_sets)
def exact_sets(slabs: Iterator[Block]) -> Iterator[Block]:
    """Pages sorted by the fingerprint of all lines and page -> the same with their `place` in
    their set, from 0, and of the first page there `centre`, `centre_host` and `centre_url`. Holds a
    slab, whatever the sets."""
    whole, few = tee(slabs)
    led = with_leaders(
        (slab.select(("whole", "page", "host", "url")) for slab in few), ("whole",))
    for pages, (_, centres, place) in zip(whole, led, strict=True):
        yield pages.with_columns(
            place=place, centre=centres["page"], centre_host=centres["host"],
            centre_url=centres["url"])


def is_copy(members: Block) -> NDArray[np.bool_]:
    return members.array("place") > 0


def on_host_of_centre(members: Block) -> NDArray[np.bool_]:
    return members.array("host") == members.array("centre_host")


@gives(MEMBERS)
def member_rows(members: Block) -> Block:
    """All pages, each with its set and what can be saved of it."""
    return members.select(("centre", "page", "name", "bytes"))


@gives(COPIES, _of_copies)
def copy_rows(members: Block, settings: OverlapSettings) -> Iterator[Block | Tagged]:
    """Copies, with both hosts in order, and `second`, which is true for one page of each set.
    SHARING: pairs of hosts with a copy. CENTRES: how many `members` of a set are here, and how many
    fingerprints its centre (`unit`) has by each chunking, if it is here itself."""
    hosts = np.sort(np.stack([members.array("host"), members.array("centre_host")]), 0)
    copies = members.select(("centre", "page")).with_columns(
        second=members.array("place") == 1, host_a=hosts[0], host_b=hosts[1],
    ).take(is_copy(members))
    yield copies
    two = copies.take(copies.array("host_a") != copies.array("host_b"))
    yield Tagged(SHARING, Block({
        "tag": np.full(len(two), SHARED_PAGE, np.uint8), "unit": two["host_a"],
        "other": two["host_b"], "shared": np.zeros(len(two), np.uint64),
    }))
    starts = members.starts(("whole",))
    here = members.array("place")[starts] == 0
    sizes = np.stack([np.diff(page_keys(members, each)[0])[starts] * here
                      for each in chunkings_of(settings)])
    yield Tagged(CENTRES, Block({
        "unit": members.array("centre")[starts], **size_columns(sizes),
        "members": np.diff(np.append(starts, len(members))),
    }))
