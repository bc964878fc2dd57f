"""Options become one graph, the graph runs, and what came of it is read back."""

import os
import tempfile
from dataclasses import replace
from typing import Any

import apache_beam as beam

from beam_reuse.analyses.near_duplicates.find import FindNearDuplicates
from beam_reuse.analyses.overlap.find import FindOverlap
from beam_reuse.analyses.quilts.find import FindQuilts
from beam_reuse.analyses.reuse.find import FindReuse
from beam_reuse.analyses.reuse.labels import MakeLabels
from beam_reuse.analyses.reuse.matches import MATCHES
from beam_reuse.columnar import Fetch, MapBlocks, Shuffle
from beam_reuse.core.errors import UserError
from beam_reuse.core.features import CHUNKS, LINES, LINKS, PAYLOAD, TOKENS, FeatureSettings
from beam_reuse.core.overlap import chunkings_of
from beam_reuse.io.files import is_local, join
from beam_reuse.io.results import tables
from beam_reuse.io.results.manifest import Outcome
from beam_reuse.io.results.outcome import (
    MEASURED,
    NOTED,
    THRESHOLD,
    Count,
    SaveOutcome,
    read_outcome,
)
from beam_reuse.io.results.run_folder import Workspace
from beam_reuse.io.results.sink import WriteTables
from beam_reuse.pages.accounting import CountRecords, count_tuples, rejects
from beam_reuse.pages.index import WriteIndex
from beam_reuse.pages.inputs import Inputs, open_inputs
from beam_reuse.pages.read_pages import Pages, ReadPages, shuffle_for
from beam_reuse.pages.rows import page_table
from beam_reuse.plan import RunPlan, RunProgress, Sizes, Survey
from beam_reuse.publishing import Publication
from beam_reuse.runners import engine_for, memory_for

OUTCOME = "outcome.json"
FOLDED = {"matched_chunks": MATCHES}


def inputs_of(plan: RunPlan) -> Inputs:
    """What the plan reads; refuses a plan that would replace what it reads."""
    inputs = open_inputs(plan.inputs, plan.settings.read, plan.settings.chunks)
    output = os.path.realpath(plan.output) if is_local(plan.output) else plan.output
    for path, _ in inputs.files:
        there = os.path.realpath(path) if is_local(path) else path
        if there == output or os.path.dirname(os.path.dirname(there)) == output:
            raise UserError(f"-o {plan.output} is itself an input ({path}), which would be "
                            "replaced. Choose another place for the result.")
    return inputs


def survey(plan: RunPlan) -> Survey:
    """The inputs, the steps of the graph and its sizes; runs nothing, and asks no cluster."""
    inputs = inputs_of(plan)
    pipeline = beam.Pipeline()
    with tempfile.TemporaryDirectory() as folder:
        build(pipeline, plan, inputs, Workspace(folder))
    steps: list[str] = []
    pipeline.visit(_Steps(steps))
    shuffle = shuffle_of(plan, inputs, "spill")
    sizes = Sizes(memory_for(plan, inputs.bytes), len(inputs.ranges), shuffle.buckets,
                  shuffle.bucket_budget, shuffle.flush_bytes)
    return Survey(inputs.files, tuple(steps), sizes)


def shuffle_of(plan: RunPlan, inputs: Inputs, spill: str) -> Shuffle:
    """The shuffle of a run, sized for its inputs and its workers."""
    return shuffle_for(inputs, spill, memory_for(plan, inputs.bytes))


def run(plan: RunPlan, work: Workspace, progress: RunProgress) -> Outcome:
    """Run the graph to its end; tables lie below `work.tables` afterwards."""
    inputs = inputs_of(plan)
    progress.expect(inputs.bytes)
    progress.stage("starting")
    with engine_for(plan, inputs.bytes) as engine:
        build(engine.pipeline, plan, inputs, work)
        engine.run(progress)
    return replace(read_outcome(join(work.root, OUTCOME)), bytes_read=inputs.bytes)


def launch(plan: RunPlan, publication: Publication) -> None:
    """Hand the graph over to be run without this process; its last step publishes the result."""
    inputs = inputs_of(plan)
    with engine_for(plan, inputs.bytes) as engine:
        saved = build(engine.pipeline, plan, inputs, publication.folder.work)
        _ = saved | "Publish" >> beam.Map(_publish, publication, inputs.bytes)
        engine.launch()


def _publish(path: str, publication: Publication, bytes_read: int) -> None:
    publication.publish(replace(read_outcome(path), bytes_read=bytes_read))


