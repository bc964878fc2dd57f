"""An experiment's inputs become one graph, which runs; what it tells is read back."""

from dataclasses import dataclass, replace

import apache_beam as beam

from beam_reuse.columnar import MapBlocks, Shuffle
from beam_reuse.core.features import FeatureSettings
from beam_reuse.experiments.conduct import (
    Results,
    conduct_inject,
    conduct_mutate,
    conduct_thresholds,
)
from beam_reuse.experiments.loading import (
    SCHEMAS,
    load_background,
    load_judged,
    load_numbers,
    load_site,
)
from beam_reuse.experiments.reading import AskJudged, AskSite
from beam_reuse.experiments.vectors import Background
from beam_reuse.io.files import join
from beam_reuse.io.results import tables
from beam_reuse.io.results.manifest import Outcome
from beam_reuse.io.results.outcome import Count, SaveOutcome, read_outcome
from beam_reuse.io.results.run_folder import Workspace
from beam_reuse.io.results.sink import WriteTable, WriteTables
from beam_reuse.pages.accounting import CountRecords, count_tuples, rejects
from beam_reuse.pages.inputs import Inputs, open_inputs
from beam_reuse.pages.read_pages import Pages, ReadPages, shuffle_for
from beam_reuse.pipeline import OUTCOME
from beam_reuse.plan import RunPlan, RunProgress
from beam_reuse.runners import engine_for, memory_for


@dataclass(frozen=True)
class ExperimentPlan:
    """One experiment: `name` is inject, mutate or thresholds. `run` says how to run and with
    which settings; its inputs are the site, or the crawl that thresholds are looked for in."""

    name: str
    run: RunPlan
    background: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    benign: tuple[str, ...] = ()

    @property
    def needs_thresholds(self) -> bool:
        """Whether the background has to tell what counts as detected."""
        detection = self.run.settings.detection
        return self.name == "mutate" and bool(self.background) and None in (
            detection.page_threshold, detection.neighbourhood_threshold)


def run(plan: ExperimentPlan, work: Workspace, progress: RunProgress) -> tuple[Outcome, Results]:
    """Read what the experiment needs and conduct it. The table `rejects` lies below
    `work.tables` afterwards; the results are not written yet."""
    inputs = [_open(plan, paths) for paths in (plan.run.inputs, plan.background) if paths]
    size = sum(each.bytes for each in inputs)
    progress.expect(size)
    progress.stage("starting")
    with engine_for(plan.run, size) as engine:
        build(engine.pipeline, plan, inputs, work)
        engine.run(progress)
    progress.stage("computing")
    outcome = replace(read_outcome(join(work.root, OUTCOME)), bytes_read=size)
    return outcome, conduct(plan, _numbers_folder(work))


def build(
    pipeline: beam.Pipeline, plan: ExperimentPlan, inputs: list[Inputs], work: Workspace,
) -> None:
    """The graph: read the site and the background, count, write what was counted."""
    names = ("site", "background")
    pages = [
        pipeline | f"Pages of {name}" >> _read_pages(plan, given, name, work)
        for name, given in zip(names, inputs, strict=False)
    ]
    shuffle = pages[-1].shuffle
    _asked_of(plan, pages) | "WriteNumbers" >> WriteTables(
        SCHEMAS, shuffle, _numbers_folder(work), progress=work.progress)
    rejected = (
        [each.events | f"Rejects {i}" >> MapBlocks(rejects) for i, each in enumerate(pages)]
        | "Rejects" >> beam.Flatten()
        | "Write rejects" >> WriteTable(
            tables.REJECTS, shuffle, work.tables, progress=work.progress)
    )
    counts = [
        each | f"Account {i}" >> CountRecords() | f"Counts {i}" >> (
            beam.FlatMap(count_tuples).with_output_types(Count))
        for i, each in enumerate(pages)
    ]
    {
        "parts": rejected, "counts": counts | "AllCounts" >> beam.Flatten(),
    } | "SaveOutcome" >> SaveOutcome(join(work.root, OUTCOME))


def _asked_of(plan: ExperimentPlan, pages: list[Pages]) -> dict[str, beam.PCollection]:
    """The tables that the experiment is conducted from."""
    settings = plan.run.settings
    asked = (AskJudged(settings, (*plan.bad, *plan.benign)) if plan.name == "thresholds"
             else AskSite(settings, plan.needs_thresholds))
    found = tuple(pages) | "Ask" >> asked
    return {name: found[name] for name in SCHEMAS if name in found}


def conduct(plan: ExperimentPlan, folder: str) -> Results:
    """The experiment on what the graph has written below `folder`."""
    settings = plan.run.settings
    if plan.name == "thresholds":
        return conduct_thresholds(
            load_judged(folder, plan.bad, plan.benign), load_numbers(folder), settings)
    loaded = load_site(folder)
    around = (
        load_background(folder, loaded) if plan.background else Background.empty(loaded.site))
    name = plan.run.inputs[0].rstrip("/").rsplit("/", 1)[-1]
    if plan.name == "inject":
        return conduct_inject(loaded.site, around, settings, name)
    return conduct_mutate(loaded.site, around, settings, load_numbers(folder), name)


def _open(plan: ExperimentPlan, paths: tuple[str, ...]) -> Inputs:
    return open_inputs(paths, plan.run.settings.read, plan.run.settings.chunks)


def _read_pages(plan: ExperimentPlan, inputs: Inputs, name: str, work: Workspace) -> ReadPages:
    settings, spill = plan.run.settings, join(work.spill, name)
    shuffle: Shuffle = shuffle_for(inputs, spill, memory_for(plan.run, inputs.bytes))
    return ReadPages(inputs, settings.read, FeatureSettings(settings.chunks, text=False),
                     spill=spill, shuffle=shuffle, progress=work.progress)


def _numbers_folder(work: Workspace) -> str:
    return join(work.spill, "numbers")
