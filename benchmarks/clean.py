"""`clean` beside the recipes people use now: what survives, and how fast. Prints a table.

usage: clean.py [--others PYTHON] [--only NAME...] DOCUMENTS.jsonl

Documents are rows with `url` and `text` (documents.py makes them). Every program is a process of
its own, from JSON Lines to cleaned JSON Lines, with both cores, one after the other (measure.py).
Of what each leaves: the pages, and the shares of the distinct 5-grams of words and of the distinct
sentences of all documents that are still there. In `ours at n` beam-reuse drops as many pages
as that program: those of which the least text goes, by `containment` and `bytes` of the table
`removed` of a run that drops all that is alike at all (--keep-rule longest, nothing proven), so
that the two can be compared at the same number of pages.
"""

import argparse
import gzip
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import orjson
from measure import Cost, run

from beam_reuse import tables
from beam_reuse.columnar.block import VarBytes
from beam_reuse.core.tokens import scan_text
from beam_reuse.core.urls import name_page

HERE = Path(__file__).parent
OTHERS = ("rensa", "datatrove", "text-dedup")
OURS = "beam-reuse"
SETTINGS = {
    OURS: (), "  longest stays": ("--keep-rule", "longest"),
    "  1.0 is there": ("--keep-rule", "longest", "--min-containment", "1"),
}
GRAM = 5
_SENTENCE_ENDS = re.compile(r"(?<=[.!?。！？])\s+|\n+")  # noqa: RUF001


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents")
    parser.add_argument("--others", default=sys.executable, metavar="PYTHON")
    known = [OURS, *OTHERS]
    parser.add_argument("--only", nargs="*", default=known, choices=known, metavar="NAME")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="beam-reuse-benchmark-", dir=os.environ.get("TMPDIR"))
    corpus = Corpus(args.documents)
    print(f"{corpus.pages} documents, {len(corpus.grams.all)} distinct {GRAM}-grams, "
          f"{len(corpus.sentences.all)} distinct sentences")
    print(f"{'':24} {'wall s':>7} {'CPU s':>7} {'docs/s':>7} {'GB':>5} {'pages':>7} "
          f"{'5-grams':>9} {'sentences':>9}", flush=True)
    order = our_order(args.documents, folder, corpus)
    for name in args.only:
        if name == OURS:
            for label, options in SETTINGS.items():
                cost = run(ours(args.documents, f"{folder}/{label}", *options))
                show(label, corpus, corpus.which(urls_in(f"{folder}/{label}/corpus")), cost)
        else:
            out = f"{folder}/{name}/out.jsonl"
            os.makedirs(os.path.dirname(out))
            cost = run([args.others, str(HERE / "cleaners.py"), name, args.documents, out])
            kept = urls_in(os.path.dirname(out))
            show(name, corpus, corpus.which(kept), cost)
            dropped = corpus.pages - len(kept)
            mine = np.full(corpus.pages, True)
            mine[order[:dropped]] = False
            more = "" if dropped <= len(order) else f" ({dropped - len(order)} fewer)"
            show(f"  ours at {int(mine.sum())}{more}", corpus, mine)
    shutil.rmtree(folder)


def ours(documents: str, out: str, *options: str) -> list[str]:
    return [sys.executable, "-m", "beam_reuse", "clean", documents, "-o", out, "--to", "jsonl",
            *options]


def our_order(documents: str, folder: str, corpus: "Corpus") -> np.ndarray:
    """Pages that can be dropped, those first of which the least is not on the page that stays."""
    out = f"{folder}/order"
    run(ours(documents, out, "--min-containment", "0", "--keep-by", "b", "--b-threshold", "1",
             "--shingle-size", "5", "--min-values", "120", "--supershingles", "30",
             "--keep-rule", "longest"))
    removed = tables.read(out, "removed").to_pylist()
    removed.sort(key=lambda row: ((1 - row["containment"]) * row["bytes"], row["url"]))
    return np.array([corpus.canonical[row["url"]] for row in removed], np.int64)


def urls_in(folder: str) -> set[str]:
    found = set()
    for path in Path(folder).iterdir():
        with (gzip.open(path) if path.suffix == ".gz" else path.open("rb")) as lines:
            found.update(orjson.loads(line)["url"] for line in lines)
    return found


class Things:
    """Things that pages have, as hashes: those of page i are hashes[starts[i]:starts[i + 1]]."""

    def __init__(self, of_pages: list[np.ndarray]) -> None:
        self.starts = np.cumsum([0, *map(len, of_pages)])
        self.hashes = np.concatenate(of_pages)
        self.all = np.unique(self.hashes)

    def share(self, kept: np.ndarray) -> float:
        """The share of all of them that are on pages that are kept."""
        return len(np.unique(self.hashes[np.repeat(kept, np.diff(self.starts))])) / len(self.all)


class Corpus:
    """Documents, their 5-grams and their sentences."""

    def __init__(self, path: str) -> None:
        grams, sentences = [], []
        self.numbers: dict[str, int] = {}
        for url, text in rows_of(path):
            self.numbers[url] = len(grams)
            grams.append(np.unique(grams_of(scan_text(text.encode()).tokens)))
            sentences.append(np.unique(VarBytes.from_list(
                [each.encode() for each in sentences_of(text)]).hash64()))
        self.canonical = {name_page(url).url: number for url, number in self.numbers.items()}
        self.pages = len(grams)
        self.grams, self.sentences = Things(grams), Things(sentences)

    def which(self, urls: set[str]) -> np.ndarray:
        return np.array([url in urls for url in self.numbers])


def rows_of(path: str) -> Iterator[tuple[str, str]]:
    with open(path, "rb") as lines:
        for line in lines:
            row = orjson.loads(line)
            yield row["url"], row["text"]


def grams_of(tokens: np.ndarray) -> np.ndarray:
    """Hashes of 5 successive tokens; of all, if there are fewer."""
    size = min(GRAM, len(tokens))
    hashes = np.zeros(max(len(tokens) - size + 1, 0), np.uint64)
    for at in range(size):
        hashes = (hashes ^ tokens[at:at + len(hashes)]) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    return hashes


def sentences_of(text: str) -> list[str]:
    found = (" ".join(each.lower().split()) for each in _SENTENCE_ENDS.split(text))
    return [each for each in found if each]


def show(name: str, corpus: Corpus, kept: np.ndarray, cost: Cost | None = None) -> None:
    spent = (f"{cost.wall:7.1f} {cost.cpu:7.1f} {corpus.pages / cost.wall:7.0f} "
             f"{cost.memory / 1e9:5.2f}" if cost else " " * 29)
    print(f"{name:24} {spent} {int(kept.sum()):7} {corpus.grams.share(kept):9.5f} "
          f"{corpus.sentences.share(kept):9.5f}", flush=True)


if __name__ == "__main__":
    main()
