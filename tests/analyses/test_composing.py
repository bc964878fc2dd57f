"""Transforms inside other people's pipelines."""

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that

import beam_reuse
from beam_reuse import (
    ChunkSettings,
    DetectReuse,
    DiscoverReuse,
    DiscoverySettings,
    FindNearDuplicates,
    FindOverlap,
    FindQuilts,
    NearDuplicateSettings,
    OverlapSettings,
    QuiltSettings,
    ReadPages,
)
from tests.analyses import overlapping, patchwork
from tests.analyses.near_copies import random_documents, write
from tests.crawls import random_captures, write_warc
from tests.oracles import crawl, reuse
from tests.oracles.near_duplicates import NearDuplicates
from tests.oracles.overlap import Overlap
from tests.oracles.quilts import Quilts


def rows_in(batches: Iterable[pa.RecordBatch]) -> list[dict[str, Any]]:
    """All rows, of batches that are not empty."""
    return [row for batch in batches for row in batch.to_pylist()]


def test_discovery_and_detection_compose(tmp_path: Path) -> None:
    """Only paths are given: the rest has defaults that work."""
    captures = write_warc(tmp_path / "a.warc.gz", random_captures(7))
    settings = DiscoverySettings(chunk_threshold=3)
    everything = crawl.Settings(discovery=settings)
    captured, _ = crawl.accounting(captures, everything)
    expected = reuse.discovery(captured, everything)
    expected |= reuse.detection(captured, reuse.found_labels(expected), everything)

    def check(batches):  # type: ignore[no-untyped-def]
        found = {row["sha1"]: row["occurrences"] for row in rows_in(batches)}
        assert found == {row["sha1"]: row["occurrences"] for row in expected["frequent_chunks"]}

    def check_pages(batches):  # type: ignore[no-untyped-def]
        found = {row["url"]: row["matching"] for row in rows_in(batches)}
        assert found == {row["url"]: row["matching"] for row in expected["page_reuse"]}

    def check_matches(batches):  # type: ignore[no-untyped-def]
        names = ("url", "position", "sha1")
        assert sorted(tuple(row[name] for name in names) for row in rows_in(batches)) == sorted(
            tuple(row[name] for name in names) for row in expected["matched_chunks"])

    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        pages = pipeline | ReadPages([str(tmp_path / "*.warc.gz")])
        found = pages | DiscoverReuse(settings, ChunkSettings())
        detected = (found["labels"], pages) | DetectReuse()
        assert_that(found["frequent_chunks"], check, "Discovered")
        assert_that(detected["page_reuse"], check_pages, "Detected")
        assert_that(detected["matched_chunks"], check_matches, "Matched")


def test_near_duplicates_compose(tmp_path: Path) -> None:
    documents = random_documents(3, 60)
    write(tmp_path / "a.jsonl", documents)
    settings = NearDuplicateSettings(c_threshold=375)
    expected = NearDuplicates([document.page() for document in documents], settings).tables()

    def check(batches):  # type: ignore[no-untyped-def]
        found = {(row["url_a"], row["url_b"], row["c_similarity"]) for row in rows_in(batches)}
        assert found == {(row["url_a"], row["url_b"], row["c_similarity"])
                         for row in expected["near_duplicates"]}

    def check_counts(counts):  # type: ignore[no-untyped-def]
        assert sum(n for name, n in counts if name == "no-tokens") == sum(
            not document.page().tokens for document in documents)

    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        found = pipeline | ReadPages([str(tmp_path / "a.jsonl")]) | FindNearDuplicates(settings)
        assert set(found) == {*expected, "counts", "values"}
        assert_that(found["near_duplicates"], check, "Pairs")
        assert_that(found["counts"], check_counts, "Counts")


def test_overlap_composes(tmp_path: Path) -> None:
    documents = overlapping.random_documents(3, 50)
    overlapping.write(tmp_path / "a.jsonl", documents)
    settings = OverlapSettings(("whole", "2-lines"), ("3",), ("3",))
    expected = Overlap([document.page() for document in documents], settings).tables()

    def check(batches):  # type: ignore[no-untyped-def]
        found = {(row["url_a"], row["url_b"], row["shared"]) for row in rows_in(batches)}
        assert found == {(row["url_a"], row["url_b"], row["shared"])
                         for row in expected["page_overlap"]}

    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        found = pipeline | ReadPages([str(tmp_path / "a.jsonl")]) | FindOverlap(settings)
        assert set(found) == {*expected, "counts", "values"}
        assert_that(found["page_overlap"], check, "Pairs")


def test_quilts_compose(tmp_path: Path) -> None:
    """One number stands for a list of one."""
    documents = patchwork.patchworks(5, 60)
    patchwork.write(tmp_path / "a.jsonl", documents)
    settings = QuiltSettings(min_sources=6)
    assert settings == QuiltSettings(min_sources=(6,))
    expected = Quilts([document.page() for document in documents], settings).tables()

    def check(batches):  # type: ignore[no-untyped-def]
        found = {(row["url"], row["patch_grams"], row["sources"]) for row in rows_in(batches)}
        assert found and found == {(row["url"], row["patch_grams"], row["sources"])
                                   for row in expected["quilts"]}

    def check_sources(batches):  # type: ignore[no-untyped-def]
        found = rows_in(batches)
        assert sorted(found, key=lambda row: (row["url"], row["rank"])) == sorted(
            expected["quilt_sources"], key=lambda row: (row["url"], row["rank"]))

    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        found = pipeline | ReadPages([str(tmp_path / "a.jsonl")]) | FindQuilts(settings)
        assert set(found) == {*expected, "counts", "values"}
        assert_that(found["quilts"], check, "Quilts")
        assert_that(found["quilt_sources"], check_sources, "Sources")


def test_the_docs_name_every_setting_and_its_default() -> None:
    text = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
    for settings in (OverlapSettings, QuiltSettings):
        _, _, table = text.partition(f"field of `{settings.__name__}`")
        rows = table.partition("\n\n")[0].splitlines()
        for field in fields(settings):
            (row,) = [row for row in rows if f"`{field.name}`" in row]
            default = str(field.default).replace("'", '"')
            assert default in row, field.name


def test_what_is_offered_exists() -> None:
    for name in beam_reuse._OFFERED:
        assert getattr(beam_reuse, name)
    assert beam_reuse.tables.SCHEMAS
    assert {"tables", *beam_reuse._OFFERED} <= set(dir(beam_reuse))
