"""ReadPages: crawl files and indexes become numbered parts, with every record accounted for."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsSingleton, PValue
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.columnar import (
    MAIN,
    Block,
    Fetch,
    JoinRows,
    MapBlocks,
    Piece,
    PutAway,
    RankRows,
    ReduceRows,
    Shuffle,
)
from beam_reuse.columnar.store import Blob
from beam_reuse.io.crawl.ranges import FileRange
from beam_reuse.io.index import IndexInput, index_events
from beam_reuse.io.results.reporting import ProgressReporter
from beam_reuse.pages import captures, numbering
from beam_reuse.pages.cuts import false_starts, standing
from beam_reuse.pages.ingest import IngestSettings, ingest

EVENTS, ENDS, SEEN = "events", "ends", "seen"


class Pages(NamedTuple):
    """The pages of a run, as analyses take them.

    `parts`: pieces of one numbered part each (see `pages.rows`). `names`: pieces with `page`
    and `url`. `ranked`: blocks with one row per page. `events`: blocks of records that are no
    pages. `depths`: blocks with `depth` and `records`, before recursion errors are cut.
    `seen`: blocks whose `count` add up to the records that were read.
    """

    parts: beam.PCollection
    names: beam.PCollection
    ranked: beam.PCollection
    events: beam.PCollection
    depths: beam.PCollection
    seen: beam.PCollection
    shuffle: Shuffle


class Analysis(beam.PTransform):
    """A transform of Pages, alone or in a tuple with other PCollections."""

    def _extract_input_pvalues(self, pvalueish: Any) -> tuple[Any, tuple[PValue, ...]]:
        return pvalueish, tuple(_pvalues(pvalueish))


class IngestRanges(beam.PTransform):
    """Ranges of crawl files -> {main: parts, events, ends, seen}; parts are written to `folder`.

    `seen` has a row for every record, `ends` one for every range.
    """

    def __init__(
        self, ranges: list[FileRange], folder: str, settings: IngestSettings, progress: str,
    ) -> None:
        super().__init__()
        self.ranges, self.folder = ranges, folder
        self.settings, self.progress = settings, progress

    @no_annotations
    def expand(self, begin: beam.pvalue.PBegin) -> dict[str, beam.PCollection]:
        read = beam.ParDo(_Ingest(self.folder, self.settings, ProgressReporter(self.progress)))
        found = (
            begin
            | "Ranges" >> beam.Create([r.to_bytes() for r in self.ranges]).with_output_types(bytes)
            | "Spread" >> beam.Reshuffle()
            | "Ingest" >> read.with_output_types(Block).with_outputs(
                EVENTS, ENDS, SEEN, main=MAIN)
        )
        for tag in (EVENTS, ENDS, SEEN):
            found[tag].element_type = Block
        return {tag: found[tag] for tag in (MAIN, EVENTS, ENDS, SEEN)}


class _Ingest(beam.DoFn):
    def __init__(self, folder: str, settings: IngestSettings, progress: ProgressReporter) -> None:
        self.folder, self.settings, self.progress = folder, settings, progress

    def process(self, encoded: bytes) -> Iterator[Any]:
        found = ingest(FileRange.from_bytes(encoded), self.folder, self.settings, self.progress)
        if found.part is not None:
            yield found.part
        if found.events is not None:
            yield beam.pvalue.TaggedOutput(EVENTS, found.events)
        if found.end is not None:
            yield beam.pvalue.TaggedOutput(ENDS, found.end)
        yield beam.pvalue.TaggedOutput(SEEN, found.seen)


class ReadPages(beam.PTransform):
    """Ranges and indexes -> Pages.

    Every record read is a page of `ranked` or a row of `events`, exactly once. Pages are
    numbered from 0 in the order of their URLs. The crawl is read and parsed once; what
    follows reads columns of the parts.
    """

    def __init__(
        self, ranges: list[FileRange], indexes: list[IndexInput], folder: str,
        settings: IngestSettings, shuffle: Shuffle, progress: str,
    ) -> None:
        super().__init__()
        self.ranges, self.indexes, self.folder = ranges, indexes, folder
        self.settings, self.shuffle, self.progress = settings, shuffle, progress

    @no_annotations
    def expand(self, begin: beam.pvalue.PBegin) -> Pages:
        read, shuffle = self.settings.read, self.shuffle
        fresh = begin | "Read" >> IngestRanges(
            self.ranges, self.folder, self.settings, self.progress)
        false = AsSingleton(fresh[ENDS] | "FalseStarts" >> FindFalseStarts())
        stored = begin | "Stored" >> ReadIndexes(self.indexes)
        parts = (fresh[MAIN], stored["parts"]) | "Parts" >> beam.Flatten()
        found = parts | "Captures" >> MapBlocks(
            numbering.capture_rows, read, false, outputs=(numbering.DEPTHS, numbering.CUT))
        resolved = found[MAIN] | "NumberPages" >> RankRows(
            shuffle, captures.KEY,
            captures.keep_each if read.captures == "all" else captures.keep_latest,
            order=captures.ORDER)
        events = (
            fresh[EVENTS] | "StandingEvents" >> MapBlocks(standing, false),
            stored["events"],
            found[numbering.CUT],
            resolved.dropped | "DroppedCaptures" >> MapBlocks(numbering.as_events),
        ) | "Events" >> beam.Flatten()
        return Pages(
            parts=_NumberParts.of(parts, resolved.ranked, shuffle, read.captures == "all"),
            names=(resolved.ranked | "Names" >> MapBlocks(numbering.page_names)
                   | "ParkNames" >> PutAway(shuffle)),
            ranked=resolved.ranked,
            events=events,
            depths=_depths(found[numbering.DEPTHS], events, shuffle),
            seen=(
                fresh[SEEN] | "SeenNow" >> MapBlocks(numbering.seen_rows, false),
                stored["seen"],
            ) | "Seen" >> beam.Flatten(),
            shuffle=shuffle,
        )


class FindFalseStarts(beam.PTransform):
    """Ends of ranges -> one dict of ranges whose reader was misled."""

    def expand(self, ends: beam.PCollection) -> beam.PCollection:
        return ends | "Gather" >> beam.combiners.ToList() | "Fold" >> beam.Map(false_starts)


class _NumberParts(beam.PTransform):
    """{left: parts, right: ranked pages} -> pieces of one numbered part each, spread evenly."""

    def __init__(self, shuffle: Shuffle, renamed: bool) -> None:
        super().__init__()
        self.shuffle, self.renamed = shuffle, renamed

    @staticmethod
    def of(
        parts: beam.PCollection, ranked: beam.PCollection, shuffle: Shuffle, renamed: bool,
    ) -> beam.PCollection:
        numbers = ranked | "NumbersOfParts" >> MapBlocks(_numbers, renamed)
        return {"left": parts, "right": numbers} | "NumberParts" >> _NumberParts(shuffle, renamed)

    @no_annotations
    def expand(self, sides: dict[str, beam.PCollection]) -> beam.PCollection:
        return (
            sides
            | "Join" >> JoinRows(self.shuffle, ("range",), numbering.number_parts, self.renamed)
            | "OneByOne" >> beam.FlatMap(_put_rows, self.shuffle).with_output_types(Piece)
            | "Spread" >> beam.Reshuffle()
        )


class ReadIndexes(beam.PTransform):
    """Indexes -> {parts, events, seen}, what IngestRanges gives for crawl files."""

    def __init__(self, indexes: list[IndexInput]) -> None:
        super().__init__()
        self.indexes = indexes

    @no_annotations
    def expand(self, begin: beam.pvalue.PBegin) -> dict[str, beam.PCollection]:
        files = [path for index in self.indexes for path in index.event_files()]
        return {
            "parts": begin | "Parts" >> beam.Create(
                [part for i in self.indexes for part in i.parts()]).with_output_types(Block),
            "events": (
                begin
                | "EventFiles" >> beam.Create(files).with_output_types(str)
                | "Spread" >> beam.Reshuffle()
                | "Events" >> beam.FlatMap(index_events).with_output_types(Block)
            ),
            "seen": begin | "Seen" >> beam.Create(
                [index.seen() for index in self.indexes]).with_output_types(Block),
        }


def _depths(
    of_pages: beam.PCollection, events: beam.PCollection, shuffle: Shuffle,
) -> beam.PCollection:
    of_events = events | "DepthsOfEvents" >> MapBlocks(numbering.depth_rows)
    return (
        (of_pages, of_events) | "Depths" >> beam.Flatten()
        | "CountDepths" >> ReduceRows(shuffle, ("depth",), {"records": "sum"})
    )


def _numbers(ranked: Block, renamed: bool) -> Block:
    return ranked.select(("range", "row", "rank", "key") if renamed else ("range", "row", "rank"))


def _put_rows(block: Block, shuffle: Shuffle) -> list[Piece]:
    rows = (block.slice(i, i + 1) for i in range(len(block)))
    return shuffle.store.put_many(Blob.of(row) for row in rows)


def _pvalues(value: Any) -> Iterator[PValue]:
    if isinstance(value, PValue):
        yield value
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from _pvalues(inner)
    elif isinstance(value, dict):
        yield from _pvalues(tuple(value.values()))


__all__ = ["Analysis", "Fetch", "IngestRanges", "Pages", "ReadPages"]
