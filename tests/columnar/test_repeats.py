"""Keys on two rows or more are never lost, whatever the bundles and the bits."""

from pathlib import Path

import apache_beam as beam
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import Counters
from beam_reuse.columnar.repeats import FindRepeats, Repeats, RepeatsCoder
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from tests.columnar.running import run, source

KEYS = st.lists(st.lists(st.integers(0, 30), max_size=8), max_size=6)


def blocks_of(parts: list[list[int]]) -> list[Block]:
    return [Block({"key": np.array(part, np.uint64)}) for part in parts]


@given(KEYS, st.integers(3, 12))
def test_the_same_as_counters_that_end_at_two(parts: list[list[int]], bits: int) -> None:
    """Counted together, or apart and merged, or written and read."""
    blocks, counters = blocks_of(parts), Counters.sized(["key"], bits, 2)
    together, merged = Repeats.sized(["key"], bits), Repeats.sized(["key"], bits)
    for block in blocks:
        counters.add(block)
        together.add(block)
        alone = Repeats.sized(["key"], bits)
        alone.add(block)
        merged.merge(RepeatsCoder().decode(RepeatsCoder().encode(alone)))
    expected = counters.heavy(2).bitmap.tolist()
    assert together.heavy().bitmap.tolist() == merged.heavy().bitmap.tolist() == expected


def test_in_a_pipeline(tmp_path: Path) -> None:
    shuffle = Shuffle(Store("files", str(tmp_path)))
    parts = [[1, 2, 3], [3, 4], [], [5, 5, 6], [2, 7]]

    def build(pipeline: beam.Pipeline) -> beam.PCollection:
        return source(pipeline, blocks_of(parts)) | FindRepeats(shuffle, ["key"], 20)

    (heavy,) = run(build)
    asked = np.arange(10, dtype=np.uint64)
    assert asked[heavy.may_hold(Block({"key": asked}))].tolist() == [2, 3, 5]
