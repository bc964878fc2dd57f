# ruff: noqa: RUF001 (letters that look alike are the point)
"""Tokens and lines against their definitions, for every Unicode string."""

import sys

import numpy as np
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

from beam_reuse.core.chunking import count_chunks
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.core.tokens import (
    count_tokens,
    fingerprint64,
    line_fingerprints,
    scan_plain,
    scan_text,
    token_texts,
)
from beam_reuse.kernels.fingerprint import SEED
from tests.oracles import tokens as oracle

ODD = st.sampled_from(list(
    "aZ9_ \t\n\f\v\r\x1c\x1f\x85\xa0\u1680\u2003\u2028\u202f\u3000\u200b\u00ad.,'’"
    "ßẞÅÉéΑΣΣσςΟİIıſKÅȺẞǅՖԱ0٣²½Ⅻⓐ一二の々ー゛กขะ์ກကငខ៊𠀀𠮷豈𝐀𐐀🙂\u0301\u0307\u0345\ud800\udfff\U000323af"
))
TEXT = st.one_of(st.text(st.characters(), max_size=80), st.text(ODD, max_size=60))


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@given(st.binary(max_size=200))
@example(b"x" * 31)
@example(b"x" * 32)
@example(b"x" * 33)
@example(b"x" * 71)
def test_fingerprint_is_xxh64(data: bytes) -> None:
    assert fingerprint64(data) == xxhash.xxh64_intdigest(data, seed=SEED)


@given(TEXT)
@example("ΑΣ ΑΣ. ΣΑ ΑΣΑ Α'Σ")
@example("İstanbul I ı")
@example("ภาษาไทย 日本語カタカナ 中文abc123 ខ្មែរ မြန်မာ")
@example("\ud800a\udfff")
def test_tokens_equal_their_definition(text: str) -> None:
    expected = [oracle.fingerprint(token) for token in oracle.tokens(text)]
    assert scan_text(encode(text)).tokens.tolist() == expected
    assert token_texts(encode(text)) == oracle.tokens(text)
    words = [encode(word) for word in text.split(" ")]
    bounds = np.cumsum([0, *(len(word) + 1 for word in words)])
    data = np.frombuffer(encode(text) + b" \xc3\xa9", np.uint8)
    assert count_tokens(data, bounds[:-1], bounds[1:] - 1).tolist() == [
        len(oracle.tokens(word.decode("utf-8", "surrogatepass"))) for word in words]


@given(TEXT)
@example("")
@example(" \n\f\n a\u3000 b \n\n c\fd\n")
def test_lines_equal_their_definition(text: str) -> None:
    lines, starts = line_fingerprints(encode(text))
    scanned = scan_text(encode(text))
    assert scanned.lines == len(lines)
    assert scanned.line_tokens.tolist() == [
        len(oracle.tokens(line)) for line, _ in oracle.lines(text)]
    expected = oracle.lines(text)
    assert lines.tolist() == [oracle.line_fingerprint(line) for line, _ in expected]
    assert starts.tolist() == [i for i, (_, start) in enumerate(expected) if start]


def test_every_code_point_is_read_as_python_reads_it() -> None:
    """All of Unicode once, each between spaces, in one text."""
    text = " ".join(map(chr, range(sys.maxunicode + 1)))
    expected = [oracle.fingerprint(token) for token in oracle.tokens(text)]
    assert scan_text(encode(text)).tokens.tolist() == expected
    assert token_texts(encode(text)) == oracle.tokens(text)
    text = "\n".join(f"a{chr(code)}b" for code in range(sys.maxunicode + 1))
    lines, _ = line_fingerprints(encode(text))
    assert lines.tolist() == [oracle.line_fingerprint(line) for line, _ in oracle.lines(text)]
    assert scan_text(encode("\n".join(map(chr, range(sys.maxunicode + 1))))).lines == sum(
        not chr(code).isspace() for code in range(sys.maxunicode + 1))


@given(st.binary(max_size=60))
def test_broken_utf8_is_read_to_its_end(data: bytes) -> None:
    assert scan_text(data + b" end").tokens[-1] == oracle.fingerprint("end")
    lines, _ = line_fingerprints(data + b"\nend")
    assert lines[-1] == fingerprint64(b"end")
    assert scan_text(data + b"\nend").lines == len(lines)


BYTES = st.lists(st.one_of(
    st.binary(max_size=4), ODD.map(encode), st.sampled_from([b"\r\n", b"\n\n", b"\r\r", b"word"]),
), max_size=40).map(b"".join)


@given(BYTES)
@example(b"")
@example(b" \n\r\n a\r\n\r\nb\n\rc\r\r\nd \n\n")
@example(b"\xc1\x81 \xe0\x81\x81 \xf0\x80\x81\x81 \xed\xa0\x80x \xf4\x90\x80\x80")
@example("ΑΣ\r\n\r\nİ".encode() + b"\xff\n")
def test_plain_bytes_are_read_as_their_decoded_text(data: bytes) -> None:
    """Any bytes, also those that are no UTF-8: tokens, lines and chunks without decoding."""
    text = data.decode("utf-8", "replace")
    found = scan_plain(data)
    assert found.tokens.tolist() == [oracle.fingerprint(token) for token in oracle.tokens(text)]
    assert found.lines == sum(bool(line.strip()) for line in text.splitlines())
    assert found.chunks == count_chunks(data, Kind.TEXT, ChunkSettings())


def test_every_code_point_in_plain_text() -> None:
    text = "\n".join(f"{chr(code)}\na{chr(code)}b" for code in range(sys.maxunicode + 1)
                     if not 0xD800 <= code < 0xE000)
    found = scan_plain(text.encode())
    assert found.lines == sum(bool(line.strip()) for line in text.splitlines())
    assert found.chunks == count_chunks(text.encode(), Kind.TEXT, ChunkSettings())


def test_short_tokens_differ() -> None:
    """All tokens of one and two letters or digits, and a million longer ones."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    short = [a + b for a in letters for b in ["", *letters]]
    many = [f"many{number}{'x' * (number % 20)}" for number in range(1_000_000)]
    tokens = scan_text(" ".join([*short, *many]).encode()).tokens
    assert len(np.unique(tokens)) == len(short) + len(many)


@pytest.mark.parametrize("text", [b"\xff", b"\xf0\x9f", b"a\xe4", b"\xc3"])
def test_text_cut_inside_a_character(text: bytes) -> None:
    assert scan_text(text).tokens.dtype == np.uint64
    line_fingerprints(text)
