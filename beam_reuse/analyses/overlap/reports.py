"""What follows from copies and overlapping pages: copies of each page, what a crawler can save,
collections that stand on several hosts."""

from collections.abc import Iterator

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import AsSingleton, TaggedOutput
from apache_beam.typehints.decorators import no_annotations
from numpy.typing import NDArray

from beam_reuse.analyses.graphs.clusters import ConnectPages, Forest
from beam_reuse.columnar import (
    Block,
    Fetch,
    GroupRows,
    JoinRows,
    MapBlocks,
    PutAway,
    ReduceRows,
    Shuffle,
)
from beam_reuse.columnar.matching import lookup, match_ranges, pairs_of
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.core.settings import OverlapSettings
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.union_find import first_kept
from beam_reuse.pages.names import UrlsOfPages
from beam_reuse.pages.read_pages import Analysis, Pages

SAMPLES = 10
SKIPPED = "skipped"
_SUMS = ("pages", "bytes", "redundant_pages", "redundant_bytes")
_COLLECTION = ("id", "prefix", "hosts", "pages", "bytes")


def chunking_names(numbers: NDArray, settings: OverlapSettings) -> VarBytes:
    """Chunkings by name."""
    names = np.array([name.encode() for name in settings.chunkings], object)
    return VarBytes.from_list(names[numbers].tolist())


class CountReplicas(beam.PTransform):
    """{'pairs': `chunking`, `page_a` and `page_b` of overlapping centres; 'copies': rows of exact
    copies; 'pages': a block with `pages` for each part} -> `replicas`, as blocks.

    A page has as many copies as its exact set and the sets of directly overlapping centres
    have pages. So the pages of a set have equally many, and are counted with their centre.
    """

    def __init__(self, shuffle: Shuffle, settings: OverlapSettings) -> None:
        super().__init__()
        self.shuffle, self.settings = shuffle, settings

    @no_annotations
    def expand(self, given: dict[str, beam.PCollection]) -> beam.PCollection:
        shuffle, count = self.shuffle, len(self.settings.chunkings)
        sets = given["copies"] | "SetRows" >> MapBlocks(_set_rows) | "Sets" >> ReduceRows(
            shuffle, ("page",), {"more": "sum"})
        near = {"left": given["pairs"] | "BothWays" >> MapBlocks(_both_ways), "right": sets}
        added = near | "SetsNear" >> JoinRows(shuffle, ("page",), _with_sizes)
        return (
            (added, sets | "OwnSets" >> MapBlocks(_own_sizes, count))
            | "Copies" >> ReduceRows(shuffle, ("chunking", "page"),
                                     {"copies": "sum", "more": "sum"})
            | "Histogram" >> MapBlocks(_histogram)
            | "Merge" >> _MergeHistograms(given["pages"], shuffle, count)
            | "Table" >> MapBlocks(_replica_table, self.settings)
        )


class _MergeHistograms(beam.PTransform):
    """Parts of histograms and the pages they are of -> the histogram."""

    def __init__(self, pages: beam.PCollection, shuffle: Shuffle, chunkings: int) -> None:
        super().__init__()
        self.pages, self.shuffle, self.chunkings = pages, shuffle, chunkings

    def expand(self, parts: beam.PCollection) -> beam.PCollection:
        alone = self.pages | "NoCopies" >> MapBlocks(_without_copies, self.chunkings)
        return (parts, alone) | "Sum" >> ReduceRows(
            self.shuffle, ("chunking", "copies"), {"pages": "sum"})


def _set_rows(copies: Block) -> Block:
    return Block({"page": copies["centre"], "more": np.ones(len(copies), np.int64)})


def _both_ways(pairs: Block) -> Iterator[Block]:
    for page, other in (("page_a", "page_b"), ("page_b", "page_a")):
        yield Block({"chunking": pairs["chunking"], "page": pairs[page], "other": pairs[other]})


def _with_sizes(edges: Block | None, sets: Block | None) -> Block | None:
    """What the set of `page` adds to the copies of `other`: its size."""
    if edges is None:
        return None
    size = np.ones(len(edges), np.int64)
    if sets is not None:
        found = lookup(edges, sets, ("page",))
        size += np.where(found >= 0, sets.array("more")[found], 0)
    return Block({"chunking": edges["chunking"], "page": edges["other"], "copies": size,
                  "more": np.zeros(len(edges), np.int64)})


def _own_sizes(sets: Block, chunkings: int) -> Iterator[Block]:
    for number in range(chunkings):
        yield Block({"chunking": np.full(len(sets), number, np.uint8), "page": sets["page"],
                     "copies": sets["more"], "more": sets["more"]})


