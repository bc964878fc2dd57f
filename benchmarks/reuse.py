"""Discovery and detection against a plain loop that only reads, cuts and hashes. Prints ratios.

usage: reuse.py [--repeat N] WARC...

`run` is discovery and detection with default settings, from crawl files and from an index of
them, by one worker. Growth compares one run of all files with eight of an eighth each, as in
foundation.py, and a fixed piece of work between any two measurements shows the machine's pace.
"""

import argparse
import itertools
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from foundation import PLAIN, Paced, megabytes
from measure import Cost, run


def beam_reuse(command: str, inputs: list[str], folder: str) -> Cost:
    """The cost of a command from a cold start to a published folder."""
    asked = ["--analyses", "discovery,detection"] if command == "run" else []
    return run([sys.executable, "-m", "beam_reuse", command, *inputs, "-o",
                os.path.join(folder, command), "--workers", "1", "--overwrite", *asked])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("warcs", nargs="+")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--without-growth", action="store_true")
    args = parser.parse_args()
    print(f"{len(args.warcs)} files, {megabytes(args.warcs):.0f} MB of pages", flush=True)
    rounds = [one_round(args.warcs, not args.without_growth) for _ in range(args.repeat)]
    for name in rounds[0]:
        values = sorted(ratios[name] for ratios in rounds)
        spread = "  (" + ", ".join(f"{value:.2f}" for value in values) + ")"
        print(f"{statistics.median(values):6.2f}  {name}{spread if len(values) > 1 else ''}")


def one_round(warcs: list[str], growth: bool) -> dict[str, float]:
    """Every ratio, measured once."""
    folder = tempfile.mkdtemp(prefix="beam-reuse-benchmark-", dir=os.environ.get("TMPDIR"))
    tiny = os.path.join(folder, "tiny.html")
    Path(tiny).write_text("<p>nothing")
    eighths = [part for part in (warcs[i::8] for i in range(8)) if part] if growth else []
    work = Paced(min(warcs, key=os.path.getsize))
    start = work.costs[work.measure("start-up", lambda: beam_reuse("run", [tiny], folder))].cpu
    plain = work.measure("plain loop, chunks", lambda: run([*PLAIN, "chunks", *warcs]))
    parts = (work.measure(f"run of eighth {i}", lambda part=part: beam_reuse("run", part, folder))
             for i, part in enumerate(eighths))
    measured = list(itertools.islice(parts, len(eighths) // 2))
    whole = work.measure("run, from crawl files", lambda: beam_reuse("run", warcs, folder))
    measured += parts
    work.measure("index", lambda: beam_reuse("index", warcs, folder))
    index = os.path.join(folder, "index")
    again = work.measure("run, from the index", lambda: beam_reuse("run", [index], folder))
    shutil.rmtree(folder)
    cost = work.costs
    ratios = {
        "CPU of run / plain loop": cost[whole].cpu / cost[plain].cpu,
        "CPU of run / plain loop, start-up aside": (cost[whole].cpu - start) / cost[plain].cpu,
        "CPU of run from the index / from crawl files": cost[again].cpu / cost[whole].cpu,
        "the same, start-up aside": (cost[again].cpu - start) / (cost[whole].cpu - start),
        "peak memory of run, GB": cost[whole].memory / 1e9,
    }
    if growth:
        ratios["CPU of one run of all / eight of an eighth, start-up aside, by pace"] = (
            work.by_pace(whole, start) / sum(work.by_pace(n, start) for n in measured))
    return ratios


if __name__ == "__main__":
    main()
