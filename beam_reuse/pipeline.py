"""Options become one graph, the graph runs, and what came of it is read back."""

from dataclasses import dataclass, replace
from typing import Any

import apache_beam as beam

from beam_reuse.analyses.discover import FindFrequentChunks
from beam_reuse.columnar import Fetch, MapBlocks, Shuffle, Store, buckets_for
from beam_reuse.core.features import FeatureSettings
from beam_reuse.io.crawl.inputs import is_result_folder, list_files
from beam_reuse.io.crawl.ranges import FileRange, cut
from beam_reuse.io.files import join
from beam_reuse.io.index import IndexInput
from beam_reuse.io.results import tables
from beam_reuse.io.results.manifest import Outcome
from beam_reuse.io.results.outcome import Count, SaveOutcome, read_outcome
from beam_reuse.io.results.run_folder import Workspace
from beam_reuse.io.results.sink import WriteTable
from beam_reuse.options.table import recorded_settings
from beam_reuse.pages.accounting import CountRecords, count_tuples, rejects
from beam_reuse.pages.index import WriteIndex
from beam_reuse.pages.ingest import IngestSettings
from beam_reuse.pages.read_pages import Pages, ReadPages
from beam_reuse.pages.rows import page_table
from beam_reuse.plan import RunPlan, RunProgress, Survey
from beam_reuse.runners import pipeline_for

OUTCOME = "outcome.json"
# Bytes of a crawl file that are one piece of work: small enough that a few large files keep all
# workers busy, large enough that opening files does not count.
RANGE_BYTES = 16 << 20


@dataclass(frozen=True)
class Inputs:
    """What a run reads: crawl files cut into ranges, and indexes."""

    files: tuple[tuple[str, int], ...]
    ranges: list[FileRange]
    indexes: list[IndexInput]

    @property
    def bytes(self) -> int:
        return sum(size for _, size in self.files)


def open_inputs(plan: RunPlan) -> Inputs:
    """List what the plan names; refuses what cannot be read together."""
    indexed = [spec for spec in plan.inputs if is_result_folder(spec)]
    crawls = list_files([spec for spec in plan.inputs if spec not in indexed])
    ranges = cut(crawls, RANGE_BYTES)
    files = [(file.path, file.size) for file in crawls]
    settings = recorded_settings(plan.command, plan.settings)
    indexes: list[IndexInput] = []
    first = len(ranges)
    for folder in dict.fromkeys(spec.rstrip("/") for spec in indexed):
        index = IndexInput.open(folder, first, settings)
        first += len(index.files())
        indexes.append(index)
        files += [(part.path, part.size) for part in list_files(index.files())]
    return Inputs(tuple(files), ranges, indexes)


def survey(plan: RunPlan) -> Survey:
    """The inputs and the number of steps of the graph; runs nothing."""
    inputs = open_inputs(plan)
    pipeline = beam.Pipeline()
    build(pipeline, plan, inputs, Workspace("unused"))
    steps: list[str] = []
    pipeline.visit(_Steps(steps))
    return Survey(inputs.files, len(steps))


def run(plan: RunPlan, work: Workspace, progress: RunProgress) -> Outcome:
    """Run the graph to its end; tables lie below `work.tables` afterwards."""
    inputs = open_inputs(plan)
    progress.expect(inputs.bytes)
    progress.stage("starting")
    pipeline = pipeline_for(plan, inputs.bytes)
    build(pipeline, plan, inputs, work)
    pipeline.run().wait_until_finish()
    return replace(read_outcome(join(work.root, OUTCOME)), bytes_read=inputs.bytes)


def build(pipeline: beam.Pipeline, plan: RunPlan, inputs: Inputs, work: Workspace) -> None:
    """The whole graph of a plan: read, analyse, write, report."""
    shuffle = Shuffle(
        Store("files", join(work.spill, "blocks")), buckets=buckets_for(4 * inputs.bytes))
    if plan.command == "index":
        index = pipeline | "Index" >> WriteIndex(
            inputs.ranges, inputs.indexes, work.tables, ingest_settings(plan), shuffle,
            work.progress)
        receipts, counts = [index.receipts], index.counts
    else:
        pages = pipeline | "Pages" >> ReadPages(
            inputs.ranges, inputs.indexes, join(work.spill, "parts"), ingest_settings(plan),
            shuffle, work.progress)
        receipts = [
            blocks | f"Write {name}" >> WriteTable(
                tables.SCHEMAS[name], shuffle, work.tables, progress=work.progress)
            for name, blocks in result_tables(plan, pages).items()
        ]
        counts = pages | "Account" >> CountRecords()
    {
        "parts": receipts | "Receipts" >> beam.Flatten(),
        "counts": counts | "Counts" >> beam.FlatMap(count_tuples).with_output_types(Count),
    } | "SaveOutcome" >> SaveOutcome(join(work.root, OUTCOME))


def ingest_settings(plan: RunPlan) -> IngestSettings:
    """What is kept of each page: an index keeps all, a run what its analyses need."""
    settings, index = plan.settings, plan.command == "index"
    text = index or needs_text(plan)
    return IngestSettings(settings.read, FeatureSettings(settings.chunks, text),
                          payload=True, cut_recursion=not index)


def needs_text(plan: RunPlan) -> bool:
    """Whether any analysis asked for looks at text."""
    return False


def result_tables(plan: RunPlan, pages: Pages) -> dict[str, beam.PCollection]:
    """Every table of the run, as blocks."""
    settings = plan.settings
    found = {
        "pages": (pages.parts | "PartsOfPages" >> Fetch(pages.shuffle)
                  | "PageTable" >> MapBlocks(page_table, settings.chunks, needs_text(plan))),
        "rejects": pages.events | "Rejects" >> MapBlocks(rejects),
        "depth_histogram": pages.depths,
    }
    if "discovery" in settings.analyses:
        found |= pages | "Discover" >> FindFrequentChunks(settings.discovery, settings.chunks)
    return found


class _Steps(beam.pipeline.PipelineVisitor):
    def __init__(self, steps: list[str]) -> None:
        self.steps = steps

    def visit_transform(self, node: Any) -> None:
        self.steps.append(node.full_label)
