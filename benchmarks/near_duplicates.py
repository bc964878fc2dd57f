"""Near-duplicates against the libraries people use now: speed, recall, precision. Prints a table.

usage: near_duplicates.py [--others PYTHON] [--only NAME...] [--larger MORE.jsonl] DOCUMENTS.jsonl

Documents are made by documents.py. Every program is a process of its own, measured from its start
to its end, with both cores, one after the other: wall time, CPU, peak memory (shared pages counted
once). A fixed piece of work runs between any two of them; its CPU times show how evenly the machine
ran. Pairs are judged by exact similarities (jaccard.py) of distinct documents: of those with the
same tokens one stands for all. Recall is that of pairs with a Jaccard similarity of 0.8 or more,
precision the share of returned pairs with at least 0.8 (0.7). `--larger`, with documents of
`documents.py --tongues`, compares CPU per document, start-up included and aside.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import orjson
from jaccard import Documents, all_pairs, read, similarities
from measure import Cost, run

from beam_reuse import tables

HERE = Path(__file__).parent
JACCARD, LESS = 0.8, 0.7

# Bands as datatrove has them; then so many that the number of agreeing ones shows similarity. One
# run is judged at several thresholds, for the table has how many agree.
OURS = {
    "beam-reuse 14x8": (["--min-values", "112", "--supershingles", "14", "--b-threshold", "1"],
                        (1,)),
    "beam-reuse 80x4": (["--min-values", "320", "--supershingles", "80", "--b-threshold", "26"],
                        (26, 33)),
}
OTHERS = ("gaoya", "gaoya-own", "rensa", "rensa-rho", "datasketch", "datatrove", "datatrove-own")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents")
    parser.add_argument("--others", default=sys.executable, metavar="PYTHON")
    known = [*OURS, *OTHERS]
    parser.add_argument("--only", nargs="*", default=known, choices=known, metavar="NAME")
    parser.add_argument("--larger")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="beam-reuse-benchmark-", dir=os.environ.get("TMPDIR"))
    bench = Bench(args.documents, folder)
    for name in args.only:
        if name in OURS:
            settings, thresholds = OURS[name]
            bench.measure(name, beam_reuse(args.documents, folder, settings), {
                f"{least} or more agree": lambda least=least: our_pairs(
                    folder, bench.lines(), least)
                for least in thresholds})
        else:
            pairs = os.path.join(folder, f"{name}.npy")
            command = [args.others, str(HERE / "others.py"), name, args.documents, pairs]
            bench.measure(name, command, {"": lambda pairs=pairs: np.load(pairs)})
    if args.larger:
        growth(args.documents, args.larger, folder)
    shutil.rmtree(folder)


def beam_reuse(documents: str, folder: str, settings: list[str]) -> list[str]:
    return [sys.executable, "-m", "beam_reuse", "run", documents, "-o", os.path.join(folder, "out"),
            "--overwrite", "--analyses", "near-duplicates", "--workers", "2", *settings]


class Bench:
    """Programs over one file of documents, and the truth about its pairs."""

    def __init__(self, path: str, folder: str) -> None:
        self._path = path
        self._work = [sys.executable, str(HERE / "plain_loop.py"), "same", tiny(path, folder)]
        self.truth = truth(path)
        print(f"{self.truth.lines} documents, {self.truth.distinct} distinct, "
              f"{len(self.truth.close)} pairs with similarity {JACCARD} or more")
        print(f"{'':36} {'wall s':>8} {'CPU s':>8} {'docs/s':>8} {'GB':>5} {'pairs':>9} "
              f"{'recall':>7} {'prec.8':>7} {'prec.7':>7} {'pace':>5}", flush=True)

    def lines(self) -> dict[str, int]:
        with open(self._path, "rb") as lines:
            return {orjson.loads(line)["url"]: number for number, line in enumerate(lines)}

    def measure(
        self, name: str, command: list[str], results: dict[str, Callable[[], np.ndarray]]
    ) -> None:
        """Run a program and print a row of the table for each way to read its result."""
        cost = run(command)
        pace = run(self._work).cpu
        judge = self.truth.judge_flags if name == "rensa-rho" else self.truth.judge
        for reading, pairs in results.items():
            print(f"{name + ' ' + reading:36} {cost.wall:8.1f} {cost.cpu:8.1f} "
                  f"{self.truth.lines / cost.wall:8.0f} {cost.memory / 1e9:5.1f} "
                  f"{judge(pairs())} {pace:5.2f}", flush=True)


class Truth:
    """All pairs of distinct documents that are alike, and how alike any other two are."""

    def __init__(self, documents: Documents, close: np.ndarray) -> None:
        self._documents = documents
        self.close = close
        self.lines = len(documents.representative)
        self.distinct = int((documents.representative == np.arange(self.lines)).sum())

    def judge(self, pairs: np.ndarray) -> str:
        """Number, recall and precision of pairs of line numbers."""
        both = np.sort(self._documents.representative[pairs.reshape(-1, 2)], axis=1)
        both = np.unique(both[(both[:, 0] >= 0) & (both[:, 0] != both[:, 1])], axis=0)
        found = similarities(self._documents, both)
        true = (found >= JACCARD).sum()
        return (f"{len(both):9} {true / len(self.close):7.4f} {true / max(1, len(both)):7.4f} "
                f"{(found >= LESS).sum() / max(1, len(both)):7.4f}")

    def judge_flags(self, flagged: np.ndarray) -> str:
        """The same of documents said to have a near-duplicate or a copy."""
        flagged, representative = flagged[:, 0], self._documents.representative
        alike = np.bincount(representative[representative >= 0], minlength=self.lines) > 1
        alike[self.close.ravel()] = True
        true = alike[representative[flagged]].sum()
        every = alike[representative[representative >= 0]].sum()
        return (f"{len(flagged):9} {true / every:7.4f} {true / max(1, len(flagged)):7.4f} "
                f"{'-':>7}")


def truth(path: str) -> Truth:
    """The truth about a file, from a file beside it if an earlier run has left one."""
    kept = Path(path + ".truth.npz")
    if not kept.exists():
        documents = read(path)
        close, _ = all_pairs(documents, JACCARD)
        np.savez(kept, shingles=documents.shingles, starts=documents.starts,
                 representative=documents.representative, close=close)
    with np.load(kept) as arrays:
        return Truth(Documents(arrays["shingles"], arrays["starts"], arrays["representative"]),
                     arrays["close"])


def our_pairs(folder: str, lines: dict[str, int], least: int) -> np.ndarray:
    """Pairs of lines of which `least` supershingles or more agree. The table has a star for
    pages with equal signatures; here every two of them are a pair, and a pair of one is a pair
    of each."""
    table = tables.read(os.path.join(folder, "out"), "near_duplicates")
    returned = table["b_similarity"].to_numpy() >= least
    similarity = table["b_similarity"].to_numpy()[returned]
    pairs = np.array([[lines[url] for url in table[side].to_pylist()]
                      for side in ("url_a", "url_b")]).T.reshape(-1, 2)[returned]
    all_agree = similarity == supershingles(folder)
    centre = dict(zip(pairs[all_agree, 1].tolist(), pairs[all_agree, 0].tolist(), strict=True))
    members: dict[int, list[int]] = {}
    for page, middle in centre.items():
        members.setdefault(middle, [middle]).append(page)
    return np.array(list(every_pair(pairs[~all_agree].tolist(), members)), np.int64).reshape(-1, 2)


def supershingles(folder: str) -> int:
    manifest = orjson.loads(Path(folder, "out", "manifest.json").read_bytes())
    return int(manifest["settings"]["supershingles"])


def every_pair(
    pairs: list[list[int]], members: dict[int, list[int]]
) -> Iterator[tuple[int, int]]:
    for group in members.values():
        yield from ((a, b) for i, b in enumerate(group) for a in group[:i])
    for a, b in pairs:
        yield from product(members.get(a, [a]), members.get(b, [b]))


def tiny(path: str, folder: str) -> str:
    """The first 10,000 documents, for the fixed piece of work."""
    few = os.path.join(folder, "few.jsonl")
    with open(path, "rb") as lines, open(few, "wb") as out:
        out.writelines(line for line, _ in zip(lines, range(10_000), strict=False))
    return few


def growth(documents: str, larger: str, folder: str) -> None:
    """CPU per document of the larger file over that of the smaller, which runs before and
    after it."""
    def cost(path: str) -> Cost:
        return run(beam_reuse(path, folder, []))

    one = os.path.join(folder, "one.jsonl")
    Path(one).write_bytes(orjson.dumps({"url": "http://a.example/", "text": "nothing"}))
    start = cost(one).cpu
    before, more, after = cost(documents), cost(larger), cost(documents)
    small, large = (Path(path).read_bytes().count(b"\n") for path in (documents, larger))
    for name, less in (("included", 0.0), ("aside", start)):
        ratio = (more.cpu - less) / large / (((before.cpu + after.cpu) / 2 - less) / small)
        print(f"CPU per document, {large} / {small} documents, start-up {name}: {ratio:.2f}")
    print(f"CPU {before.cpu:.1f}, {more.cpu:.1f}, {after.cpu:.1f} s, start-up {start:.1f} s; "
          f"peak memory {before.memory / 1e9:.2f} and {more.memory / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
