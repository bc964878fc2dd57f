"""Nilsimsa digests and scores against known values and the slow definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.core.chunking import chunk_page
from beam_reuse.core.nilsimsa import comparable, digests
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings
from tests.oracles import nilsimsa as oracle

SQUEEZED = ChunkSettings()
AS_IS = ChunkSettings(normalise="none")
PAYLOADS = st.one_of(
    st.binary(max_size=300),
    st.lists(st.sampled_from([b"<p>", b"<DIV ", b"\n", b"  ", b"\t", b"a", b"the ", b"\x00",
                              b"\xff", b"password", b"z" * 40]), max_size=60).map(b"".join),
)


def digest(chunk: bytes, settings: ChunkSettings = AS_IS) -> bytes:
    return digests(chunk, np.array([0]), np.array([len(chunk)]), settings)[0].tobytes()


def test_known_digest_and_score() -> None:
    fox = digest(b"The quick brown fox")
    assert fox.hex() == "0a31b4be01a0808a29e0ec60e9a258545dc0526770022348380a2128708f2fdb"
    assert oracle.score(fox, digest(b"The quicker brown fox")) == 91


def test_the_permutation_has_every_value_once() -> None:
    assert sorted(oracle.TRAN) == list(range(256))


@given(PAYLOADS, st.sampled_from([SQUEEZED, AS_IS]))
def test_digests_equal_their_definition(payload: bytes, settings: ChunkSettings) -> None:
    chunks = chunk_page(payload, Kind.HTML, settings)
    pieces = [payload[a:b] for a, b in zip(chunks.start, chunks.end, strict=True)]
    if settings is SQUEEZED:
        pieces = [oracle.normalised(piece) for piece in pieces]
    found = digests(payload, chunks.start, chunks.end, settings)
    assert (found.dtype, found.shape) == (np.dtype(np.uint8), (len(chunks), 32))
    assert [row.tobytes() for row in found] == [oracle.digest(piece) for piece in pieces]


def test_some_chunks_of_a_page_in_any_order() -> None:
    payload = b"<p>one one<p>two two<p>three"
    chunks = chunk_page(payload, Kind.HTML, SQUEEZED)
    every = digests(payload, chunks.start, chunks.end, SQUEEZED)
    some = [2, 0]
    assert np.array_equal(digests(payload, chunks.start[some], chunks.end[some], SQUEEZED),
                          every[some])
    assert digests(payload, chunks.start[:0], chunks.end[:0], SQUEEZED).shape == (0, 32)


@pytest.mark.parametrize(("chunk", "settings", "has_one"), [
    (b"", AS_IS, False), (b"ab", AS_IS, False), (b"abc", AS_IS, True),
    (b" a\n\n b ", AS_IS, True), (b" a\n\n b ", SQUEEZED, True), (b"a \n\n ", SQUEEZED, False),
    (b" \n" * 100, SQUEEZED, False), (b" " * 1000, AS_IS, True),
])
def test_a_chunk_without_trigrams_is_not_comparable(
    chunk: bytes, settings: ChunkSettings, has_one: bool
) -> None:
    found = np.frombuffer(digest(chunk, settings), np.uint8).reshape(1, 32)
    assert comparable(found).tolist() == [has_one]
    assert found.any() == has_one


def test_scores_at_both_ends() -> None:
    assert oracle.score(bytes(32), b"\xff" * 32) == -128
    assert oracle.score(b"\x5a" * 32, b"\x5a" * 32) == 128
