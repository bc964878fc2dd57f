"""Directories whose pages are on several hosts, as exact copies. No Beam."""

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.overlap.copies import is_copy, on_host_of_centre
from beam_reuse.analyses.overlap.reading import distinct, sums
from beam_reuse.analyses.overlap.schemas import POPULAR_COLLECTIONS
from beam_reuse.columnar.block import Block, Lists, VarBytes
from beam_reuse.columnar.matching import match_ranges
from beam_reuse.columnar.schema import FINGERPRINT, KIND, NUMBER, PAGE, TEXT, columns, gives
from beam_reuse.kernels.prefixes import directory_prefixes

ON_HOSTS = {"prefix": "any", "own": "max", "first": "min", "centres": "sum"}
SAMPLES = 10
IN_DIRECTORIES = columns(id=FINGERPRINT, prefix=TEXT, host=FINGERPRINT, own=KIND, first=PAGE,
                         centres=NUMBER)


@gives(columns(centre=PAGE, url=TEXT, host=FINGERPRINT, first=PAGE, own=KIND))
def copied_rows(members: Block) -> Block:
    """Of sets on several hosts: `centre` with its `url`, and for each `host` the `first` page
    there, and whether it is the centre's `own` (1)."""
    across = members.take(~on_host_of_centre(members))
    return distinct(Block.concat([
        Block({"centre": across["centre"], "url": across["centre_url"], "host": across[host],
               "first": across[first], "own": np.full(len(across), own, np.uint8)})
        for host, first, own in (("host", "page", 0), ("centre_host", "centre", 1))
    ]), ("centre", "host"))


@gives(IN_DIRECTORIES)
def with_directories(copied: Block) -> Block:
    """A row for each directory above a centre, and each host that has the centre."""
    row, rows = _prefixes(copied.strings("url"))
    return rows.with_columns(
        **{name: copied.array(name)[row] for name in ("host", "own", "first")},
        centres=np.ones(len(row), np.int64))


@gives(columns(id=FINGERPRINT, pages=NUMBER, bytes=NUMBER))
def centres_below(members: Block) -> Block:
    """How many centres are below each directory, and their bytes."""
    centres = members.select(("url", "bytes")).take(~is_copy(members))
    row, rows = _prefixes(centres.strings("url"))
    ids, which = np.unique(rows.array("id"), return_inverse=True)
    return Block({"id": ids, "pages": np.bincount(which, minlength=len(ids)),
                  "bytes": sums(which, centres.array("bytes")[row], len(ids))})


def _prefixes(urls: VarBytes) -> tuple[NDArray[np.int64], Block]:
    """For each directory above each page the row of the page; and `id` and `prefix`."""
    page, _, offsets, data = directory_prefixes(urls.offsets, urls.data)
    prefix = VarBytes(offsets, data)
    return page, Block({"id": prefix.hash64(), "prefix": prefix})


@gives(POPULAR_COLLECTIONS.rows)
def collections(held: Block | None, below: Block | None, mirror: float) -> Block | None:
    """Rows of `popular_collections`: directories that two hosts or more hold. A host holds one if
    it has the share `mirror` of the centres below it, or is its own.

    `held` has a row for each directory and host, `below` how much is below each."""
    if held is None:
        return None
    assert below is not None, "a directory that nobody counted"
    at, _ = match_ranges(held, below, ("id",))
    pages = below.array("pages")[at]
    holds = (held.array("own") > 0) | (held.array("centres") / pages >= mirror)
    rows = held.with_columns(pages=pages, bytes=below.array("bytes")[at]).take(holds).sort(
        ("id", "first"))
    starts = rows.starts(("id",))
    hosts = np.diff(np.append(starts, len(rows)))
    place = np.arange(len(rows)) - np.repeat(starts, hosts)
    popular = hosts > 1
    samples = rows.array("first")[(place < SAMPLES) & np.repeat(popular, hosts)]
    hosts = hosts[popular]
    return rows.select(("prefix", "pages", "bytes")).take(starts[popular]).with_columns(
        hosts=hosts, sample_urls=Lists.from_lengths(np.minimum(hosts, SAMPLES), samples))
