"""What the graph of each transform looks like to Beam: no element is pickled, and bulk rows
are materialised as references only."""

from collections.abc import Iterator

import apache_beam as beam
import pytest
from apache_beam import coders
from apache_beam.portability.api import beam_runner_api_pb2
from apache_beam.runners.pipeline_context import PipelineContext
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import CoarseCount
from beam_reuse.columnar.coders import BlockCoder, OwnCoder, PieceCoder, PiecesCoder
from beam_reuse.columnar.filters import BuildKeyFilter, keep_matching
from beam_reuse.columnar.group import GroupRows, ProcessBuckets
from beam_reuse.columnar.join import JoinRows
from beam_reuse.columnar.rank import RankRows
from beam_reuse.columnar.reduce import CountKeys, DistinctCount, ReduceRows
from beam_reuse.columnar.repeats import FindRepeats
from beam_reuse.columnar.shuffle import Fetch, MapBlocks, PutAway, Shuffle
from beam_reuse.columnar.store import Store
from beam_reuse.columnar.sums import SumColumns

SHUFFLE = Shuffle(Store("inline"))
GROUPINGS = ("beam:transform:group_by_key:v1", "beam:transform:combine_per_key:v1")
STANDARD = (coders.VarIntCoder, coders.BytesCoder, coders.StrUtf8Coder, OwnCoder)


def _same(value, *_):
    return value


def _join(blocks):
    return {"left": blocks, "right": blocks} | JoinRows(SHUFFLE, ["a"], _same)


def _filtered(blocks):
    built = beam.pvalue.AsSingleton(blocks | BuildKeyFilter(SHUFFLE, ["a"]))
    kept = blocks | PutAway(SHUFFLE) | Fetch(SHUFFLE, built) | MapBlocks(keep_matching, built)
    return kept | CountKeys(SHUFFLE, ["a"])


TRANSFORMS = {
    "group": lambda b: b | GroupRows(SHUFFLE, ["a"], _same),
    "process": lambda b: b | ProcessBuckets(SHUFFLE, ["a"], _same),
    "reduce": lambda b: b | ReduceRows(SHUFFLE, ["a"], {"b": "sum"}),
    "distinct": lambda b: b | DistinctCount(SHUFFLE, ["a"], "b"),
    "join": _join,
    "filter": _filtered,
    "coarse": lambda b: b | CoarseCount(SHUFFLE, ["a"], 8, 3),
    "repeats": lambda b: b | FindRepeats(SHUFFLE, ["a"], 8),
    "sums": lambda b: b | SumColumns(["a"]),
    "rank": lambda b: b | RankRows(SHUFFLE, "a"),
}


def graph(build):
    pipeline = beam.Pipeline(runner=FnApiRunner())
    build(pipeline | beam.Create([Block({})]))
    return pipeline.to_runner_api()


def leaves(coder: coders.Coder) -> Iterator[coders.Coder]:
    """The coders of the values inside pairs and iterables."""
    components = coder._get_component_coders()
    for component in components:
        yield from leaves(component)
    if not components:
        yield coder


def grouped(build) -> Iterator[tuple[str, coders.Coder, coders.Coder]]:
    """(transform, key coder, value coder) of all that is grouped or combined."""
    proto = graph(build)
    context = PipelineContext(proto.components)
    for transform in proto.components.transforms.values():
        if transform.spec.urn in GROUPINGS:
            for collection in transform.inputs.values():
                coder_id = proto.components.pcollections[collection].coder_id
                pair = context.coders.get_by_id(coder_id)
                yield transform.unique_name, pair.key_coder(), pair.value_coder()
        if transform.spec.urn == GROUPINGS[1]:
            payload = beam_runner_api_pb2.CombinePayload.FromString(transform.spec.payload)
            coder = context.coders.get_by_id(payload.accumulator_coder_id)
            yield transform.unique_name, coders.VarIntCoder(), coder


@pytest.mark.parametrize("name", TRANSFORMS)
def test_nothing_that_is_grouped_is_pickled(name):
    """Keys are buckets, or the None under which Beam combines all."""
    seen = list(grouped(TRANSFORMS[name]))
    assert seen
    for transform, key, value in seen:
        assert isinstance(key, coders.VarIntCoder) or "/CombinePerKey" in transform
        for coder in leaves(value):
            assert isinstance(coder, STANDARD), (transform, coder)


@pytest.mark.parametrize("name", ["group", "process", "reduce", "distinct", "join"])
def test_what_is_shuffled_are_references(name):
    for transform, _, value in grouped(TRANSFORMS[name]):
        inner = list(leaves(value))
        assert BlockCoder() not in inner, transform
        assert {PieceCoder(), PiecesCoder()} & set(inner), transform
