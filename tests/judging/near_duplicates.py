"""Random crawls with near-duplicates: pages with signatures, and the tables a run would write."""

import random
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from beam_reuse.core.urls import name_page
from tests.judging.results import crawl_row, pair_row

SETTINGS = {"b_threshold": 2, "c_threshold": 9, "combined_threshold": 6, "supershingles": 4,
            "projection_bits": 12}


@dataclass(frozen=True)
class MadePage:
    """`text` tells identity sets apart; equal texts have equal signatures."""

    url: str
    text: int
    supershingles: tuple[int, ...]
    bits: int


def made_pages(rng: random.Random, count: int) -> list[MadePage]:
    """Pages of which many have the same text, the same supershingles, the same bits or both."""
    texts = [(tuple(rng.randrange(2) for _ in range(4)), _bits(rng)) for _ in range(count)]
    texts = [rng.choice([text, texts[0]]) for text in texts]
    pages = []
    for i in range(count):
        text = rng.randrange(count)
        url = f"http://{rng.choice('ab')}.{rng.choice('xy')}.example/{i}"
        pages.append(MadePage(url, text, *texts[text]))
    return pages


def _bits(rng: random.Random) -> int:
    bits = rng.choice([0, 0xFFF, 0xF0F])
    for _ in range(rng.randrange(4)):
        bits ^= 1 << rng.randrange(12)
    return bits


def same_site(a: str, b: str) -> bool:
    return name_page(a).site == name_page(b).site


def b_similarity(a: MadePage, b: MadePage) -> int:
    return sum(x == y for x, y in zip(a.supershingles, b.supershingles, strict=True))


def c_similarity(a: MadePage, b: MadePage) -> int:
    return 12 - (a.bits ^ b.bits).bit_count()


def returned(a: MadePage, b: MadePage) -> set[str]:
    """The algorithms that return a pair, by SPEC §4."""
    names = set()
    if b_similarity(a, b) >= SETTINGS["b_threshold"]:
        names.add("b")
        if c_similarity(a, b) >= SETTINGS["combined_threshold"]:
            names.add("combined")
    if c_similarity(a, b) >= SETTINGS["c_threshold"]:
        names.add("c")
    if ("combined" if same_site(a.url, b.url) else "c") in names:
        names.add("hybrid")
    return names


def tables_of(pages: list[MadePage]) -> dict[str, Any]:
    """The tables of a run: identity sets, stars, and pairs of centres."""
    sets: dict[int, list[MadePage]] = defaultdict(list)
    for page in sorted(pages, key=lambda page: page.url):
        sets[page.text].append(page)
    identity = [{"representative": members[0].url, "url": page.url}
                for members in sets.values() if len(members) > 1 for page in members]
    representatives = [members[0] for members in sets.values()]
    stars: dict[Any, list[MadePage]] = defaultdict(list)
    for page in sorted(representatives, key=lambda page: page.url):
        stars[name_page(page.url).site, page.supershingles, page.bits].append(page)
    listed = [(star[0], page) for star in stars.values() for page in star[1:]]
    listed += [two for two in combinations([star[0] for star in stars.values()], 2)
               if returned(*two)]
    rows = [pair_row(a.url, b.url, b_similarity(a, b), c_similarity(a, b),
                     same_site(a.url, b.url), returned(a, b))
            for a, b in (sorted(two, key=lambda page: page.url) for two in listed)]
    rows.sort(key=lambda row: (row["url_a"], row["url_b"]))
    half = len(rows) // 2
    return {"pages": [[crawl_row(page.url) for page in pages]], "identity_sets": [identity],
            "near_duplicates": [rows[:half], rows[half:]]}
