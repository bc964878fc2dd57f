"""What transforms say to people who give them something else; labels that are there twice."""

import json
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

import beam_reuse
from beam_reuse import (
    BoilerplateSettings,
    ChunkSettings,
    DetectReuse,
    DiscoverReuse,
    FeatureSettings,
    FindBoilerplate,
    FindContamination,
    FindNearDuplicates,
    FindOverlap,
    FindQuilts,
    ListPages,
    OverlapSettings,
    QuiltSettings,
    ReadPages,
)
from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import SettingError
from beam_reuse.pages.analysis import Analysis

ANALYSES = [DiscoverReuse, FindBoilerplate, FindContamination, FindNearDuplicates, FindOverlap,
            FindQuilts, ListPages]


@pytest.fixture
def crawl(tmp_path: Path) -> str:
    (tmp_path / "a.jsonl").write_text(json.dumps({"url": "http://a.example/", "html": "<p>a b"}))
    return str(tmp_path / "a.jsonl")


def pipeline() -> beam.Pipeline:
    return beam.Pipeline(runner=FnApiRunner())


def test_every_analysis_is_here() -> None:
    offered = {getattr(beam_reuse, name) for name in beam_reuse.__all__}
    assert {each for each in offered if isinstance(each, type) and issubclass(each, Analysis)} == {
        *ANALYSES, DetectReuse}


@pytest.mark.parametrize("analysis", ANALYSES)
def test_what_is_no_pages_is_refused(analysis: Any, crawl: str) -> None:
    def created() -> beam.PCollection:
        return pipeline() | beam.Create([1])

    one = created()
    for given, shown in ((created(), "a PCollection"), ({"pages": created()}, "a dict of 1"),
                         ((one, one), "a tuple of 2"), (pipeline(), "the pipeline")):
        with pytest.raises(UserError, match=f"^{analysis.__name__} takes what ReadPages gives, not "
                                            f"{shown}.*`pages = p | ReadPages"):
            _ = given | analysis()


def test_detection_wants_labels_and_pages(crawl: str) -> None:
    p = pipeline()
    pages = p | ReadPages(crawl)
    labels = p | beam.Create([])
    wrong = (pages, labels, (pages, labels), {"labels": labels}, ({"labels": labels}, pages))
    for number, given in enumerate(wrong):
        with pytest.raises(UserError, match="takes labels and pages, in this order"):
            _ = given | f"Wrong {number}" >> DetectReuse()
    with pytest.raises(UserError, match="takes what ReadPages gives, not a PCollection"):
        _ = (labels, labels) | DetectReuse()


@pytest.mark.parametrize("transform", [
    FindQuilts, FindNearDuplicates, FindBoilerplate, FindContamination, DiscoverReuse, DetectReuse])
def test_settings_of_others_are_refused(transform: Any) -> None:
    with pytest.raises(SettingError, match=f"{transform.__name__} takes \\w+, not OverlapSettings"):
        transform(OverlapSettings())


def test_settings_of_others_are_refused_wherever_they_are_given() -> None:
    for made in (lambda: FindOverlap(QuiltSettings()), lambda: FindOverlap(None, QuiltSettings()),
                 lambda: DiscoverReuse(None, QuiltSettings()), lambda: ReadPages("a", "b"),
                 lambda: ReadPages("a", None, ChunkSettings()),
                 lambda: FindBoilerplate({"pages": 3})):
        with pytest.raises(SettingError, match=r"takes \w+Settings, not"):
            made()
    assert FindOverlap(None, BoilerplateSettings())


def test_pages_read_without_what_is_looked_at_are_refused(crawl: str) -> None:
    chunks = FeatureSettings(ChunkSettings(), text=True, kept=frozenset({"chunks"}))
    without = FeatureSettings(ChunkSettings(), text=False)
    with pytest.raises(UserError, match="FindQuilts looks at links, tokens of pages, which "
                                        "ReadPages was asked to leave out"):
        _ = pipeline() | ReadPages(crawl, features=chunks) | FindQuilts()
    with pytest.raises(UserError, match="FindQuilts looks at the text of pages"):
        _ = pipeline() | ReadPages(crawl, features=without) | FindQuilts()


def test_chunks_cut_by_others_are_refused(crawl: str) -> None:
    text = ChunkSettings(normalise="text")
    p = pipeline()
    pages = p | ReadPages(crawl, features=FeatureSettings(text, text=True))
    with pytest.raises(UserError, match=r"DiscoverReuse was given ChunkSettings.*Give both the"):
        _ = pages | DiscoverReuse()
    assert pages | "By text" >> DiscoverReuse(chunks=text)


def test_the_same_twice_needs_a_label(crawl: str) -> None:
    """As for every transform of Beam, whose message says how."""
    p = pipeline()
    pages = p | ReadPages(crawl)
    first = pages | FindQuilts()
    with pytest.raises(RuntimeError, match=r'FindQuilts.*already exists.*"label" >> transform'):
        _ = pages | FindQuilts(QuiltSettings(min_sources=2))
    second = pages | "Of two sources" >> FindQuilts(QuiltSettings(min_sources=2))
    others = p | "Read others" >> ReadPages(crawl)
    third = others | "Of others" >> FindQuilts()
    assert first.keys() == second.keys() == third.keys()
    assert pages.spill != others.spill
