"""Accumulators that travel as references, however large and however many they are."""

from collections.abc import Iterable
from pathlib import Path

import apache_beam as beam
import numpy as np
import pytest

from beam_reuse.columnar import Block, Shuffle, Store
from beam_reuse.columnar.coders import BlockCoder, PiecesCoder
from beam_reuse.columnar.combine import _HELD, MergeValues, _MergePieces, _put_value
from tests.columnar.running import run

ROWS = 5_000  # 40 KB, more than a store keeps in a reference


class _Sum(beam.CombineFn):
    def create_accumulator(self) -> Block:
        return Block({"n": np.zeros(ROWS, np.int64)})

    def merge_accumulators(self, accumulators: Iterable[Block]) -> Block:
        return Block({"n": sum(each.array("n") for each in accumulators)})

    def extract_output(self, held: Block) -> Block:
        return held


def values(count: int) -> list[Block]:
    return [Block({"n": np.random.default_rng(n).integers(0, 1 << 40, ROWS)}) for n in range(count)]


@pytest.mark.parametrize("count", [0, 1, 3 * _HELD + 1])
def test_one_value_of_all(tmp_path: Path, count: int) -> None:
    merge = MergeValues(_Sum(), Block, Shuffle(Store("files", str(tmp_path))))
    made = values(count)

    (found,) = run(lambda pipeline: pipeline | beam.Create(made) | merge)

    expected = sum((each.array("n") for each in made), start=np.zeros(ROWS, np.int64))
    assert found.array("n").tolist() == expected.tolist()


def test_what_beam_holds_is_small(tmp_path: Path) -> None:
    store = Store("files", str(tmp_path))
    merge = _MergePieces(_Sum(), BlockCoder(), store)
    held = merge.create_accumulator()
    for value in values(3 * _HELD):
        held = merge.add_input(held, _put_value(value, BlockCoder(), store))
        assert len(held) < _HELD
        assert all(piece.path for piece in held)
        assert len(PiecesCoder().encode(held)) < 4096
