"""Options become one graph, the graph runs, and what came of it is read back."""

from dataclasses import replace
from typing import Any

import apache_beam as beam

from beam_reuse.analyses.discover import FindFrequentChunks
from beam_reuse.columnar import Fetch, MapBlocks
from beam_reuse.core.features import FeatureSettings
from beam_reuse.io.files import join
from beam_reuse.io.results import tables
from beam_reuse.io.results.manifest import Outcome
from beam_reuse.io.results.outcome import Count, SaveOutcome, read_outcome
from beam_reuse.io.results.run_folder import Workspace
from beam_reuse.io.results.sink import WriteTable
from beam_reuse.pages.accounting import CountRecords, count_tuples, rejects
from beam_reuse.pages.index import WriteIndex
from beam_reuse.pages.inputs import Inputs, open_inputs
from beam_reuse.pages.read_pages import Pages, ReadPages, shuffle_for
from beam_reuse.pages.rows import page_table
from beam_reuse.plan import RunPlan, RunProgress, Survey
from beam_reuse.runners import pipeline_for, run_to_end

OUTCOME = "outcome.json"


def inputs_of(plan: RunPlan) -> Inputs:
    """What the plan reads."""
    return open_inputs(plan.inputs, plan.settings.read, plan.settings.chunks)


def survey(plan: RunPlan) -> Survey:
    """The inputs and the number of steps of the graph; runs nothing."""
    inputs = inputs_of(plan)
    pipeline = beam.Pipeline()
    build(pipeline, plan, inputs, Workspace("unused"))
    steps: list[str] = []
    pipeline.visit(_Steps(steps))
    return Survey(inputs.files, len(steps))


def run(plan: RunPlan, work: Workspace, progress: RunProgress) -> Outcome:
    """Run the graph to its end; tables lie below `work.tables` afterwards."""
    inputs = inputs_of(plan)
    progress.expect(inputs.bytes)
    progress.stage("starting")
    pipeline = pipeline_for(plan, inputs.bytes)
    build(pipeline, plan, inputs, work)
    run_to_end(pipeline)
    return replace(read_outcome(join(work.root, OUTCOME)), bytes_read=inputs.bytes)


def build(pipeline: beam.Pipeline, plan: RunPlan, inputs: Inputs, work: Workspace) -> None:
    """The whole graph of a plan: read, analyse, write, report."""
    settings, shuffle = plan.settings, shuffle_for(inputs, work.spill)
    if plan.command == "index":
        index = pipeline | "Index" >> WriteIndex(
            inputs, work.tables, settings.read, settings.chunks, shuffle, work.progress)
        receipts, counts = [index.receipts], index.counts
    else:
        pages = pipeline | "Pages" >> ReadPages(
            inputs, settings.read, FeatureSettings(settings.chunks, needs_text(plan)),
            spill=work.spill, shuffle=shuffle, progress=work.progress)
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
