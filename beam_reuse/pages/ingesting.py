"""Records of crawl files and of indexes, as parts, events and counts."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.columnar import MAIN, Block
from beam_reuse.columnar.store import make_shared
from beam_reuse.io.crawl.ranges import FileRange
from beam_reuse.io.index import IndexInput, index_events
from beam_reuse.io.results.reporting import ProgressReporter
from beam_reuse.pages.cuts import false_starts
from beam_reuse.pages.ingest import IngestSettings, ingest

EVENTS, ENDS, SEEN = "events", "ends", "seen"


class IngestRanges(beam.PTransform):
    """Ranges of crawl files -> {main: parts, events, ends, seen}; parts are written to `folder`.

    `seen` has a row for every record, `ends` one for every range.
    """

    def __init__(
        self, ranges: Sequence[FileRange], folder: str, settings: IngestSettings, progress: str,
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

    def start_bundle(self) -> None:
        # Not in setup: Spark waits minutes for a worker that fails there, and tells of the wait.
        make_shared(os.path.dirname(self.folder))

    def process(self, encoded: bytes) -> Iterator[Any]:
        found = ingest(FileRange.from_bytes(encoded), self.folder, self.settings, self.progress)
        if found.part is not None:
            yield found.part
        if found.events is not None:
            yield beam.pvalue.TaggedOutput(EVENTS, found.events)
        if found.end is not None:
            yield beam.pvalue.TaggedOutput(ENDS, found.end)
        yield beam.pvalue.TaggedOutput(SEEN, found.seen)

    def finish_bundle(self) -> None:
        self.progress.flush()


class ReadIndexes(beam.PTransform):
    """Indexes -> {parts, events, seen}, what IngestRanges gives for crawl files."""

    def __init__(self, indexes: Sequence[IndexInput]) -> None:
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
                | "EventFiles" >> beam.Create(files).with_output_types(tuple[str, str])
                | "Spread" >> beam.Reshuffle()
                | "Events" >> beam.FlatMap(index_events).with_output_types(Block)
            ),
            "seen": begin | "Seen" >> beam.Create(
                [index.seen() for index in self.indexes]).with_output_types(Block),
        }


class FindFalseStarts(beam.PTransform):
    """Ends of ranges -> one dict of ranges whose reader was misled."""

    def expand(self, ends: beam.PCollection) -> beam.PCollection:
        return ends | "Gather" >> beam.combiners.ToList() | "Fold" >> beam.Map(false_starts)
