"""Tokens of images against resolving every one of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.core.tokens import image_tokens
from beam_reuse.core.urls import name_page
from tests.oracles.images import image_token
from tests.oracles.tokens import fingerprint

PAGE = name_page("http://www.example.org:81/dir/page.html?x=/y")
SOURCES = st.lists(st.sampled_from([
    "a.gif", "b", "/", "//", ".", "..", "?", "#", "q=/z", ":", "http:", "data:", "www.example.org",
    "other.org", " ", "\t", "\n", "é", "%20", "\\", "@", "&", "", "HTTP://WWW.EXAMPLE.ORG", ";",
]), max_size=6).map("".join)


@given(st.lists(SOURCES, max_size=5), st.none() | SOURCES)
def test_image_tokens_equal_their_definition(sources: list[str], base: str | None) -> None:
    tokens = [image_token(source, base, PAGE) for source in sources]
    found = image_tokens([source.encode() for source in sources],
                         None if base is None else base.encode(), PAGE)
    assert found.tolist() == [fingerprint(token) for token in tokens if token]


@pytest.mark.parametrize(("source", "token"), [
    ("logo.gif", "logo.gif"), ("/img/logo.gif?v=1", "logo.gif"), ("a/../b.png#x", "b.png"),
    ("http://www.example.org/x/y.png?z", "y.png"), ("//www.example.org/y.png", "y.png"),
    ("https://WWW.Example.org:8443/y%20.png", "y%20.png"),
    ("//cdn.example.com/a/b.png?w=1", "http://cdn.example.com/a/b.png?w=1"),
    ("HTTPS://CDN.example.com:443/B#f", "https://cdn.example.com/B"),
    ("", ""), (" \n", ""), ("?q", "page.html"), ("/img/", ""), ("..", ""),
    ("data:image/gif;base64,AAAA", ""), (" DATA:" + "A" * 1000, ""),
    ("/" + "a" * 999, "a" * 999), ("//o.org/" + "é" * 500, "http://o.org/" + "é" * 500),
    ("javascript:x", ""), ("about:blank", ""),
])
def test_image_tokens_by_hand(source: str, token: str) -> None:
    expected = [fingerprint(token)] if token else []
    assert image_tokens([source.encode()], None, PAGE).tolist() == expected
