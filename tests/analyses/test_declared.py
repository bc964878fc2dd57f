"""In the graphs of all commands every row that travels is declared, whatever the settings."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from beam_reuse import experiment_pipeline, pipeline
from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.analyses.overlap.pairs import page_overlap
from beam_reuse.analyses.overlap.postings import postings
from beam_reuse.analyses.overlap.schemas import PAGE_OVERLAP
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.analyses.quilts.settings import QuiltSettings
from beam_reuse.analyses.reuse.settings import DetectionSettings, DiscoverySettings
from beam_reuse.cli.main import main
from beam_reuse.columnar.schema import TEXT, Gives, columns
from beam_reuse.core.settings import ChunkSettings, ReadSettings
from beam_reuse.declaring.settings import Settings
from beam_reuse.demo.sample import sample_crawl
from beam_reuse.demo.writing import write_crawl
from beam_reuse.experiment_pipeline import ExperimentPlan
from beam_reuse.io.results.manifest import SCHEMA_VERSIONS
from beam_reuse.io.results.run_folder import Workspace
from beam_reuse.io.results.tables import SCHEMAS
from beam_reuse.pages.inputs import open_inputs
from beam_reuse.plan import Command, RunPlan
from beam_reuse.rows.building import Built
from beam_reuse.rows.steps import Apply, Round, ToValue

SETTINGS = {
    "usual": Settings(),
    "all captures, the top on several hosts": Settings(
        read=ReadSettings(captures="all"), discovery=DiscoverySettings(top=5, min_hosts=2)),
    "without template lines": Settings(boilerplate=BoilerplateSettings(ignore=True)),
    "similar chunks": Settings(detection=DetectionSettings(matcher="nilsimsa")),
    "pairs counted directly, every page with every other, sweeps": Settings(
        overlap=OverlapSettings(chunkings=("whole", "sentence"), method="direct"),
        near_duplicates=NearDuplicateSettings(c_threshold=250),
        quilts=QuiltSettings(variant="any")),
}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    return tuple(write_crawl(sample_crawl(), str(tmp_path_factory.mktemp("sample") / "crawl")))


def undeclared(rounds: Iterable[Round]) -> Iterator[tuple[str, str]]:
    """The kernels, and tags, of rows that leave a round, or wait in it to be grouped, and of which
    nothing is declared."""
    for each in rounds:
        kernels = (taker for taker in each.takers() if isinstance(taker, Apply))
        for step in (*each.entries, *kernels):
            for tag, takers in step.next.items():
                travels = any(not isinstance(taker, Apply | ToValue) for taker in takers)
                if travels and (step.gives or {}).get(tag) is None:
                    yield step.name, tag


def graph() -> beam.Pipeline:
    return beam.Pipeline(runner=FnApiRunner())


def built_of(
    command: Command, inputs: tuple[str, ...], settings: Settings, folder: Path,
) -> Built:
    plan = RunPlan(command, inputs, str(folder / "out"), settings)
    return pipeline.build(graph(), plan, pipeline.inputs_of(plan), Workspace(str(folder)))


@pytest.mark.parametrize("command", ["run", "labels", "index"])
@pytest.mark.parametrize("name", SETTINGS)
def test_all_rows_that_travel_are_declared(
    name: str, command: Command, crawl: tuple[str, ...], tmp_path: Path,
) -> None:
    built = built_of(command, crawl, SETTINGS[name], tmp_path)
    assert len(built.rounds) > 1
    assert list(undeclared(built.rounds)) == []


def test_all_rows_of_an_index_are_declared(crawl: tuple[str, ...], tmp_path: Path) -> None:
    index = str(tmp_path / "index")
    assert main(["index", crawl[0], "-o", index, "--workers", "1"]) == 0
    for settings in (Settings(), Settings(chunks=ChunkSettings(tags=("p",)))):
        built = built_of("run", (index, *crawl), settings, tmp_path)
        assert list(undeclared(built.rounds)) == []


@pytest.mark.parametrize("name", ["inject", "mutate", "thresholds"])
def test_all_rows_of_experiments_are_declared(
    name: str, crawl: tuple[str, ...], tmp_path: Path,
) -> None:
    run = RunPlan("run", crawl, str(tmp_path / "out"), Settings())
    plan = ExperimentPlan(name, run, background=crawl)
    inputs = open_inputs(crawl, run.settings.read, run.settings.chunks)
    given = [inputs] if name == "thresholds" else [inputs, inputs]
    built = experiment_pipeline.build(graph(), plan, given, Workspace(str(tmp_path)))
    assert list(undeclared(built.rounds)) == []


def overlap_alone(crawl: tuple[str, ...], folder: Path) -> Built:
    return built_of("run", crawl, Settings(analyses=("overlap",)), folder)


def test_a_kernel_without_declaration_is_found(
    crawl: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(postings, "gives")
    assert ("postings", "hosts") in set(undeclared(overlap_alone(crawl, tmp_path).rounds))


def test_rows_that_do_not_fit_their_table_are_refused_while_the_graph_is_built(
    crawl: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = columns(PAGE_OVERLAP.rows, url_b=TEXT)
    monkeypatch.setattr(page_overlap, "gives", Gives(wrong, {}))
    with pytest.raises(ValueError, match="table 'page_overlap' needs 'url_b' as uint64; rows of "
                                         "page_overlap have it as bytes"):
        overlap_alone(crawl, tmp_path)


def test_rows_for_a_table_with_pages_need_no_declaration(
    crawl: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(page_overlap, "gives")
    assert set(undeclared(overlap_alone(crawl, tmp_path).rounds)) == {
        ("part of page_overlap", "main")}


COLUMNS = {4: "541af4cbc9a4", 5: "a7353897c1e2", 6: "dadedd60316f", 7: "5a052936f011",
           8: "dc9f15bc7cad"}
"""By schema version of results, the first digits of the SHA-256 of all tables and columns."""


def test_results_of_other_columns_have_another_version() -> None:
    """Where this fails, columns were changed: raise the version of results in io.results.manifest,
    and add a line to COLUMNS."""
    every = [(name, field.name, str(field.type))
             for name in sorted({*SCHEMAS} - {"pages_without_labels"})
             for field in SCHEMAS[name].arrow()]
    found = hashlib.sha256(repr(every).encode()).hexdigest()[:12]
    assert COLUMNS.get(SCHEMA_VERSIONS["result"]) == found
    assert len(set(COLUMNS.values())) == len(COLUMNS)
