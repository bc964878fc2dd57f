"""Who is the likely original: the kernel against its definition, on small random sets."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from beam_reuse.kernels.origins import NEVER, decide_each
from tests.oracles.origins import EVIDENCE, Decision, Member, origin_of

URLS = ("http://a/1", "http://a/2", "http://b/1", "http://c/1", "http://d/1")
OUTSIDE = ("http://x/", "http://y/")
TIMES = st.sampled_from([None, None, 1, 2, 3])


@st.composite
def sets_of_pages(draw: st.DrawFn) -> list[Member]:
    """Pages of few URLs; a URL may have several captures."""
    urls = sorted(draw(st.lists(st.sampled_from(URLS), min_size=2, max_size=6)))
    targets = st.one_of(st.none(), st.sampled_from((*URLS, *OUTSIDE)))
    return [
        Member(f"{url}#{n}", url, url.split("/")[2], draw(targets),
               draw(st.frozensets(st.sampled_from(URLS), max_size=2)), draw(TIMES), draw(TIMES))
        for n, url in enumerate(urls)]


def number(url: str | None) -> int:
    return 0 if url is None else (*URLS, *OUTSIDE).index(url) + 1


def decided(sets: list[list[Member]]) -> list[Decision]:
    """What the kernel says, in the words of the definition."""
    members = [each for some in sets for each in some]
    links = [[number(url) for url in sorted(each.links) if url.split("/")[2] != each.host]
             for each in members]
    ends = np.cumsum([len(some) for some in sets])
    moments = [np.array([NEVER if t is None else t for t in times], np.uint64) for times in (
        [each.date for each in members], [each.time for each in members])]
    fingerprints = [np.array(values, np.uint64) for values in (
        [number(each.url) for each in members], [ord(each.host) for each in members],
        [number(each.canonical) for each in members])]
    offsets = np.concatenate([[0], np.cumsum([len(some) for some in links])]).astype(np.int64)
    rows = decide_each(
        ends - [len(some) for some in sets], ends, *fingerprints, *moments, offsets,
        np.array([target for some in links for target in some], np.uint64)).tolist()
    return [Decision(members[origin].key if origin >= 0 else
                     members[names].canonical if names >= 0 else None,
                     (*EVIDENCE, "none")[evidence], agree, against)
            for origin, names, evidence, agree, against in rows]


def page(url: str, canonical: str | None = None, *links: str, date: int | None = None,
         time: int | None = None) -> Member:
    return Member(url, url, url.split("/")[2], canonical, frozenset(links), date, time)


A, A2, B, C, D = URLS
X, Y = OUTSIDE


@settings(max_examples=3000)
@given(st.lists(sets_of_pages(), min_size=1, max_size=3))
@example([[page(A, B), page(B, A), page(C, A)]])
def test_the_kernel_decides_as_defined(sets: list[list[Member]]) -> None:
    assert decided(sets) == [origin_of(some) for some in sets]


@pytest.mark.parametrize(("members", "expected"), [
    ([page(A, B), page(B), page(C, date=1)], (B, "canonical", 1, 0)),
    ([page(A, A), page(B, A), page(C, C)], (A, "canonical", 2, 1)),
    ([page(A, X), page(B, X), page(C)], (X, "canonical", 2, 0)),
    ([page(A, B), page(B, C), page(C)], (C, "canonical", 2, 0)),  # a chain
    ([page(A, B), page(B, X)], (X, "canonical", 2, 0)),
    ([page(A, B, time=2), page(B, A, time=1)], (B, "first-capture", 1, 0)),  # a circle
    ([page(A, X), page(B, Y)], (None, "none", 0, 0)),
    ([page(A, X), page(B, Y), page(C)], (C, "canonical", 0, 2)),
    ([page(A, X), page(B, C), page(C)], (C, "canonical", 1, 1)),  # a page before one outside
    ([page(A, A, date=2), page(B, B, date=1)], (B, "date", 1, 0)),  # everybody's own claim
    ([page(A, None, C), page(B, None, C, date=1), page(C, date=2)], (C, "link", 2, 0)),
    ([page(A, None, B), page(B, None, A), page(C)], (None, "none", 0, 0)),
    ([page(A, None, A2), page(A2, time=1)], (None, "none", 0, 0)),  # navigation
    ([page(A, date=1), page(B)], (None, "none", 0, 0)),  # of B nothing is known
    ([page(A, date=1, time=3), page(B, date=1, time=2), page(C, date=2, time=1)],
     (B, "first-capture", 1, 1)),
    ([page(A, time=1), page(B, time=1)], (None, "none", 0, 0)),
])
def test_sets_by_hand(members: list[Member], expected: tuple) -> None:
    assert origin_of(members) == expected
    assert decided([members]) == [expected]


def test_a_hundred_thousand_copies_take_no_time() -> None:
    n = 100_000
    url = np.arange(1, n + 1, dtype=np.uint64)
    chain = np.append(url[1:], url[-1])
    never = np.full(n, NEVER)
    rows = decide_each(np.array([0]), np.array([n]), url, url, chain, never, never,
                       np.zeros(n + 1, np.int64), np.zeros(0, np.uint64))
    assert rows.tolist() == [[n - 1, -1, 0, n, 0]]
