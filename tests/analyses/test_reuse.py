"""Detection of known content against its definition: lists, stop lists, Nilsimsa, laws."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beam_reuse.analyses.reuse import settings as reuse_settings
from beam_reuse.analyses.reuse.settings import DetectionSettings, DiscoverySettings
from beam_reuse.cli.runs import execute
from beam_reuse.core.settings import ChunkSettings, StopSettings
from beam_reuse.declaring.settings import Settings
from beam_reuse.io import parts
from beam_reuse.io.results import tables
from beam_reuse.plan import RunPlan
from tests.crawls import random_captures, write_warc
from tests.oracles import crawl, reuse
from tests.oracles.crawl import Capture, chunks_of
from tests.oracles.nilsimsa import digest as slow_digest
from tests.oracles.nilsimsa import score as slow_score

SOURCES = ["http://a.example/x", "http://www.a.example/y", "http://b.example/", "Some Book", None]
DETECTION = ("matched_files", "matched_chunks", "page_reuse", "neighbourhoods",
             "neighbourhood_sources")


@pytest.fixture(autouse=True)
def small_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of several row groups, as large crawls have them."""
    monkeypatch.setattr(parts, "ROW_GROUP_ROWS", 7)
    monkeypatch.setattr(parts, "READ_BYTES", 4000)  # some are read together


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Capture]]:
    folder = tmp_path_factory.mktemp("crawl")
    captures = [
        c for seed in range(2)
        for c in write_warc(folder / f"{seed}.warc.gz", random_captures(seed + 50, 70))
    ]
    return folder, captures


def run(folder: Path, output: Path, settings: Settings) -> dict[str, list[dict[str, Any]]]:
    execute(RunPlan("run", (f"{folder}/*.warc.gz",), str(output), settings), [])
    names = tables.read_manifest(str(output)).tables()
    return {name: tables.read(str(output), name).to_pylist() for name in names}


def random_labels(seed: int, captures: list[Capture], settings: Settings) -> reuse.Labels:
    """Some files and chunks of the crawl, each with one or more sources, and some of none."""
    rng = random.Random(seed)
    known = {("chunk", c[0]) for capture in captures for c in chunks_of(capture, settings)}
    known |= {("file", capture.sha1) for capture in captures}
    known |= {("chunk", f"{n:040x}") for n in range(20)}
    chosen = [key for key in sorted(known) if rng.random() < 0.4]
    return {(*key, source, rng.choice([None, 1, 2, 300])) for key in chosen
            for source in rng.choices(SOURCES, k=2)}


def write_list(path: Path, labels: reuse.Labels) -> str:
    rows = sorted(labels, key=str)
    columns = {name: [row[k] for row in rows]
               for k, name in enumerate(("kind", "sha1", "source_url", "domains"))}
    pq.write_table(pa.table(columns), path)
    return str(path)


def expect(found: dict[str, list[dict[str, Any]]], expected: dict[str, list[dict[str, Any]]],
           ) -> None:
    for name, rows in expected.items():
        shown = [{key: row[key] for key in (rows[0] if rows else row)} for row in found[name]]
        assert shown == rows, name


@pytest.mark.parametrize(("seed", "settings"), [
    (1, Settings(analyses=("detection",))),
    (2, Settings(analyses=("detection",), detection=DetectionSettings(
        page_threshold=0, neighbourhood_threshold=0.3, min_chunks=3, min_matching=2))),
    (3, Settings(analyses=("detection",), chunks=ChunkSettings.published(),
                 detection=DetectionSettings(neighbourhood_score="mean"))),
    (6, Settings(analyses=("detection",), chunks=ChunkSettings(("div",), "text"))),
    (8, Settings(analyses=("detection",), chunks=ChunkSettings(normalise="text"),
                 stops=StopSettings(min_chunk_tokens=2))),
    (7, Settings(analyses=("detection",), detection=DetectionSettings(count_own=True))),
])
def test_known_labels_are_found(seed: int, settings: Settings, tmp_path: Path,
                                crawled: tuple[Path, list[Capture]]) -> None:
    folder, captures = crawled
    labels = random_labels(seed, captures, settings)
    cut = len(labels) // 2
    paths = (write_list(tmp_path / "a.parquet", set(sorted(labels, key=str)[:cut])),
             write_list(tmp_path / "b.parquet", set(sorted(labels, key=str)[cut:])))
    settings = replace(settings, detection=replace(settings.detection, labels=paths))
    found = run(folder, tmp_path / "out", settings)
    pages, _ = crawl.accounting(captures, settings)
    assert not {"labels", "frequent_chunks"} & set(found)
    expect(found, reuse.detection(pages, labels, settings))
    for name in ("matched_files", "matched_chunks"):
        assert {row["own"] for row in found[name]} == (
            {False} if settings.detection.count_own else {False, True})


