"""One key in five million rows, in bounded memory."""

import subprocess
import sys

import pytest

ROWS = 5_000_000
FEW = 100_000
# What five million rows may take beyond a few: all at once would be 180 MB, and the sort of them
# as much again.
MORE_MB = 130

PROGRAM = """
import resource, sys
import apache_beam as beam
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
import numpy as np
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.group import GroupRows
from beam_reuse.columnar.reduce import ReduceRows
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store

ROWS, STEP = int(sys.argv[3]), 50_000

def rows(start):
    page = np.arange(start, start + STEP, dtype=np.uint64)[::-1]
    return Block({"sha1": np.frombuffer(b"x" * 20 * STEP, "V20"), "page": page, "n": page})

def told(block, starts=None, sizes=None):
    size = int(block.array("n").sum()) if sizes is None else sizes.tolist()
    print("RESULT", len(block), size, block.array("page").tolist()[:20], flush=True)

shuffle = Shuffle(Store("files", sys.argv[2]), flush_bytes=4 << 20, bucket_budget=16 << 20)
with beam.Pipeline(runner=FnApiRunner()) as p:
    blocks = p | beam.Create(range(0, ROWS, STEP)) | beam.Map(rows).with_output_types(Block)
    if sys.argv[1] == "reduce":
        reduced = blocks | ReduceRows(shuffle, ["sha1"], {"n": "sum", "page": "min"})
        reduced | beam.Map(told)
    else:
        blocks | GroupRows(shuffle, ["sha1"], told, order=["page"], limit=10)
print("PEAK", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.parametrize(
    "transform, expected",
    [
        ("reduce", f"RESULT 1 {ROWS * (ROWS - 1) // 2} [0]"),
        ("group", f"RESULT 10 [{ROWS}] {list(range(10))}"),
    ],
)
def test_one_key_in_five_million_rows(tmp_path, transform, expected):
    run(tmp_path, transform, FEW)  # compiles kernels, which takes memory too
    few, lines = run(tmp_path, transform, FEW), run(tmp_path, transform, ROWS)
    assert expected in lines
    assert peak_of(lines) <= peak_of(few) + MORE_MB


def peak_of(lines):
    return int(lines[-1].removeprefix("PEAK "))


def run(folder, transform, rows):
    """What the program prints, line by line."""
    program = folder / "hot_key.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program), transform, str(folder / "spill"), str(rows)],
        capture_output=True, text=True, timeout=600, check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
