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
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from beam_reuse.rows import Plan
from beam_reuse.rows.building import build

ROWS, STEP = int(sys.argv[3]), 50_000

def rows(starts):
    for start in starts.array("start").tolist():
        page = np.arange(start, start + STEP, dtype=np.uint64)[::-1]
        yield Block({"sha1": np.frombuffer(b"x" * 20 * STEP, "V20"), "page": page, "n": page})

def seen(block, starts=None, sizes=None):
    size = int(block.array("n").sum()) if sizes is None else sizes.tolist()
    print("RESULT", len(block), size, block.array("page").tolist()[:20], flush=True)

shuffle = Shuffle(Store("files", sys.argv[2]), flush_bytes=4 << 20, bucket_budget=16 << 20)
plan = Plan(shuffle)
pages = plan.rows([Block({"start": np.arange(0, ROWS, STEP)})]).map(rows)
if sys.argv[1] == "reduce":
    found = pages.reduce("sha1", {"n": "sum", "page": "min"}).map(seen)
else:
    found = pages.group("sha1", seen, order="page", limit=10)
with beam.Pipeline(runner=FnApiRunner()) as pipeline:
    build(pipeline, plan, {"found": found})
print("PEAK", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.parametrize(
    "verb, expected",
    [
        ("reduce", f"RESULT 1 {ROWS * (ROWS - 1) // 2} [0]"),
        ("group", f"RESULT 10 [{ROWS}] {list(range(10))}"),
    ],
)
def test_one_key_in_five_million_rows(tmp_path, verb, expected):
    run(tmp_path, verb, FEW)  # compiles kernels, which takes memory too
    few, lines = run(tmp_path, verb, FEW), run(tmp_path, verb, ROWS)
    assert expected in lines
    assert peak_of(lines) <= peak_of(few) + MORE_MB


def peak_of(lines):
    return int(lines[-1].removeprefix("PEAK "))


def run(folder, verb, rows):
    """What the program prints, line by line."""
    program = folder / "hot_key.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program), verb, str(folder / "spill"), str(rows)],
        capture_output=True, text=True, timeout=600, check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
