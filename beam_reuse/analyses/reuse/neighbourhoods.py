"""Neighbourhoods: which directories and hosts live on known content, and on whose."""

from collections.abc import Mapping

import apache_beam as beam
from apache_beam.pvalue import AsSingleton
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.analyses.reuse import neighbourhood_kernels as kernels
from beam_reuse.analyses.reuse.thresholds import NameThreshold, ThresholdOf
from beam_reuse.columnar import MAIN, Fetch, JoinRows, MapBlocks, PutAway, ReduceRows, Shuffle
from beam_reuse.core.settings import DetectionSettings


class JudgeNeighbourhoods(beam.PTransform):
    """{'neighbours': sums per prefix and part, 'reused': rows per prefix, hash and source,
    'names': names of sources} -> `neighbourhoods` and `neighbourhood_sources`, as blocks, and
    the `threshold`.

    A directory of a million pages is one row per part that has some of them; its distinct
    hashes are spread over all buckets before they are counted.
    """

    def __init__(self, detection: DetectionSettings, shuffle: Shuffle) -> None:
        super().__init__()
        self.detection, self.shuffle = detection, shuffle

    @no_annotations
    def expand(self, given: Mapping[str, beam.PCollection]) -> dict[str, beam.PCollection]:
        shuffle, by_prefix = self.shuffle, kernels.BY_PREFIX
        neighbours = given["neighbours"] | "SumByPrefix" >> ReduceRows(
            shuffle, by_prefix.keys, by_prefix.columns)
        sources = (
            given["reused"]
            | "DistinctHashes" >> ReduceRows(shuffle, ("id", "source", "sha1"), kernels.BY_HASH)
            | "CountHashes" >> MapBlocks(kernels.count_hashes)
            | "BySource" >> ReduceRows(shuffle, ("id", "source"), kernels.BY_SOURCE)
        )
        joined = {"left": neighbours, "right": sources} | "JoinSources" >> JoinRows(
            shuffle, ("id",), kernels.join_sources, outputs=(kernels.NAMED,))
        named = {"left": joined[kernels.NAMED], "right": given["names"]} | "NameSources" >> (
            JoinRows(shuffle, ("source",), kernels.with_source_names))
        scored = joined[MAIN] | "Score" >> MapBlocks(
            kernels.with_scores, self.detection.neighbourhood_score)
        known = scored | "Threshold" >> ThresholdOf(self.detection.neighbourhood_threshold)
        threshold = AsSingleton(known)
        return {
            "neighbourhoods": (
                scored
                | "Park" >> PutAway(shuffle)
                | "Unpark" >> Fetch(shuffle, threshold)
                | "Flag" >> MapBlocks(kernels.neighbourhood_table, threshold)
            ),
            "neighbourhood_sources": named,
            "threshold": known | "NamedThreshold" >> NameThreshold("neighbourhood"),
        }
