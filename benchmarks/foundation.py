"""`index` against a plain loop: CPU, wall time by workers, memory, growth. Prints ratios.

usage: foundation.py [--repeat N] WARC...

Growth compares one index of all files with eight indexes of an eighth each: the same pages, so
that only the amount differs. Ratios come from one run on one machine; absolute times are shown
only to judge the noise.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Cost, run

HERE = Path(__file__).parent
PLAIN = [sys.executable, str(HERE / "plain_loop.py")]


def index(paths: list[str], workers: int) -> Cost:
    """The cost of an index run from a cold start to a published folder."""
    folder = tempfile.mkdtemp(prefix="beam-reuse-benchmark-", dir=os.environ.get("TMPDIR"))
    try:
        return run([sys.executable, "-m", "beam_reuse", "index", *paths, "-o",
                    os.path.join(folder, "index"), "--workers", str(workers)])
    finally:
        shutil.rmtree(folder)


def megabytes(paths: list[str]) -> float:
    """MB of payload in the pages of the files."""
    out = subprocess.run([*PLAIN, "same", *paths], capture_output=True, text=True, check=True)
    return int(out.stdout) / 1e6


def show(name: str, cost: Cost) -> None:
    print(f"  {name:<28} wall {cost.wall:7.1f} s   CPU {cost.cpu:7.1f} s   "
          f"memory {cost.memory / 1e6:6.0f} MB (RSS {cost.resident / 1e6:.0f} MB)", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("warcs", nargs="+")
    parser.add_argument("--repeat", type=int, default=1)
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="beam-reuse-benchmark-")
    tiny = os.path.join(folder, "tiny.html")
    Path(tiny).write_text("<p>nothing")
    eighths = [part for part in (args.warcs[i::8] for i in range(8)) if part]
    print(f"{len(args.warcs)} files, {megabytes(args.warcs):.0f} MB of pages")
    ratios: dict[str, list[float]] = {}
    for _ in range(args.repeat):
        start = {workers: index([tiny], workers) for workers in (1, 2)}
        plain, usual = run([*PLAIN, "same", *args.warcs]), run([*PLAIN, "usual", *args.warcs])
        one, two = index(args.warcs, 1), index(args.warcs, 2)
        parts = [index(part, 1) for part in eighths]
        for name, cost in (
            ("start-up (one tiny page)", start[1]), ("plain loop, same functions", plain),
            ("plain loop, usual libraries", usual), ("index, 1 worker", one),
            ("index, 2 workers", two), *((f"index of eighth {i}", c) for i, c in enumerate(parts)),
        ):
            show(name, cost)
        spent = {1: one.cpu - start[1].cpu, 2: two.cpu - start[2].cpu}
        apart = sum(cost.cpu - start[1].cpu for cost in parts)
        for name, ratio in (
            ("CPU of index / plain loop, 1 worker, start-up aside", spent[1] / plain.cpu),
            ("CPU of index / plain loop, 2 workers, start-up aside", spent[2] / plain.cpu),
            ("CPU of index / usual libraries, 2 workers", spent[2] / usual.cpu),
            ("wall of 2 workers / 1 worker", two.wall / one.wall),
            ("CPU of one index of all / eight of an eighth, start-up aside", spent[1] / apart),
            ("peak memory of 2 workers, GB", two.memory / 1e9),
        ):
            ratios.setdefault(name, []).append(ratio)
    shutil.rmtree(folder)
    for name, values in ratios.items():
        spread = f"  ({min(values):.2f} to {max(values):.2f})" if len(values) > 1 else ""
        print(f"{statistics.median(values):6.2f}  {name}{spread}")


if __name__ == "__main__":
    main()
