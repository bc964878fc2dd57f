"""What the graph of a plan looks like to Beam: no element is pickled, what is shuffled are
references, and whatever can happen at once shares a shuffle."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import apache_beam as beam
import numpy as np
import pytest
from apache_beam import coders
from apache_beam.runners.pipeline_context import PipelineContext
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coders import BlockCoder, PieceCoder
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from beam_reuse.rows import Plan, Rows
from beam_reuse.rows.building import build
from beam_reuse.rows.ranking import rank

GROUP = "beam:transform:group_by_key:v1"
OWN = (coders.VarIntCoder, coders.BytesCoder, coders.StrUtf8Coder, BlockCoder, PieceCoder)
Write = Callable[[Rows], Mapping[str, Any]]


def same(block: Block, *_: Any) -> Block:
    return block


def waits_and_forks(rows: Rows) -> Mapping[str, Any]:
    total = rows.total("a")
    later = rows.map(same, total)
    keys = later.keys("a")
    return {"first": later, "second": rows.only(keys), "third": later.only(keys), "sum": total}


PLANS: dict[str, Write] = {
    "map": lambda rows: {"out": rows.map(same)},
    "group": lambda rows: {"out": rows.group("a", same)},
    "stream": lambda rows: {"out": rows.stream("a", same)},
    "reduce": lambda rows: {"out": rows.reduce("a", {"b": "sum"})},
    "join": lambda rows: {"out": rows.join(rows, "a", same)},
    "top": lambda rows: {"out": rows.top(3, "a", "b")},
    "filter": lambda rows: {"out": rows.only(rows.keys("a"))},
    "repeats": lambda rows: {"out": rows.repeated("a", 8)},
    "values": lambda rows: {"sums": rows.total("a"), "rows": rows.gathered("a")},
    "rank": lambda rows: {"out": rank(rows, "a", same).rows},
    "waits": waits_and_forks,
}


def graph(write: Write, outside: bool = True, put: tuple[str, ...] = ()) -> Any:
    """The graph of a plan whose rows come from outside, or are known."""
    pipeline = beam.Pipeline(runner=FnApiRunner())
    plan = Plan(Shuffle(Store("inline")))
    blocks = [Block({"a": np.arange(3), "b": np.arange(3)})]
    given = plan.pieces(pipeline | beam.Create(blocks)) if outside else plan.rows(blocks)
    ends = write(given)
    rows = {name: each for name, each in ends.items() if isinstance(each, Rows)}
    build(pipeline, plan, rows, {n: each for n, each in ends.items() if n not in rows}, put)
    return pipeline.to_runner_api()


def leaves(coder: coders.Coder) -> Iterator[coders.Coder]:
    """The coders of the values inside pairs and iterables."""
    components = coder._get_component_coders()
    for component in components:
        yield from leaves(component)
    if not components:
        yield coder


def of_kind(proto: Any, urn: str) -> list[Any]:
    return [each for each in proto.components.transforms.values() if each.spec.urn == urn]


@pytest.mark.parametrize("outside", [True, False])
@pytest.mark.parametrize("name", PLANS)
def test_what_is_grouped_are_references_by_number(name: str, outside: bool) -> None:
    proto = graph(PLANS[name], outside)
    context = PipelineContext(proto.components)
    groupings = of_kind(proto, GROUP)
    assert groupings
    for grouping in groupings:
        (collection,) = grouping.inputs.values()
        coder = context.coders.get_by_id(proto.components.pcollections[collection].coder_id)
        assert isinstance(coder.key_coder(), coders.VarIntCoder), grouping.unique_name
        assert coder.value_coder() == PieceCoder(), grouping.unique_name


@pytest.mark.parametrize("put", [(), ("out", "first")])
@pytest.mark.parametrize("name", PLANS)
def test_nothing_is_pickled_but_the_values_that_leave(name: str, put: tuple[str, ...]) -> None:
    """Values that leave are the one PCollection here that nobody reads."""
    proto = graph(PLANS[name], put=put)
    context = PipelineContext(proto.components)
    transforms = proto.components.transforms.values()
    read = {given for each in transforms for given in each.inputs.values()}
    left = {made for each in transforms if "Create" in each.unique_name
            for made in each.outputs.values()}
    checked = {name: each for name, each in proto.components.pcollections.items()
               if name in read - left}
    assert len(checked) > 2
    for each in checked.values():
        for leaf in leaves(context.coders.get_by_id(each.coder_id)):
            assert isinstance(leaf, OWN), (each.unique_name, leaf)


def test_independent_groupings_share_one_shuffle() -> None:
    def many(rows: Rows) -> Mapping[str, Any]:
        return {f"group {n}": rows.group("a", same, n) for n in range(20)} | {
            f"sum {n}": rows.reduce("a", {"b": "sum"}) for n in range(20)} | {
            f"join {n}": rows.join(rows.map(same), "a", same) for n in range(5)}

    one = graph(lambda rows: {"out": rows.group("a", same)})
    forty_five = graph(many)
    # The given rows are grouped once, to spread them, and once by key.
    assert len(of_kind(one, GROUP)) == len(of_kind(forty_five, GROUP)) == 2


def test_values_of_a_round_share_one_shuffle() -> None:
    proto = graph(lambda rows: {f"sum {n}": rows.map(same).total("a") for n in range(20)})
    assert len(of_kind(proto, GROUP)) == 2
