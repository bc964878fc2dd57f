"""WriteIndex: crawl files become an index, a result folder that is an input of every command."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import AsSingleton, TaggedOutput
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.columnar import MAIN, Block, MapBlocks, ReduceRows, Shuffle
from beam_reuse.core.features import FeatureSettings
from beam_reuse.core.settings import ChunkSettings, ReadSettings
from beam_reuse.io.files import crc32_of, join, sha256_of
from beam_reuse.io.index import INDEX, require_undamaged
from beam_reuse.io.parts import part_path, read_part
from beam_reuse.io.results.sink import Receipt, WriteTable
from beam_reuse.io.results.tables import EVENTS as EVENTS_TABLE
from beam_reuse.pages import accounting
from beam_reuse.pages.cuts import FalseStarts, standing
from beam_reuse.pages.ingest import IngestSettings
from beam_reuse.pages.ingesting import (
    ENDS,
    EVENTS,
    SEEN,
    FindFalseStarts,
    IngestRanges,
    ReadIndexes,
)
from beam_reuse.pages.inputs import Inputs
from beam_reuse.pages.numbering import seen_rows
from beam_reuse.pages.rewrite import rewrite_part

COUNTS = "counts"


class Index(NamedTuple):
    """What an index is made of: receipts of its files, counts of its records."""

    receipts: beam.PCollection
    counts: beam.PCollection


class WriteIndex(beam.PTransform):
    """Ranges and indexes -> one index below `folder`.

    Holds every record that may be a page, all captures and recursion errors too, so that
    what counts as a page is decided by whoever reads it. The same bytes for the same input.
    """

    def __init__(
        self, inputs: Inputs, folder: str, read: ReadSettings, chunks: ChunkSettings,
        shuffle: Shuffle, progress: str,
    ) -> None:
        super().__init__()
        self.inputs, self.folder, self.read, self.chunks = inputs, folder, read, chunks
        self.shuffle, self.progress = shuffle, progress

    @no_annotations
    def expand(self, begin: beam.pvalue.PBegin) -> Index:
        settings = IngestSettings(
            self.read, FeatureSettings(self.chunks, text=True), cut_recursion=False)
        fresh = begin | "Read" >> IngestRanges(
            self.inputs.ranges, join(self.folder, INDEX), settings, self.progress)
        stored = begin | "Stored" >> ReadIndexes(self.inputs.indexes)
        false = AsSingleton(fresh[ENDS] | "FalseStarts" >> FindFalseStarts())
        seal = beam.ParDo(_Seal(self.folder, self.chunks), false)
        sealed = (
            (fresh[MAIN], stored["parts"])
            | "Parts" >> beam.Flatten()
            | "Spread" >> beam.Reshuffle()
            | "Seal" >> seal.with_output_types(Receipt).with_outputs(COUNTS, main=MAIN)
        )
        sealed[COUNTS].element_type = Block
        events = (
            fresh[EVENTS] | "Standing" >> MapBlocks(standing, false), stored["events"],
        ) | "Events" >> beam.Flatten()
        seen = (
            fresh[SEEN] | "SeenNow" >> MapBlocks(seen_rows, false), stored["seen"],
        ) | "Seen" >> beam.Flatten()
        counts = (
            sealed[COUNTS],
            events | "CountEvents" >> MapBlocks(accounting.event_counts),
            seen | "CountSeen" >> MapBlocks(accounting.seen_counts),
        ) | "Counts" >> beam.Flatten() | "Sum" >> ReduceRows(
            self.shuffle, ("outcome", "reason"), {"count": "sum"})
        written = events | "WriteEvents" >> WriteTable(EVENTS_TABLE, self.shuffle, self.folder)
        return Index((sealed[MAIN], written) | "Receipts" >> beam.Flatten(), counts)


class _Seal(beam.DoFn):
    """Parts -> receipts of final files: copied, cleaned or cut anew where they must be."""

    def __init__(self, folder: str, chunks: ChunkSettings) -> None:
        self.folder, self.chunks = folder, chunks

    def process(self, parts: Block, false: FalseStarts) -> Iterator[Any]:
        for i in range(len(parts)):
            number = int(parts.array("range")[i])
            source = parts.strings("path")[i].decode()
            target = part_path(join(self.folder, INDEX), number)
            chunks = None if parts.array("chunked")[i] else self.chunks
            if len(parts.strings("checksum")[i]):
                require_undamaged(source, parts.strings("checksum")[i].decode())
            if source != target or number in false:
                rewrite_part(source, target, false.get(number, 0), chunks)
            rows, absent = _rows_of(target)
            if rows:
                path = target.removeprefix(self.folder).lstrip("/")
                yield INDEX, path, rows, sha256_of(target), crc32_of(target)
                yield TaggedOutput(COUNTS, accounting.pages_and_noted(rows, absent))


def _rows_of(path: str) -> tuple[int, int]:
    """Pages of a part, and how many of them are not in the encoding their header names."""
    flags = [rows.numbers("encoding_absent") for rows in read_part(path, ("encoding_absent",))]
    joined = np.concatenate(flags) if flags else np.zeros(0, np.bool_)
    return len(joined), int(joined.sum())

