"""Evaluation items planted in a crawl: what is found of them, by whom, and what it costs.

    python benchmarks/decontaminate.py CRAWL... --texts FOLDER [--pages 6000] [--items 1200]
    python benchmarks/decontaminate.py CRAWL... --texts FOLDER --speed

Items are sentences and passages of the text files in a folder that has nothing to do with the
crawl. One item in eleven is planted nowhere; the others are planted on one page each, by a kind:
whole, or changed in one way. Beside `decontaminate` are a plain loop of its definition and three
rules in use elsewhere, written here from their descriptions. A pair of item and page that is
reported and was not planted is a false positive. With --speed the CPU of `decontaminate` is
measured against that of discovery and detection of the same crawl.
"""

import argparse
import json
import random
import re
import string
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from measure import run

from beam_reuse import tables, tokens_of
from beam_reuse.core.pages import Kind, RawPage
from beam_reuse.core.settings import ReadSettings
from beam_reuse.core.text import read_html
from beam_reuse.io.crawl.inputs import list_files
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.io.crawl.ranges import FileRange
from beam_reuse.io.crawl.read import read_range

SIZE, LEAST = 13, 8
Words = list[str]
Pair = tuple[str, str]
SHARES = (0.0, 0.2, 0.5, 0.8)


def _whole(text: str, rng: random.Random) -> str:
    return text


def _upper(text: str, rng: random.Random) -> str:
    return text.upper()


def _marks(text: str, rng: random.Random) -> str:
    """Other marks where there are some, and new ones between words."""
    other = re.sub(r"[^\w\s]", lambda _: rng.choice("-;*|:"), text)
    return re.sub(r"\s+", lambda _: rng.choice((" ", " ", ", ", " - ", "\u2014", " * ")), other)


def _no_marks(text: str, rng: random.Random) -> str:
    """No marks at all: it's is its, 1,000 is 1000."""
    return re.sub(r"[^\w\s]", "", text)


def _lines(text: str, rng: random.Random) -> str:
    return re.sub(r"\s+", lambda _: rng.choice((" ", "\n", "<br>", "\r\n   ")), text)


def _markup(text: str, rng: random.Random) -> str:
    return " ".join(f"<b>{word}</b>" if rng.random() < 0.2 else word for word in text.split())


