"""Detection: which pages hold known files and chunks, and which neighbourhoods live on them.

Labels travel to the parts, not chunks to the labels: each part reports which of its distinct
hashes may be labels, a join confirms them, and what is confirmed comes back to the part, where
everything about a page is computed at once from its own columns.
"""

from typing import Any

import apache_beam as beam

from beam_reuse.analyses.reuse import detect_kernels as kernels
from beam_reuse.analyses.reuse import neighbourhood_kernels as near
from beam_reuse.analyses.reuse import similar_kernels
from beam_reuse.analyses.reuse.candidates import KEY, find_candidates
from beam_reuse.analyses.reuse.label_kernels import LABEL_ROWS, labels_of_batch
from beam_reuse.analyses.reuse.labels import CHUNKS_AND_PAYLOAD
from beam_reuse.analyses.reuse.matches import MATCHES
from beam_reuse.analyses.reuse.settings import DetectionSettings
from beam_reuse.analyses.reuse.thresholds import threshold_of
from beam_reuse.columnar.block import Block
from beam_reuse.core.errors import UserError
from beam_reuse.core.features import Reads
from beam_reuse.core.settings import ChunkSettings, StopSettings, given_or_default
from beam_reuse.declaring.settings import Settings
from beam_reuse.pages.analysis import Analysis, Found, Pages
from beam_reuse.pages.objects import Objects
from beam_reuse.pages.read_pages import PagesRead
from beam_reuse.rows import Rows


