"""Types that Beam's checker sees: no step gives Any, and elements are what their types say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam import coders
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.pipeline import PipelineVisitor
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.typehints.decorators import TypeCheckError

from beam_reuse import (
    AsRows,
    DecontaminateSettings,
    DetectReuse,
    DiscoverReuse,
    DiscoverySettings,
    FindBoilerplate,
    FindContamination,
    FindNearDuplicates,
    FindOverlap,
    FindQuilts,
    ListPages,
    ReadLabels,
    ReadPages,
)
from beam_reuse.columnar.coders import BatchCoder, BlockCoder, PieceCoder
from tests.example_crawl import write_examples
from tests.rows.test_graph import leaves

OWN = (coders.VarIntCoder, coders.BytesCoder, coders.StrUtf8Coder, coders.RowCoder, BatchCoder,
       BlockCoder, PieceCoder)


class Given(PipelineVisitor):
    """All PCollections, by the label of the step that gives them."""

    def __init__(self) -> None:
        self.found: dict[str, beam.PCollection] = {}

    def visit_transform(self, node: Any) -> None:
        self.found |= {f"{node.full_label} {tag}": each for tag, each in node.outputs.items()
                       if isinstance(each, beam.PCollection)}

    def enter_composite_transform(self, node: Any) -> None:
        self.visit_transform(node)


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[beam.Pipeline]:
    monkeypatch.chdir(tmp_path)
    write_examples(tmp_path)
    yield beam.Pipeline(
        runner=FnApiRunner(), options=PipelineOptions(["--runtime_type_check"]))


def test_no_step_gives_any(pipeline: beam.Pipeline) -> None:
    pages = pipeline | ReadPages("crawl/*.jsonl")
    found = pages | DiscoverReuse()
    _ = (found["labels"], pages) | DetectReuse()
    _ = ((pipeline | ReadLabels(["labels.txt"])), pages) | "Of lists" >> DetectReuse()
    for analysis in (FindNearDuplicates(), FindOverlap(), FindQuilts(), FindBoilerplate(),
                     FindContamination(DecontaminateSettings(against=("items.jsonl",))),
                     ListPages()):
        for name, each in (pages | analysis).items():
            if name not in ("counts", "values"):
                _ = each | f"Rows of {name}" >> AsRows(name)
    given = Given()
    pipeline.visit(given)
    assert len(given.found) > 300
    for label, each in given.found.items():
        if "ReshufflePerKey" in label:  # what Beam makes of elements to reshuffle them
            continue
        assert each.element_type is not None and "Any" not in str(each.element_type), label
        if "values" not in label:  # numbers of any kind, of which there are few
            coder = coders.registry.get_coder(each.element_type)
            for leaf in leaves(coder):
                assert isinstance(leaf, OWN), (label, leaf)
            assert coder.is_deterministic(), label


def test_elements_are_what_their_types_say(pipeline: beam.Pipeline) -> None:
    """Beam looks at each while it runs."""
    with pipeline:
        pages = pipeline | ReadPages("crawl/*.jsonl")
        found = pages | DiscoverReuse(DiscoverySettings(chunk_threshold=5))
        detected = (found["labels"], pages) | DetectReuse()
        rows = detected | AsRows("matched_chunks") | beam.Map(lambda row: row.url)
        assert_that(rows, equal_to([f"http://shop.example/{n}" for n in range(6)]))
        assert_that(detected["values"] | beam.Keys(), equal_to(["page", "neighbourhood"]), "Names")


def test_beam_refuses_what_takes_something_else(pipeline: beam.Pipeline) -> None:
    def length(text: str) -> int:
        return len(text)

    found = pipeline | ReadPages("crawl/*.jsonl") | FindQuilts()
    with pytest.raises(TypeCheckError, match=r"(?s)str.*RecordBatch"):
        _ = found["quilts"] | beam.Map(length)
    with pytest.raises(TypeCheckError, match=r"(?s)str.*Row\("):
        _ = found | AsRows("quilts") | "Of rows" >> beam.Map(length)
    with pytest.raises(TypeCheckError, match=r"(?s)RecordBatch.*str"):
        _ = pipeline | beam.Create(["a"]) | AsRows("keep")
