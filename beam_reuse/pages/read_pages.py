"""ReadPages: crawl files and indexes as pages, for pipelines of other people."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import PBegin, PValue

from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.core.features import FeatureSettings
from beam_reuse.core.settings import ChunkSettings, ReadSettings, given_or_default
from beam_reuse.io.results.tables import DEPTH_HISTOGRAM, REJECTS, SKIPPED
from beam_reuse.pages.batches import to_batches
from beam_reuse.pages.composite import Composite
from beam_reuse.pages.inputs import Inputs, open_inputs
from beam_reuse.pages.numbering import PAGE_NAMES
from beam_reuse.pages.pages import Pages
from beam_reuse.pages.reading import Crawl, read_pages
from beam_reuse.pages.sizes import shuffle_for
from beam_reuse.rows import Plan
from beam_reuse.rows.building import build


class PagesRead(NamedTuple):
    """Pages that a graph has read, as analyses take them: PCollections of references to numbered
    parts and to the names of pages; of record batches of the tables `rejects`, `skipped` and
    `depth_histogram`; and of `counts` of records (pairs of a name and a number)."""

    parts: beam.PCollection
    names: beam.PCollection
    rejects: beam.PCollection
    skipped: beam.PCollection
    depth_histogram: beam.PCollection
    counts: beam.PCollection
    shuffle: Shuffle
    spill: str
    ranges: int
    columns: pa.Schema | None
    features: FeatureSettings

    @staticmethod
    def of(pipeline: beam.Pipeline, crawl: Crawl, features: FeatureSettings) -> "PagesRead":
        """The graph that reads these pages."""
        pages = crawl.pages
        built = build(pipeline, pages.plan, {
            "parts": pages.parts, "names": pages.names, "rejects": crawl.rejects,
            "skipped": crawl.skipped, "depth_histogram": crawl.depths, "counted": crawl.counted,
        }, put=("parts", "names"))
        rows = built.rows
        return PagesRead(
            rows["parts"], rows["names"], to_batches(rows["rejects"], REJECTS),
            to_batches(rows["skipped"], SKIPPED),
            to_batches(rows["depth_histogram"], DEPTH_HISTOGRAM), built.counts, pages.plan.shuffle,
            pages.spill, pages.ranges, pages.parts.columns, features)

    def pages(self) -> Pages:
        """The same pages in a plan of their own."""
        plan = Plan(self.shuffle)
        return Pages(plan, plan.pieces(self.parts, "parts", self.columns),
                     plan.pieces(self.names, "names", PAGE_NAMES), self.spill, self.ranges,
                     text=self.features.text)


class ReadPages(Composite):
    """Crawl files, folders of pages and indexes -> PagesRead.

    Every record read is a page or is counted as skipped or rejected, exactly once. Pages are
    numbered from 0 in the order of their URLs. The crawl is read and parsed once; what
    follows reads columns of the parts.

    `features` says how pages are cut and what is wanted of them, `spill` is a folder
    that all workers share (default: a temporary one that is removed when this process ends).

    >>> with beam.Pipeline(runner=FnApiRunner()) as p:
    ...     pages = p | "Read the crawl" >> ReadPages("crawl/*.jsonl")
    ...     sums = pages.counts | beam.CombinePerKey(sum)
    ...     _ = sums | beam.Filter(lambda pair: pair[0] == "records") | beam.Map(print)
    ('records', 14)
    """

    def __init__(
        self, inputs: str | Sequence[str] | Inputs, read: ReadSettings | None = None,
        features: FeatureSettings | None = None, *, spill: str = "",
    ) -> None:
        super().__init__()
        self.inputs = (inputs,) if isinstance(inputs, str) else inputs
        self.read = given_or_default(read, ReadSettings, self)
        self.features = given_or_default(
            features or FeatureSettings(ChunkSettings(), text=True), FeatureSettings, self)
        self.spill = spill

    def expand(self, begin: PBegin) -> PagesRead:
        inputs = self.inputs
        if not isinstance(inputs, Inputs):
            inputs = open_inputs(inputs, self.read, self.features.chunks)
        spill = self.spill or temporary_folder()
        plan = Plan(shuffle_for(inputs.bytes, spill))
        crawl = read_pages(plan, inputs, self.read, self.features, spill)
        return PagesRead.of(begin.pipeline, crawl, self.features)


def temporary_folder() -> str:
    folder = tempfile.mkdtemp(prefix="beam-reuse-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def inputs_in(given: Any) -> tuple[Any, tuple[PValue, ...]]:
    """What a transform was applied to, as `expand` is to have it, and the PCollections in it."""
    if isinstance(given, beam.Pipeline):
        given = PBegin(given)
    return given, tuple(pvalues_in(given))


def pvalues_in(value: Any) -> Iterator[PValue]:
    """The PCollections in tuples and dicts of anything."""
    if isinstance(value, PValue):
        yield value
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from pvalues_in(inner)
    elif isinstance(value, dict):
        yield from pvalues_in(tuple(value.values()))
