"""HTTP heads, encodings, charsets and kinds."""

import gzip
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from webencodings.labels import LABELS

from beam_reuse.core.pages import Kind
from beam_reuse.io.crawl.http import decode_payload, join_chunks, read_head
from beam_reuse.io.crawl.kinds import kind_of, parse_content_type, sniff_type
from beam_reuse.io.crawl.members import Corrupt
from beam_reuse.io.crawl.moments import moment_of, parse_moment
from beam_reuse.io.crawl.payload import charset_name, decode_text, find_charset

LIMIT = 1 << 20


def _raw_deflate(data: bytes) -> bytes:
    deflater = zlib.compressobj(wbits=-15)
    return deflater.compress(data) + deflater.flush()


ENCODERS = {"gzip": gzip.compress, "x-gzip": gzip.compress, "deflate": zlib.compress,
            "Deflate": _raw_deflate, "br": brotli.compress, "zstd": zstandard.compress,
            "identity": bytes}


def _chunked(data: bytes, size: int) -> bytes:
    pieces = [data[i:i + size] for i in range(0, len(data), size)]
    return b"".join(b"%x;ext=1\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\nX: y\r\n\r\n"


@given(data=st.binary(min_size=1, max_size=3000), chunk=st.integers(1, 500),
       names=st.lists(st.sampled_from(sorted(ENCODERS)), max_size=3))
def test_encodings_are_undone_in_reverse_order(data: bytes, chunk: int, names: list[str]) -> None:
    body = data
    for name in names:
        body = ENCODERS[name](body)
    content = ", ".join(names).encode()
    assert decode_payload(body, b"", content, LIMIT) == (data, False)
    assert decode_payload(_chunked(body, chunk), b"Chunked", content, LIMIT) == (data, False)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd", "utf-8"])
def test_body_not_in_its_encoding_is_taken_as_it_is(name: str) -> None:
    body = b"<html><p>hello"
    assert decode_payload(body, b"", name.encode(), LIMIT) == (body, True)
    assert decode_payload(b"", b"", name.encode(), LIMIT) == (b"", False)


def test_chunks() -> None:
    assert join_chunks(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n") == b"abcde"
    assert join_chunks(b"3\nabc\n0\n\n") == b"abc"
    assert join_chunks(b"5\r\nab") == b"ab"
    assert join_chunks(b"3\r\nabc\r\n") == b"abc"
    assert join_chunks(b"3\r\nabc\r\n1") == b"abc"
    assert join_chunks(b"<p>") is None
    assert join_chunks(b"3\r\nabcd") is None
    assert join_chunks(b"3\r\nabc\r\n<p>") is None


@pytest.mark.parametrize("name", ["gzip", "deflate", "Deflate", "br", "zstd"])
def test_limit_holds_on_every_step(name: str) -> None:
    encode, encoding = ENCODERS[name], name.lower().encode()
    assert decode_payload(encode(bytes(LIMIT)), b"", encoding, LIMIT)[0] == bytes(LIMIT)
    for body, names in ((encode(bytes(LIMIT + 1)), encoding),
                        (encode(encode(bytes(LIMIT + 1))), encoding + b"," + encoding)):
        with pytest.raises(Corrupt, match="too-large"):
            decode_payload(body, b"", names, LIMIT)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_content_that_breaks_off(name: str) -> None:
    body = ENCODERS[name](bytes(range(256)) * 40)
    with pytest.raises(Corrupt, match="truncated-encoding"):
        decode_payload(body[:-5], b"", name.encode(), LIMIT)


def test_gzip_members_in_a_row_and_what_follows() -> None:
    body = gzip.compress(b"one") + gzip.compress(b"two") + b"trailing"
    assert decode_payload(body, b"", b"gzip", LIMIT) == (b"onetwo", False)


@pytest.mark.parametrize(("head", "expected"), [
    (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nbody", (200, b"text/html", b"body")),
    (b"HTTP/1.0 302 \nLocation: x\ncontent-TYPE : a/b\n\nbody", (302, b"a/b", b"body")),
    (b"HTTP/2 200\r\n\r\n", (200, b"", b"")),
    (b"ICY 200 OK\r\n\r\n", (200, b"", b"")),
    (b"HTTP/1.1 404", (404, b"", b"")),
    (b"HTTP/1.1 200 OK\r\nContent-Type: text/html;\r\n  charset=x\r\n\r\n",
     (200, b"text/html; charset=x", b"")),
    (b"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Type: c/d\r\nContent-Type:\r\n\r\n",
     (200, b"c/d", b"")),
    (b"HTTP/1.1 200 OK\r\r\nContent-Type: a/b\r\r\n\r\r\nbody", (200, b"a/b", b"body")),
])
def test_http_heads(head: bytes, expected: tuple[int, bytes, bytes]) -> None:
    data = b"before" + head + b"behind"
    found = read_head(data, 6, 6 + len(head))
    assert (found.status, found.content_type, data[found.body:6 + len(head)]) == expected


@pytest.mark.parametrize("head", [b"", b"<html>", b"HTTPX/1.1 200 OK", b"HTTP/1.1 abc",
                                  b"HTTP/1.1 2000"])
def test_no_http(head: bytes) -> None:
    with pytest.raises(Corrupt, match="bad-http"):
        read_head(head, 0, len(head))


def test_charset_labels_are_those_of_the_web() -> None:
    differing = {label for label, name in LABELS.items() if charset_name(label) != name}
    assert differing == {
        "csiso88598i", "iso-8859-8-i", "logical", "x-mac-cyrillic", "x-mac-ukrainian",
        "csiso2022kr", "hz-gb-2312", "iso-2022-cn", "iso-2022-cn-ext", "iso-2022-kr",
        "replacement", "x-user-defined"}
    for label in LABELS:
        assert decode_text(b"abc", charset_name(label) or "utf-8")


@pytest.mark.parametrize(("payload", "label", "expected"), [
    (b"\xef\xbb\xbf<p>", "iso-8859-1", "utf-8"),
    (b"\xff\xfe<\x00", "", "utf-16le"),
    (b"<meta charset=koi8-r>", "latin1", "windows-1252"),
    (b"<meta charset=koi8-r>", "nonsense", "koi8-r"),
    (b"<META HTTP-EQUIV='Content-Type' CONTENT='text/html; charset=Shift_JIS'>", "", "shift_jis"),
    (b"<meta name=x content='charset=koi8-r'><p>", "", "utf-8"),
    (b"<!-- <meta charset=koi8-r> --><meta charset='windows-1251'>", "", "windows-1251"),
    (b"<p>charset=koi8-r <meta name=x>", "", "utf-8"),
    (b"<meta charset=utf-16><p>", "", "utf-8"),
    (b"<?xml version='1.0' encoding='ISO-8859-2'?><a/>", "", "iso-8859-2"),
    (b" " * 2000 + b"<meta charset=koi8-r>", "", "koi8-r"),
    (b"<meta charset=nonsense><meta charset=koi8-r>", "", "koi8-r"),
    ("<p>grüße".encode(), "", "utf-8"),
    ("<p>grüß".encode()[:-1], "", "utf-8"),
    ("<p>Привет, как дела? Это простой русский текст для проверки.".encode("cp1251"), "",
     "windows-1251"),
])
def test_charset(payload: bytes, label: str, expected: str) -> None:
    assert find_charset(payload, Kind.HTML, label) == expected


def test_charset_of_other_kinds() -> None:
    assert find_charset(b"<meta charset=koi8-r>", Kind.TEXT) == "utf-8"
    assert find_charset(b"x", Kind.CODE, "utf-8") == ""


def test_decoding_is_total_and_drops_the_mark() -> None:
    assert decode_text(b"\xef\xbb\xbfa\xff", "utf-8") == "a\ufffd"
    assert decode_text("ﬀ".encode("utf-16"), "utf-16le") == "ﬀ"
    assert decode_text(b"\x93x\x94", "windows-1252") == "“x”"
    assert decode_text(b"\x87\x40", "shift_jis") == "①"


def test_kinds() -> None:
    assert parse_content_type(b' Text/HTML; Charset="UTF-8" ') == ("text/html", "UTF-8")
    assert parse_content_type(b"nonsense") == ("", "")
    assert kind_of("application/rss+xml") is kind_of("application/foo+xml") is Kind.HTML
    assert kind_of("image/svg+xml") is kind_of("application/pdf") is Kind.OTHER
    assert kind_of("application/ld+json") is kind_of("text/css") is Kind.CODE
    assert kind_of("text/plain") is Kind.TEXT
    assert sniff_type(b"\n <!DOCTYPE html><p>") == "text/html"
    assert sniff_type(b"\xef\xbb\xbf<?xml version='1.0'?>") == "text/xml"
    assert sniff_type(b"hello\n") == "text/plain"
    assert sniff_type(b"\x00\x01") == "application/octet-stream"


def test_moments() -> None:
    assert parse_moment("1970-01-01T00:00:01Z") == parse_moment("19700101000001") == 1_000_000
    assert parse_moment("1970-01-01T01:00:00.5+01:00") == 500_000
    assert parse_moment("1970-01-01T00:00:00.123456789Z") == 123_456
    assert parse_moment("1970") == parse_moment("1970-01") == parse_moment("1970-01-01") == 0
    assert parse_moment("1972-06-30T23:59:60Z") == parse_moment("1972-06-30T23:59:59Z")
    assert parse_moment("2008-10-294T05:21:46-0700") is parse_moment("") is None
    assert parse_moment("99999999999999") is None
    assert parse_moment("0001-01-01") == parse_moment("0001-01-01T01:00:00+01:00") is not None
    assert parse_moment("0001-01-01T00:00:00+01:00") is None
    assert parse_moment("9999-12-31T23:59:59Z") is not None
    assert parse_moment("9999-12-31T23:59:59-01:00") is None
    now = 1_700_000_000
    assert {moment_of(now), moment_of(now * 1000), moment_of(now * 10**6),
            moment_of(now * 10**9), moment_of(float(now))} == {now * 10**6}
    assert moment_of(20200102030405) == parse_moment("20200102030405")
    assert moment_of(float("nan")) is moment_of(True) is moment_of([]) is None
