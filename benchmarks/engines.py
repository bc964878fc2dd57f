"""All analyses on a Flink cluster against the local runner: wall times in turns, their ratio.

usage: PYTHONPATH=. python benchmarks/engines.py [--repeat N] [--ways A,B] [--set KEY=VALUE] WARC...

The cluster is a JobManager and two TaskManagers of one slot each, on this machine, started before
anything is measured; the local runner has two workers. Start-up is the same command on one tiny
page, and is taken off. Results must have the same bytes. `beam-reuse engines flink flink-cluster`
fetches what is needed.
"""

import argparse
import multiprocessing
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foundation import megabytes
from measure import Cost, run

from beam_reuse.runners.fetching import find, kits_folder
from beam_reuse.runners.kits import KITS
from tests.engines.flink_cluster import FlinkCluster, flink_cluster
from tests.engines.running import digests
from tests.engines.test_flink_cluster import SETTINGS

LOCAL, LOOPBACK, PROCESS = "local", "LOOPBACK", "PROCESS"
WORKERS = 2
_TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def cluster(folder: Path, settings: Mapping[str, Any]) -> Iterator[FlinkCluster]:
    """Two TaskManagers, with the settings that docs/running-on-clusters.md names."""
    kit = find(KITS["flink-cluster"], kits_folder())
    with flink_cluster(kit, folder, WORKERS, {**SETTINGS, **settings}) as running:
        yield running


def options_of(way: str, running: FlinkCluster) -> list[str]:
    """What the command line has for a way to run."""
    if way == LOCAL:
        return ["--workers", str(WORKERS)]
    return ["--runner", "flink", "--flink_master", running.master, "--environment_type", way]


def beam_reuse(inputs: Sequence[str], output: Path, options: Sequence[str]) -> Cost:
    """The cost of a run from a cold start to a published folder; measured by a process of its own,
    whose only child it is: the cluster is a child of this one."""
    command = [sys.executable, "-m", "beam_reuse", "run", *inputs, "-o", str(output),
               "--overwrite", *options]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as apart:
        return apart.submit(run, command).result()


def cpu_of(running: FlinkCluster) -> float:
    """CPU seconds of the cluster's own processes so far; of PROCESS workers, those that ended."""
    sessions = {each.pid for each in (running.job_manager, *running.task_managers)}
    ticks = 0
    for process in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = process.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        if int(fields[3]) in sessions:
            ticks += sum(map(int, fields[11:15]))
    return ticks / _TICKS


def measured(
    way: str, inputs: Sequence[str], output: Path, running: FlinkCluster, what: str,
) -> Cost:
    """The cost of a run, which is shown; the cluster's own CPU is shown beside it."""
    before = cpu_of(running)
    cost = beam_reuse(inputs, output, options_of(way, running))
    print(f"  {way:<9} {what:<9} wall {cost.wall:6.1f} s   CPU {cost.cpu:6.1f} s, of the cluster "
          f"{cpu_of(running) - before:6.1f} s   memory {cost.memory / 1e6:5.0f} MB", flush=True)
    return cost


def spread(values: Iterable[float]) -> str:
    """The median, and all of them."""
    found = sorted(values)
    return f"{statistics.median(found):6.2f}  ({', '.join(f'{value:.2f}' for value in found)})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("warcs", nargs="+")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--ways", default=f"{LOCAL},{LOOPBACK},{PROCESS}")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="a setting of the cluster, for its config.yaml")
    args = parser.parse_args()
    ways = args.ways.split(",")
    folder = Path(tempfile.mkdtemp(prefix="beam-reuse-benchmark-", dir=os.environ.get("TMPDIR")))
    tiny = folder / "tiny.html"
    tiny.write_text("<p>nothing")
    print(f"{len(args.warcs)} files, {megabytes(args.warcs):.0f} MB of pages", flush=True)
    settings = dict(each.split("=", 1) for each in args.set)
    try:
        with cluster(folder / "cluster", settings) as running:
            rounds = [one_round(ways, args.warcs, str(tiny), folder, running)
                      for _ in range(args.repeat)]
    finally:
        shutil.rmtree(folder)
    print("wall time, start-up aside")
    for way in ways:
        print(f"{spread(each[way] for each in rounds)}  {way}, seconds")
    for way in ways[1:]:
        print(f"{spread(each[way] / each[ways[0]] for each in rounds)}  {way} / {ways[0]}")


def one_round(
    ways: Sequence[str], warcs: Sequence[str], tiny: str, folder: Path, running: FlinkCluster,
) -> dict[str, float]:
    """Seconds of wall time by way, start-up aside; the same bytes by all ways, or SystemExit."""
    seconds: dict[str, float] = {}
    found: dict[str, Mapping[str, str]] = {}
    for way in ways:
        start = measured(way, [tiny], folder / "start", running, "start-up")
        whole = measured(way, warcs, folder / "result", running, "all")
        seconds[way] = whole.wall - start.wall
        found[way] = digests(folder / "result")
    different = [way for way in ways if found[way] != found[ways[0]]]
    if different:
        raise SystemExit(f"the results of {', '.join(different)} differ from that of {ways[0]}")
    print(f"  the same bytes by {', '.join(ways)}: {len(found[ways[0]])} files", flush=True)
    return seconds


if __name__ == "__main__":
    main()