def build(
    pipeline: beam.Pipeline, plan: RunPlan, inputs: Inputs, work: Workspace,
) -> beam.PCollection:
    """The whole graph of a plan: read, analyse, write, report; gives where the outcome is, when
    it is there."""
    settings, shuffle = plan.settings, shuffle_of(plan, inputs, work.spill)
    thresholds = measured = None
    noted = tuple[beam.PCollection, ...]()
    if plan.command == "index":
        index = pipeline | "Index" >> WriteIndex(
            inputs, work.tables, settings.read, settings.chunks, shuffle, work.progress)
        receipts, counts = [index.receipts], index.counts
    else:
        pages = pipeline | "Pages" >> ReadPages(
            inputs, settings.read, features_of(plan),
            spill=work.spill, shuffle=shuffle, progress=work.progress)
        found = ({"labels": made_labels(plan, pages)} if plan.command == "labels"
                 else result_tables(plan, pages))
        thresholds, measured = (found.pop(name, None) for name in ("thresholds", "measured"))
        noted = found.pop("noted", ())
        receipts = [found | "WriteTables" >> WriteTables(
            tables.SCHEMAS, shuffle, work.tables, progress=work.progress, foldings=FOLDED)]
        counts = pages | "Account" >> CountRecords()
    told = [counts | "Counts" >> beam.FlatMap(count_tuples).with_output_types(Count)]
    if thresholds is not None:
        told.append(thresholds | "Told" >> beam.Map(_threshold_count).with_output_types(Count))
    told += [each | f"Noted {n}" >> beam.FlatMap(_noted_count).with_output_types(Count)
             for n, each in enumerate(noted)]
    if measured is not None:
        told.append(measured | "Measured" >> beam.Map(_measured_count).with_output_types(Count))
    return {
        "parts": receipts | "Receipts" >> beam.Flatten(),
        "counts": told | "AllCounts" >> beam.Flatten(),
    } | "SaveOutcome" >> SaveOutcome(join(work.root, OUTCOME))


def made_labels(plan: RunPlan, pages: Pages) -> beam.PCollection:
    """The table of the command `labels`, as blocks."""
    settings = plan.settings
    made = pages | "MakeLabels" >> MakeLabels(
        settings.chunks, settings.stops, plan.merge, plan.remove,
        settings.detection.matcher == "nilsimsa")
    return made["labels"]


def needs_text(plan: RunPlan) -> bool:
    """Whether any analysis asked for looks at text."""
    settings = plan.settings
    return plan.command == "run" and (
        settings.finds_near_duplicates or settings.finds_overlap or settings.finds_quilts)


def features_of(plan: RunPlan) -> FeatureSettings:
    """What the analyses asked for look at: nothing else is hashed or written."""
    settings = plan.settings
    reuse = plan.command == "labels" or settings.discovers or settings.detects
    chunkings = chunkings_of(settings.overlap) if settings.finds_overlap else ()
    columns = {column for chunking in chunkings for column in chunking.columns}
    needed = {
        CHUNKS: reuse, TOKENS: settings.finds_quilts or "tokens" in columns,
        LINES: settings.finds_overlap, LINKS: settings.finds_quilts,
        PAYLOAD: reuse or "payload" in columns,
    }
    return FeatureSettings(
        settings.chunks, needs_text(plan),
        frozenset(feature for feature, is_needed in needed.items() if is_needed),
        settings.near_duplicates if settings.finds_near_duplicates else None)


def result_tables(plan: RunPlan, pages: Pages) -> dict[str, Any]:
    """Every table of the run, as blocks; `noted`, what each analysis noted."""
    settings = plan.settings
    found = {
        "pages": (pages.parts | "PartsOfPages" >> Fetch(pages.shuffle)
                  | "PageTable" >> MapBlocks(page_table, settings.chunks, needs_text(plan))),
        "rejects": pages.events | "Rejects" >> MapBlocks(rejects),
        "depth_histogram": pages.depths,
    }
    noted = []
    if settings.discovers or settings.detects:
        found |= pages | "Reuse" >> FindReuse(settings)
        found["thresholds"] = found.pop("values")
        noted.append(found.pop("counts"))
    for name, asked, analysis in (
        ("NearDuplicates", settings.finds_near_duplicates,
         FindNearDuplicates(settings.near_duplicates)),
        ("Overlap", settings.finds_overlap, FindOverlap(settings.overlap)),
        ("Quilts", settings.finds_quilts, FindQuilts(settings.quilts)),
    ):
        if asked:
            found |= pages | name >> analysis
            noted.append(found.pop("noted" if "noted" in found else "counts"))
            found.pop("values", None)
    found["noted"] = tuple(noted)
    return found


def _threshold_count(named: tuple[str, int]) -> Count:
    name, share = named
    return (THRESHOLD, name), share


def _noted_count(named: tuple[str, int]) -> list[Count]:
    name, count = named
    kind = MEASURED if name == "overlap-pairs-shuffled" else NOTED
    return [((kind, name), count)] if count else []


def _measured_count(named: tuple[str, int]) -> Count:
    name, count = named
    return (MEASURED, name), count


class _Steps(beam.pipeline.PipelineVisitor):
    def __init__(self, steps: list[str]) -> None:
        self.steps = steps

    def visit_transform(self, node: Any) -> None:
        self.steps.append(node.full_label)
