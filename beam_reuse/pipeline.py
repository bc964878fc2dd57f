"""Options become one graph, the graph runs, and what came of it is read back."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from beam_reuse.analyses.boilerplate import stripping
from beam_reuse.analyses.clean.find import CleanCorpus
from beam_reuse.analyses.reuse.labels import MakeLabels
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.core.errors import UserError
from beam_reuse.core.features import FeatureSettings
from beam_reuse.declaring.about import loaded
from beam_reuse.declaring.registry import known
from beam_reuse.io.files import is_local, join
from beam_reuse.io.results import tables
from beam_reuse.io.results.manifest import RunOutcome
from beam_reuse.io.results.outcome import read_outcome
from beam_reuse.io.results.run_folder import Workspace
from beam_reuse.io.results.table_writer import TableWriter
from beam_reuse.pages.analysis import Analysis, Found
from beam_reuse.pages.index import write_index
from beam_reuse.pages.inputs import Inputs, open_inputs
from beam_reuse.pages.outcome import save
from beam_reuse.pages.pages import Pages
from beam_reuse.pages.reading import read_pages
from beam_reuse.pages.rows import page_table
from beam_reuse.pages.sizes import shuffle_for
from beam_reuse.pages.writing import Written, write_tables
from beam_reuse.plan import RunPlan, RunProgress, Sizes, Survey
from beam_reuse.publishing import Publication
from beam_reuse.rows import Plan, Rows, Value
from beam_reuse.rows.building import Built
from beam_reuse.runners import engine_for, memory_for

OUTCOME = "outcome.json"


def inputs_of(plan: RunPlan) -> Inputs:
    """What the plan reads; refuses a plan that would replace what it reads."""
    inputs = open_inputs(plan.inputs, plan.settings.read, plan.settings.chunks, plan.baseline)
    if plan.background:
        inputs = replace(inputs, background=open_inputs(
            plan.background, plan.settings.read, plan.settings.chunks))
    output = os.path.realpath(plan.output) if is_local(plan.output) else plan.output
    for path, _ in (*inputs.files, *(inputs.background.files if inputs.background else ())):
        there = os.path.realpath(path) if is_local(path) else path
        if there == output or os.path.dirname(os.path.dirname(there)) == output:
            raise UserError(f"-o {plan.output} is itself an input ({path}), which would be "
                            "replaced. Choose another place for the result.")
    return inputs


def survey(plan: RunPlan) -> Survey:
    """The inputs, the steps of the graph and its sizes; runs nothing, and asks no cluster."""
    inputs = inputs_of(plan)
    pipeline = beam.Pipeline(runner=FnApiRunner())
    try:
        built = build(pipeline, plan, inputs, Workspace(pipeline.local_tempdir))
    finally:
        shutil.rmtree(pipeline.local_tempdir)  # which Beam removes only when it has run
    steps = _Steps()
    pipeline.visit(steps)
    shuffle = shuffle_of(plan, inputs, "spill")
    sizes = Sizes(memory_for(plan, inputs.bytes), len(inputs.ranges), shuffle.buckets,
                  shuffle.bucket_budget, shuffle.flush_bytes)
    return Survey(inputs.files, tuple(steps.names), sizes,
                  tuple(each.names() for each in built.rounds))


def shuffle_of(plan: RunPlan, inputs: Inputs, spill: str) -> Shuffle:
    """The shuffle of a run, sized for its inputs and its workers."""
    return shuffle_for(inputs.bytes, spill, memory_for(plan, inputs.bytes))


def run(plan: RunPlan, work: Workspace, progress: RunProgress) -> RunOutcome:
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
        build(engine.pipeline, plan, inputs, publication.folder.work,
              partial(_publish, publication=publication, bytes_read=inputs.bytes))
        engine.launch()


def _publish(path: str, publication: Publication, bytes_read: int) -> None:
    publication.publish(replace(read_outcome(path), bytes_read=bytes_read))


@dataclass(frozen=True)
class CommandOutput:
    """What a command writes: tables, values that are reported, and rows that are there only for
    what is counted on their way, or for receipts of files. `folding` as analyses have it."""

    tables: Mapping[str, Rows]
    values: Mapping[str, Value | int]
    counted: Rows
    names: Rows
    folding: Mapping[str, Any] = field(default_factory=dict)


def build(
    pipeline: beam.Pipeline, plan: RunPlan, inputs: Inputs, work: Workspace,
    then: Callable[[str], None] | None = None,
) -> Built:
    """The whole graph of a plan: read, analyse, write, report; `then` is called with the path of
    the outcome, when it is there."""
    rows = Plan(shuffle_of(plan, inputs, work.spill))
    contents = {"index": _index, "labels": _labels, "clean": _clean}.get(plan.command, _contents)
    found = contents(rows, plan, inputs, work)
    writers = writers_for(found, work)
    written = write_tables(found.tables, writers, found.names)
    return save(pipeline, rows, Written(written.receipts + found.counted, written.rows), writers,
                join(work.root, OUTCOME), found.values, then)


def writers_for(found: CommandOutput, work: Workspace) -> dict[str, TableWriter]:
    """Who writes these tables."""
    return {name: TableWriter(tables.SCHEMAS[name], work.tables, progress=work.progress,
                              folding=found.folding.get(name)) for name in found.tables}


def _index(rows: Plan, plan: RunPlan, inputs: Inputs, work: Workspace) -> CommandOutput:
    settings = plan.settings
    signers = dict.fromkeys(each.reads().signer for each in analyses_of(plan))
    features = FeatureSettings(settings.chunks, text=True, signers=tuple(
        each for each in signers if each is not None))
    receipts, events = write_index(
        rows, inputs, work.tables, settings.read, features, work.progress)
    return CommandOutput({tables.EVENTS.name: events}, {}, receipts, rows.nothing())


def _contents(rows: Plan, plan: RunPlan, inputs: Inputs, work: Workspace) -> CommandOutput:
    """What the command `run` writes."""
    return _analysed(rows, plan, inputs, work).contents


def _clean(rows: Plan, plan: RunPlan, inputs: Inputs, work: Workspace) -> CommandOutput:
    """What the command `clean` writes: what its analyses find, and a corpus."""
    cleaning = CleanCorpus.of(plan.settings)
    done = _analysed(rows, plan, inputs, work, cleaning)
    found, receipts = cleaning.write(done.pages, done.found, work.tables)
    return replace(done.contents, tables={**done.contents.tables, **found.tables},
                   counted=done.contents.counted + receipts + cleaning.compared(done.pages))


class _Analysed(NamedTuple):
    """What is written of a run with its analyses, its pages, and what was found in them."""

    contents: CommandOutput
    pages: Pages
    found: Found


def _analysed(
    rows: Plan, plan: RunPlan, inputs: Inputs, work: Workspace, cleaning: CleanCorpus | None = None,
) -> _Analysed:
    """What the analyses find that are asked for; with `cleaning`, pages can be written again."""
    settings, analyses = plan.settings, analyses_of(plan)
    _require_growing(analyses, inputs)
    also = () if cleaning is None else (cleaning.reads(),)
    read = settings.read if cleaning is None else replace(settings.read, stored=cleaning.stored)
    without = [each for each in analyses if each.ignores_templates and settings.boilerplate.ignore]
    features = FeatureSettings.of(settings.chunks, (*also, *(
        stripping.reads_of(each.reads()) if each in without else each.reads()
        for each in analyses)))
    crawl = read_pages(rows, inputs, read, features, work.spill, work.progress)
    own = stripping.own_pages(crawl.pages, settings.boilerplate, FeatureSettings.of(
        settings.chunks, (each.reads() for each in without))) if without else crawl.pages
    found: dict[str, Rows] = {
        "pages": crawl.pages.rows(page_table, crawl.pages.text, crawl.pages.sides),
        "rejects": crawl.rejects, "skipped": crawl.skipped, "depth_histogram": crawl.depths,
    }
    folding: dict[str, Any] = {}
    every = Found({})
    for analysis in analyses:
        pages = own if analysis in without else crawl.pages
        every = Found.joined((every, analysis.follow(pages, every)))
        folding |= analysis.folding
    contents = CommandOutput(found | dict(every.tables), every.values, crawl.counted,
                        crawl.pages.names, folding)
    return _Analysed(contents, crawl.pages, every)


def _require_growing(analyses: Sequence[Analysis], inputs: Inputs) -> None:
    """Refuse analyses of others that know nothing of a baseline, if there is one."""
    fixed = {type(each) for each in analyses if not each.grows}
    if fixed and inputs.sides.are_two:
        names = [name for name, about in known().items() if loaded(about.transform) in fixed]
        raise UserError(f"--baseline: {', '.join(names)} cannot tell new pages from old ones yet. "
                        "Leave it out with --analyses, or run it without --baseline.")


def _labels(rows: Plan, plan: RunPlan, inputs: Inputs, work: Workspace) -> CommandOutput:
    """What the command `labels` writes; records of the background are counted with the others."""
    settings = plan.settings
    make = MakeLabels(settings.chunks, settings.stops, plan.merge, plan.remove,
                      settings.detection.matcher == "nilsimsa", plan.all_chunks,
                      plan.background_hosts)
    features = FeatureSettings.of(settings.chunks, (make.reads(),))
    crawl, *around = (
        read_pages(rows, each, settings.read, features, join(work.spill, name), work.progress)
        for name, each in (("originals", inputs), ("background", inputs.background)) if each)
    found = make.find(crawl.pages, *(each.pages for each in around))
    counted = sum((each.counted for each in around), crawl.counted)
    return CommandOutput(found.tables, found.values, counted, crawl.pages.names)


def analyses_of(plan: RunPlan) -> list[Analysis]:
    """The analyses that a plan asks for, each transform once."""
    settings = plan.settings
    transforms = dict.fromkeys(
        about.transform for name, about in known().items() if settings.asks_for(name)
        and (not about.follows or plan.command == "run"))
    return [loaded(transform).of(settings) for transform in transforms]


class _Steps(beam.pipeline.PipelineVisitor):
    def __init__(self) -> None:
        self.names: list[str] = []

    def visit_transform(self, node: beam.pipeline.AppliedPTransform) -> None:
        self.names.append(node.full_label)