class DetectReuse(Analysis):
    """(label rows, pages) -> `matched_files`, `matched_chunks` (folded, see `matches`),
    `page_reuse`, `neighbourhoods` and `neighbourhood_sources`, and `values`: pairs
    of a name (`page`, `neighbourhood`) and the share above which these are flagged.

    Label rows: see `label_kernels`. What a page has of its own domain counts as `own_matching`
    and nowhere else, if the settings name `labels`: name the lists there, too, where rows come
    from `ReadLabels`; what discovery found is nobody's own. Exact: a chunk matches if and only if
    it is no stop chunk and its SHA-1 is that of a label; with the matcher `nilsimsa` also if a
    label's digest scores high enough with its own, and then there is a table `nilsimsa_sweep`,
    too. Cost: a row per distinct labelled hash of each part travels twice; a row per
    neighbourhood, labelled hash below it and source once.

    >>> with beam.Pipeline(runner=FnApiRunner()) as p:
    ...     pages = p | ReadPages("crawl/*.jsonl")
    ...     labels = p | ReadLabels(["labels.txt"])
    ...     rows = (labels, pages) | DetectReuse() | AsRows("matched_chunks")
    ...     found = rows | beam.Map(lambda row: row.sha1) | beam.combiners.Count.PerElement()
    ...     _ = found | beam.Map(print)
    ('c1bebae91df0e4a161c79889c59eaf8f3036571a', 6)
    """

    folding = {"matched_chunks": MATCHES}  # noqa: RUF012

    def __init__(
        self,
        detection: DetectionSettings | None = None,
        chunks: ChunkSettings | None = None,
        stops: StopSettings | None = None,
    ) -> None:
        super().__init__()
        self.detection = given_or_default(detection, DetectionSettings, self)
        self.chunks = given_or_default(chunks, ChunkSettings, self)
        self.stops = given_or_default(stops, StopSettings, self)

    @classmethod
    def of(cls, settings: Settings) -> "DetectReuse":
        return cls(settings.detection, settings.chunks, settings.stops)

    def reads(self) -> Reads:
        return CHUNKS_AND_PAYLOAD

    def expand(  # type: ignore[override]
        self, inputs: tuple[beam.PCollection, Any],
    ) -> dict[str, beam.PCollection]:
        labels, read = self._both(inputs)
        pages = read.pages()
        rows = labels | "Label rows" >> beam.FlatMap(labels_of_batch).with_output_types(Block)
        found = self.find(pages, pages.plan.pieces(rows, "labels", LABEL_ROWS))
        return self.built(read.parts.pipeline, pages, found)

    def _both(self, given: Any) -> tuple[beam.PCollection, PagesRead]:
        """Labels and pages; refuses what is neither."""
        if not (isinstance(given, tuple) and len(given) == 2
                and isinstance(given[0], beam.PCollection)):
            raise UserError(
                "DetectReuse takes labels and pages, in this order: a PCollection of record "
                "batches of labels, as DiscoverReuse (`found[\"labels\"]`) and ReadLabels give it, "
                "and what ReadPages gives. Write `(labels, pages) | DetectReuse(...)`.")
        self.require_pages(given[1])
        return given

    def find(  # type: ignore[override]
        self, pages: Pages, labels: Rows, candidates: Rows | None = None,
    ) -> Found:
        """What is found of these labels; their `candidates` may be known from discovery."""
        detection = self.detection
        objects = Objects.of(self.chunks, self.stops, pages.spill)
        sourced = labels.map(kernels.with_sources)
        if candidates is None:  # lists may have a row twice; what discovery found is there once
            candidates = pages.rows(find_candidates, objects, sourced.keys(KEY))
            sourced = sourced.reduce((*KEY, "source_url"), kernels.ONE_OF_EACH)
        similar = detection.nilsimsa_thresholds if detection.matcher == "nilsimsa" else ()
        if similar:
            candidates += self._similar(pages, labels, objects)
        confirmed = candidates.join(sourced, KEY, kernels.confirm,
                                    other_order=("source", "evidence"),
                                    other_reducing=kernels.BY_SOURCE)
        above = (pages.new.rows(near.prefixes_above).keys("id") if pages.sides.are_two
                 else None)
        matches = pages.with_parts(confirmed, kernels.detect_in_parts, objects,
                                   detection.knows_owners, pages.sides, above, similar)
        judged = matches.tagged(kernels.PAGES)
        page_threshold = threshold_of(judged + matches.tagged(kernels.OLD_PAGES),
                                      detection.page_threshold, detection.background)
        neighbours = matches.tagged(kernels.NEIGHBOURS).reduce("id", near.BY_PREFIX).map(
            near.with_scores, detection.neighbourhood_score)
        neighbour_threshold = threshold_of(
            neighbours, detection.neighbourhood_threshold, detection.background)
        # All hashes of a large neighbourhood are too many for one worker: first each once.
        reused = matches.tagged(kernels.REUSED).reduce(near.REUSED, near.BY_HASH)
        neighbourhoods = neighbours.join(
            reused.map(near.count_hashes), "id", near.judged, neighbour_threshold,
            other_order="source", other_reducing=near.BY_SOURCE)
        sweep = {"nilsimsa_sweep": matches.tagged(kernels.SWEEP).reduce(
            "threshold", similar_kernels.SWEEP_SUMS)} if similar else {}
        return Found({
            "matched_chunks": matches,
            "matched_files": matches.tagged(kernels.MATCHED_FILES),
            "page_reuse": judged.map(kernels.page_table, detection.min_chunks,
                                     detection.min_matching, page_threshold),
            "neighbourhoods": neighbourhoods,
            "neighbourhood_sources": neighbourhoods.tagged(near.SOURCES), **sweep,
        }, {"page": page_threshold, "neighbourhood": neighbour_threshold})

    def _similar(self, pages: Pages, labels: Rows, objects: Objects) -> Rows:
        """Candidates that are similar to a label.

        Exact for any threshold (see `NilsimsaIndex`); below some 100 pieces of digests are too
        short to help, and every distinct chunk is compared with every label. Every worker holds
        the digests of all labels: at threshold 115 some 150 bytes each.
        """
        digests = labels.map(similar_kernels.label_digests).gathered(("sha1", "nilsimsa"))
        return pages.rows(similar_kernels.similar_chunks, objects,
                          min(self.detection.nilsimsa_thresholds), digests)
