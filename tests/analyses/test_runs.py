"""Whole runs against their slow definition, row by row."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.analyses.quilts.settings import QuiltSettings
from beam_reuse.analyses.reuse.settings import DetectionSettings, DiscoverySettings
from beam_reuse.cli.runs import execute
from beam_reuse.core.settings import ChunkSettings, ReadSettings, StopSettings
from beam_reuse.declaring.settings import Settings
from beam_reuse.io.results import tables
from beam_reuse.pages import inputs
from beam_reuse.plan import RunPlan
from tests.analyses import test_origins
from tests.crawls import random_captures, write_warc
from tests.oracles import crawl, reuse
from tests.oracles.boilerplate import Boilerplate
from tests.oracles.crawl import Capture
from tests.oracles.near_duplicates import NearDuplicates
from tests.oracles.overlap import Overlap
from tests.oracles.quilts import Quilts

EVERYTHING = ReadSettings(statuses=None, content_types=("document", "code", "other"))
CASES = {
    "default": Settings(),
    "all captures": Settings(
        read=ReadSettings(captures="all"), discovery=DiscoverySettings(chunk_threshold=2),
        quilts=QuiltSettings(gram_size=2, max_pages_per_gram=200, min_sources=1, variant="any")),
    "all records": Settings(read=EVERYTHING, discovery=DiscoverySettings(chunk_threshold=0)),
    "top": Settings(discovery=DiscoverySettings(top=5)),
    "top across hosts": Settings(analyses=("discovery", "detection"),
                                 discovery=DiscoverySettings(top=3, min_hosts=3)),
    "raw chunks of p": Settings(chunks=ChunkSettings(("p",), "none"),
                                discovery=DiscoverySettings(chunk_threshold=3, min_hosts=2)),
    "chunks of text": Settings(chunks=ChunkSettings(normalise="text"),
                               discovery=DiscoverySettings(chunk_threshold=2)),
    "chunks of text alone": Settings(
        analyses=("discovery",), chunks=ChunkSettings(("b", "p"), "text"),
        stops=StopSettings(min_chunk_bytes=5), discovery=DiscoverySettings(chunk_threshold=3)),
    "classic, no recursion check": Settings(
        read=replace(EVERYTHING, max_prefix_depth=0, max_path_repeats=0),
        chunks=ChunkSettings.published(), discovery=DiscoverySettings(chunk_threshold=1)),
    "files too": Settings(
        discovery=DiscoverySettings(file_threshold=1, chunk_threshold=1),
        detection=DetectionSettings(min_chunks=2, neighbourhood_score="mean")),
    "no short chunks": Settings(
        stops=StopSettings(min_chunk_bytes=9, builtin=False),
        discovery=DiscoverySettings(file_threshold=0, chunk_threshold=4),
        detection=DetectionSettings(page_threshold=0.5, neighbourhood_threshold=0.25)),
    "discovery alone": Settings(analyses=("discovery",), discovery=DiscoverySettings(top=7)),
    "shallow": Settings(read=ReadSettings(max_prefix_depth=2, max_path_repeats=2),
                        near_duplicates=NearDuplicateSettings(shingle_size=2, keep_by="b"),
                        overlap=OverlapSettings(("1-lines", "whole"), ("1",), ("1",))),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Capture]]:
    """A crawl of three files."""
    folder = tmp_path_factory.mktemp("crawl")
    captures = [
        c for seed in range(3)
        for c in write_warc(folder / f"{seed}.warc.gz", random_captures(seed, 80))
    ]
    return folder, captures


@pytest.fixture(scope="module")
def of_case(
    crawled: tuple[Path, list[Capture]], tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], Path]:
    """The result of the crawl's files by the settings of a case, made once for all tests, and
    checked then."""

    @cache
    def result(case: str) -> Path:
        folder, captures = crawled
        output = run(sorted(folder.iterdir()), tmp_path_factory.mktemp("case") / "out", CASES[case])
        check(output, captures, CASES[case])
        return output

    return result


def run(given: list[Path], output: Path, settings: Settings, **plan: Any) -> Path:
    command = plan.pop("command", "run")
    execute(RunPlan(command, tuple(map(str, given)), str(output), settings, **plan), [])
    return output


def check(output: Path, captures: list[Capture], settings: Settings) -> None:
    """Every table and the accounting equal the definition."""
    pages, skipped = crawl.accounting(captures, settings)
    found = tables.read_manifest(str(output)).accounting
    assert (found.records, found.pages) == (len(captures), len(pages))
    assert found.skipped == skipped
    expected = {
        "pages": crawl.page_rows(pages, settings),
        "depth_histogram": crawl.depth_histogram(captures, settings),
        "rejects": [],
        "skipped": crawl.skipped_rows(captures, pages, settings),
        **reuse.discovery(pages, settings),
    }
    if settings.asks_for("detection"):
        expected |= reuse.detection(pages, reuse.found_labels(expected), settings)
    noted: dict[str, int] = {}
    if settings.asks_for("near-duplicates"):
        near = NearDuplicates(crawl.near_pages(pages), settings.near_duplicates)
        expected |= near.tables()
        noted |= near.noted()
    if settings.asks_for("overlap"):
        overlapping = Overlap(crawl.overlap_pages(pages), settings.overlap)
        expected |= overlapping.tables()
        noted |= overlapping.noted()
    if settings.asks_for("quilts"):
        quilts = Quilts(crawl.quilt_pages(pages), settings.quilts)
        expected |= quilts.tables()
        noted |= quilts.noted()
    if settings.asks_for("boilerplate"):
        expected |= Boilerplate(crawl.overlap_pages(pages), settings.boilerplate).tables()
    if settings.asks_for("near-duplicates") or settings.asks_for("overlap"):
        # There are no links in these tests.
        assert test_origins.found(str(output)) == test_origins.expected(str(output), lambda _: "")
        expected["origins"] = tables.read(str(output), "origins").to_pylist()
    assert found.noted == noted
    assert set(tables.read_manifest(str(output)).tables()) == set(expected)
    for name, rows in expected.items():
        got = tables.read(str(output), name).to_pylist()
        shown = [{key: row[key] for key in (rows[0] if rows else row)} for row in got]
        assert shown == rows, name


@pytest.mark.parametrize("case", CASES)
def test_a_run_equals_its_definition(case: str, of_case: Callable[[str], Path]) -> None:
    of_case(case)


@pytest.mark.parametrize("case", ["all captures", "raw chunks of p", "chunks of text", "shallow"])
def test_from_an_index_and_raw_files_together(
    case: str, crawled: tuple[Path, list[Capture]], of_case: Callable[[str], Path], tmp_path: Path,
) -> None:
    """An index with default chunk settings serves runs with others, alone or beside files."""
    folder, _ = crawled
    files, settings = sorted(folder.iterdir()), CASES[case]
    indexed = Settings(read=replace(settings.read, captures="latest", max_prefix_depth=96))
    run(files[:2], tmp_path / "two", indexed, command="index")
    run(files[2:], tmp_path / "one", indexed, command="index")
    run([tmp_path / "two", tmp_path / "one"], tmp_path / "merged", indexed, command="index")
    raw = of_case(case)
    for name, given in {
        "mixed": [tmp_path / "two", files[2]],
        "indexes": [tmp_path / "one", tmp_path / "two"],
        "from merged": [tmp_path / "merged"],
    }.items():
        output = run(given, tmp_path / name, settings)
        assert (output / "manifest.json").read_bytes() == (raw / "manifest.json").read_bytes()


def test_an_index_of_text_serves_runs_that_cut_text_and_others(
    crawled: tuple[Path, list[Capture]], of_case: Callable[[str], Path], tmp_path: Path,
) -> None:
    """Chunks, and the text that they are places in, are those that a run on the files has; an
    index of an index is cut anew as the files would be."""
    folder, _ = crawled
    files, settings = sorted(folder.iterdir()), CASES["chunks of text"]
    run(files, tmp_path / "text", Settings(chunks=settings.chunks), command="index")
    run(files, tmp_path / "bytes", Settings(), command="index")
    run([tmp_path / "bytes"], tmp_path / "text again", Settings(chunks=settings.chunks),
        command="index")
    for index in ("text", "text again"):
        for case in ("chunks of text", "default", "chunks of text alone"):
            raw = of_case(case)
            output = run([tmp_path / index], tmp_path / f"{index} {case}", CASES[case])
            assert (output / "manifest.json").read_bytes() == (raw / "manifest.json").read_bytes()


def test_the_same_bytes_for_any_workers_order_and_cuts(
    crawled: tuple[Path, list[Capture]], of_case: Callable[[str], Path], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, _ = crawled
    files = sorted(folder.iterdir())
    settings = CASES["all captures"]
    one = of_case("all captures")  # by one worker, as small inputs are
    monkeypatch.setattr("beam_reuse.runners.SMALL_INPUT", 0)
    monkeypatch.setattr(inputs, "LEAST_RANGE", 1000)
    other = run(files[::-1], tmp_path / "other", settings, workers=3)
    assert (one / "manifest.json").read_bytes() == (other / "manifest.json").read_bytes()
    for command in ("run", "index"):
        monkeypatch.setattr(inputs, "LEAST_RANGE", 3000)
        first = run(files, tmp_path / f"{command}1", settings, workers=1, command=command)
        second = run(files, tmp_path / f"{command}2", settings, workers=2, command=command)
        assert (first / "manifest.json").read_bytes() == (second / "manifest.json").read_bytes()
