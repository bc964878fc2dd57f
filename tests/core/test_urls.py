"""Names of pages: SPEC §7, and recursion errors of §1."""

from urllib.parse import urljoin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.core.urls import (
    BadUrl,
    canonical_url,
    cut_reason,
    domain_of,
    name_page,
    prefixes,
    resolve_url,
    site_of,
)
from beam_reuse.kernels.prefixes import are_cut
from tests.oracles import urls as oracle

PIECES = st.sampled_from([
    "http", "HTTPS", "ftp", "file", "x-y", "://", ":", "//", "/", "@", ".", "..", "#", "?", "[::1]",
    "[", "]", "%", "%41", "%ff", "80", "443", "0", "99999", "WWW.Example.org", "münchen.DE",
    "xn--n3h", "☃", "straße", " ", "\t", "\n", "\x00", "\\", "a", "b", "℀", "。", "İ", "Σ",
    "\udcff",
    "\ud800", "1.2.3.4", "user:pass", "a=b&c", "co.uk", "\u200d", "\u2028",
])
URLS = st.one_of(
    st.lists(PIECES, max_size=14).map("".join),
    st.lists(PIECES, max_size=10).map(lambda pieces: "http://h" + "".join(pieces)),
    st.text(st.characters(), max_size=40).map(lambda text: "http://" + text),
    st.text(st.characters(), max_size=40),
)


@pytest.mark.parametrize(("fetched", "canonical"), [
    ("HTTP://User:p@Example.COM.:80?x#y", "http://example.com/?x"),
    ("http://example.com", "http://example.com/"),
    ("http://example.com:8080/%7Ea/../B", "http://example.com:8080/%7Ea/../B"),
    ("https://example.com:443/", "https://example.com/"),
    ("https://example.com:80/", "https://example.com:80/"),
    ("http://example.com:0080/", "http://example.com/"),
    ("http://example.com:/", "http://example.com/"),
    ("http://example.com:0/", "http://example.com:0/"),
    ("http://münchen.de/ä", "http://xn--mnchen-3ya.de/ä"),
    ("http://straße.de/", "http://xn--strae-oqa.de/"),
    ("http://☃.net/", "http://xn--n3h.net/"),
    ("http://ex%61mple.com/%61", "http://example.com/%61"),
    ("https://[2001:DB8::1]:443/a", "https://[2001:db8::1]/a"),
    ("http://[::1]:81/a", "http://[::1]:81/a"),
    ("file://Docs/a b", "file://docs/a b"),
    ("  http://h/a \n", "http://h/a"),
    ("http://h/a #b", "http://h/a"),
    ("http://h/\udcff\ud800", "http://h/%FF%ED%A0%80"),
    ("http://h/?a?b/c", "http://h/?a?b/c"),
])
def test_canonical_url(fetched: str, canonical: str) -> None:
    assert canonical_url(fetched) == canonical


@pytest.mark.parametrize(("fetched", "reason"), [
    ("", "no scheme"), ("example.com/a", "no scheme"), ("//h/a", "no scheme"),
    ("dns:example.com", "no host"), ("file:///etc", "no host"), ("http://", "no host"),
    ("http://./", "no host"), ("http:/h/a", "no host"), ("http://user@/", "no host"),
    ("http://h:8x/", "bad port"), ("http://h:65536/", "bad port"), ("http://h:٣/", "bad port"),
    ("http://a b/", "bad host"), ("http://h\\x/", "bad host"), ("http://%ff/", "bad host"),
    ("http://a℀b/", "bad host"), ("http://[::1/", "bad IPv6"), ("http://[::1]x/", "bad IPv6"),
    ("http://[fe80::1%25e0]/", "bad IPv6"),
    ("http://a..b/", "bad host"), ("http://.a/", "bad host"), ("https://w..b.example/", "bad host"),
    ("http://A..b/", "bad host"), ("http://a../", "bad host"), ("http://../", "bad host"),
    ("http://ä。。de/", "bad host"), ("http://a%2E%2Eb:81/", "bad host"),
])
def test_bad_urls_say_what_is_wrong(fetched: str, reason: str) -> None:
    with pytest.raises(BadUrl, match=reason):
        canonical_url(fetched)


@given(URLS)
def test_canonical_url_is_total_and_idempotent(fetched: str) -> None:
    try:
        once = canonical_url(fetched)
    except BadUrl:
        return
    assert canonical_url(once) == once
    once.encode("utf-8")
    name = name_page(fetched)
    assert name == name_page(once)
    assert name.host.isascii() and name.host == name.host.lower()
    assert name.depth == len(prefixes(once))
    assert prefixes(once)[0] == name.host + "/"
    assert name.host.endswith(name.site) and name.host.endswith(name.domain)


