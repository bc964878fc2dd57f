"""Discovery: which files and chunks are copied most.

Two passes over the parts. The first counts every hash; the second looks at the pages of frequent
ones only, so what occurs once is shuffled once, as one hash. Files and chunks are of two kinds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from beam_reuse.analyses.reuse import discover_kernels as kernels
from beam_reuse.analyses.reuse.candidates import KEY
from beam_reuse.analyses.reuse.label_kernels import label_table
from beam_reuse.analyses.reuse.labels import CHUNKS_AND_PAYLOAD
from beam_reuse.analyses.reuse.settings import DiscoverySettings
from beam_reuse.core.features import Reads
from beam_reuse.core.labels import LabelKind
from beam_reuse.core.settings import ChunkSettings, StopSettings, given_or_default
from beam_reuse.declaring.settings import Settings
from beam_reuse.pages.analysis import Analysis, Found, Pages
from beam_reuse.pages.objects import Objects
from beam_reuse.rows import Rows
from beam_reuse.rows.folds import FindFrequent


@dataclass(frozen=True)
class Discovered:
    """What discovery gives: rows of its tables; for detection `labels`, what was found, with its
    source, and `candidates`, the parts where these, and perhaps others, occur."""

    tables: Mapping[str, Rows]
    labels: Rows
    candidates: Rows


class DiscoverReuse(Analysis):
    """Pages -> `frequent_files`, `frequent_chunks`, `frequency_histogram` and `labels`: what was
    found, with the page it was first captured on and, if asked for, its Nilsimsa digest.

    Exact: a file or chunk is listed if and only if it is no stop chunk and occurs more often
    than the threshold (or is among the `top` most frequent, ties to the smaller hash) on at
    least `min_hosts` hosts. Cost: one hash per distinct object and bundle, then one row per
    frequent object, host and part.

    >>> with beam.Pipeline(runner=FnApiRunner()) as p:
    ...     settings = DiscoverySettings(chunk_threshold=5)
    ...     found = p | ReadPages("crawl/*.jsonl") | DiscoverReuse(settings)
    ...     rows = found | AsRows("frequent_chunks")
    ...     _ = rows | beam.Map(lambda row: print(row.occurrences, row.text))
    6 <div>Home Contact Imprint</div>
    """

    def __init__(
        self,
        discovery: DiscoverySettings | None = None,
        chunks: ChunkSettings | None = None,
        stops: StopSettings | None = None,
        digest: bool = False,
    ) -> None:
        super().__init__()
        self.discovery = given_or_default(discovery, DiscoverySettings, self)
        self.chunks = given_or_default(chunks, ChunkSettings, self)
        self.stops = given_or_default(stops, StopSettings, self)
        self.digest = digest

    @classmethod
    def of(cls, settings: Settings) -> "DiscoverReuse":
        return cls(settings.discovery, settings.chunks, settings.stops,
                   settings.detection.matcher == "nilsimsa")

    def reads(self) -> Reads:
        return CHUNKS_AND_PAYLOAD

    def find(self, pages: Pages) -> Found:
        return Found(self.discover(pages).tables)

    def discover(self, pages: Pages) -> Discovered:
        """What is found, for tables and for detection in the same plan."""
        discovery = self.discovery
        objects = Objects.of(self.chunks, self.stops, pages.spill)
        if pages.sides.are_two:
            found, occurrences = counted_beside_new(pages, objects, discovery)
        else:
            found = pages.rows(kernels.counts, objects)
            occurrences = found.map(kernels.occurrences)
        counts = found.reduce(KEY, kernels.SUM_COUNTS | (
            {"new": "sum"} if pages.sides.are_two else {}))
        frequent = keep_frequent(counts, occurrences, discovery)
        places = pages.rows(kernels.places, objects, frequent.keys(KEY))
        listed = places.join(frequent, KEY, kernels.listed, discovery.min_hosts,
                             order="host", reducing=kernels.BY_HOST)
        if discovery.top and discovery.min_hosts > 1:
            listed = _top_of_each_kind(listed, discovery.top, "occurrences")
        named = listed.join(pages.names, "page", kernels.with_first_url)
        # Tables have what is on new pages; detection knows all, and digests come with texts.
        shown = named if self.digest else named.map(kernels.on_new_pages)
        every = pages.with_parts(shown, kernels.described, self.chunks, self.digest)
        described = every.map(kernels.on_new_pages)
        return Discovered(
            {
                "frequent_files": described.map(kernels.of_kind, LabelKind.FILE),
                "frequent_chunks": described.map(kernels.of_kind, LabelKind.CHUNK),
                "frequency_histogram": _histogram(counts.map(kernels.on_new_pages)),
                "labels": described.map(kernels.label_rows).map(label_table),
            },
            every.map(kernels.label_rows) if self.digest else named.map(kernels.sources),
            places.tagged(kernels.CANDIDATES))


def counted_beside_new(
    pages: Pages, objects: Objects, discovery: DiscoverySettings,
) -> tuple[Rows, Rows]:
    """Rows that count what occurs on new pages, and whatever may be frequent, on all pages; and
    how often files and chunks occur in all. Nothing else of a baseline is looked at."""
    bits = pages.plan.shuffle.counter_bits(2, 26)
    every = pages.rows(kernels.hashes, objects)
    often = every.fold(FindFrequent(KEY, bits, discovery.least_frequent))
    new = pages.new.rows(kernels.counts, objects, pages.sides)
    old = pages.old.rows(kernels.counts, objects, pages.sides, new.keys(KEY), often)
    return new + old, every.tagged(kernels.OCCURRENCES)


def keep_frequent(counts: Rows, occurrences: Rows, discovery: DiscoverySettings) -> Rows:
    """Counts of what is frequent, of all files and chunks that may be."""
    if discovery.top:
        often = counts.map(kernels.above, (1, 1), {})
        return often if discovery.min_hosts > 1 else (
            _top_of_each_kind(often, discovery.top, "count"))
    given = discovery.file_threshold, discovery.chunk_threshold
    total = occurrences.total(*kernels.KINDS)
    return counts.map(kernels.above, given, total if None in given else {})


def _top_of_each_kind(rows: Rows, top: int, column: str) -> Rows:
    files, chunks = (
        rows.map(kernels.of_kind, kind).top(top, column, ("sha1",))
        for kind in (LabelKind.FILE, LabelKind.CHUNK))
    return files + chunks


def _histogram(counts: Rows) -> Rows:
    """How many files and chunks occur how often."""
    rows = counts.map(kernels.occurrence_rows)
    return rows.reduce(("kind", "occurrences"), {"distinct": "sum"}).map(kernels.histogram_table)
