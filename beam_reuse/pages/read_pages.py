"""ReadPages: crawl files and indexes become numbered parts, with every record accounted for."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsSingleton, PValue
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.columnar import (
    MAIN,
    Block,
    JoinRows,
    MapBlocks,
    Piece,
    PutAway,
    RankRows,
    ReduceRows,
    Shuffle,
    Store,
    buckets_for,
    budget_for,
)
from beam_reuse.columnar.store import Blob
from beam_reuse.core.features import FeatureSettings
from beam_reuse.core.settings import ChunkSettings, ReadSettings
from beam_reuse.io.files import join
from beam_reuse.pages import captures, numbering
from beam_reuse.pages.cuts import standing
from beam_reuse.pages.ingest import IngestSettings
from beam_reuse.pages.ingesting import (
    ENDS,
    EVENTS,
    SEEN,
    FindFalseStarts,
    IngestRanges,
    ReadIndexes,
)
from beam_reuse.pages.inputs import Inputs, open_inputs

# Memory of a worker with which more makes nothing faster.
AMPLE = 1 << 30


class Pages(NamedTuple):
    """The pages of a run, as analyses take them.

    `parts`: pieces of one numbered part each (see `pages.rows`). `names`: pieces with `page`
    and `url`. `ranked`: blocks with one row per page. `events`: blocks of records that are no
    pages. `depths`: blocks with `depth` and `records`, before recursion errors are cut.
    `seen`: blocks whose `count` add up to the records that were read. `spill`: a folder that
    all workers share.
    """

    parts: beam.PCollection
    names: beam.PCollection
    ranked: beam.PCollection
    events: beam.PCollection
    depths: beam.PCollection
    seen: beam.PCollection
    shuffle: Shuffle
    spill: str


class Analysis(beam.PTransform):
    """A transform of Pages, alone or in a tuple with other PCollections."""

    def _extract_input_pvalues(self, pvalueish: Any) -> tuple[Any, tuple[PValue, ...]]:
        return pvalueish, tuple(_pvalues(pvalueish))


class ReadPages(beam.PTransform):
    """Crawl files, folders of pages and indexes -> Pages.

    Every record read is a page of `ranked` or a row of `events`, exactly once. Pages are
    numbered from 0 in the order of their URLs. The crawl is read and parsed once; what
    follows reads columns of the parts.

    `features` says how pages are cut and what is wanted of them, `spill` is a folder
    that all workers share (default: a temporary one that is removed when this process ends),
    `shuffle` and `progress` are for runs that set their own.
    """

    def __init__(
        self,
        inputs: Sequence[str] | Inputs,
        read: ReadSettings | None = None,
        features: FeatureSettings | None = None,
        *,
        spill: str = "",
        shuffle: Shuffle | None = None,
        progress: str = "",
    ) -> None:
        super().__init__()
        self.inputs, self.read = inputs, read or ReadSettings()
        self.features = features or FeatureSettings(ChunkSettings(), text=True)
        self.spill, self.shuffle, self.progress = spill, shuffle, progress

    @no_annotations
    def expand(self, begin: beam.pvalue.PBegin) -> Pages:
        read, inputs = self.read, self.inputs
        if not isinstance(inputs, Inputs):
            inputs = open_inputs(inputs, read, self.features.chunks)
        spill = self.spill or _temporary_folder()
        shuffle = self.shuffle or shuffle_for(inputs, spill)
        settings = IngestSettings(read, self.features, cut_recursion=True)
        fresh = begin | "Read" >> IngestRanges(
            inputs.ranges, join(spill, "parts"), settings, self.progress)
        stored = begin | "Stored" >> ReadIndexes(inputs.indexes)
        false = AsSingleton(fresh[ENDS] | "FalseStarts" >> FindFalseStarts())
        parts = (fresh[MAIN], stored["parts"]) | "Parts" >> beam.Flatten()
        found = parts | "Captures" >> MapBlocks(
            numbering.capture_rows, read, false, outputs=(numbering.DEPTHS, numbering.CUT))
        keep, order = (
            (captures.keep_each, captures.BY_PAYLOAD) if read.captures == "all"
            else (captures.keep_latest, captures.LATEST_FIRST))
        resolved = found[MAIN] | "NumberPages" >> RankRows(
            shuffle, captures.KEY, keep, order=order)
        events = (
            fresh[EVENTS] | "StandingEvents" >> MapBlocks(standing, false),
            stored["events"],
            found[numbering.CUT],
            resolved.dropped | "DroppedCaptures" >> MapBlocks(numbering.as_events),
        ) | "Events" >> beam.Flatten()
        return Pages(
            parts=((parts, resolved.ranked)
                   | "NumberParts" >> _NumberParts(shuffle, read.captures == "all")),
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
            spill=spill,
        )


def shuffle_for(inputs: Inputs, spill: str, memory: int = AMPLE) -> Shuffle:
    """A shuffle below `spill`, its buckets sized for the inputs and for the memory of a worker.

    Rows of all analyses are reckoned as four times the compressed input. What is computed
    depends on none of these sizes."""
    budget = budget_for(memory)
    return Shuffle(Store("files", join(spill, "blocks")), buckets_for(4 * inputs.bytes, budget),
                   flush_bytes=budget // 4, bucket_budget=budget)


def _temporary_folder() -> str:
    folder = tempfile.mkdtemp(prefix="beam-reuse-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class _NumberParts(beam.PTransform):
    """(parts, ranked pages) -> pieces of one numbered part each, spread evenly."""

    def __init__(self, shuffle: Shuffle, renamed: bool) -> None:
        super().__init__()
        self.shuffle, self.renamed = shuffle, renamed

    @no_annotations
    def expand(self, given: tuple[beam.PCollection, beam.PCollection]) -> beam.PCollection:
        parts, ranked = given
        return (
            {"left": parts, "right": ranked | "Numbers" >> MapBlocks(_numbers, self.renamed)}
            | "Join" >> JoinRows(self.shuffle, ("range",), numbering.number_parts, self.renamed)
            | "OneByOne" >> beam.FlatMap(_put_rows, self.shuffle).with_output_types(Piece)
            | "Spread" >> beam.Reshuffle()
        )


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

