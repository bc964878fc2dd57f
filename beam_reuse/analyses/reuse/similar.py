"""Locality-sensitive matching: chunks that resemble labels, beside those that equal them."""

import apache_beam as beam
from apache_beam.pvalue import AsSingleton
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.analyses.reuse import similar_kernels as kernels
from beam_reuse.columnar import Fetch, GatherRows, MapBlocks
from beam_reuse.pages.objects import Objects
from beam_reuse.pages.read_pages import Analysis, Pages

SWEEP_SUMS = {"matching": "sum", "exact": "sum", "pages": "sum"}


class FindSimilar(Analysis):
    """(labels, pages) -> the distinct chunks of each part that are similar to a label.

    Exact for any threshold (see `NilsimsaIndex`); below some 100 pieces of digests are too short
    to help, and every distinct chunk is compared with every label. Every worker holds the
    digests of all labels: at threshold 115 some 150 bytes each.
    """

    def __init__(self, threshold: int, objects: Objects) -> None:
        super().__init__()
        self.threshold, self.objects = threshold, objects

    @no_annotations
    def expand(self, inputs: tuple[beam.PCollection, Pages]) -> beam.PCollection:
        labels, pages = inputs
        digests = AsSingleton(
            labels
            | "Digests" >> MapBlocks(kernels.label_digests)
            | "Gather" >> GatherRows(pages.shuffle, ("sha1", "nilsimsa"))
        )
        return (
            pages.parts
            | "FetchParts" >> Fetch(pages.shuffle, digests)
            | "SimilarChunks" >> MapBlocks(
                kernels.similar_chunks, self.objects, self.threshold, digests)
        )
