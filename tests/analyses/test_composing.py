"""Transforms inside other people's pipelines."""

from pathlib import Path

import apache_beam as beam
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that

import beam_reuse
from beam_reuse import ChunkSettings, DiscoverySettings, FindFrequentChunks, ReadPages
from tests.crawls import random_captures, write_warc
from tests.oracles import crawl


def test_discovery_composes(tmp_path: Path) -> None:
    """Only paths are given: the rest has defaults that work."""
    captures = write_warc(tmp_path / "a.warc.gz", random_captures(7))
    settings = DiscoverySettings(chunk_threshold=3)
    pages, _ = crawl.accounting(captures, crawl.Settings(discovery=settings))
    expected, _ = crawl.frequent_chunks(pages, crawl.Settings(discovery=settings))

    def check(blocks):  # type: ignore[no-untyped-def]
        found = {
            sha1.tobytes().hex(): occurrences
            for block in blocks
            for sha1, occurrences in zip(block["sha1"], block["occurrences"].tolist(), strict=True)
        }
        assert found == {row["sha1"]: row["occurrences"] for row in expected}

    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        pages = pipeline | ReadPages([str(tmp_path / "*.warc.gz")])
        found = pages | FindFrequentChunks(settings, ChunkSettings())
        assert_that(found["frequent_chunks"], check)


def test_what_is_offered_exists() -> None:
    for name in beam_reuse._OFFERED:
        assert getattr(beam_reuse, name)
    assert beam_reuse.tables.SCHEMAS
