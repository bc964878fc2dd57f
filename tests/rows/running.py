"""Write a plan, run it on FnApiRunner in three bundles a stage, and hand back what it gave."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Piece, Store
from beam_reuse.rows import Plan, Rows
from beam_reuse.rows.building import build
from beam_reuse.rows.steps import Round

SOURCES = ("known", "blocks", "references")
# A pipeline takes a good part of a second: few examples, and none spent on shrinking.
beam_examples = settings(
    max_examples=10,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
_COLLECTED: dict[str, list[Any]] = {}


@dataclass(frozen=True)
class Found:
    """What a run gave: `rows` by name, lists of blocks; `counts` summed, without what is measured,
    which depends on how rows travel; `values` by name."""

    rows: Mapping[str, list[Block]]
    counts: Mapping[str, int]
    values: Mapping[str, Any]
    rounds: Sequence[Round]


@dataclass(frozen=True)
class TestPlan(Plan):
    """A plan that knows the pipeline it is for, so that rows may come from outside, too."""

    __test__ = False
    pipeline: beam.Pipeline

    def given(self, blocks: Sequence[Block], how: str = "known", name: str = "given") -> Rows:
        """The same rows from any kind of source."""
        if how == "known":
            return self.rows(blocks, name)
        made = Piece.holding if how == "references" else _same
        numbers = self.pipeline | f"{name} numbers" >> beam.Create(range(len(blocks)))
        return self.pieces(
            numbers | f"{name} spread" >> beam.Reshuffle()
            | f"{name} blocks" >> beam.Map(lambda number: made(blocks[number])), name)


def _same(block: Block) -> Block:
    return block


def _collect(value: Any, name: str) -> None:
    _COLLECTED[name].append(value)


@st.composite
def shuffles(draw: Any) -> dict[str, Any]:
    """Settings of a shuffle, without its folder; tiny budgets force flushes and sorted runs."""
    return {
        "kind": draw(st.sampled_from(["files", "inline"])),
        "buckets": draw(st.integers(1, 20)),
        "flush_bytes": draw(st.sampled_from([1, 3000, 1 << 20])),
        "bucket_budget": draw(st.sampled_from([1, 2000, 1 << 20])),
        "compress": draw(st.none() | st.booleans()),
    }


def made(options: Mapping[str, Any], folder: str) -> Shuffle:
    """The shuffle of these settings; `folder` is for a store of files."""
    others = dict(options)
    return Shuffle(Store(others.pop("kind"), folder), **others)


def run(
    shuffle: Shuffle, write: Callable[[TestPlan], Mapping[str, Any]], put: Collection[str] = (),
) -> Found:
    """Run the graph of the Rows and Values that `write(plan)` names; those `put` away come as
    references."""
    _COLLECTED.clear()
    options = PipelineOptions(direct_running_mode="multi_threading", direct_num_workers=3)
    with beam.Pipeline(runner=FnApiRunner(), options=options) as pipeline:
        plan = TestPlan(shuffle, pipeline)
        ends = write(plan)
        rows = {name: each for name, each in ends.items() if isinstance(each, Rows)}
        values = {name: each for name, each in ends.items() if name not in rows}
        built = build(pipeline, plan, rows, values, put)
        collected = {**{f"rows {name}": each for name, each in built.rows.items()},
                     "counts": built.counts, "values": built.values}
        for name, each in collected.items():
            _COLLECTED[name] = []
            each | f"collect {name}" >> beam.Map(_collect, name)
    counts: dict[str, int] = {}
    for name, number in _COLLECTED["counts"]:
        if not name.startswith("measured/"):
            counts[name] = counts.get(name, 0) + number
    return Found({name: _COLLECTED[f"rows {name}"] for name in rows}, counts,
                 dict(_COLLECTED["values"]), built.rounds)
