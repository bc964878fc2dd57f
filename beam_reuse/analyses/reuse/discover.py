"""Discovery: which files and chunks are copied most.

Two passes over the parts for each kind. The first counts every hash; the second looks at the
pages of frequent ones only, so what stands once is shuffled once, as one hash.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import AsSingleton
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.analyses.reuse import discover_kernels as kernels
from beam_reuse.columnar import (
    MAIN,
    Block,
    BuildKeyFilter,
    Fetch,
    GroupRows,
    JoinRows,
    MapBlocks,
    PutAway,
    ReduceRows,
    Shuffle,
    SumColumns,
    TopRows,
)
from beam_reuse.core.discovery import auto_threshold
from beam_reuse.core.labels import LabelKind
from beam_reuse.core.settings import ChunkSettings, DiscoverySettings, StopSettings
from beam_reuse.pages.names import UrlsOfPages
from beam_reuse.pages.objects import Objects
from beam_reuse.pages.read_pages import Analysis, Pages

SHA1 = ("sha1",)
LISTED = "listed"


@dataclass(frozen=True)
class ObjectKind:
    """What is counted: `counts(parts, objects)` gives hashes with their occurrences,
    `places(parts, objects, frequent)` where those stand that may be frequent, by host."""

    name: str
    counts: Callable[[Block, Objects], Iterator[Block]]
    places: Callable[[Block, Objects, Any], Iterator[Any]]


FILES = ObjectKind("file", kernels.file_counts, kernels.file_places)
CHUNKS = ObjectKind("chunk", kernels.chunk_counts, kernels.chunk_places)


class DiscoverReuse(Analysis):
    """Pages -> `frequent_files`, `frequent_chunks` and `frequency_histogram`, as blocks, and
    `labels`: what was found as label rows (see `label_kernels`), each with the page it was
    first seen on and, if asked for, its Nilsimsa digest. `candidates` tell in which parts these
    labels, and perhaps others, stand: with them detection need not look for itself.

    Exact: a file or chunk is listed if and only if it is no stop chunk and occurs more often
    than the threshold (or is among the `top` most frequent, ties to the smaller hash) on at
    least `min_hosts` hosts. Cost: one hash per distinct object and bundle, then one row per
    frequent object and page.
    """

    def __init__(
        self,
        discovery: DiscoverySettings | None = None,
        chunks: ChunkSettings | None = None,
        stops: StopSettings | None = None,
        digest: bool = False,
    ) -> None:
        super().__init__()
        self.discovery, self.digest = discovery or DiscoverySettings(), digest
        self.chunks, self.stops = chunks or ChunkSettings(), stops or StopSettings()

    @no_annotations
    def expand(self, pages: Pages) -> dict[str, beam.PCollection]:
        objects = Objects.of(self.chunks, self.stops, pages.spill)
        counts = {
            kind.name: (pages.parts | f"Count {kind.name}s" >> CountObjects(kind, objects, pages))
            for kind in (FILES, CHUNKS)
        }
        files, chunks = (
            (counts[kind.name], pages) | f"Frequent {kind.name}s" >> _ListFrequent(
                kind, self.discovery, objects)
            for kind in (FILES, CHUNKS)
        )
        candidates = (files[kernels.CANDIDATES], chunks[kernels.CANDIDATES])
        named_files = (
            (files[LISTED] | "FileLengths" >> MapBlocks(kernels.file_lengths), pages)
            | "NameFiles" >> _NamePages()
        )
        named_chunks = (chunks[LISTED], pages) | "DescribeChunks" >> _DescribeChunks(
            self.chunks, self.digest)
        return {
            "frequent_files": named_files,
            "frequent_chunks": named_chunks,
            "frequency_histogram": [
                counted | f"Histogram {name}s" >> _Histogram(name, pages.shuffle)
                for name, counted in counts.items()
            ] | "Histograms" >> beam.Flatten(),
            "labels": (
                named_files | "LabelFiles" >> MapBlocks(kernels.label_rows, LabelKind.FILE)
                | "PutFiles" >> PutAway(pages.shuffle),
                named_chunks | "LabelChunks" >> MapBlocks(kernels.label_rows, LabelKind.CHUNK)
                | "PutChunks" >> PutAway(pages.shuffle),
            ) | "Labels" >> beam.Flatten() | "FetchLabels" >> Fetch(pages.shuffle),
            kernels.CANDIDATES: candidates | "Candidates" >> beam.Flatten(),
        }


class CountObjects(beam.PTransform):
    """Parts -> distinct hashes of one kind with their number of occurrences."""

    def __init__(self, kind: ObjectKind, objects: Objects, pages: Pages) -> None:
        super().__init__()
        self.kind, self.objects, self.shuffle = kind, objects, pages.shuffle

    def expand(self, parts: beam.PCollection) -> beam.PCollection:
        return (
            parts
            | "FetchParts" >> Fetch(self.shuffle)
            | "CountInParts" >> MapBlocks(self.kind.counts, self.objects)
            | "Count" >> ReduceRows(self.shuffle, SHA1, {"count": "sum"})
        )


class _ListFrequent(Analysis):
    """(counts, pages) -> `listed`: what is frequent, with its spread over pages, hosts and
    domains; `candidates`: in which parts it may stand."""

    def __init__(self, kind: ObjectKind, discovery: DiscoverySettings, objects: Objects) -> None:
        super().__init__()
        self.kind, self.discovery, self.objects = kind, discovery, objects

    @no_annotations
    def expand(self, inputs: tuple[beam.PCollection, Pages]) -> dict[str, beam.PCollection]:
        counts, pages = inputs
        shuffle, discovery = pages.shuffle, self.discovery
        frequent = counts | "Frequent" >> KeepFrequent(self.kind, discovery, shuffle)
        may_be_frequent = AsSingleton(
            frequent | "MayBeFrequent" >> BuildKeyFilter(shuffle, SHA1))
        found = (
            pages.parts
            | "FetchParts" >> Fetch(shuffle, may_be_frequent)
            | "Places" >> MapBlocks(self.kind.places, self.objects, may_be_frequent,
                                    outputs=(kernels.CANDIDATES,))
        )
        places = (
            found[MAIN]
            | "ByHost" >> ReduceRows(shuffle, ("sha1", "host"), kernels.PLACE_REDUCTIONS)
            | "ByHash" >> GroupRows(shuffle, SHA1, kernels.spread, order=("place",))
        )
        listed = {"left": places, "right": frequent} | "WithOccurrences" >> JoinRows(
            shuffle, SHA1, kernels.with_occurrences, discovery.min_hosts)
        if discovery.top and discovery.min_hosts > 1:
            listed = listed | "Top" >> _Top(discovery.top, "occurrences")
        return {LISTED: listed, kernels.CANDIDATES: found[kernels.CANDIDATES]}


class KeepFrequent(beam.PTransform):
    """Counts -> counts of what is frequent; by a floor known beforehand, then the threshold."""

    def __init__(self, kind: ObjectKind, discovery: DiscoverySettings, shuffle: Shuffle) -> None:
        super().__init__()
        self.kind, self.discovery, self.shuffle = kind.name, discovery, shuffle

    def expand(self, counts: beam.PCollection) -> beam.PCollection:
        discovery = self.discovery
        threshold = (
            discovery.file_threshold if self.kind == FILES.name else discovery.chunk_threshold)
        if discovery.top:
            often = counts | "Repeated" >> MapBlocks(kernels.above, 1)
            return often if discovery.min_hosts > 1 else (
                often | "Top" >> _Top(discovery.top, "count"))
        if threshold is not None:
            return counts | "AboveThreshold" >> MapBlocks(kernels.above, threshold)
        total = AsSingleton(counts | "Occurrences" >> SumColumns(("count",)))
        return (
            counts
            | "AboveFloor" >> MapBlocks(kernels.above, auto_threshold(self.kind, 0))
            | "Park" >> PutAway(self.shuffle)
            | "Unpark" >> Fetch(self.shuffle, total)
            | "AboveThreshold" >> MapBlocks(kernels.above_auto, self.kind, total)
        )


class _Top(beam.PTransform):
    """The rows with the greatest `column`, ties to the smaller hash."""

    def __init__(self, n: int, column: str) -> None:
        super().__init__()
        self.n, self.column = n, column

    def expand(self, rows: beam.PCollection) -> beam.PCollection:
        return rows | TopRows(self.n, descending=self.column, then=SHA1)


class _Histogram(beam.PTransform):
    """Counts -> how many hashes occur how often."""

    def __init__(self, kind: str, shuffle: Shuffle) -> None:
        super().__init__()
        self.kind, self.shuffle = kind, shuffle

    def expand(self, counts: beam.PCollection) -> beam.PCollection:
        return (
            counts
            | "OccurrencesOfEach" >> MapBlocks(kernels.occurrence_rows)
            | "CountOccurrences" >> ReduceRows(self.shuffle, ("occurrences",), {"distinct": "sum"})
            | "AsTable" >> MapBlocks(kernels.histogram_table, self.kind)
        )


class _NamePages(Analysis):
    """(listed, pages) -> the same with first and sample URLs."""

    @no_annotations
    def expand(self, inputs: tuple[beam.PCollection, Pages]) -> beam.PCollection:
        listed, pages = inputs
        urls = (
            (listed | "PagesToName" >> MapBlocks(kernels.url_requests), pages)
            | "Urls" >> UrlsOfPages()
        )
        return {"left": listed, "right": urls} | "WithUrls" >> JoinRows(
            pages.shuffle, SHA1, kernels.with_urls)


class _DescribeChunks(Analysis):
    """(listed chunks, pages) -> the same with text, length, first and sample URLs."""

    def __init__(self, chunks: ChunkSettings, digest: bool) -> None:
        super().__init__()
        self.chunks, self.digest = chunks, digest

    @no_annotations
    def expand(self, inputs: tuple[beam.PCollection, Pages]) -> beam.PCollection:
        listed, pages = inputs
        texts = (
            {
                "left": listed | "PlaceOfText" >> MapBlocks(kernels.text_requests),
                "right": pages.parts | "FetchParts" >> Fetch(pages.shuffle),
            }
            | "ReadTexts" >> JoinRows(
                pages.shuffle, ("range",), kernels.read_texts, self.chunks, self.digest)
        )
        described = {"left": listed, "right": texts} | "WithTexts" >> JoinRows(
            pages.shuffle, SHA1, kernels.with_texts)
        return (described, pages) | "Name" >> _NamePages()
