"""Shares, means and deviations against fractions."""

import hashlib
from fractions import Fraction
from itertools import pairwise
from math import floor

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.analyses.reuse.neighbourhood_kernels import prefixes_of
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.core import shares
from beam_reuse.core.urls import canonical_url, prefixes
from beam_reuse.kernels.prefixes import directory_prefixes
from tests.oracles import reuse

PAIRS = st.lists(st.integers(1, 2**42).flatmap(
    lambda whole: st.tuples(st.integers(0, whole), st.just(whole))), min_size=1, max_size=20)
VALUES = st.lists(st.integers(0, shares.ONE), min_size=1, max_size=30)


@given(PAIRS)
def test_a_share_is_the_floor_of_the_fraction(pairs: list[tuple[int, int]]) -> None:
    part, whole = (np.array(side) for side in zip(*pairs, strict=True))
    expected = [floor(Fraction(p * shares.ONE, w)) for p, w in pairs]
    assert shares.shares(part, whole).tolist() == expected


def test_nothing_has_no_share() -> None:
    nothing = np.zeros(1, np.int64)
    assert shares.shares(nothing, nothing).tolist() == [shares.NO_SHARE]
    assert np.isnan(shares.ratio(nothing, nothing))
    assert shares.auto_threshold(dict.fromkeys(shares.MOMENTS, 0)) == shares.ONE


@given(VALUES, st.integers(0, shares.ONE))
def test_above_mean_plus_deviation_exactly(values: list[int], asked: int) -> None:
    columns = shares.moments(np.array([*values, shares.NO_SHARE]))
    sums = {name: sum(columns[name].tolist()) for name in shares.MOMENTS}
    n, total, squares = len(values), sum(values), sum(v * v for v in values)
    ahead = Fraction(asked) - Fraction(total, n)
    variance = Fraction(squares, n) - Fraction(total, n) ** 2
    for share in {asked, *values}:
        ahead = Fraction(share) - Fraction(total, n)
        above = ahead > 0 and ahead**2 > variance
        assert (share > shares.auto_threshold(sums)) == above


@given(st.lists(st.sampled_from([0, 0, 0, 1, 2**39, shares.ONE]), max_size=12),
       st.integers(1, 12))
def test_too_few_values_or_too_many_above_nothing_are_no_background(
        values: list[int], least: int) -> None:
    columns = shares.moments(np.array([*values, shares.NO_SHARE]))
    sums = {name: sum(columns[name].tolist()) for name in shares.MOMENTS}
    limit = reuse.threshold(values, None, True, least)
    for share in (0, 1, 2**38, *values):
        assert (share > shares.auto_threshold(sums, least)) == reuse.above(share, limit)


@given(st.floats(0, 1), st.integers(0, shares.ONE))
def test_above_a_given_threshold_exactly(value: float, share: int) -> None:
    assert (share > shares.given_threshold(value)) == (Fraction(share, shares.ONE) > value)


@given(st.lists(VALUES, min_size=1, max_size=5), st.integers(1, 2**22))
def test_means_of_shares(groups: list[list[int]], repeat: int) -> None:
    """Also where the sum needs more than 64 bits."""
    halves = [shares.halves(np.array(group)) for group in groups]
    high, low = (np.array([int(h[k].sum()) * repeat for h in halves]) for k in (0, 1))
    values = np.array([len(group) * repeat for group in groups])
    means = [Fraction(sum(group), len(group)) for group in groups]
    assert shares.floor_mean(high, low, values).tolist() == [floor(mean) for mean in means]
    expected = [float(mean / shares.ONE) for mean in means]
    assert shares.mean_share(high, low, values).tolist() == expected


URLS = st.builds(
    "{}://{}{}/{}{}".format,
    st.sampled_from(["http", "https", "file", "x-y"]),
    st.sampled_from(["a.example", "[2001:db8::1]", "10.0.0.1", "localhost"]),
    st.sampled_from(["", ":81", ":8080"]),
    st.text(alphabet="ab/:.é%?", max_size=12),
    st.sampled_from(["", "?", "?q=/a/b", "?a?b/"]),
).map(canonical_url)


@given(st.lists(URLS, max_size=10))
def test_prefixes_by_kernel_and_by_hand(urls: list[str]) -> None:
    raw = [url.encode() for url in urls]
    offsets = np.cumsum([0, *map(len, raw)])
    number, depth, ends, data = directory_prefixes(
        offsets, np.frombuffer(b"".join(raw), np.uint8))
    text = data.tobytes()
    found = [text[a:b].decode() for a, b in pairwise(ends)]
    expected = [(i, n, prefix) for i, url in enumerate(urls)
                for n, prefix in enumerate(prefixes(url), 1)]
    assert list(zip(number.tolist(), depth.tolist(), found, strict=True)) == expected


@given(st.lists(URLS, max_size=4), st.data())
def test_pages_of_one_directory_share_its_prefixes(some: list[str], data: st.DataObject) -> None:
    """Each page has its own prefixes, however often directories follow each other."""
    urls = data.draw(st.lists(st.sampled_from(some), max_size=10)) if some else []
    found = prefixes_of(VarBytes.from_list([url.encode() for url in urls]))
    names = found.first.strings("prefix").to_list()
    assert found.first.array("id").tobytes() == b"".join(
        sorted({hashlib.sha1(name).digest() for name in names}))
    assert len(set(names)) == len(names)
    expected = [(i, prefix) for i, url in enumerate(urls) for prefix in prefixes(url)]
    rows = zip(found.page.tolist(), found.which.tolist(), strict=True)
    assert [(page, names[which].decode()) for page, which in rows] == expected
