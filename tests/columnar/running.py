"""Run a transform on FnApiRunner, in three bundles a stage, and hand back what it gave."""

from collections.abc import Callable
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from beam_reuse.columnar.block import Block

_RESULTS: dict[str, list[Any]] = {}


def _collect(value: Any, name: str) -> None:
    _RESULTS[name].append(value)


def source(pipeline: beam.Pipeline, blocks: list[Block], label: str = "blocks") -> Any:
    """The blocks as a PCollection that is processed in several bundles."""
    return (
        pipeline
        | f"{label} numbers" >> beam.Create(range(len(blocks)))
        | f"{label} spread" >> beam.Reshuffle()
        | label >> beam.Map(lambda i: blocks[i]).with_output_types(Block)
    )


def run(build: Callable[[beam.Pipeline], Any]) -> Any:
    """Build a pipeline, run it, return its outputs in the shape that `build` returned: a list
    for a PCollection, a dict for a dict or named tuple of them."""
    _RESULTS.clear()
    options = PipelineOptions(direct_running_mode="multi_threading", direct_num_workers=3)
    with beam.Pipeline(runner=FnApiRunner(), options=options) as pipeline:
        built = build(pipeline)
        outputs = built._asdict() if hasattr(built, "_asdict") else built
        for name, values in (outputs if isinstance(outputs, dict) else {"": outputs}).items():
            _RESULTS[name] = []
            values | f"collect {name}" >> beam.Map(_collect, name)
    return dict(_RESULTS) if isinstance(outputs, dict) else _RESULTS[""]
