"""Lists of labels: read for detection, and made from a corpus of originals."""

from collections.abc import Sequence

import apache_beam as beam
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.analyses.reuse import label_kernels as kernels
from beam_reuse.columnar import Block, Fetch, MapBlocks, ReduceRows
from beam_reuse.core.labels import LabelKind
from beam_reuse.core.settings import ChunkSettings, StopSettings
from beam_reuse.io.files import join
from beam_reuse.io.labels.batches import hashes_of, kinds_of
from beam_reuse.io.labels.hash_set import write_hash_set
from beam_reuse.io.labels.lists import read_list
from beam_reuse.pages.objects import Objects
from beam_reuse.pages.read_pages import Analysis, Pages


class ReadLabels(beam.PTransform):
    """Lists of labels (see `io.labels.lists`) -> label rows (see `label_kernels`); without
    `details` only kind, hash and source are read. A bare hash is one of each kind."""

    def __init__(self, paths: Sequence[str], details: bool = False) -> None:
        super().__init__()
        self.paths, self.details = list(paths), details

    def expand(self, begin: beam.pvalue.PBegin) -> beam.PCollection:
        return (
            begin
            | "Lists" >> beam.Create(self.paths)
            | "Spread" >> beam.Reshuffle()
            | "Read" >> beam.FlatMap(kernels.labels_of_list, self.details)
            .with_output_types(Block)
        )


class MakeLabels(Analysis):
    """Pages -> label rows: one per file or chunk and the page it stands on, with its Nilsimsa
    digest if asked for; together with the rows of the lists `merge`, without the hashes of
    `remove`."""

    def __init__(self, chunks: ChunkSettings, stops: StopSettings,
                 merge: Sequence[str] = (), remove: Sequence[str] = (),
                 digest: bool = False) -> None:
        super().__init__()
        self.chunks, self.stops, self.digest = chunks, stops, digest
        self.merge, self.remove = tuple(merge), tuple(remove)

    @no_annotations
    def expand(self, pages: Pages) -> beam.PCollection:
        objects = Objects.of(self.chunks, self.stops, pages.spill)
        made = (
            pages.parts
            | "FetchParts" >> Fetch(pages.shuffle)
            | "LabelsOfPages" >> MapBlocks(kernels.labels_of_pages, objects, self.digest)
        )
        merged = pages.parts.pipeline | "Merge" >> ReadLabels(self.merge, details=True)
        removed = [
            _removed(kind, self.remove, pages.spill) for kind in (LabelKind.FILE, LabelKind.CHUNK)]
        return (
            (made, merged) | "Together" >> beam.Flatten()
            | "Remove" >> MapBlocks(kernels.without, *removed)
            | "Distinct" >> ReduceRows(pages.shuffle, kernels.KEY, kernels.KNOWN_FIRST)
        )


def _removed(kind: LabelKind, lists: Sequence[str], folder: str) -> str:
    """A hash set of what the lists remove of one kind; '' if they are none."""
    if not lists:
        return ""
    path = join(folder, f"removed-{kind.name.lower()}s")
    write_hash_set(path, (
        hashes_of(batch)[(kinds_of(batch) == kind) | (kinds_of(batch) == LabelKind.ANY)]
        for given in lists for batch in read_list(given, details=False)))
    return path
