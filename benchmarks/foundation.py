"""`index` against a plain loop: CPU, wall time by workers, memory, growth. Prints ratios.

usage: foundation.py [--repeat N] WARC...

Growth compares one index of all files with eight indexes of an eighth each: the same pages, so
that only the amount differs. Half of the eighths run before the whole and half after it.

The machine's neighbours make it faster and slower over minutes, so a fixed piece of work (the
plain loop over the smallest file) runs between any two measurements, and CPU is also compared
in units of it ("by pace"). Absolute times are shown only to judge the noise.
"""

import argparse
import itertools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
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


class Paced:
    """Measurements with a fixed piece of work between them."""

    def __init__(self, smallest: str) -> None:
        self._work = [*PLAIN, "same", smallest]
        self.paces = [run(self._work).cpu]
        self.costs: list[Cost] = []

    def measure(self, name: str, cost: Callable[[], Cost]) -> int:
        """The number of the measurement, for `by_pace`."""
        self.costs.append(cost())
        self.paces.append(run(self._work).cpu)
        show(f"{name}  [pace {self.paces[-1]:.1f}]", self.costs[-1])
        return len(self.costs) - 1

    def by_pace(self, number: int, start: float = 0) -> float:
        """CPU of a measurement less `start`, in units of the work before and after it."""
        around = statistics.mean(self.paces[number : number + 2])
        return (self.costs[number].cpu - start) / around


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("warcs", nargs="+")
    parser.add_argument("--repeat", type=int, default=1)
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="beam-reuse-benchmark-")
    tiny = os.path.join(folder, "tiny.html")
    Path(tiny).write_text("<p>nothing")
    print(f"{len(args.warcs)} files, {megabytes(args.warcs):.0f} MB of pages")
    rounds = [one_round(args.warcs, tiny) for _ in range(args.repeat)]
    shutil.rmtree(folder)
    for name in rounds[0]:
        values = sorted(ratios[name] for ratios in rounds)
        spread = "  (" + ", ".join(f"{value:.2f}" for value in values) + ")"
        print(f"{statistics.median(values):6.2f}  {name}{spread if len(values) > 1 else ''}")


def one_round(warcs: list[str], tiny: str) -> dict[str, float]:
    """Every ratio, measured once."""
    eighths = [part for part in (warcs[i::8] for i in range(8)) if part]
    work = Paced(min(warcs, key=os.path.getsize))
    start = {n: work.costs[work.measure(f"start-up, {n} workers", lambda n=n: index([tiny], n))].cpu
             for n in (1, 2)}
    plain, usual = (work.measure(f"plain loop, {way}", lambda way=way: run([*PLAIN, way, *warcs]))
                    for way in ("same", "usual"))
    measured_parts = (work.measure(f"index of eighth {i}", lambda part=part: index(part, 1))
                      for i, part in enumerate(eighths))
    parts = list(itertools.islice(measured_parts, len(eighths) // 2))
    one = work.measure("index, 1 worker", lambda: index(warcs, 1))
    parts += measured_parts
    two = work.measure("index, 2 workers", lambda: index(warcs, 2))
    cpu = {n: work.costs[number].cpu - start[n] for n, number in ((1, one), (2, two))}
    return {
        "CPU of index / plain loop, 1 worker, start-up aside": cpu[1] / work.costs[plain].cpu,
        "CPU of index / plain loop, 2 workers, start-up aside": cpu[2] / work.costs[plain].cpu,
        "CPU of index / usual libraries, 2 workers": cpu[2] / work.costs[usual].cpu,
        "wall of 2 workers / 1 worker": work.costs[two].wall / work.costs[one].wall,
        "CPU of one index of all / eight of an eighth, start-up aside":
            cpu[1] / sum(work.costs[number].cpu - start[1] for number in parts),
        "the same by pace": work.by_pace(one, start[1])
            / sum(work.by_pace(number, start[1]) for number in parts),
        "peak memory of 2 workers, GB": work.costs[two].memory / 1e9,
    }


if __name__ == "__main__":
    main()
