"""Slow, obvious definitions of the experiments: lists, dicts and fractions."""

import random
from collections import Counter
from fractions import Fraction
from math import sqrt

import numpy as np

from beam_reuse.experiments.draws import Draws
from beam_reuse.experiments.vectors import Background, Site, SiteChunks, SiteFiles

Page = tuple[str, list[str]]
"""A page: its file's name and its chunks' names. A page without chunks is of another kind."""

OTHER = 10**9


def random_pages(seed: int, pages: int = 12, names: int = 9) -> list[Page]:
    """Pages of few different chunks, some empty, some equal."""
    rng = random.Random(seed)
    return [
        (f"file {rng.randrange(pages)}",
         [f"chunk {rng.randrange(names)}" for _ in range(rng.choice([0, 1, 2, 5, 9]))])
        for _ in range(pages)
    ]


def site_of(pages: list[Page]) -> Site:
    """The pages as numbers, in the order names are first met."""
    files = {name: i for i, name in enumerate(dict.fromkeys(f for f, _ in pages))}
    chunks = {name: i for i, name in enumerate(dict.fromkeys(c for _, p in pages for c in p))}
    vectors = [[chunks[c] for c in page] for _, page in pages if page]
    return Site(
        SiteFiles(np.array([files[f] for f, _ in pages], np.int64),
              np.array([bool(page) for _, page in pages], np.bool_), len(files)),
        SiteChunks(np.cumsum([0, *map(len, vectors)]),
               np.array([c for v in vectors for c in v], np.int64),
               len(chunks)),
        sum(bool(page) for _, page in pages),
    )


def background_of(pages: list[Page], site: list[Page]) -> Background:
    """Counts of the site's names in other pages."""
    files = Counter(name for name, _ in pages)
    chunks = Counter(name for _, page in pages for name in page)
    return Background(
        np.array([files[n] for n in dict.fromkeys(f for f, _ in site)], np.int64),
        np.array([chunks[n] for n in dict.fromkeys(c for _, p in site for c in p)], np.int64),
        sum(files.values()), sum(chunks.values()),
    )


def copied(site: list[Page], d: int, partial: bool) -> list[Page]:
    """The copies, each made."""
    made = []
    for copy in range(d):
        for i, (name, page) in enumerate(site):
            if partial and page:
                name = f"{name} of copy {copy}, page {i}"
                page = [page[0], f"head {copy} {i}", *page[1:], f"tail {copy} {i}"]
            made.append((name, page))
    return made


def discovered(corpus: list[Page], kind: str, given: int | None) -> tuple[set[str], int]:
    """What discovery finds in a corpus, and the threshold."""
    names = [f for f, _ in corpus] if kind == "file" else [c for _, p in corpus for c in p]
    papers = {"file": Fraction(10**3, 2_860_000_000), "chunk": Fraction(10**5, 40_500_000_000)}
    threshold = max(10, int(len(names) * papers[kind])) if given is None else given
    return {name for name, n in Counter(names).items() if n > threshold}, threshold


def mutated(page: list[int], way: str, n: int, draws: list[int]) -> list[int]:
    """A page after n mutations; `draws` are the positions picked (change), or a number for
    each chunk, of which the smallest is deleted first (delete)."""
    if way == "add":
        return page + [OTHER] * n
    if way == "change":
        page = list(page)
        for position in draws[:n]:
            page[position] = OTHER
        return page
    order = sorted(range(len(page)), key=draws.__getitem__)
    return [page[i] for i in range(len(page)) if i not in order[:n]]


def one_run(
    vectors: list[list[int]], labels: set[int], way: str, mutations: list[int], seed: int,
    run: int, threshold: Fraction,
) -> list[tuple]:
    """For each number of mutations: pages left, chunks left, mean share, pooled share and
    detected pages."""
    draws = Draws(seed, way, run)
    most = mutations[-1]
    draws = [
        draws.below(np.array([len(page)]), most)[0].tolist() if way == "change"
        else draws.words(len(page)).tolist() if way == "delete" else []
        for page in vectors
    ]
    steps = []
    for n in mutations:
        after = [mutated(page, way, n, d) for page, d in zip(vectors, draws, strict=True)]
        left = [page for page in after if page]
        hits = [sum(chunk in labels for chunk in page) for page in left]
        shares = [Fraction(h * 2**40 // len(p), 2**40) for h, p in zip(hits, left, strict=True)]
        total = sum(map(len, left))
        steps.append((
            len(left), total,
            sum(shares, Fraction(0)) / len(left) if left else None,
            Fraction(sum(hits), total) if total else None,
            sum(share > threshold for share in shares),
        ))
    return steps


def mean_and_error(values: list[Fraction]) -> tuple[Fraction, float]:
    mean = Fraction(sum(values), len(values))
    squares = sum((value - mean) ** 2 for value in values)
    return mean, sqrt(squares / (len(values) - 1) / len(values))
