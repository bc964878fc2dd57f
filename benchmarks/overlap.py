"""Overlap: what iceberg counting ships and costs against direct counting. Prints ratios.

usage: overlap.py [--repeat N] [--chunkings LIST] INDEX

INDEX is a folder written by `beam-reuse index`. Each round runs overlap alone by both methods and
a run of one small page, all by one worker, and compares the tables by the SHA-256 of their parts.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from measure import Cost, run


def overlap(given: str, folder: str, method: str, chunkings: str) -> tuple[Cost, dict, dict]:
    """The cost of a run, its manifest and its run.json."""
    out = os.path.join(folder, method)
    cost = run([sys.executable, "-m", "beam_reuse", "run", given, "-o", out, "--workers", "1",
                "--overwrite", "--analyses", "overlap", "--overlap-method", method,
                "--overlap-chunkings", chunkings])
    manifest, told = (json.loads(Path(out, name).read_text())
                      for name in ("manifest.json", "run.json"))
    return cost, manifest, told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--chunkings", default="whole,4-lines,2-lines")
    args = parser.parse_args()
    rounds = [one_round(args.index, args.chunkings) for _ in range(args.repeat)]
    for name in rounds[0]:
        values = sorted(figures[name] for figures in rounds)
        spread = "  (" + ", ".join(f"{value:,.2f}" for value in values) + ")"
        print(f"{statistics.median(values):14,.2f}  {name}{spread if len(values) > 1 else ''}")


def one_round(index: str, chunkings: str) -> dict[str, float]:
    """Every figure, measured once."""
    folder = tempfile.mkdtemp(prefix="beam-reuse-benchmark-", dir=os.environ.get("TMPDIR"))
    tiny = os.path.join(folder, "tiny.html")
    Path(tiny).write_text("<p>nothing")
    start = overlap(tiny, folder, "iceberg", chunkings)[0].cpu
    coarse, manifest, told = overlap(index, folder, "iceberg", chunkings)
    direct, other, told_direct = overlap(index, folder, "direct", chunkings)
    shutil.rmtree(folder)
    if manifest["tables"] != other["tables"]:
        raise SystemExit("iceberg and direct counting gave different tables")
    pages, noted = manifest["accounting"]["pages"], manifest["noted"]
    shipped, all_shipped = (t["measured"]["overlap-pairs-shuffled"] for t in (told, told_direct))
    return {
        "pages": pages,
        "pairs made": noted["overlap-pairs-made"],
        "pairs kept": noted["overlap-pairs-kept"],
        "rows of pairs shuffled, iceberg": shipped,
        "rows of pairs shuffled, direct": all_shipped,
        "rows, direct / iceberg (goal 5)": all_shipped / shipped,
        "pages per second of CPU, iceberg": pages / coarse.cpu,
        "the same, start-up aside": pages / (coarse.cpu - start),
        "CPU, iceberg / direct, start-up aside": (coarse.cpu - start) / (direct.cpu - start),
        "peak memory, iceberg, GB": coarse.memory / 1e9,
        "peak memory, direct, GB": direct.memory / 1e9,
    }


if __name__ == "__main__":
    main()
