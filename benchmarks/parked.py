"""Parked pages: as many with one text, and as many with nearly one text. Prints growth and memory.

usage: parked.py [--pages N] [--words N] [--times N]

Half of the pages have the very same text, half the same with a number of their own in it. Every
pair of them is similar, so a program that compares candidates with each other takes the square.
Runs `run --analyses near-duplicates` on N / times and on N pages, start-up aside.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

from measure import Cost, run


def write_pages(path: Path, pages: int, words: int) -> None:
    """JSON Lines of parked pages, each on a host of its own."""
    rng = random.Random(0)
    text = [f"word{int(rng.random() * 10 * words)}" for _ in range(words)]
    with path.open("w") as lines:
        for n in range(pages // 2):
            own = [*text[: words // 2], f"number{n}", *text[words // 2 :]]
            for kind, content in (("same", text), ("near", own)):
                url = f"http://{kind}{n}.parked.example/"
                lines.write(json.dumps({"url": url, "text": " ".join(content)}) + "\n")


def near_duplicates(path: Path, folder: str) -> Cost:
    """The cost of a run from a cold start to a published folder."""
    return run([sys.executable, "-m", "beam_reuse", "run", str(path), "-o",
                os.path.join(folder, "result"), "--analyses", "near-duplicates", "--workers", "1",
                "--overwrite"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--words", type=int, default=200)
    parser.add_argument("--times", type=int, default=4)
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="beam-reuse-parked-", dir=os.environ.get("TMPDIR"))
    costs = []
    for pages in (2, args.pages // args.times, args.pages):
        path = Path(folder) / "parked.jsonl"
        write_pages(path, pages, args.words)
        cost = near_duplicates(path, folder)
        costs.append(cost)
        rows = json.loads((Path(folder) / "result" / "manifest.json").read_text())
        print(f"{pages:,} pages: {cost.cpu:.1f} s of CPU, {cost.wall:.1f} s, "
              f"{cost.memory / 1e6:.0f} MB at the peak, "
              f"{rows['tables']['near_duplicates']['rows']:,} pairs, noted {rows['noted']}",
              flush=True)
    shutil.rmtree(folder)
    start, few, many = (cost.cpu for cost in costs)
    print(f"{(many - start) / (few - start) / args.times:.2f}  CPU per page at {args.times} times "
          "the pages, start-up aside")


if __name__ == "__main__":
    main()
