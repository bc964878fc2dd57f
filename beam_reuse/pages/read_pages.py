"""ReadPages: crawl files and indexes as pages, for pipelines of other people."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import PValue
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.core.features import FeatureSettings
from beam_reuse.core.settings import ChunkSettings, ReadSettings
from beam_reuse.pages.inputs import Inputs, open_inputs
from beam_reuse.pages.numbering import PAGE_NAMES
from beam_reuse.pages.pages import Pages
from beam_reuse.pages.reading import read_pages
from beam_reuse.pages.sizes import shuffle_for
from beam_reuse.rows import Plan
from beam_reuse.rows.building import build


class PagesRead(NamedTuple):
    """Pages that a graph has read, as analyses take them: PCollections of references to numbered
    parts and to the names of pages, of blocks of `rejects`, `skipped` and `depth_histogram`, and of
    `counts` of records (pairs of a name and a number)."""

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

    def pages(self) -> Pages:
        """The same pages in a plan of their own."""
        plan = Plan(self.shuffle)
        return Pages(plan, plan.pieces(self.parts, "parts", self.columns),
                     plan.pieces(self.names, "names", PAGE_NAMES), self.spill, self.ranges)


class ReadPages(beam.PTransform):
    """Crawl files, folders of pages and indexes -> PagesRead.

    Every record read is a page or is counted as skipped or rejected, exactly once. Pages are
    numbered from 0 in the order of their URLs. The crawl is read and parsed once; what
    follows reads columns of the parts.

    `features` says how pages are cut and what is wanted of them, `spill` is a folder
    that all workers share (default: a temporary one that is removed when this process ends).
    """

    def __init__(
        self, inputs: Sequence[str] | Inputs, read: ReadSettings | None = None,
        features: FeatureSettings | None = None, *, spill: str = "",
    ) -> None:
        super().__init__()
        self.inputs, self.read = inputs, read or ReadSettings()
        self.features = features or FeatureSettings(ChunkSettings(), text=True)
        self.spill = spill

    @no_annotations
    def expand(self, begin: beam.pvalue.PBegin) -> PagesRead:
        inputs = self.inputs
        if not isinstance(inputs, Inputs):
            inputs = open_inputs(inputs, self.read, self.features.chunks)
        spill = self.spill or _temporary_folder()
        plan = Plan(shuffle_for(inputs.bytes, spill))
        crawl = read_pages(plan, inputs, self.read, self.features, spill)
        built = build(begin.pipeline, plan, {
            "parts": crawl.pages.parts, "names": crawl.pages.names, "rejects": crawl.rejects,
            "skipped": crawl.skipped, "depth_histogram": crawl.depths, "counted": crawl.counted,
        }, put=("parts", "names"))
        rows = built.rows
        return PagesRead(rows["parts"], rows["names"], rows["rejects"], rows["skipped"],
                         rows["depth_histogram"], built.counts, plan.shuffle, spill,
                         crawl.pages.ranges, crawl.pages.parts.columns)


def _temporary_folder() -> str:
    folder = tempfile.mkdtemp(prefix="beam-reuse-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def pvalues_in(value: Any) -> Iterator[PValue]:
    """The PCollections in tuples and dicts of anything."""
    if isinstance(value, PValue):
        yield value
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from pvalues_in(inner)
    elif isinstance(value, dict):
        yield from pvalues_in(tuple(value.values()))
