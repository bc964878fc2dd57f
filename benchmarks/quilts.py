"""Quilts from an index: pages per second and core, against a plain loop of the definition.

usage: quilts.py INDEX [--pages 3000] [--workers 1]

Runs `beam-reuse run INDEX --analyses quilts` as a process of its own and reports CPU, start-up
aside (a run on one page), wall time and peak memory. The plain loop, dicts and sets of tuples of
tokens as the definition has them, in one process, gets the first so many pages of the index and is
compared with a run on an index of the same pages. Najork's cluster did at most 8.8 pages per second
and core (half a billion pages in 18 hours or more on some 880 cores).
"""

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq
from measure import Cost, run

from beam_reuse import tables

PAPER = 8.8
SIZE, MOST, SOURCES, FRACTION = 5, 50, 4, 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index")
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--workers", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beam-reuse-benchmark-") as folder:
        idle = quilts(one_page(Path(folder)), Path(folder) / "one", args.workers)
        whole = quilts(args.index, Path(folder) / "all", args.workers)
        tell(args.index, whole, idle, Path(folder) / "all")
        compare(args.index, args.pages, Path(folder), idle)


def one_page(folder: Path) -> str:
    (folder / "one.jsonl").write_text('{"url": "http://a.example/", "text": "a page"}\n')
    return str(folder / "one.jsonl")


def quilts(given: str, output: Path, workers: int) -> Cost:
    return run([sys.executable, "-m", "beam_reuse", "run", given, "-o", str(output), "--analyses",
                "quilts", "--workers", str(workers)])


def tell(name: str, cost: Cost, idle: Cost, output: Path) -> None:
    pages = tables.read_manifest(str(output)).accounting.pages
    found = tables.read(str(output), "quilts").num_rows
    speed, aside = pages / cost.cpu, pages / (cost.cpu - idle.cpu)
    print(f"{name}: {pages:,} pages, {found:,} quilts")
    print(f"CPU {cost.cpu:.1f} s (start-up {idle.cpu:.1f} s), wall {cost.wall:.1f} s, "
          f"peak memory {cost.memory / 1e9:.2f} GB")
    print(f"{speed:,.0f} pages/s/core, {aside:,.0f} start-up aside: {speed / PAPER:,.0f} times the "
          f"paper's {PAPER}")


def compare(index: str, count: int, folder: Path, idle: Cost) -> None:
    """The same pages by the definition and by a run."""
    pages = some_pages(index, count)
    (folder / "some.jsonl").write_text("".join(
        json.dumps({"url": url, "text": " ".join(map(str, words))}) + "\n"
        for url, (words, _) in pages.items()))
    run([sys.executable, "-m", "beam_reuse", "index", str(folder / "some.jsonl"), "-o",
         str(folder / "index"), "--workers", "1"])
    ours = quilts(str(folder / "index"), folder / "some", 1)
    started = time.process_time()
    expected = plain_loop(pages)
    plain = time.process_time() - started
    found = tables.read(str(folder / "some"), "quilts").to_pylist()
    same = {row["url"]: row["sources"] for row in found} == expected
    print(f"{len(pages):,} pages: the plain loop {plain:.1f} s of CPU, the run "
          f"{ours.cpu - idle.cpu:.1f} s with start-up aside: {plain / (ours.cpu - idle.cpu):.1f} "
          f"times; {len(expected):,} quilts, {'the same' if same else 'NOT THE SAME'}")


def some_pages(index: str, count: int) -> dict[str, tuple[tuple[int, ...], str]]:
    """URLs, tokens and domains of the first pages."""
    found: dict[str, tuple[tuple[int, ...], str]] = {}
    for path in sorted(Path(index).glob("index/*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(500, columns=["url", "tokens", "domain"]):
            for row in batch.to_pylist():
                found[row["url"]] = tuple(row["tokens"]), row["domain"]
                if len(found) == count:
                    return found
    return found


def plain_loop(pages: dict[str, tuple[tuple[int, ...], str]]) -> dict[str, int]:
    """How many sources each quilt has."""
    grams = {url: {words[i:i + SIZE] for i in range(len(words) - SIZE + 1)}
             for url, (words, _) in pages.items()}
    on = defaultdict(list)
    for url in sorted(grams):
        for gram in grams[url]:
            on[gram].append(url)
    found = {}
    for url, mine in grams.items():
        patch = [gram for gram in mine if 1 < len(on[gram]) <= MOST]
        if not patch or len(patch) / len(mine) < FRACTION:
            continue
        left = defaultdict(set)
        for gram in patch:
            for other in on[gram]:
                if pages[other][1] != pages[url][1]:
                    left[other].add(gram)
        sources = 0
        while left:
            best = min(left, key=lambda other: (-len(left[other]), other))
            covered = left.pop(best)
            if not covered:
                break
            sources += 1
            left = {other: rest - covered for other, rest in left.items()}
        if sources >= SOURCES:
            found[url] = sources
    return found


if __name__ == "__main__":
    main()
