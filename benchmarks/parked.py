"""Parked pages: as many with one text, and as many with nearly one text. Prints growth and memory.

usage: parked.py [--pages N] [--words N] [--times N] [--texts same|near|equal|mixed] [--sites]
                 [--analysis near-duplicates|overlap]

Pages have the very same text (same), the same with a number of their own in it (near), the same
passages in an order of their own, which gives equal signatures (equal), or by turns the first two
(mixed). Every pair of them is similar, so a program that compares candidates with each other
takes the square. All are hosts of one site; with --sites each is on a site of its own.
Runs `run --analyses near-duplicates` on N / times and on N pages, start-up aside; or overlap, with
each word on a line of its own.
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

SEPARATORS = {"near-duplicates": " ", "overlap": "\n"}
ROWS = {"near-duplicates": "near_duplicates", "overlap": "skippable"}


def content(kind: str, n: int, words: list[str]) -> list[str]:
    """The words of page n."""
    if kind == "mixed":
        kind = ("same", "near")[n % 2]
    if kind == "near":
        return [*words[: len(words) // 2], f"number{n}", *words[len(words) // 2 :]]
    if kind == "equal":
        turns = f"{n:020b}{~n & 0xFFFFF:020b}"
        between = words[:8]
        return [*words, *between, *(w for turn in turns for w in (f"turn{turn}", *between))]
    return words


def write_pages(path: Path, pages: int, args: argparse.Namespace) -> None:
    """JSON Lines of parked pages, each on a host of its own."""
    rng = random.Random(0)
    words = [f"word{int(rng.random() * 10 * args.words)}" for _ in range(args.words)]
    with path.open("w") as lines:
        for n in range(pages):
            url = f"http://h{n}.parked{n if args.sites else ''}.example/"
            text = SEPARATORS[args.analysis].join(content(args.texts, n, words))
            lines.write(json.dumps({"url": url, "text": text}) + "\n")


def measured(path: Path, folder: str, analysis: str) -> Cost:
    """The cost of a run from a cold start to a published folder."""
    return run([sys.executable, "-m", "beam_reuse", "run", str(path), "-o",
                os.path.join(folder, "result"), "--analyses", analysis, "--workers", "1",
                "--overwrite"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--words", type=int, default=200)
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--texts", choices=("same", "near", "equal", "mixed"), default="mixed")
    parser.add_argument("--sites", action="store_true")
    parser.add_argument("--analysis", choices=SEPARATORS, default="near-duplicates")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="beam-reuse-parked-", dir=os.environ.get("TMPDIR"))
    costs = []
    for pages in (2, args.pages // args.times, args.pages):
        path = Path(folder) / "parked.jsonl"
        write_pages(path, pages, args)
        cost = measured(path, folder, args.analysis)
        costs.append(cost)
        rows = json.loads((Path(folder) / "result" / "manifest.json").read_text())
        print(f"{pages:,} pages: {cost.cpu:.1f} s of CPU, {cost.wall:.1f} s, "
              f"{cost.memory / 1e6:.0f} MB at the peak, "
              f"{rows['tables'][ROWS[args.analysis]]['rows']:,} rows of {ROWS[args.analysis]}, "
              f"noted {rows['noted']}",
              flush=True)
    shutil.rmtree(folder)
    start, few, many = (cost.cpu for cost in costs)
    print(f"{(many - start) / (few - start) / args.times:.2f}  CPU per page at {args.times} times "
          "the pages, start-up aside")


if __name__ == "__main__":
    main()
