"""From pages to the directories above them; no Beam.

A neighbourhood is known by the SHA-1 of its prefix (`id`), so that rows about it need not
carry the string.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.reuse.schemas import NEIGHBOURHOOD_SOURCES, NEIGHBOURHOODS
from beam_reuse.analyses.reuse.thresholds import is_above
from beam_reuse.columnar.block import Block, Maybe, VarBytes
from beam_reuse.columnar.distinct import number_distinct, sums_by_number
from beam_reuse.columnar.filters import RowFilter
from beam_reuse.columnar.matching import lookup, match_ranges, pairs_of
from beam_reuse.columnar.schema import FLAG, KIND, NUMBER, SHA1, TEXT, columns, gives, maybe, same
from beam_reuse.core.chunking import string_hashes
from beam_reuse.core.shares import floor_mean, halves, mean_share, ratio, shares
from beam_reuse.kernels.prefixes import directory_prefixes, enter_directory
from beam_reuse.pages.rows import numbered_rows
from beam_reuse.rows.results import Tagged

SOURCES = "sources"
BY_PREFIX = {
    "prefix": "any", "depth": "any", "pages": "sum", "values": "sum", "chunks": "sum",
    "matching": "sum", "own_matching": "sum", "share_high": "sum", "share_low": "sum", "new": "max",
}
REUSED = ("id", "sha1", "source")
BY_HASH = {"matching": "sum", "strongest": "max"}
BY_SOURCE = {"matching": "sum", "distinct_matching": "sum", "strongest": "sum"}
NEIGHBOUR_ROWS = columns(
    id=SHA1, prefix=TEXT, depth=NUMBER, pages=NUMBER, values=NUMBER, chunks=NUMBER, matching=NUMBER,
    own_matching=NUMBER, share_high=NUMBER, share_low=NUMBER, new=KIND)
SCORED = columns(NEIGHBOUR_ROWS, share=maybe(NUMBER))
REUSED_ROWS = columns(id=SHA1, source=maybe(TEXT), sha1=SHA1, matching=NUMBER, strongest=FLAG)
COUNTED_ROWS = columns(
    id=SHA1, source=maybe(TEXT), matching=NUMBER, strongest=NUMBER, distinct_matching=NUMBER)


@dataclass(frozen=True)
class Prefixes:
    """The directory prefixes of some pages: row i says that page `page[i]` is below the
    distinct prefix `which[i]`; `first` has one row per distinct prefix, in order of its id."""

    page: NDArray[np.int64]
    which: NDArray[np.int64]
    first: Block

    def only(self, some: RowFilter | None) -> "Prefixes":
        """Without the pages below other prefixes than these, which a filter may hold."""
        if some is None:
            return self
        kept = np.flatnonzero(some.may_hold(self.first)[self.which])
        return self if len(kept) == len(self.page) else replace(
            self, page=self.page[kept], which=self.which[kept])


@gives(columns(id=SHA1))
def prefixes_above(parts: Block) -> Iterator[Block]:
    """The prefixes of pages."""
    for pages in numbered_rows(parts, ("url",)):
        yield prefixes_of(pages.rows.strings("url")).first.select(("id",))


def prefixes_of(urls: VarBytes) -> Prefixes:
    """The prefixes of canonical URLs. Pages of one directory are mostly neighbours: its prefixes
    are then hashed once."""
    enters = enter_directory(urls.offsets, urls.data)
    directories = urls.take(enters)
    of, depth, offsets, data = directory_prefixes(directories.offsets, directories.data)
    ids = string_hashes(data, offsets)
    rows = Block({"id": ids, "prefix": VarBytes(offsets, data), "depth": depth})
    order = rows.sort_order(("id",))
    starts = rows.take(order).select(("id",)).starts(("id",))
    which = np.empty(len(rows), np.int64)
    which[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(rows))))
    bounds = np.searchsorted(of, np.arange(len(directories) + 1))
    directory = np.cumsum(enters) - 1
    page, row = pairs_of(bounds[directory], bounds[directory + 1])
    return Prefixes(page, which[row], rows.take(order[starts]))


def neighbour_rows(
    prefixes: Prefixes, chunks: NDArray, matching: NDArray, own: NDArray, share: NDArray[np.int64],
    new: bool,
) -> Block:
    """One row per distinct prefix with the sums over its pages, which are `new` or not."""
    high, low = halves(share)
    columns = {
        "pages": np.ones(len(chunks), np.int64), "values": (share >= 0).astype(np.int64),
        "chunks": chunks, "matching": matching, "own_matching": own,
        "share_high": high, "share_low": low,
    }
    return prefixes.first.with_columns(**{
        name: _sum_by(prefixes.which, column[prefixes.page], len(prefixes.first))
        for name, column in columns.items()
    }, new=np.full(len(prefixes.first), new, np.uint8))


def _sum_by(which: NDArray, values: NDArray, groups: int) -> NDArray[np.int64]:
    """Sums of values by group; exact, since those of a few thousand pages are below 2**53."""
    return np.bincount(which, values, groups).astype(np.int64)


def reused_rows(
    prefixes: Prefixes, page: NDArray, label: NDArray, occurrences: NDArray, labels: Block,
    starts: NDArray[np.int64],
) -> Block:
    """What is reused below each prefix: one row per prefix, hash and source of the hash.

    Page `page[i]` holds the label with rows starts[label[i]]:starts[label[i] + 1] of `labels`
    `occurrences[i]` times; pages are in order.
    """
    pages = Block({"page": page.astype(np.int64)})
    of_pages = Block({"page": prefixes.page})
    row, pair = pairs_of(*match_ranges(of_pages, pages, ("page",)))
    most = max(len(starts) - 1, 1)
    key = prefixes.which[row] * most + label[pair]
    numbers, first = number_distinct(key)
    matching = sums_by_number(numbers, occurrences[pair], len(first))
    prefix, hashed = np.divmod(key[first], most)
    entry, source = pairs_of(starts[hashed], starts[hashed + 1])
    return Block({
        "id": prefixes.first.array("id")[prefix[entry]],
        "source": labels["source"].take(source),
        "sha1": labels.array("sha1")[source],
        "matching": matching[entry],
        "strongest": labels.array("strongest")[source],
    })


@gives(COUNTED_ROWS)
def count_hashes(rows: Block) -> Block:
    """Rows of distinct (prefix, source, hash), ready to be summed by prefix and source."""
    return rows.select(("id", "source", "matching", "strongest")).with_columns(
        distinct_matching=np.ones(len(rows), np.int64),
        strongest=rows.array("strongest").astype(np.int64))


@gives(SCORED)
def with_scores(rows: Block, score: str) -> Block:
    """Neighbourhoods with the share that decides."""
    share = (
        shares(rows.array("matching"), rows.array("chunks")) if score == "pooled"
        else floor_mean(*(rows.array(n) for n in ("share_high", "share_low", "values"))))
    return rows.with_columns(share=Maybe(share, share >= 0))


@gives(
    columns(SCORED, NEIGHBOURHOODS.rows),
    {SOURCES: columns(COUNTED_ROWS, NEIGHBOURHOOD_SOURCES.rows)})
def judged(
    neighbours: Block | None, sources: Block | None, threshold: int,
) -> Iterator[Block | Tagged]:
    """Rows of `neighbourhoods` that have a new page, from scored ones and the sources of what is
    reused there; tagged SOURCES, rows of `neighbourhood_sources`."""
    if neighbours is None:
        assert sources is None, "a source of reuse in a neighbourhood that does not exist"
        return
    distinct = np.zeros(len(neighbours), np.int64)
    if sources is not None:
        found = lookup(sources, neighbours, ("id",))
        assert found.min(initial=0) >= 0, "a source of reuse in a neighbourhood without pages"
        distinct = _sum_by(found, sources.array("strongest"), len(neighbours))
        known = sources.maybe("source").valid & (neighbours.array("new")[found] > 0)
        yield Tagged(SOURCES, sources.take(known).with_columns(
            prefix=neighbours.strings("prefix").take(found[known]),
            source=sources.maybe("source").values.take(known)))
    yield flagged(neighbours.with_columns(
        distinct_matching=distinct,
        badness=Maybe.unless_nan(
            ratio(neighbours.array("matching"), neighbours.array("chunks"))),
        mean_contains=Maybe.unless_nan(mean_share(
            *(neighbours.array(n) for n in ("share_high", "share_low", "values")))),
    ).take(neighbours.array("new") > 0), threshold)


@gives(same)
def flagged(rows: Block, threshold: int) -> Block:
    """Neighbourhoods, marked where their share is above the threshold."""
    return rows.with_columns(flagged=is_above(rows, threshold))