@pytest.mark.parametrize(("known", "usual"), [(60, True), (1000, False)])
def test_only_a_crawl_with_little_known_content_says_what_is_usual(
        known: int, usual: bool, tmp_path: Path, crawled: tuple[Path, list[Capture]],
        monkeypatch: pytest.MonkeyPatch) -> None:
    """With enough pages, mean plus one deviation of all; where half of them match, any is flagged,
    as where there are few."""
    monkeypatch.setattr(reuse_settings, "BACKGROUND", 20)
    monkeypatch.setattr(reuse, "BACKGROUND", 20)
    folder, captures = crawled
    chunks = [label for label in random_labels(2, captures, Settings()) if label[0] == "chunk"]
    labels = set(sorted(chunks, key=str)[:known])
    settings = Settings(analyses=("detection",), detection=DetectionSettings(
        labels=(write_list(tmp_path / "l.parquet", labels),)))
    found = run(folder, tmp_path / "out", settings)
    pages, _ = crawl.accounting(captures, settings)
    expect(found, reuse.detection(pages, labels, settings))
    flagged = {row["flagged"] for row in found["page_reuse"] if row["contains"]}
    assert flagged == ({True, False} if usual else {True})


def test_a_list_of_bare_hashes_matches_files_and_chunks(
        tmp_path: Path, crawled: tuple[Path, list[Capture]]) -> None:
    folder, captures = crawled
    labels = random_labels(4, captures, Settings())
    hashes = {sha1 for _, sha1, *_ in labels}
    (tmp_path / "list.txt").write_text("# known\n" + "\n".join(sorted(hashes)) + "\n")
    settings = Settings(analyses=("detection",), detection=DetectionSettings(
        labels=(str(tmp_path / "list.txt"),)))
    found = run(folder, tmp_path / "out", settings)
    pages, _ = crawl.accounting(captures, settings)
    either: reuse.Labels = {
        (kind, sha1, None, None) for kind in ("file", "chunk") for sha1 in hashes}
    expect(found, reuse.detection(pages, either, settings))
    assert found["neighbourhood_sources"] == []
    assert found["matched_files"] and found["matched_chunks"]


