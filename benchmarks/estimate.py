"""What `estimate` says, against runs: of a crawl, of its halves and of its quarters.

    python benchmarks/estimate.py CRAWL... [--parts 4,2,1] [--only 0] [--workers 2]

Of so many parts (every fourth file, every second, all) each is estimated and then run. Truth: pages
and rows and bytes of each grouping by `run.json`, CPU and memory of all processes, disk as it was
seen once a second.
"""

import argparse
import json
import os
import sys
import tempfile
import threading
from pathlib import Path

from measure import run

from beam_reuse.cli.estimate import SAMPLE, estimated
from beam_reuse.declaring.settings import Settings
from beam_reuse.estimates.scaling import Estimate, Range
from beam_reuse.plan import RunPlan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crawl", nargs="+")
    parser.add_argument("--parts", default="4,2,1")
    parser.add_argument("--only", type=int, default=None)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    for parts in map(int, args.parts.split(",")):
        for number in range(parts) if args.only is None else [args.only]:
            compare(f"part {number + 1} of {parts}", args.crawl[number::parts], args.workers)


def compare(name: str, files: list[str], workers: int) -> None:
    with tempfile.TemporaryDirectory(prefix="beam-reuse-benchmark-") as folder:
        plan = RunPlan("run", tuple(files), folder, Settings(), workers=workers)
        told = estimated(plan, SAMPLE)
        out = Path(folder) / "out"
        disk = Disk(out)
        cost = run([sys.executable, "-m", "beam_reuse", "run", *files, "-o", str(out), "--workers",
                    str(workers)])
        most = disk.stop()
        info = json.loads((out / "run.json").read_text())
        pages = json.loads((out / "manifest.json").read_text())["accounting"]["pages"]
    show(name, "pages", pages, told.pages)
    show(name, "CPU, s", cost.cpu, told.cpu)
    show(name, "disk, MB", most / 1e6, told.disk.times(1e-6))
    whole = Range(*(getattr(told.runner, each) + workers * getattr(told.memory, each)
                    for each in ("low", "likely", "high")))
    show(name, "memory in all, MB", cost.memory / 1e6, whole.times(1e-6))
    groupings(name, told, info["measured"])


def groupings(name: str, told: Estimate, measured: dict[str, int]) -> None:
    """How many groupings are within their spread, by number and by bytes."""
    within = {"rows": 0, "bytes": 0, "pieces": 0}
    size = hit = 0
    for each in told.groupings:
        for what in within:
            within[what] += getattr(each, what).holds(measured.get(f"{what}/{each.name}", 0))
        true = measured.get(f"bytes/{each.name}", 0)
        size, hit = size + true, hit + (true if each.bytes.holds(true) else 0)
    total = sum(value for key, value in measured.items() if key.startswith("bytes/"))
    show(name, "shuffled, MB", total / 1e6, told.shuffled.times(1e-6))
    print(f"| {name} | groupings within: rows {within['rows']}, bytes {within['bytes']}, pieces "
          f"{within['pieces']} of {len(told.groupings)}; they have {hit / max(size, 1):.0%} of the "
          "bytes | | | |", flush=True)


def show(name: str, what: str, truth: float, told: Range) -> None:
    print(f"| {name} | {what} | {truth:,.0f} | {told.likely:,.0f} ({told.low:,.0f} to "
          f"{told.high:,.0f}) | {'yes' if told.holds(truth) else 'NO'} |", flush=True)


class Disk:
    """Watches how many bytes are in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._most, self._done = folder, 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        self._done.set()
        self._thread.join()
        return self._most

    def _watch(self) -> None:
        while not self._done.wait(1.0):
            size = 0
            for above, _, names in os.walk(self._folder):
                for each in names:
                    try:
                        size += os.path.getsize(os.path.join(above, each))
                    except OSError:
                        continue
            self._most = max(self._most, size)


if __name__ == "__main__":
    main()
