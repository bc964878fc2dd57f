"""An experiment's inputs become one graph, which runs; what came of it is read back."""

from dataclasses import dataclass, replace

import apache_beam as beam

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
from beam_reuse.io.results.manifest import RunOutcome
from beam_reuse.io.results.outcome import read_outcome
from beam_reuse.io.results.run_folder import Workspace
from beam_reuse.io.results.table_writer import TableWriter
from beam_reuse.io.results.tables import REJECTS
from beam_reuse.pages.inputs import Inputs, open_inputs
from beam_reuse.pages.outcome import save
from beam_reuse.pages.reading import read_pages
from beam_reuse.pages.sizes import shuffle_for
from beam_reuse.pages.writing import Written, write_tables
from beam_reuse.pipeline import OUTCOME
from beam_reuse.plan import RunPlan, RunProgress
from beam_reuse.rows import Plan
from beam_reuse.rows.building import Built
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
        """Whether what counts as detected follows from the background."""
        detection = self.run.settings.detection
        return self.name == "mutate" and bool(self.background) and None in (
            detection.page_threshold, detection.neighbourhood_threshold)


def run(plan: ExperimentPlan, work: Workspace, progress: RunProgress) -> tuple[RunOutcome, Results]:
    """Read what the experiment needs and conduct it. The table `rejects` is below
    `work.tables` afterwards; the results are not written yet."""
    inputs = [_open(plan, paths) for paths in (plan.run.inputs, plan.background) if paths]
    size = sum(each.bytes for each in inputs)
    progress.expect(size)
    progress.stage("starting")
    with engine_for(plan.run, size) as engine:
        build(engine.pipeline, plan, inputs, work)
        engine.run(progress)
    progress.stage("computing")
    outcome = read_outcome(join(work.root, OUTCOME))
    parts = tuple(part for part in outcome.parts if part.table not in SCHEMAS)
    outcome = replace(outcome, bytes_read=size, parts=parts)
    return outcome, conduct(plan, _numbers_folder(work))


def build(
    pipeline: beam.Pipeline, plan: ExperimentPlan, inputs: list[Inputs], work: Workspace,
) -> Built:
    """The graph: read the site and the background, count, write what was counted."""
    settings = plan.run.settings
    size = sum(each.bytes for each in inputs)
    rows = Plan(shuffle_for(size, work.spill, memory_for(plan.run, size)))
    features = FeatureSettings(settings.chunks, text=False)
    crawls = [
        read_pages(rows, given, settings.read, features, join(work.spill, name), work.progress)
        for name, given in zip(("site", "background"), inputs, strict=False)]
    asked = (AskJudged(settings, (*plan.bad, *plan.benign)) if plan.name == "thresholds"
             else AskSite(settings, plan.needs_thresholds))
    found = asked.find(*(crawl.pages for crawl in crawls))
    written = {name: found.tables[name] for name in SCHEMAS if name in found.tables}
    rejects = counted = rows.nothing()
    for crawl in crawls:
        rejects, counted = rejects + crawl.rejects, counted + crawl.counted
    writers = {
        **{name: TableWriter(SCHEMAS[name], _numbers_folder(work), progress=work.progress)
           for name in written},
        REJECTS.name: TableWriter(REJECTS, work.tables, progress=work.progress)}
    tables = write_tables({**written, REJECTS.name: rejects}, writers, crawls[-1].pages.names)
    return save(pipeline, rows, Written(tables.receipts + counted, tables.rows), writers,
                join(work.root, OUTCOME))


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


def _numbers_folder(work: Workspace) -> str:
    return join(work.spill, "numbers")
