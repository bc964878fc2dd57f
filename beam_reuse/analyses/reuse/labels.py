"""Lists of labels: read for detection, and made from a corpus of originals."""

from collections.abc import Sequence

import apache_beam as beam
import pyarrow as pa

from beam_reuse.analyses.reuse import distinctive
from beam_reuse.analyses.reuse import label_kernels as kernels
from beam_reuse.analyses.reuse.candidates import KEY
from beam_reuse.analyses.reuse.left_out import pages_without_labels
from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.schema import TEXT, columns
from beam_reuse.core.features import CHUNKS, PAYLOAD, Reads
from beam_reuse.core.labels import LabelKind
from beam_reuse.core.settings import ChunkSettings, StopSettings
from beam_reuse.declaring.settings import Settings
from beam_reuse.io.files import join
from beam_reuse.io.labels.batches import hashes_of, kinds_of
from beam_reuse.io.labels.compact_writer import write_hash_set
from beam_reuse.io.labels.lists import read_list
from beam_reuse.pages.analysis import Analysis, Found, Pages
from beam_reuse.pages.objects import Objects
from beam_reuse.rows import Plan, Rows

CHUNKS_AND_PAYLOAD = Reads(frozenset((CHUNKS, PAYLOAD)))


class ReadLabels(beam.PTransform):
    """Lists of labels (see `io.labels.lists`) -> record batches of their rows, as `DetectReuse`
    takes them; without `details` only kind, hash and source are read.

    >>> with beam.Pipeline(runner=FnApiRunner()) as p:
    ...     labels = p | ReadLabels(["labels.txt"])
    ...     _ = labels | beam.Map(lambda batch: print(batch.num_rows, batch.schema.names[:2]))
    1 ['sha1', 'kind']
    """

    def __init__(self, paths: Sequence[str], details: bool = False) -> None:
        super().__init__()
        self.paths, self.details = list(paths), details

    def expand(self, begin: beam.pvalue.PBegin) -> beam.PCollection:
        return (
            begin
            | "Lists" >> beam.Create(self.paths)
            | "Spread" >> beam.Reshuffle()
            | "Read" >> beam.FlatMap(read_list, self.details).with_output_types(pa.RecordBatch)
        )


class MakeLabels(Analysis):
    """Pages, and perhaps those of a background -> the table `labels`: one row per file or chunk and
    the page it occurs on, with its Nilsimsa digest if asked for; together with the rows of the
    lists `merge`, without the hashes of `remove`.

    Without `all_chunks` only chunks of one registered domain, and none that is on more than
    `background_hosts` hosts of other domains in the background; these are counted, and pages of
    which nothing is left are in the table `pages_without_labels`.
    """

    def __init__(self, chunks: ChunkSettings, stops: StopSettings,
                 merge: Sequence[str] = (), remove: Sequence[str] = (), digest: bool = False,
                 all_chunks: bool = False, background_hosts: int = 3) -> None:
        super().__init__()
        self.chunks, self.stops, self.digest = chunks, stops, digest
        self.merge, self.remove = tuple(merge), tuple(remove)
        self.all_chunks, self.background_hosts = all_chunks, background_hosts

    @classmethod
    def of(cls, settings: Settings) -> "MakeLabels":
        return cls(settings.chunks, settings.stops,
                   digest=settings.detection.matcher == "nilsimsa")

    def reads(self) -> Reads:
        return CHUNKS_AND_PAYLOAD

    def find(self, pages: Pages, background: Pages | None = None) -> Found:
        objects = Objects.of(self.chunks, self.stops, pages.spill)
        made = pages.rows(kernels.labels_of_pages, objects, self.digest)
        merged = listed_labels(pages.plan, self.merge, details=True)
        removed = [
            _removed(kind, self.remove, pages.spill) for kind in (LabelKind.FILE, LabelKind.CHUNK)]
        labels = (made + merged).map(kernels.without, *removed)
        rows = labels.map(distinctive.with_domains)
        if background is not None and not self.all_chunks:
            rows += background.rows(distinctive.on_hosts, objects, labels.keys(KEY))
        kept = rows.stream(KEY, distinctive.distinctive, self.all_chunks, self.background_hosts,
                           order=distinctive.ORDER)
        lost = pages_without_labels(kept, kept.tagged(distinctive.LEFT_OUT))
        return Found({"labels": kept.map(kernels.label_table), "pages_without_labels": lost})


def listed_labels(plan: Plan, paths: Sequence[str], details: bool) -> Rows:
    """The label rows of lists; a bare hash is one of each kind."""
    lists = plan.rows([Block({"path": VarBytes.from_list([path.encode()])}) for path in paths],
                      "lists of labels", columns(path=TEXT))
    return lists.map(kernels.labels_of_lists, details)


def _removed(kind: LabelKind, lists: Sequence[str], folder: str) -> str:
    """A hash set of what the lists remove of one kind; '' if they are none."""
    if not lists:
        return ""
    path = join(folder, f"removed-{kind.name.lower()}s")
    write_hash_set(path, (
        hashes_of(batch)[(kinds_of(batch) == kind) | (kinds_of(batch) == LabelKind.ANY)]
        for given in lists for batch in read_list(given, details=False)))
    return path
