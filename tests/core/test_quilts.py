"""Sweeps, sets of grams, covers, spans and attribution, each against its definition."""

import random
import time
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.analyses.quilts.definition import (
    Combination,
    Linked,
    Sweep,
    gram_sets,
    linked_sources,
)
from beam_reuse.analyses.quilts.settings import QuiltSettings
from beam_reuse.kernels import covers, grams
from beam_reuse.kernels.compiled import frozen
from tests.oracles import quilts as oracle

WORDS = st.lists(st.integers(0, 5), max_size=40)


def tokens_of(words: list[int]) -> np.ndarray:
    """Small numbers as they would be fingerprints."""
    return np.array([(word + 1) * 0x9E3779B97F4A7C15 % 2**64 for word in words], np.uint64)


@given(st.lists(WORDS, max_size=6), st.integers(1, 6))
def test_gram_sets(pages: list[list[int]], size: int) -> None:
    """As many as there are distinct tuples, and the same for the same tuple on any page."""
    offsets = np.concatenate([[0], np.cumsum([len(words) for words in pages])]).astype(np.int64)
    flat = np.concatenate([np.zeros(0, np.uint64), *map(tokens_of, pages)])
    found, ends = gram_sets(flat, offsets, size)
    names: dict[tuple, int] = {}
    for n, words in enumerate(pages):
        expected = list(dict.fromkeys(
            tuple(words[i:i + size]) for i in range(len(words) - size + 1)))
        mine = found[ends[n]:ends[n + 1]].tolist()
        assert len(set(mine)) == len(mine) == len(expected)
        for words_of, gram in zip(expected, mine, strict=True):
            assert names.setdefault(words_of, gram) == gram
    assert len(set(names.values())) == len(names)


@given(st.lists(st.tuples(st.integers(0, 4), st.sets(st.integers(0, 9))), max_size=12),
       st.sampled_from([0.0, 0.05, 0.2, 0.5]))
def test_greedy_cover(classes: list[tuple[int, set[int]]], share: float) -> None:
    """The same as choosing among all sources anew each time."""
    total = sum(count for count, _ in classes) + 1
    chosen, gained, rank_of = covers.greedy_cover(
        np.array([count for count, _ in classes], np.int64),
        np.cumsum([0, *(len(sources) for _, sources in classes)]),
        np.array([n for _, sources in classes for n in sorted(sources)], np.uint64), total, share)
    left, expected = dict(enumerate(classes)), []
    while True:
        gains = defaultdict(int)
        for count, sources in left.values():
            for source in sources:
                gains[source] += count
        best = min(gains, key=lambda source: (-gains[source], source), default=None)
        if best is None or not gains[best] or gains[best] / total < share:
            break
        expected.append((best, gains[best]))
        left = {n: each for n, each in left.items() if best not in each[1]}
    assert list(zip(chosen.tolist(), gained.tolist(), strict=True)) == expected
    for (count, sources), rank in zip(classes, rank_of.tolist(), strict=True):
        ranks = [n for n, (source, _) in enumerate(expected) if source in sources and count]
        assert rank == min(ranks, default=-1)


@given(WORDS, st.integers(1, 5), st.data())
def test_spans(words: list[int], size: int, data: st.DataObject) -> None:
    positions = oracle.Page("", "", tuple(words)).positions(size)
    owner = {gram: data.draw(st.integers(-1, 3)) for gram in positions}
    found, _ = gram_sets(tokens_of(words), np.array([0, len(words)]), size)
    owners = np.array(list(owner.values()), np.int64)
    whose, starts, ends = grams.spans(
        frozen(tokens_of(words)), size, frozen(found), frozen(owners), 4)
    for number in range(4):
        mine = {gram for gram in owner if owner[gram] == number}
        assert oracle.spans(positions, mine, size) == [
            {"start": start, "end": end} for start, end in
            zip(starts[whose == number].tolist(), ends[whose == number].tolist(), strict=True)]


def test_lists_are_told_apart_word_by_word() -> None:
    rng = random.Random(1)
    lists = [sorted(rng.sample(range(6), rng.randint(1, 4))) for _ in range(300)]
    words = np.array([[page, page % 3] for pages in lists for page in pages], np.uint64)
    words[-1, 1] = 9
    ends = np.cumsum([len(pages) for pages in lists])
    starts = ends - [len(pages) for pages in lists]
    numbers, first = covers.number_lists(frozen(words), frozen(starts), frozen(ends))
    names: dict[bytes, int] = {}
    for n in range(len(lists)):
        assert numbers[n] == names.setdefault(words[starts[n]:ends[n]].tobytes(), len(names))
    assert [numbers[n] for n in first] == list(range(len(names)))


def test_sweeps() -> None:
    settings = QuiltSettings(gram_size=(5, 3), max_pages_per_gram=(50, 9), min_sources=(4, 2))
    assert Sweep.of(settings).combinations == (
        Combination(5, 50, 4, 0.5), Combination(3, 50, 4, 0.5), Combination(5, 9, 4, 0.5),
        Combination(5, 50, 2, 0.5))
    assert Sweep.of(settings).told == (Combination(5, 50, 4, 0.5),)
    grid = QuiltSettings(gram_size=(5, 3), min_sources=(4, 2), sweep="grid", sweep_sources=True)
    assert len(Sweep.of(grid).told) == len(Sweep.of(grid).combinations) == 4


@pytest.mark.parametrize(("base", "links", "expected"), [
    ("", ["http://b.example/1"], Linked.PAGE),
    ("", ["HTTP://B.Example:80/1#top"], Linked.PAGE),
    ("", ["//b.example/1"], Linked.PAGE),
    ("", [" \n/\t/b.example/1"], Linked.PAGE),
    ("", ["http://b.example/2"], Linked.DOMAIN),
    ("", ["https://www.b.example/1"], Linked.DOMAIN),
    ("", ["/1", "1", "?q", "mailto:b@b.example", "http://[b.example/1", ""], Linked.NONE),
    ("http://b.example/x/", ["/1"], Linked.PAGE),
    ("http://b.example/x/", ["1"], Linked.DOMAIN),
    ("//b.example", ["1"], Linked.PAGE),
    ("no host:", ["1"], Linked.NONE),
])
def test_attribution(base: str, links: list[str], expected: Linked) -> None:
    for source in (b"http://b.example/1", b"http://b.example/1#20200101000000~2"):
        assert linked_sources(b"http://a.example/p", base.encode(), [x.encode() for x in links],
                              [source, b"http://c.example/"]) == [expected, Linked.NONE]


def test_a_page_of_ten_million_tokens() -> None:
    """Linear in time, no gram lost, no span cut: the second half repeats the first."""
    count = 10_000_000
    tokens = np.random.default_rng(1).integers(0, 2**64, count, np.uint64)
    tokens[count // 2:] = tokens[:count // 2]
    gram_sets(tokens[:10], np.array([0, 10]), 5)
    started = time.process_time()
    found, ends = gram_sets(tokens, np.array([0, count]), 5)
    assert len(found) == ends[1] == count // 2
    owners = np.arange(len(found)) % 2 - 1
    owners[0] = 0
    whose, starts, stops = grams.spans(
        frozen(tokens), 5, frozen(found), frozen(owners), 1)
    assert (whose.tolist(), starts.tolist(), stops.tolist()) == ([0], [0], [count])
    assert time.process_time() - started < 60
