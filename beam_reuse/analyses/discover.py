"""Discovery: which chunks are copied most.

Two passes over the parts. The first counts every chunk; the second looks at the pages of
frequent chunks only, so a chunk that stands once is shuffled once, as one hash.
"""

from typing import Any

import apache_beam as beam
from apache_beam.pvalue import AsSingleton
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.analyses import chunk_kernels as kernels
from beam_reuse.columnar import (
    BuildKeyFilter,
    CountKeys,
    Fetch,
    GroupRows,
    JoinRows,
    MapBlocks,
    PutAway,
    ReduceRows,
    SumColumns,
    TopRows,
)
from beam_reuse.core.discovery import auto_threshold
from beam_reuse.core.settings import ChunkSettings, DiscoverySettings
from beam_reuse.pages.names import UrlsOfPages
from beam_reuse.pages.read_pages import Analysis, Pages

SHA1 = ("sha1",)


class FindFrequentChunks(Analysis):
    """Pages -> `frequent_chunks` and `frequency_histogram` (of chunks), as blocks.

    Exact: a chunk is listed if and only if it occurs more often than the threshold (or is
    among the `top` most frequent, ties to the smaller hash) on at least `min_hosts` hosts.
    Cost: one hash per distinct chunk and bundle, then one row per frequent chunk and page.
    """

    def __init__(self, discovery: DiscoverySettings, chunks: ChunkSettings) -> None:
        super().__init__()
        self.discovery = discovery
        self.chunks = chunks

    @no_annotations
    def expand(self, pages: Pages) -> dict[str, beam.PCollection]:
        counts = (
            pages.parts
            | "FetchParts" >> Fetch(pages.shuffle)
            | "ChunksOfPages" >> MapBlocks(kernels.chunk_hashes, self.chunks)
            | "CountChunks" >> CountKeys(pages.shuffle, SHA1)
        )
        frequent = counts | "Frequent" >> _KeepFrequent(self.discovery, pages.shuffle)
        may_be_frequent = AsSingleton(
            frequent | "MayBeFrequent" >> BuildKeyFilter(SHA1, pages.shuffle.filter_keys))
        places = (
            pages.parts
            | "FetchPartsAgain" >> Fetch(pages.shuffle, may_be_frequent)
            | "PlacesOfFrequent" >> MapBlocks(kernels.chunk_places, self.chunks, may_be_frequent)
            | "ByHost" >> ReduceRows(pages.shuffle, ("sha1", "host"), kernels.PLACE_REDUCTIONS)
            | "ByChunk" >> GroupRows(pages.shuffle, SHA1, kernels.chunk_spread, order=("place",))
        )
        listed = (
            {"left": places, "right": frequent}
            | "WithOccurrences" >> JoinRows(
                pages.shuffle, SHA1, kernels.with_occurrences, self.discovery.min_hosts)
        )
        if self.discovery.top and self.discovery.min_hosts > 1:
            listed = listed | "Top" >> _Top(self.discovery.top, "occurrences")
        return {
            "frequent_chunks": (listed, pages) | "Describe" >> _DescribeChunks(self.chunks),
            "frequency_histogram": counts | "Histogram" >> _Histogram(pages.shuffle),
        }


class _KeepFrequent(beam.PTransform):
    """Counts -> counts of frequent chunks; by a floor known beforehand, then the threshold."""

    def __init__(self, discovery: DiscoverySettings, shuffle: Any) -> None:
        super().__init__()
        self.discovery = discovery
        self.shuffle = shuffle

    def expand(self, counts: beam.PCollection) -> beam.PCollection:
        threshold = self.discovery.chunk_threshold
        if self.discovery.top:
            often = counts | "Repeated" >> MapBlocks(kernels.above, 1)
            return often if self.discovery.min_hosts > 1 else (
                often | "Top" >> _Top(self.discovery.top, "count"))
        if threshold is not None:
            return counts | "AboveThreshold" >> MapBlocks(kernels.above, threshold)
        total = AsSingleton(counts | "Occurrences" >> SumColumns(("count",)))
        return (
            counts
            | "AboveFloor" >> MapBlocks(kernels.above, auto_threshold(0))
            | "Park" >> PutAway(self.shuffle)
            | "Unpark" >> Fetch(self.shuffle, total)
            | "AboveThreshold" >> MapBlocks(kernels.above_auto, total)
        )


class _Top(beam.PTransform):
    """The rows with the greatest `column`, ties to the smaller hash."""

    def __init__(self, n: int, column: str) -> None:
        super().__init__()
        self.n, self.column = n, column

    def expand(self, rows: beam.PCollection) -> beam.PCollection:
        return rows | TopRows(self.n, descending=self.column, then=SHA1)


class _Histogram(beam.PTransform):
    """Counts -> how many chunks occur how often."""

    def __init__(self, shuffle: Any) -> None:
        super().__init__()
        self.shuffle = shuffle

    def expand(self, counts: beam.PCollection) -> beam.PCollection:
        return (
            counts
            | "OccurrencesOfEach" >> MapBlocks(kernels.occurrence_rows)
            | "CountOccurrences" >> ReduceRows(self.shuffle, ("occurrences",), {"distinct": "sum"})
            | "AsTable" >> MapBlocks(kernels.histogram_table)
        )


class _DescribeChunks(Analysis):
    """Listed chunks -> rows of `frequent_chunks`: text, first and sample URLs looked up."""

    def __init__(self, chunks: ChunkSettings) -> None:
        super().__init__()
        self.chunks = chunks

    @no_annotations
    def expand(self, inputs: tuple[beam.PCollection, Pages]) -> beam.PCollection:
        listed, pages = inputs
        texts = (
            {
                "left": listed | "PlaceOfText" >> MapBlocks(kernels.text_requests),
                "right": pages.parts | "FetchParts" >> Fetch(pages.shuffle),
            }
            | "ReadTexts" >> JoinRows(pages.shuffle, ("range",), kernels.read_texts, self.chunks)
        )
        urls = (
            (listed | "PagesToName" >> MapBlocks(kernels.url_requests), pages)
            | "Urls" >> UrlsOfPages()
        )
        described = {"left": listed, "right": texts} | "WithTexts" >> JoinRows(
            pages.shuffle, SHA1, kernels.with_texts)
        return {"left": described, "right": urls} | "WithUrls" >> JoinRows(
            pages.shuffle, SHA1, kernels.with_urls)