def test_stop_lists_leave_pages_and_labels(
        tmp_path: Path, crawled: tuple[Path, list[Capture]]) -> None:
    folder, captures = crawled
    rng = random.Random(5)
    hashes = sorted({c[0] for capture in captures for c in chunks_of(capture, Settings())}
                    | {capture.sha1 for capture in captures})
    (tmp_path / "stop.txt").write_text("\n".join(rng.sample(hashes, len(hashes) // 3)))
    settings = Settings(
        stops=StopSettings(lists=(str(tmp_path / "stop.txt"),)),
        discovery=DiscoverySettings(file_threshold=1, chunk_threshold=2))
    found = run(folder, tmp_path / "out", settings)
    pages, _ = crawl.accounting(captures, settings)
    expected = reuse.discovery(pages, settings)
    assert any(row["stop_chunks"] for row in found["page_reuse"])
    expect(found, expected | reuse.detection(pages, reuse.found_labels(expected), settings))


@pytest.mark.parametrize("normalise", ["whitespace", "text"])
def test_nilsimsa_finds_what_is_similar(
        normalise: str, tmp_path: Path, crawled: tuple[Path, list[Capture]]) -> None:
    """The best label of each chunk by comparing with all; equal hashes go first."""
    folder, captures = crawled
    thresholds = (60, 20, 100)
    settings = Settings(
        chunks=ChunkSettings(normalise=normalise),
        discovery=DiscoverySettings(chunk_threshold=3),
        detection=DetectionSettings(matcher="nilsimsa", nilsimsa_thresholds=thresholds))
    found = run(folder, tmp_path / "out", settings)
    pages, _ = crawl.accounting(captures, settings)
    chunks = reuse.occurrences(pages, settings)["chunk"]
    digests = {}
    for o in chunks:
        body = reuse.object_bytes("chunk", o, pages, settings)
        digests[o.sha1] = slow_digest(body) if len(body) > 2 else None
    labelled = {row["sha1"]: row["source_url"] for row in found["labels"]
                if row["kind"] == "chunk"}
    assert labelled
    best: dict[str, tuple[int | None, str]] = {}
    for sha1, digest in digests.items():
        scores = [(-slow_score(digest, other), label) for label in labelled
                  if digest and (other := digests[label])]
        if sha1 in labelled:
            best[sha1] = None, sha1
        elif scores:
            best[sha1] = -min(scores)[0], min(scores)[1]
    expected = [
        {"url": o.page, "position": o.position, "start": o.start, "end": o.end,
         "sha1": best[o.sha1][1], "source_url": labelled[best[o.sha1][1]],
         "sources": 1, "own": False, "score": best[o.sha1][0]}
        for o in chunks if o.sha1 in best
        and (best[o.sha1][0] is None or best[o.sha1][0] >= thresholds[0])]
    assert found["matched_chunks"] == expected
    assert any(row["score"] is not None for row in expected)
    for row in found["nilsimsa_sweep"]:
        hits = [o for o in chunks if o.sha1 in best and (
            best[o.sha1][0] is None or best[o.sha1][0] >= row["threshold"])]
        assert row["matching"] == len(hits)
        assert row["pages"] == len({o.page for o in hits})
        assert row["exact"] == len([o for o in chunks if o.sha1 in labelled])
    assert [row["threshold"] for row in found["nilsimsa_sweep"]] == sorted(thresholds)


def split(captures: list[Capture], folder: Path) -> list[Path]:
    """The crawl by host, so that its parts share no neighbourhood; one folder each."""
    hosts = sorted({reuse.host_of(c) for c in captures})
    folders = []
    for n, some in enumerate((hosts[::2], hosts[1::2])):
        (folder / str(n)).mkdir()
        write_warc(folder / str(n) / "part.warc.gz",
                   [c for c in captures if reuse.host_of(c) in some])
        folders.append(folder / str(n))
    return folders


def test_detection_distributes_over_a_split_corpus_and_discovery_does_not(
        tmp_path: Path, crawled: tuple[Path, list[Capture]]) -> None:
    folder, captures = crawled
    labels = write_list(tmp_path / "l.parquet", random_labels(6, captures, Settings()))
    given = Settings(
        discovery=DiscoverySettings(chunk_threshold=6),
        detection=DetectionSettings(labels=(labels,), page_threshold=0.4,
                                    neighbourhood_threshold=0.4))
    whole = run(folder, tmp_path / "whole", given)
    halves = [run(part, tmp_path / f"out{n}", given)
              for n, part in enumerate(split(captures, tmp_path))]
    for name in DETECTION:
        together = [row for half in halves for row in half[name]]
        key = list(together[0])
        assert sorted(together, key=lambda r: [str(r[k]) for k in key]) == sorted(
            whole[name], key=lambda r: [str(r[k]) for k in key]), name
    apart = {row["sha1"] for half in halves for row in half["frequent_chunks"]}
    assert apart < {row["sha1"] for row in whole["frequent_chunks"]}
