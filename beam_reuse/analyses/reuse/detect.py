"""Detection: which pages hold known files and chunks, and which neighbourhoods live on them.

Labels travel to the parts, not chunks to the labels: each part tells which of its distinct
hashes may be labels, a join confirms them, and what is confirmed comes back to the part, where
everything about a page is computed at once from its own columns.
"""

from typing import Any

import apache_beam as beam
from apache_beam.pvalue import AsSingleton
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.analyses.reuse import detect_kernels as kernels
from beam_reuse.analyses.reuse.neighbourhoods import JudgeNeighbourhoods
from beam_reuse.analyses.reuse.similar import SWEEP_SUMS, FindSimilar
from beam_reuse.analyses.reuse.thresholds import NameThreshold, ThresholdOf
from beam_reuse.columnar import (
    MAIN,
    BuildKeyFilter,
    Fetch,
    JoinRows,
    MapBlocks,
    PutAway,
    ReduceRows,
)
from beam_reuse.core.settings import ChunkSettings, DetectionSettings, StopSettings
from beam_reuse.pages.objects import Objects
from beam_reuse.pages.read_pages import Analysis, Pages

Inputs = tuple[beam.PCollection, Pages] | tuple[beam.PCollection, Pages, beam.PCollection]


class DetectReuse(Analysis):
    """(label rows, pages) -> `matched_files`, `matched_chunks` (folded, see `matches`),
    `page_reuse`, `neighbourhoods` and `neighbourhood_sources`, as blocks, and `thresholds`: pairs
    of a name and the share above which pages and neighbourhoods are flagged.

    Label rows: see `label_kernels`. Candidates of these labels, where discovery has found
    them already, may be given as a third input. Exact: a chunk matches if and only if it is no
    stop chunk and its SHA-1 is that of a label; with the matcher `nilsimsa` also if a label's
    digest scores high enough with its own, and then there is a table `nilsimsa_sweep`, too.
    Cost: a row per distinct labelled hash of each part travels twice; a row per neighbourhood
    and labelled hash below it once.
    """

    def __init__(
        self,
        detection: DetectionSettings | None = None,
        chunks: ChunkSettings | None = None,
        stops: StopSettings | None = None,
    ) -> None:
        super().__init__()
        self.detection = detection or DetectionSettings()
        self.chunks, self.stops = chunks or ChunkSettings(), stops or StopSettings()

    @no_annotations
    def expand(self, inputs: Inputs) -> dict[str, beam.PCollection]:
        labels, pages, *candidates = inputs
        shuffle, detection = pages.shuffle, self.detection
        objects = Objects.of(self.chunks, self.stops, pages.spill)
        sourced = labels | "Sources" >> MapBlocks(kernels.with_sources)
        known = sourced | "DistinctLabels" >> ReduceRows(
            shuffle, (*kernels.KEY, "source"), {"source_url": "min", "nilsimsa": "max"})
        found = candidates[0] if candidates else (
            (known, pages) | "Candidates" >> _FindCandidates(objects))
        similar = detection.matcher == "nilsimsa"
        if similar:
            also = (known, pages) | "Similar" >> FindSimilar(
                min(detection.nilsimsa_thresholds), objects)
            found = (found, also) | "ExactAndSimilar" >> beam.Flatten()
        confirmed = {"left": found, "right": known} | "Confirm" >> JoinRows(
            shuffle, kernels.KEY, kernels.confirm)
        parts = {
            "left": confirmed,
            "right": pages.parts | "FetchPartsAgain" >> Fetch(shuffle),
        } | "DetectInParts" >> JoinRows(
            shuffle, ("range",), kernels.detect_in_parts, objects,
            detection.nilsimsa_thresholds if similar else (),
            outputs=(kernels.MATCHED_FILES, kernels.PAGES, kernels.NEIGHBOURS, kernels.REUSED,
                     kernels.SWEEP))
        sweep = {"nilsimsa_sweep": parts[kernels.SWEEP] | "Sweep" >> ReduceRows(
            shuffle, ("threshold",), SWEEP_SUMS)} if similar else {}
        names = (
            sourced
            | "SourceNames" >> MapBlocks(kernels.source_names)
            | "DistinctSources" >> ReduceRows(shuffle, ("source",), {"name": "min"})
        )
        judged = parts[kernels.PAGES] | "JudgePages" >> _JudgePages(detection, shuffle)
        near = {
            "neighbours": parts[kernels.NEIGHBOURS], "reused": parts[kernels.REUSED],
            "names": names,
        } | "Neighbourhoods" >> JudgeNeighbourhoods(detection, shuffle)
        return {
            **sweep,
            "matched_chunks": parts[MAIN],
            "matched_files": parts[kernels.MATCHED_FILES],
            "page_reuse": judged["page_reuse"],
            "neighbourhoods": near["neighbourhoods"],
            "neighbourhood_sources": near["neighbourhood_sources"],
            "thresholds": (judged["threshold"], near["threshold"])
            | "Thresholds" >> beam.Flatten(),
        }


class _FindCandidates(Analysis):
    """(labels, pages) -> the hashes of each part that may be labels."""

    def __init__(self, objects: Objects) -> None:
        super().__init__()
        self.objects = objects

    @no_annotations
    def expand(self, inputs: tuple[beam.PCollection, Pages]) -> beam.PCollection:
        known, pages = inputs
        shuffle = pages.shuffle
        labelled = AsSingleton(
            known | "MayBeLabelled" >> BuildKeyFilter(shuffle, kernels.KEY))
        return (
            pages.parts
            | "FetchParts" >> Fetch(shuffle, labelled)
            | "InParts" >> MapBlocks(kernels.candidates, self.objects, labelled)
        )


class _JudgePages(beam.PTransform):
    """Rows about pages -> rows of `page_reuse`, and the threshold."""

    def __init__(self, detection: DetectionSettings, shuffle: Any) -> None:
        super().__init__()
        self.detection, self.shuffle = detection, shuffle

    @no_annotations
    def expand(self, rows: beam.PCollection) -> dict[str, beam.PCollection]:
        known = rows | "Threshold" >> ThresholdOf(self.detection.page_threshold)
        threshold = AsSingleton(known)
        table = (
            rows
            | "Park" >> PutAway(self.shuffle)
            | "Unpark" >> Fetch(self.shuffle, threshold)
            | "PageTable" >> MapBlocks(kernels.page_table, self.detection.min_chunks, threshold)
        )
        return {"page_reuse": table, "threshold": known | "Named" >> NameThreshold("page")}
