"""Several PCollections are treated as one wherever blocks are grouped, reduced, joined, folded."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from beam_reuse.columnar import (
    Block,
    BuildKeyFilter,
    GroupRows,
    JoinRows,
    ReduceRows,
    Shuffle,
    Store,
    SumColumns,
)
from beam_reuse.columnar.matching import match_ranges
from beam_reuse.columnar.shuffle import Buffer
from beam_reuse.kernels.union_find import components
from tests.columnar.running import run, source

LEFT, RIGHT = [1, 2, 2, 3], [2, 3, 3, 3, 4]


def rows(keys: list[int]) -> list[Block]:
    return [Block({"key": np.array([key], np.int64), "one": np.ones(1, np.int64)})
            for key in keys]


@pytest.fixture
def shuffle(tmp_path: Path) -> Shuffle:
    return Shuffle(Store("files", str(tmp_path)), buckets=3)


def pairs(blocks: list[Block], column: str) -> dict[int, int]:
    return {key: n for block in blocks for key, n in zip(
        block.array("key").tolist(), block.array(column).tolist(), strict=True)}


def sizes(block: Block, starts: np.ndarray, found: np.ndarray) -> Block:
    return Block({"key": block.array("key")[starts], "rows": found})


def matches(left: Block | None, right: Block | None) -> Block | None:
    if left is None or right is None:
        return None
    low, high = match_ranges(left, right, ("key",))
    return Block({"key": left.array("key"), "rows": high - low})


def test_grouped_reduced_joined_and_folded(shuffle: Shuffle) -> None:
    def build(pipeline):  # type: ignore[no-untyped-def]
        both = source(pipeline, rows(LEFT), "left"), source(pipeline, rows(RIGHT), "right")
        asked = source(pipeline, rows([2, 9]), "asked")
        return {
            "reduced": both | ReduceRows(shuffle, ("key",), {"one": "sum"}),
            "grouped": both | GroupRows(shuffle, ("key",), sizes),
            "joined": {"left": asked, "right": both} | JoinRows(shuffle, ("key",), matches),
            "summed": both | SumColumns(("one",)),
            "filter": both | BuildKeyFilter(shuffle, ("key",)),
        }

    found = run(build)
    expected = Counter(LEFT + RIGHT)
    assert pairs(found["reduced"], "one") == expected
    assert pairs(found["grouped"], "rows") == expected
    assert pairs(found["joined"], "rows") == {2: expected[2], 9: 0}
    assert found["summed"] == [{"one": len(LEFT + RIGHT)}]
    (holds,) = found["filter"]
    assert holds.may_hold(Block({"key": np.array(LEFT + RIGHT)})).all()


def test_arrays_that_kernels_made_can_be_held() -> None:
    edges = np.array([0, 1])
    buffer = Buffer(10)
    assert buffer.add(Block({"root": components(100, edges, edges[::-1].copy())[:50]}))
    assert len(buffer.drain()[0]) == 50
