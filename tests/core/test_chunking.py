"""Chunks of SPEC §2 against regular expressions and hashlib."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.core.chunking import Chunks, chunk_page, file_sha1
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings
from tests.oracles import chunks as oracle

DEFAULT = ChunkSettings()
CLASSIC = ChunkSettings.published()
SETTINGS = st.sampled_from([
    DEFAULT, CLASSIC, ChunkSettings(("p",)), ChunkSettings(("div", "p", "h1"), "none"),
])
PAYLOADS = st.one_of(
    st.binary(max_size=200),
    st.lists(st.sampled_from([
        b"<p", b"<P", b"<div", b"<dIv", b"<h1", b"<", b">", b"/", b" ", b"\t", b"\n", b"\v", b"\f",
        b"\r", b"\r\n", b"\n\n", b"</p>", b"x", b"word", b"\xa0", b"\x00", b"\xff", b"y" * 61,
    ]), max_size=60).map(b"".join),
)


def rows(chunks: Chunks) -> list[tuple[str, int, int, int]]:
    return [
        (sha1.tobytes().hex(), int(start), int(end), int(length))
        for sha1, start, end, length in zip(
            chunks.sha1, chunks.start, chunks.end, chunks.length, strict=True)
    ]


@pytest.mark.parametrize(("chunk", "sha1"), [
    (b"<p>", "63ada55c0ba212a5b1f8d5a70890788f00972bf4"),
    (b"<p>&nbsp;</p>\r\n", "516209366e42307b3fd5bf26bad6634054ba92ba"),
    (b"<P>\n", "69ba91b478b06e8df0a8f4ef3109179fbcc0039f"),
])
@pytest.mark.parametrize("kind", list(Kind))
def test_classic_reproduces_published_hashes(chunk: bytes, sha1: str, kind: Kind) -> None:
    found = chunk_page(b"before" + chunk + b"<p>after", kind, CLASSIC)
    assert [row[0] for row in rows(found)][1] == sha1


@given(PAYLOADS, st.sampled_from([Kind.HTML, Kind.TEXT, Kind.CODE]), SETTINGS)
def test_chunks_equal_their_definition(
    payload: bytes, kind: Kind, settings: ChunkSettings
) -> None:
    found = chunk_page(payload, kind, settings)
    assert rows(found) == oracle.chunks(payload, kind, settings)
    assert found.sha1.dtype == np.dtype("V20")


@pytest.mark.parametrize("size", [0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 70000])
def test_every_padding_of_sha1(size: int) -> None:
    payload = b"z" * size
    found = chunk_page(payload, Kind.HTML, DEFAULT)
    assert rows(found) == [(hashlib.sha1(payload).hexdigest(), 0, size, size)]
    assert file_sha1(payload) == hashlib.sha1(payload).digest()


@pytest.mark.parametrize(("payload", "kind", "pieces"), [
    (b"", Kind.HTML, [b""]),
    (b"", Kind.TEXT, [b""]),
    (b"<p>a<div>b", Kind.HTML, [b"<p>a", b"<div>b"]),
    (b"a<p", Kind.HTML, [b"a<p"]),
    (b"a<pre><P\n>b</p><p/>", Kind.HTML, [b"a<pre>", b"<P\n>b</p>", b"<p/>"]),
    (b"a\nb\n\nc\n \t\n\nd\n\n", Kind.TEXT, [b"a\nb\n\n", b"c\n \t\n\n", b"d\n\n"]),
    (b"\n\na\r\n\r\nb\r\rc", Kind.CODE, [b"\n\n", b"a\r\n\r\n", b"b\r\r", b"c"]),
    (b" \n  a", Kind.TEXT, [b" \n", b"  a"]),
    (b" \n ", Kind.TEXT, [b" \n "]),
    (b"<p>a\n\n<p>b", Kind.TEXT, [b"<p>a\n\n", b"<p>b"]),
])
def test_where_pages_are_cut(payload: bytes, kind: Kind, pieces: list[bytes]) -> None:
    found = chunk_page(payload, kind, DEFAULT)
    assert [payload[s:e] for s, e in zip(found.start, found.end, strict=True)] == pieces


def test_other_kinds_have_no_chunks() -> None:
    assert len(chunk_page(b"<p>", Kind.OTHER, DEFAULT)) == 0