def _histogram(centres: Block) -> Iterator[Block]:
    """How many pages have so many copies; they no longer count as pages with none but
    themselves."""
    pages = centres.array("more") + 1
    yield Block({"chunking": centres["chunking"], "copies": centres.array("copies") + 1,
                 "pages": pages})
    yield Block({"chunking": centres["chunking"], "copies": np.ones(len(pages), np.int64),
                 "pages": -pages})


def _without_copies(hosts: Block, chunkings: int) -> Block:
    return Block({"chunking": np.arange(chunkings, dtype=np.uint8),
                  "copies": np.ones(chunkings, np.int64),
                  "pages": np.full(chunkings, hosts.array("pages").sum())})


def _replica_table(rows: Block, settings: OverlapSettings) -> Block:
    some = rows.take(rows.array("pages") > 0)
    return some.with_columns(chunking=chunking_names(some.array("chunking"), settings))


class DropOverlapping(beam.PTransform):
    """`chunking`, `page_a` and `page_b` of overlapping centres -> `chunking` and `centre` of those
    that are dropped, and `because`, the smallest kept one it overlaps: centres are taken in order
    of their URLs; one that is undecided is kept and drops its undecided neighbours. A connected
    component must fit in memory."""

    def __init__(self, shuffle: Shuffle) -> None:
        super().__init__()
        self.shuffle = shuffle

    def expand(self, pairs: beam.PCollection) -> beam.PCollection:
        forest = AsSingleton(
            pairs | "Edges" >> MapBlocks(_edges) | "Connect" >> ConnectPages(self.shuffle))
        return (
            pairs
            | "Park" >> PutAway(self.shuffle)
            | "Unpark" >> Fetch(self.shuffle, forest)
            | "Components" >> MapBlocks(_with_component, forest)
            | "Decide" >> GroupRows(self.shuffle, ("chunking", "component"), decide)
        )


def _edges(pairs: Block) -> Block:
    return Block({"algorithm": pairs["chunking"], "page": pairs["page_b"], "root": pairs["page_a"]})


def _with_component(pairs: Block, forest: Forest) -> Iterator[Block]:
    for number in np.unique(pairs.array("chunking")).tolist():
        mine = pairs.take(pairs.array("chunking") == number)
        known, root = forest.members(number)
        yield mine.select(("chunking", "page_a", "page_b")).with_columns(
            component=root[np.searchsorted(known, mine.array("page_a"))])


def decide(pairs: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Block:
    """Pairs of whole components -> the pages that are dropped, and which are kept for them."""
    chunking = pairs.array("chunking").astype(np.uint64)
    ends = [Block({"chunking": chunking, "page": pairs[name]}) for name in ("page_a", "page_b")]
    both = Block.concat(ends)
    order = both.sort_order(("chunking", "page"))
    ordered = both.take(order)
    first = ordered.starts(("chunking", "page"))
    node = np.empty(len(both), np.int64)
    node[order] = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(both))))
    there = np.roll(node, len(pairs))
    heads = np.zeros(len(first) + 1, np.int64)
    np.cumsum(np.bincount(node, minlength=len(first)), out=heads[1:])
    neighbours = there[np.argsort(node, kind="stable")]
    kept = first_kept(frozen(np.arange(len(first))), frozen(heads), frozen(neighbours))
    gone = np.flatnonzero(kept != np.arange(len(first)))
    nodes = ordered.take(first)
    return Block({"chunking": nodes.array("chunking")[gone], "centre": nodes.array("page")[gone],
                  "because": nodes.array("page")[kept[gone]]})


def skipped_rows(
    copies: Block | None, dropped: Block | None, chunkings: int
) -> Iterator[Block | TaggedOutput]:
    """Copies with `moved`: whether their centre is dropped by some chunking. SKIPPED: `page`,
    `because` and `chunking` of dropped centres, and of their copies by each chunking, as the page
    that stays for a copy is the one that stays for its centre."""
    if dropped is not None:
        yield TaggedOutput(SKIPPED, Block({
            "page": dropped["centre"], "because": dropped["because"],
            "chunking": dropped["chunking"]}))
    if copies is None:
        return
    if dropped is None:
        yield copies.with_columns(moved=np.zeros(len(copies), np.bool_))
        return
    lo, hi = match_ranges(copies, dropped, ("centre",))
    yield copies.with_columns(moved=hi > lo)
    moved = np.flatnonzero(hi > lo)
    row, at = pairs_of(lo[moved], hi[moved])
    stays = np.repeat(copies.array("centre")[moved], chunkings).reshape(len(moved), chunkings)
    stays[row, dropped.array("chunking")[at].astype(np.int64)] = dropped.array("because")[at]
    yield TaggedOutput(SKIPPED, Block({
        "page": np.repeat(copies.array("page")[moved], chunkings), "because": stays.ravel(),
        "chunking": np.tile(np.arange(chunkings, dtype=np.uint64), len(moved))}))


