"""Transforms inside other people's pipelines."""

from dataclasses import fields
from pathlib import Path

import apache_beam as beam
import pytest
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
    rows_of,
)
from beam_reuse.columnar.block import Block, VarBytes
from tests.analyses import overlapping, patchwork
from tests.analyses.near_copies import random_documents, write
from tests.crawls import random_captures, write_warc
from tests.oracles import crawl, reuse
from tests.oracles.near_duplicates import NearDuplicates
from tests.oracles.overlap import Overlap
from tests.oracles.quilts import Quilts


def test_discovery_and_detection_compose(tmp_path: Path) -> None:
    """Only paths are given: the rest has defaults that work."""
    captures = write_warc(tmp_path / "a.warc.gz", random_captures(7))
    settings = DiscoverySettings(chunk_threshold=3)
    everything = crawl.Settings(discovery=settings)
    captured, _ = crawl.accounting(captures, everything)
    expected = reuse.discovery(captured, everything)
    expected |= reuse.detection(captured, reuse.found_labels(expected), everything)

    def check(blocks):  # type: ignore[no-untyped-def]
        found = {
            sha1.tobytes().hex(): occurrences
            for block in blocks
            for sha1, occurrences in zip(block["sha1"], block["occurrences"].tolist(), strict=True)
        }
        assert found == {row["sha1"]: row["occurrences"] for row in expected["frequent_chunks"]}

    def check_pages(blocks):  # type: ignore[no-untyped-def]
        found = {
            url.decode(): matching
            for block in blocks
            for url, matching in zip(block.strings("url").to_list(),
                                     block.array("matching").tolist(), strict=True)
        }
        assert found == {row["url"]: row["matching"] for row in expected["page_reuse"]}

    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        pages = pipeline | ReadPages([str(tmp_path / "*.warc.gz")])
        found = pages | DiscoverReuse(settings, ChunkSettings())
        detected = (found["labels"], pages) | DetectReuse()
        assert_that(found["frequent_chunks"], check, "Discovered")
        assert_that(detected["page_reuse"], check_pages, "Detected")


def test_near_duplicates_compose(tmp_path: Path) -> None:
    documents = random_documents(3, 60)
    write(tmp_path / "a.jsonl", documents)
    settings = NearDuplicateSettings(c_threshold=375)
    expected = NearDuplicates([document.page() for document in documents], settings).tables()

    def check(blocks):  # type: ignore[no-untyped-def]
        found = {
            (a.decode(), b.decode(), similarity)
            for block in blocks
            for a, b, similarity in zip(
                block.strings("url_a").to_list(), block.strings("url_b").to_list(),
                block.array("c_similarity").tolist(), strict=True)
        }
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

    def check(blocks):  # type: ignore[no-untyped-def]
        found = {
            (a.decode(), b.decode(), shared)
            for block in blocks
            for a, b, shared in zip(
                block.strings("url_a").to_list(), block.strings("url_b").to_list(),
                block.array("shared").tolist(), strict=True)
        }
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

    def check(blocks):  # type: ignore[no-untyped-def]
        found = {
            (url.decode(), patch, sources)
            for block in blocks
            for url, patch, sources in zip(
                block.strings("url").to_list(), block.array("patch_grams").tolist(),
                block.array("sources").tolist(), strict=True)
        }
        assert found and found == {(row["url"], row["patch_grams"], row["sources"])
                                   for row in expected["quilts"]}

    def check_sources(blocks):  # type: ignore[no-untyped-def]
        found = [row for block in blocks for row in rows_of("quilt_sources", block)]
        assert sorted(found, key=lambda row: (row["url"], row["rank"])) == sorted(
            expected["quilt_sources"], key=lambda row: (row["url"], row["rank"]))

    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        found = pipeline | ReadPages([str(tmp_path / "a.jsonl")]) | FindQuilts(settings)
        assert set(found) == {*expected, "counts", "values"}
        assert_that(found["quilts"], check, "Quilts")
        assert_that(found["quilt_sources"], check_sources, "Sources")


def test_rows_of_another_table_are_refused() -> None:
    with pytest.raises(ValueError, match="no block of 'keep': it has no keep, because_of, but url"):
        rows_of("keep", Block({"url": VarBytes.from_list([b"http://a/"])}))


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
