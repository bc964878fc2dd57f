"""Makes the documents that near-duplicates are looked for in: JSON Lines with `url` and `text`.

usage: documents.py [--documents N] [--mixed SHARE] [--tongues T] [--seed S] -o OUT.jsonl INPUT...

Real pages are drawn from the inputs (anything `beam-reuse run` reads; HTML becomes its text). The
mixed ones are altered copies of some of them, four of each: words replaced, deleted or moved, one
by one and in stretches, so that the Jaccard similarities of their 8-word shingles spread from
about 0.5 to 1. With T tongues the whole is written T times, each time on other hosts and with the
letters and digits exchanged by a cipher of its own: T times the pages and sites, as long and as
much alike within a tongue as before, with nothing in common between tongues.
"""

import argparse
import hashlib
import re
import string
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import orjson

from beam_reuse.core.nesting import TooDeep, check_nesting
from beam_reuse.core.pages import Kind, RawPage
from beam_reuse.core.settings import ReadSettings
from beam_reuse.core.text import read_html
from beam_reuse.io.crawl.inputs import list_files
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.io.crawl.ranges import cut
from beam_reuse.io.crawl.read import RangeReader

COPIES = 4
LEAST_WORDS = 40
SHINGLE = 8

# Words with the white space after them, so that copies differ from originals by edits alone.
_WORDS = re.compile(r"\S+\s*").findall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--mixed", type=float, default=0.4)
    parser.add_argument("--tongues", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    copies = int(args.documents * args.mixed) // COPIES * COPIES
    pages = drawn(real_pages(args.inputs), args.documents - copies, args.seed)
    rows = pages + list(mixed(pages, copies, np.random.default_rng(args.seed)))
    order = np.random.default_rng(args.seed + 1).permutation(len(rows))
    with args.output.open("wb") as out:
        for tongue in range(args.tongues):
            letters = cipher(tongue)
            for number in order:
                url, text = rows[number]
                out.write(orjson.dumps({"url": abroad(url, tongue),
                                        "text": text.translate(letters)}) + b"\n")
    print(f"{len(rows) * args.tongues} documents, {copies * args.tongues} of them mixed")


def real_pages(inputs: list[str]) -> Iterator[tuple[str, str]]:
    """URL and text of every document in the inputs that has text."""
    for piece in cut(list_files(inputs)):
        for page in RangeReader(piece, ReadSettings()):
            if isinstance(page, RawPage) and page.kind.has_text:
                text = text_of(page)
                if text:
                    yield page.fetched_url, text


def text_of(page: RawPage) -> str:
    text = decode_text(page.payload, page.charset)
    if page.kind is not Kind.HTML:
        return text
    try:
        check_nesting(page.payload)
    except TooDeep:
        return ""
    return read_html(text).text.decode("utf-8", "replace").replace("\f", "\n").strip()


def drawn(pages: Iterator[tuple[str, str]], count: int, seed: int) -> list[tuple[str, str]]:
    """`count` of the pages, one per URL, chosen by a hash of the URL alone, in its order."""
    hashed = {hashlib.sha1(f"{seed} {url}".encode()).digest(): (url, text) for url, text in pages}
    if len(hashed) < count:
        raise SystemExit(f"{count} pages are wanted and the inputs have {len(hashed)}; "
                         "give more inputs or a smaller --documents")
    return [hashed[key] for key in sorted(hashed)[:count]]


def mixed(
    pages: list[tuple[str, str]], count: int, rng: np.random.Generator
) -> Iterator[tuple[str, str]]:
    """`count` altered copies of pages, `COPIES` of each, on other hosts."""
    words = np.array([word for _, text in pages[:2000] for word in _WORDS(text)[:200]], object)
    made = 0
    for number, (_, text) in enumerate(pages):
        if made == count:
            return
        original = _WORDS(text)
        if len(original) < LEAST_WORDS:
            continue
        for copy in range(COPIES):
            altered = alter(original, rng.uniform(0.5, 1), words, rng)
            yield f"http://www.mix-{copy}.example/{number % 100}/{number}.html", "".join(altered)
            made += 1
    if made < count:
        raise SystemExit(f"only {made} altered copies could be made; give a smaller --mixed")


def alter(
    original: list[str], jaccard: float, words: np.ndarray, rng: np.random.Generator
) -> list[str]:
    """`original` with edits of random kinds, about as many as bring the Jaccard similarity of
    the shingle sets down to `jaccard`.

    An edit of w words spoils about w + 7 of n shingles and puts as many others in place; with s
    spoiled in all, n - s of n + s are common.
    """
    altered = list(original)
    spoiled = len(original) * (1 - jaccard) / (1 + jaccard)
    while spoiled > 0:
        width = 1 if rng.random() < 0.5 else int(rng.integers(2, 60))
        width = max(1, min(width, int(spoiled) - SHINGLE + 1, len(altered) // 4))
        at = int(rng.integers(0, max(1, len(altered) - width)))
        kind = rng.integers(0, 3)
        if kind == 0:
            altered[at : at + width] = rng.choice(words, width).tolist()
        else:
            moved = altered[at : at + width]
            del altered[at : at + width]
            if kind == 2:
                to = int(rng.integers(0, len(altered) + 1))
                altered[to:to] = moved
        spoiled -= width + SHINGLE - 1
    return altered


def cipher(tongue: int) -> dict[int, str]:
    """An exchange of letters and digits; none in the first tongue."""
    if tongue == 0:
        return {}
    rng = np.random.default_rng(tongue)
    return {ord(case(old)): case(new)
            for signs in (string.ascii_lowercase, string.digits)
            for old, new in zip(signs, rng.permutation(list(signs)), strict=True)
            for case in (str.lower, str.upper)}


def abroad(url: str, tongue: int) -> str:
    """The URL on the host of another tongue."""
    return url if tongue == 0 else url.replace(".example/", f"-{tongue}.example/", 1)


if __name__ == "__main__":
    main()