@pytest.mark.parametrize(("host", "site", "domain"), [
    ("example.com", "example.com", "example.com"),
    ("www.example.com", "example.com", "example.com"),
    ("a.b.example.co.uk", "b.example.co.uk", "example.co.uk"),
    ("example.co.uk", "co.uk", "example.co.uk"),
    ("co.uk", "co.uk", "co.uk"),
    ("localhost", "localhost", "localhost"),
    ("10.2.3.4", "10.2.3.4", "10.2.3.4"),
    ("[::1]", "[::1]", "[::1]"),
    ("1.2.3.400", "2.3.400", "3.400"),
    ("some.host.unknowntld", "host.unknowntld", "host.unknowntld"),
    ("www.xn--mnchen-3ya.de", "xn--mnchen-3ya.de", "xn--mnchen-3ya.de"),
])
def test_site_and_domain(host: str, site: str, domain: str) -> None:
    assert (site_of(host), domain_of(host)) == (site, domain)


@pytest.mark.parametrize(("url", "expected"), [
    ("http://h/", ["h/"]),
    ("http://h/a", ["h/"]),
    ("http://h/a/", ["h/", "h/a/"]),
    ("http://h:81/a/b/c?x/y", ["h/", "h/a/", "h/a/b/"]),
    ("http://[::1]:81/a/b", ["[::1]/", "[::1]/a/"]),
    ("http://h//a", ["h/", "h//"]),
])
def test_prefixes(url: str, expected: list[str]) -> None:
    assert prefixes(url) == expected
    assert name_page(url).depth == len(expected)


@given(
    st.lists(st.sampled_from(["a", "b", "c", "", "robots.txt", "?q/q/q"]), max_size=30),
    st.integers(0, 12),
    st.sampled_from([0, 2, 3, 5]),
)
def test_cut_reason_equals_its_definition(
    components: list[str], max_depth: int, max_repeats: int
) -> None:
    url = canonical_url("http://h/" + "/".join(components))
    expected = oracle.cut_reason(url, max_depth, max_repeats)
    assert cut_reason(url, max_depth, max_repeats) == expected
    for key in (url, url + "#20260101"):
        data = np.frombuffer(b"junk" + key.encode(), np.uint8)
        found = are_cut(np.array([4, len(data)]), data, max_depth, max_repeats)
        assert found.tolist() == [expected is not None]


@pytest.mark.parametrize(("path", "reason"), [
    ("a/" * 4, None), ("a/" * 5, "path-repeats"), ("a/" * 4 + "a", "path-repeats"),
    ("a/b/" * 5, "path-repeats"), ("a/b/" * 4 + "a/", "path-repeats"), ("a/b/" * 4 + "aa/", None),
    ("1/2/3/4/5/6/7/8/9/" * 4, None), ("1/2/3/4/5/6/7/8/9/" * 4 + "6", "path-repeats"),
    ("a/b/a/c/a/d/a/e/a/f/", "path-repeats"), ("a/b/a/c/a/d/a/e/f/", None),
    ("x//y//z//" + "//", "path-repeats"),
    ("x/" + "a/" * 5 + "y", "path-repeats"), ("".join(f"{i}/" for i in range(96)), "too-deep"),
    ("".join(f"{i}/" for i in range(95)), None), ("a?" + "b/" * 200, None),
])
def test_cut_reasons(path: str, reason: str | None) -> None:
    assert cut_reason("http://h/" + path, 96, 5) == reason


SEGMENTS = st.lists(st.sampled_from(["a", "b.c", ".", "..", "/", "?", "#", "d", "x:", "é"]),
                    max_size=8).map("".join)


@given(SEGMENTS, SEGMENTS)
def test_resolve_url_equals_urljoin(path: str, reference: str) -> None:
    base = canonical_url("http://h/" + path)
    before_query = reference.partition("#")[0].partition("?")[0]
    if not before_query or "x:" in before_query or "?#" in reference + "#":
        return  # urljoin leaves schemes it does not know alone, and forgets an empty query
    if "//" in (prefixes(base)[-1] + "/" + before_query).replace("//", "/", 1):
        return  # urljoin drops empty segments
    expected = urljoin(base, reference)
    assert canonical_url(resolve_url(base, reference)) == canonical_url(expected)


@pytest.mark.parametrize(("base", "reference", "expected"), [
    ("http://h/a/b?q", "", "http://h/a/b?q"),
    ("http://h/a/b?q", "#x", "http://h/a/b?q"),
    ("http://h/a/b?q", "?r", "http://h/a/b?r"),
    ("http://h/a/b", "//g/c", "http://g/c"),
    ("http://h/a/b", "../../../c/./d/..", "http://h/c/"),
    ("http://h/a/b", " c\nd ", "http://h/a/cd"),
    ("x-y://h/a/b", "c", "x-y://h/a/c"),
    ("http://h/a/b", "mailto:x@y", "mailto:x@y"),
])
def test_resolve_url(base: str, reference: str, expected: str) -> None:
    assert resolve_url(base, reference) == expected


@given(URLS, URLS)
def test_resolve_url_is_total(base: str, reference: str) -> None:
    resolve_url(base, reference)
