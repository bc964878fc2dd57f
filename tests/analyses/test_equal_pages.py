"""Sets and classes of equal pages against their definition, however their stream is cut."""

import random
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest

from beam_reuse.analyses.graphs import keep
from beam_reuse.analyses.near_duplicates.definition import MOST_EQUAL, as_bytes
from beam_reuse.analyses.near_duplicates.equal_pages import (
    KNOWN,
    MEMBERS,
    SETS,
    STARS,
    distinct_pages,
)
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.rows import Count, Tagged


def signed_rows(rng: random.Random) -> Block:
    """Signatures of pages in any order, many of them equal: in tokens, in signatures, in sites."""
    count = rng.randint(1, 400)
    signature = np.array([rng.choice((0, 1, 1, 1, 2, 3)) for _ in range(count)], np.uint64)
    identity = signature * np.uint64(100) + np.array(
        [rng.randrange(rng.choice((1, 60))) for _ in range(count)], np.uint64)
    words = as_bytes(np.repeat(signature[:, None], 6, axis=1))
    rows = Block({
        "page": np.array(rng.sample(range(10 * count), count), np.uint64), "b": words,
        "identity": as_bytes(np.column_stack([identity, identity])), "c": words,
        "site": np.array([rng.randrange(3) for _ in range(count)], np.uint64),
        "order": np.array([rng.randrange(9) for _ in range(count)], np.uint64),
        "short": np.array([rng.randrange(2) for _ in range(count)], np.uint8), **{
            name: np.array([rng.randrange(9) for _ in range(count)], np.uint64)
            for name in ("url", "canonical")}})
    return rows.with_columns(equal=rows.hash_rows(("b", "c"))).sort(("equal", "identity", "page"))


@pytest.mark.parametrize("seed", range(40))
def test_equal_pages_are_the_same_however_the_stream_is_cut(seed: int) -> None:
    """Sets and classes of pages that come in slabs, against their definition."""
    rng = random.Random(seed)
    rows = signed_rows(rng)
    cuts = sorted({0, len(rows), *(rng.randrange(len(rows)) for _ in range(rng.randint(0, 30)))})
    columns = {"": ("page",), MEMBERS: ("set", "page", "order"), SETS: ("representative", "page"),
               KNOWN: ("set", "row", "page"), STARS: ("page_a", "page_b")}
    seen: dict[str, list[tuple[int, ...]]] = {tag: [] for tag in columns}
    not_listed = 0
    declared = KeyFilter.sized(("url",), 9)
    declared.add(Block({"url": np.arange(5, dtype=np.uint64)}))
    slabs = (rows.slice(a, b) for a, b in pairwise(cuts))
    for found in distinct_pages(slabs, NearDuplicateSettings(), declared):
        if isinstance(found, Count):
            not_listed += found.number
            continue
        tag, block = found if isinstance(found, Tagged) else ("", found)
        seen[tag] += zip(*(block.array(name).tolist() for name in columns[tag]), strict=True)

    sets, classes = defaultdict(list), defaultdict(list)
    columns_of = ("page", "identity", "b", "site", "order", "short", "url", "canonical")
    for page, identity, b, site, order, *known in zip(
            *(rows.array(name).tolist() for name in columns_of), strict=True):
        sets[identity].append((page, bytes(b), site, order, *known))
    expected: dict[str, list[tuple[int, ...]]] = {tag: [] for tag in columns}
    for members in sets.values():
        first, b, site, _, short, *_ = min(members)
        expected[MEMBERS] += [(first, page, order) for page, _, _, order, *_ in members]
        expected[KNOWN] += [(first, keep.SHORT, first)] * short
        for page, *_, url, canonical in members:
            expected[KNOWN] += [(first, keep.NAMED, page)] * (url < 5)
            expected[KNOWN] += [(first, keep.DECLARES, page)] * (canonical > 0)
        expected[SETS] += [(first, page) for page, *_ in members if len(members) > 1]
        classes[b, site if any(b) else first].append(first)
    listed = 0
    for pages in map(sorted, classes.values()):
        large = len(pages) > MOST_EQUAL
        expected[""] += [(page,) for page in (pages[:1] if large else pages)]
        expected[STARS] += [(pages[0], page) for page in pages[1:] if large]
        listed += sum(range(len(pages) - 1)) if large else 0
    assert {tag: sorted(found) for tag, found in seen.items()} == {
        tag: sorted(found) for tag, found in expected.items()}
    assert not_listed == listed
