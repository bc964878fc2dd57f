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
    columns,
    gives,
)
from beam_reuse.pages.sides import Sides
from beam_reuse.rows import Tagged

CENTRES = "centres"
UNKNOWN = 2
"""Beside 0 and 1, whether two pages have the same address."""
MEMBERS = columns(centre=PAGE, page=PAGE, name=TEXT, bytes=NUMBER)
COPIES = columns(centre=PAGE, page=PAGE, second=FLAG, host_a=FINGERPRINT, host_b=FINGERPRINT,
                 same_ip=KIND)


def _in_sets(pages: pa.Schema) -> pa.Schema:
    return columns(pages, place=NUMBER, centre=PAGE, centre_host=FINGERPRINT,
                   centre_address=FINGERPRINT, centre_url=TEXT)


def _of_copies(members: pa.Schema, settings: OverlapSettings, sides: Sides) -> dict[str, pa.Schema]:
    sizes = dict.fromkeys(size_names(len(settings.chunkings)), NUMBER)
    return {CENTRES: columns(unit=PAGE, host=FINGERPRINT, **sizes, members=NUMBER, new=NUMBER)}


@gives(_in_sets)
def exact_sets(slabs: Iterator[Block]) -> Iterator[Block]:
    """Pages sorted by the fingerprint of all lines and page -> the same with their `place` in
    their set, from 0, and of the first page there `centre`, and its host, address and URL. Holds a
    slab, whatever the sets."""
    whole, few = tee(slabs)
    led = with_leaders(
        (slab.select(("whole", "page", "host", "address", "url")) for slab in few), ("whole",))
    for pages, (_, centres, place) in zip(whole, led, strict=True):
        yield pages.with_columns(
            place=place, centre=centres["page"], centre_host=centres["host"],
            centre_address=centres["address"], centre_url=centres["url"])


def is_copy(members: Block) -> NDArray[np.bool_]:
    return members.array("place") > 0


def on_host_of_centre(members: Block) -> NDArray[np.bool_]:
    return members.array("host") == members.array("centre_host")


@gives(columns(set=PAGE, page=PAGE))
def set_rows(copies: Block) -> Iterator[Block]:
    """Pages of sets of two or more: the copies, and each centre once."""
    yield Block({"set": copies["centre"], "page": copies["page"]})
    centre = copies.array("centre")[copies.array("second")]
    yield Block({"set": centre, "page": centre})


@gives(MEMBERS)
def member_rows(members: Block) -> Block:
    """All pages, each with its set and what can be saved of it."""
    return members.select(("centre", "page", "name", "bytes"))


@gives(COPIES, _of_copies)
def copy_rows(
    members: Block, settings: OverlapSettings, sides: Sides,
) -> Iterator[Block | Tagged]:
    """Copies, with both hosts in order, `second`, which is true for one page of each set, and
    `same_ip`: whether copy and centre have the same address, or UNKNOWN. CENTRES: how many
    `members` of a set are here, and `new` ones, and how many fingerprints its centre (`unit`) has
    by each chunking, if it is here itself."""
    address, centres = members.array("address"), members.array("centre_address")
    hosts = np.sort(np.stack([members.array("host"), members.array("centre_host")]), 0)
    copies = members.select(("centre", "page")).with_columns(
        second=members.array("place") == 1, host_a=hosts[0], host_b=hosts[1],
        same_ip=np.where((address > 0) & (centres > 0), address == centres, UNKNOWN).astype(
            np.uint8))
    yield copies.take(is_copy(members))
    starts = members.starts(("whole",))
    here = members.array("place")[starts] == 0
    sizes = np.stack([np.diff(page_keys(members, each)[0])[starts] * here
                      for each in chunkings_of(settings)])
    yield Tagged(CENTRES, Block({
        "unit": members.array("centre")[starts], "host": members.array("centre_host")[starts],
        **size_columns(sizes),
        "members": np.diff(np.append(starts, len(members))),
        "new": np.add.reduceat(sides.new(members.array("page")).astype(np.int64), starts),
    }))