def _half(text: str, rng: random.Random) -> str:
    words = text.split()
    return " ".join(words[: len(words) // 2])


def _middle(text: str, rng: random.Random) -> str:
    words = text.split()
    return " ".join(words[len(words) // 3: len(words) // 3 + max(len(words) // 3, 1)])


def _typos(text: str, rng: random.Random) -> str:
    """One word in 25 is another."""
    return " ".join("something" if rng.random() < 0.04 else word for word in text.split())


def _shuffled(text: str, rng: random.Random) -> str:
    """The same words in another order: not the item."""
    words = text.split()
    rng.shuffle(words)
    return " ".join(words)


KINDS: dict[str, Callable[[str, random.Random], str]] = {
    "whole": _whole, "upper case": _upper, "other marks": _marks,
    "no marks": _no_marks, "line breaks": _lines,
    "markup": _markup, "first half": _half, "middle third": _middle, "one word in 25": _typos,
}
NOT_PLANTED, SHUFFLED = "not planted", "shuffled"


class Item(NamedTuple):
    id: str
    text: str
    kind: str
    url: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crawl", nargs="+")
    parser.add_argument("--texts", required=True)
    parser.add_argument("--pages", type=int, default=6000)
    parser.add_argument("--items", type=int, default=1200)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--workers", default="1")
    args = parser.parse_args()
    rng = random.Random(17)
    texts = list(items_in(args.texts, args.items, rng))
    with tempfile.TemporaryDirectory(prefix="beam-reuse-benchmark-") as folder:
        if args.speed:
            speed(args.crawl, texts, Path(folder), args.workers)
        else:
            recall(args.crawl, texts, args.pages, Path(folder), rng)


def items_in(folder: str, count: int, rng: random.Random) -> Iterator[str]:
    """Of paragraphs, each taken once, one sentence or all."""
    files = sorted(Path(folder).rglob("*.txt"))
    first = [path for path in files if path.name == "0.txt"] or files
    paragraphs = sorted({" ".join(each.split()) for path in first
                         for each in path.read_text("utf-8", "replace").split("\n\n")})
    rng.shuffle(paragraphs)
    found = 0
    for paragraph in paragraphs:
        sentences = re.split(r"(?<=[.?!])\s+", paragraph)
        piece = rng.choice((paragraph, rng.choice(sentences)))
        if LEAST <= len(tokens_of(piece, html=False)) <= 200 and found < count:
            found += 1
            yield piece


def pages_in(crawl: list[str], count: int) -> Iterator[tuple[str, str]]:
    """Every so many of the HTML pages of crawl files."""
    for file in list_files(crawl):
        taken = 0
        for page in read_range(FileRange(0, (file,), 0, file.size), ReadSettings()):
            if isinstance(page, RawPage) and page.kind is Kind.HTML:
                taken += 1
                yield page.fetched_url, decode_text(page.payload, page.charset)
                if taken == count // len(crawl):
                    break


def planted(
    pages: dict[str, str], texts: list[str], rng: random.Random,
) -> tuple[list[Item], dict[str, str]]:
    """Items with where they are planted, and the pages with them."""
    urls, items, out = sorted(pages), [], dict(pages)
    kinds = [*KINDS, NOT_PLANTED, SHUFFLED]
    for number, text in enumerate(texts):
        kind, url = kinds[number % len(kinds)], rng.choice(urls)
        if kind != NOT_PLANTED:
            change = KINDS.get(kind, _shuffled)
            plain = text.replace("<", " ").replace("&", " ")
            body = f"<p>{change(plain, rng)}</p>"
            at = out[url].lower().rfind("</body>")
            out[url] = out[url][:at] + body + out[url][at:] if at >= 0 else out[url] + body
        items.append(Item(str(number), text, kind, url))
    return items, out


def recall(
    crawl: list[str], texts: list[str], count: int, folder: Path, rng: random.Random,
) -> None:
    items, pages = planted(dict(pages_in(crawl, count)), texts, rng)
    corpus, evals, out = folder / "corpus.jsonl", folder / "evals.jsonl", folder / "out"
    corpus.write_text("".join(json.dumps({"url": url, "html": html}) + "\n"
                              for url, html in pages.items()))
    evals.write_text("".join(json.dumps({"id": item.id, "text": item.text}) + "\n"
                             for item in items))
    idle = run([sys.executable, "-m", "beam_reuse", "decontaminate", str(evals), "--against",
                str(evals), "-o", str(folder / "idle"), "--workers", "1", "--max-rejects", "1"])
    cost = run([sys.executable, "-m", "beam_reuse", "decontaminate", str(corpus), "--against",
                str(evals), "-o", str(out), "--workers", "1"])
    rows = tables.read(str(out), "contamination").to_pylist()
    ours = {(row["id"], row["url"]): row["share"] for row in rows}
    print(f"{len(pages):,} pages, {len(items):,} items; CPU {cost.cpu:.1f} s, "
          f"{cost.cpu - idle.cpu:.1f} s start-up aside")
    started = time.process_time()
    words = {url: tokens_of(html) for url, html in pages.items()}
    plain = plain_loop(items, words)
    took = time.process_time() - started
    print(f"plain loop: CPU {took:.1f} s; {'the same' if plain == ours else 'NOT THE SAME'}: "
          f"{len(plain):,} pairs")
    text = {url: read_html(html).text.decode("utf-8", "replace") for url, html in pages.items()}
    found: dict[str, set[Pair]] = {
        f"decontaminate, share {least:g}" if least else "decontaminate, any gram":
        {pair for pair, share in ours.items() if share >= least} for least in SHARES}
    found["13 words, any (A)"] = rule_13(items, text)
    found["8 words, 70 % (B)"] = rule_8(items, text)
    found["50 characters (C)"] = rule_50(items, text, rng)
    show(items, found)


def show(items: list[Item], found: dict[str, set[Pair]]) -> None:
    of = defaultdict(list)
    for item in items:
        of[item.kind].append(item)
    print(f"| planted | {' | '.join(found)} |\n|{'---|' * (len(found) + 1)}")
    for kind in KINDS:
        cells = [sum((item.id, item.url) in pairs for item in of[kind]) / len(of[kind])
                 for pairs in found.values()]
        print(f"| {kind} ({len(of[kind])}) | {' | '.join(f'{cell:.0%}' for cell in cells)} |")
    truth = {(item.id, item.url) for item in items if item.kind in KINDS}
    for what, mine in (("false pairs", lambda pair: True),
                       ("... of them of items planted nowhere",
                        lambda pair: items[int(pair[0])].kind == NOT_PLANTED),
                       ("... of shuffled words",
                        lambda pair: items[int(pair[0])].kind == SHUFFLED)):
        cells = [sum(mine(pair) for pair in pairs - truth) for pairs in found.values()]
        print(f"| {what} | {' | '.join(map(str, cells))} |")


def plain_loop(items: list[Item], words: dict[str, Words]) -> dict[Pair, float]:
    """The definition: sets of tuples of tokens."""
    having: dict[tuple[str, ...], list[str]] = defaultdict(list)
    total = {}
    for item in items:
        tokens = tokens_of(item.text, html=False)
        size = min(SIZE, len(tokens))
        grams = {tuple(tokens[at:at + size]) for at in range(len(tokens) - size + 1)}
        total[item.id] = len(grams)
        for gram in grams:
            having[gram].append(item.id)
    sizes = sorted({len(gram) for gram in having})
    found = {}
    for url, tokens in words.items():
        counts: dict[str, set] = defaultdict(set)
        for size in sizes:
            for at in range(len(tokens) - size + 1):
                gram = tuple(tokens[at:at + size])
                for item in having.get(gram, ()):
                    counts[item].add(gram)
        found.update({(item, url): len(grams) / total[item] for item, grams in counts.items()})
    return found


_STRIPPED = str.maketrans("", "", string.punctuation)


def _simple_words(text: str) -> Words:
    """Lower-case words between white space, without punctuation."""
    return text.lower().translate(_STRIPPED).split()


def _grams(words: Words, size: int) -> set[tuple[str, ...]]:
    return {tuple(words[at:at + size]) for at in range(len(words) - size + 1)}


def rule_13(items: list[Item], text: dict[str, str]) -> set[Pair]:
    """Any 13 words of the item in a row, unless more than 10 pages have them."""
    return {pair for pair, share in _rule(items, text, 13, 10).items() if share > 0}


def rule_8(items: list[Item], text: dict[str, str]) -> set[Pair]:
    """70 % of the runs of 8 words of the item."""
    return {pair for pair, share in _rule(items, text, 8, None).items() if share >= 0.7}


def _rule(
    items: list[Item], text: dict[str, str], size: int, most: int | None,
) -> dict[Pair, float]:
    having: dict[tuple[str, ...], list[str]] = defaultdict(list)
    total = {}
    for item in items:
        grams = _grams(_simple_words(item.text), size)
        total[item.id] = len(grams)
        for gram in grams:
            having[gram].append(item.id)
    on: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for url, content in text.items():
        for gram in _grams(_simple_words(content), size) & having.keys():
            on[gram].append(url)
    counts: dict[Pair, int] = defaultdict(int)
    for gram, urls in on.items():
        if most is None or len(urls) <= most:
            for url in urls:
                for item_id in having[gram]:
                    counts[item_id, url] += 1
    return {pair: count / total[pair[0]] for pair, count in counts.items()}


def rule_50(items: list[Item], text: dict[str, str], rng: random.Random) -> set[Pair]:
    """One of three random stretches of 50 letters and digits of the item."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for item in items:
        letters = re.sub(r"[\W_]+", "", item.text)
        for _ in range(3):
            start = rng.randint(0, max(len(letters) - 50, 0))
            wanted[letters[start:start + 50]].add(item.id)
    short = [part for part in wanted if len(part) < 50]
    found = set()
    for url, content in text.items():
        letters = re.sub(r"[\W_]+", "", content)
        windows = {letters[at:at + 50] for at in range(len(letters) - 49)}
        there = [part for part in short if part in letters]
        found |= {(item_id, url) for part in (*(windows & wanted.keys()), *there)
                  for item_id in wanted[part]}
    return found


def speed(crawl: list[str], texts: list[str], folder: Path, workers: str) -> None:
    evals, one = folder / "evals.jsonl", folder / "one.jsonl"
    evals.write_text("".join(json.dumps({"id": number, "text": text}) + "\n"
                             for number, text in enumerate(texts)))
    one.write_text('{"url": "http://a.example/", "text": "a page"}\n')
    commands = {
        "discovery and detection": ["run", "--analyses", "discovery,detection"],
        "decontaminate": ["decontaminate", "--against", str(evals)],
    }
    costs = {}
    for name, (command, *options) in commands.items():
        both = [run([sys.executable, "-m", "beam_reuse", command, *given, *options, "-o",
                     str(folder / "out"), "--overwrite", "--workers", workers])
                for given in ([str(one)], crawl)]
        costs[name] = both[1].cpu - both[0].cpu
        print(f"{name}: CPU {both[1].cpu:.1f} s, {costs[name]:.1f} s start-up aside, wall "
              f"{both[1].wall:.1f} s, memory {both[1].memory / 1e9:.2f} GB")
    print(f"{costs['decontaminate'] / costs['discovery and detection']:.2f} times")


if __name__ == "__main__":
    main()