class SumSavings(beam.PTransform):
    """{'totals': `name`, `pages` and `bytes` of hosts, some rows each; 'skippable': rows of that
    table} -> `crawl_savings`, as blocks."""

    def __init__(self, shuffle: Shuffle, settings: OverlapSettings) -> None:
        super().__init__()
        self.shuffle, self.settings = shuffle, settings

    @no_annotations
    def expand(self, given: dict[str, beam.PCollection]) -> beam.PCollection:
        return (
            (given["totals"] | "Totals" >> MapBlocks(_totals, self.settings),
             given["skippable"] | "Redundant" >> MapBlocks(_redundant))
            | "Sum" >> ReduceRows(self.shuffle, ("chunking", "host"), dict.fromkeys(_SUMS, "sum"))
        )


def _totals(hosts: Block, settings: OverlapSettings) -> Iterator[Block]:
    nothing = np.zeros(len(hosts), np.int64)
    for number in range(len(settings.chunkings)):
        yield Block({
            "chunking": chunking_names(np.full(len(hosts), number), settings),
            "host": hosts["name"], "pages": hosts["pages"], "bytes": hosts["bytes"],
            "redundant_pages": nothing, "redundant_bytes": nothing})


def _redundant(skippable: Block) -> Block:
    nothing = np.zeros(len(skippable), np.int64)
    return Block({
        "chunking": skippable["chunking"], "host": skippable["host"], "pages": nothing,
        "bytes": nothing, "redundant_pages": nothing + 1, "redundant_bytes": skippable["bytes"]})


def copied_rows(copies: Block) -> Iterator[Block]:
    """Of exact copies on several hosts: `centre`, `host`, `own` (1 for the centre's own) and
    `first`, a page on the host."""
    across = copies.take(copies.array("host") != copies.array("host_a"))
    for host, first, own in (("host", "page", 0), ("host_a", "centre", 1)):
        yield Block({"centre": across["centre"], "host": across[host], "first": across[first],
                     "own": np.full(len(across), own, np.uint8)})


class FindCollections(Analysis):
    """({'copied': `id` and `prefix` of directories, for each page below them that is a centre
    and each `host` that has it, `own` and the `first` page there; 'prefixes': how many centres
    lie below directories, and their bytes}, pages) -> `popular_collections`, as blocks.

    A host holds a collection if it has the share `mirror` of its centres, or is its own.
    """

    def __init__(self, settings: OverlapSettings) -> None:
        super().__init__()
        self.settings = settings

    @no_annotations
    def expand(self, inputs: tuple[dict[str, beam.PCollection], Pages]) -> beam.PCollection:
        given, pages = inputs
        shuffle = pages.shuffle
        held = given["copied"] | "OnHosts" >> ReduceRows(
            shuffle, ("id", "host"),
            {"prefix": "min", "own": "max", "first": "min", "centres": "sum"})
        totals = given["prefixes"] | "Totals" >> ReduceRows(
            shuffle, ("id",), {"pages": "sum", "bytes": "sum"})
        samples = {"left": held, "right": totals} | "Holders" >> JoinRows(
            shuffle, ("id",), collections, self.settings.mirror)
        return (
            (samples, pages) | "SampleUrls" >> UrlsOfPages()
            | "Collections" >> GroupRows(shuffle, ("id",), _collection_table, order=("page",))
        )


def collections(held: Block | None, totals: Block | None, mirror: float) -> Block | None:
    """A row for each sample `page` of directories that two hosts or more hold."""
    if held is None:
        return None
    assert totals is not None, "a directory that nobody counted"
    lo, _ = match_ranges(held, totals, ("id",))
    pages = totals.array("pages")[lo]
    holds = (held.array("own") > 0) | (held.array("centres") / pages >= mirror)
    rows = Block({
        "id": held["id"], "prefix": held["prefix"], "page": held["first"],
        "pages": pages, "bytes": totals.array("bytes")[lo],
    }).take(holds).sort(("id", "page"))
    starts = rows.starts(("id",))
    hosts = np.diff(np.append(starts, len(rows)))
    place = np.arange(len(rows)) - np.repeat(starts, hosts)
    some = (place < SAMPLES) & np.repeat(hosts > 1, hosts)
    return rows.with_columns(hosts=np.repeat(hosts, hosts)).take(some)


def _collection_table(rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Block:
    urls = rows.strings("url").to_list()
    samples = [b"\n".join(urls[s : s + n])
               for s, n in zip(starts.tolist(), sizes.tolist(), strict=True)]
    return rows.select(_COLLECTION).take(starts).without("id").with_columns(
        sample_urls=VarBytes.from_list(samples))

