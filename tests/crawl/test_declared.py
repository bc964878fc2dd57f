"""What pages declare of themselves: canonical URLs and dates, against html5lib's tokens."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from beam_reuse.core.pages import Kind, RawPage
from beam_reuse.core.urls import BadUrl, canonical_url
from beam_reuse.io.crawl.declared import Declared, attributes_of, declared_by
from beam_reuse.kernels.declarations import IS_LINKED_DATA, declared_places
from tests.core.real_pages import real_pages
from tests.core.soup import PIECES as SOUP_PIECES
from tests.oracles import declared as oracle

URL = "http://example.org/a/b.html?q=1"
CAPTURED = datetime(2020, 6, 15, 12, tzinfo=UTC)


def micros(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - oracle.EPOCH) // timedelta(microseconds=1)


def found(html: str | bytes, url: str = URL, charset: str = "utf-8", link: str = "",
          modified: str = "", captured: datetime | None = CAPTURED, kind: Kind = Kind.HTML,
          ) -> Declared:
    payload = html if isinstance(html, bytes) else html.encode("utf-8", "surrogatepass")
    return declared_by(RawPage("f", 0, 0, "", url, micros(captured), 200, "", kind, "", charset,
                               payload, False, link, modified), url)


def canonical(html: str, **more: str) -> str | None:
    return found(html, **more).canonical  # type: ignore[arg-type]


def date(html: str | bytes, **more: object) -> str | None:
    moment = found(html, **more).date  # type: ignore[arg-type]
    return None if moment is None else (
        oracle.EPOCH + timedelta(microseconds=moment)).isoformat().removesuffix("+00:00")


LD = '<script type="application/ld+json">{}</script>'
HREFS = st.sampled_from([
    "x", "/y", "//other.example/z", "https://example.org/", "HTTP://EXAMPLE.org:80/a/b.html?q=1#f",
    "", " ", "?q=2", "mailto:a@b", "javascript:void(0)", "http://", "http://a b/", "a&amp;b",
    "/?a=1&lang=de&copy=2&amp;x", "/ä ö", "{{ url }}", "http://[::1", "../c", "&#47;n", "%c3%a4",
])
DATES = st.sampled_from([
    "2019-01-02", "2019-01-02T03:04:05Z", "2019-01-02T03:04:05.678+02:00", "2019-01-02 03:04",
    "2019-01-02T03:04-0530", "0001-01-01T00:00:00", "2019-13-01", "2030-01-01", "1970-01-01",
    "January 2, 2019", "", "2020-06-16T11:00:00Z", "2020-06-16T13:00:00Z", "2019-1-2", "PT1H",
    "2019-01-02T24:00:00", "2019-01-02T03:04:05+99:00", "9999-12-31T23:59:59-23:00", "²019-01-02",
])
LINKED = st.sampled_from([
    '{{"datePublished": "{}"}}', '[{{"@graph": [{{"a": 1}}, {{"datePublished": "{}"}}]}}]',
    '{{"review": {{"datePublished": "{}"}}}}', '{{"datePublished": {{"@value": "{}"}}}}',
    '{{"mainEntity": {{"datePublished": ["{}"]}}}}', '{{"datePublished": "{}"', '"datePublished"',
    '{{"a": "\n", "datePublished": "{}"}}', "<!-- <script> {{}} datePublished {} -->",
])
MARKUP = st.one_of(
    st.builds('<link rel={} href="{}">'.format,
              st.sampled_from(["canonical", "'nofollow CANONICAL'", "Canonical", "icon", "''"]),
              HREFS),
    st.builds("<LINK href='{}' REL=canonical>".format, HREFS),
    st.builds("<base href='{}'>".format, HREFS),
    st.builds('<meta property="article:published_time" content="{}">'.format, DATES),
    st.builds("<meta content='{}' name=Article:Published_Time />".format, DATES),
    st.builds("<article><time datetime='{}'>x</time>".format, DATES),
    st.builds("<time datetime='{}'>".format, DATES),
    st.builds(LD.format, st.builds(str.format, LINKED, DATES)),
    st.sampled_from(["</article>", "<head>", "</head>", "<body>", "<script>", "<title>", "</title>",
                     "</script >", "<svg/>", "<svg a=b/>", "</template>", "<plaintex>", "--!>",
                     "<article>", "</", "</>", "<a b='", "\" c=>", "<!--->"]),
    SOUP_PIECES,
)
SCRAPS = st.sampled_from([
    "<", "</", ">", "/", "/>", " ", "\f", "\n", "=", "'", '"', "-", "--", "!", "<!--", "-->",
    "--!>", "<!", "<?", "x", "A", "link", "<link", " rel=canonical", " rel = 'canonical'",
    " href=x",
    "<meta published_time", "script", "<script", "</script", "title", "</title", "<title>", "svg",
    "<svg", "</svg", "template", "<template", "</template", "<body", "</head", "noscript",
    "<plaintext", "&amp;", "&ampx", "&amp=", "&#120", "&copy", "&copy;", "<article", "</article",
])
PROBE = ("<link rel=canonical href=p><meta published_time><time datetime=q>"
         "<script type=application/ld+json>r</script>")
WORDS = {"link": "canonical", "base": "href", "meta": "published_time", "script": "ld+json",
         "time": "datetime"}


@settings(max_examples=1500)
@given(st.lists(SCRAPS, max_size=6).map("".join), st.lists(SCRAPS, max_size=6).map("".join))
@example("<!--", "--!>")
@example("<script><!--<script></script", ">--></script>")
@example("<svg><svg/>", "</svg>")
@example("<svg><svg x=y/>", "</svg>")
@example("<!--", ">")
@example("<link\frel=canonical\fhref=x\f>", "<title\f></title\f>")
def test_places_are_those_of_html5lib(before: str, after: str) -> None:
    html = before + PROBE + after + PROBE
    data = html.encode()
    mine = [(kind, attributes_of(data[start:end].decode()),
             data[end + 1:last].decode() if kind == IS_LINKED_DATA else "")
            for kind, start, end, last in declared_places(np.frombuffer(data, np.uint8), True)]
    assert mine == [
        (list(WORDS).index(name), attributes, content if name == "script" else "")
        for name, attributes, content in oracle.places(html)
        if any(WORDS[name] in text for each in attributes.items() for text in each)]


@settings(max_examples=600)
@given(st.lists(MARKUP, max_size=20).map("".join))
@example("<svg><title/><link rel=canonical href=x></svg><link rel=canonical href=y>")
@example("<script><!--<script></script><link rel=canonical href=x>--></script>")
@example("<!--><link rel=canonical href=x>-->")
@example("<template><script></template></script><link rel=canonical href=x></template>")
@example("<plaintext><link rel=canonical href=x>")
@example("<link rel=canonical href=x href=y>")
@example("<link/rel=canonical/href=x>")
def test_tags_are_read_as_html5lib_reads_them(html: str) -> None:
    clean = html.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    declared = found(clean)
    assert declared.canonical == oracle.canonical(URL, clean)
    assert declared.date == micros(oracle.date(clean, CAPTURED))


def test_tags_are_read_as_html5lib_reads_them_on_real_pages(corpora: Path) -> None:
    named = dated = 0
    for place, html in real_pages(corpora):
        try:
            url = canonical_url(place.partition(" ")[2])
        except BadUrl:
            continue
        clean = html.replace("\0", "\ufffd")
        declared = found(clean, url)
        assert declared.canonical == oracle.canonical(url, clean), place
        assert declared.date == micros(oracle.date(clean, CAPTURED)), place
        named += declared.canonical is not None
        dated += declared.date is not None
    assert named >= 5
    assert dated >= 1


@pytest.mark.parametrize(("html", "expected"), [
    ("<link rel=canonical href=/c>", "http://example.org/c"),
    ("<link rel=canonical href=HTTPS://Example.ORG:443>", "https://example.org/"),
    ("<base href=//cdn.example/x/><link rel=canonical href=c>", "http://cdn.example/x/c"),
    ("<link rel=canonical href='b.html?q=1#top'>", URL),
    ("<link rel=canonical href=a><link rel=canonical href=./a>", "http://example.org/a/a"),
    ("<link rel=canonical href=a><link rel=canonical href=b>", None),
    ("<link rel=canonical href=><link rel=canonical href=a>", "http://example.org/a/a"),
    ("<link rel=canonical href='javascript:x'>", None),
    ("<link rel=canonical>", None),
    ("<link rel=alternate href=a>", None),
    ("<!-- <link rel=canonical href=a> -->", None),
    ("<script>x='<link rel=canonical href=a>'</script>", None),
    ("<noscript><link rel=canonical href=a></noscript>", None),
    ("<body><link rel=canonical href=a>", None),
    ("<head></head><link rel=canonical href=a>", None),
    ("<div><link rel=canonical href=a>", "http://example.org/a/a"),
    ("<link rel=canonical href='/?a=1&amp;b=2&copy=3'>", "http://example.org/?a=1&b=2&copy=3"),
    ("<link rel=canonical href='/ä b'>", "http://example.org/%C3%A4%20b"),
    ("<link rel=canonical href='ftp://example.org/'>", None),
])
def test_canonical_urls_by_hand(html: str, expected: str | None) -> None:
    assert canonical(html) == expected


@pytest.mark.parametrize(("link", "expected"), [
    ('<http://x.example/>; rel="canonical"', "http://x.example/"),
    ("</p>; rel=canonical", "http://example.org/p"),
    ('<a>; rel=preload, </p,q>; title="a, <b>; rel=x"; rel="nofollow Canonical"',
     "http://example.org/p,q"),
    ('<http://x.example/>; rel="canonical"; anchor="#f"', None),
    ('<http://x.example/>; rel="canonical", <http://y.example/>; rel="canonical"', None),
    ("http://x.example/; rel=canonical", None),
    ('<a>; rel="canonical', None),
])
def test_the_link_header(link: str, expected: str | None) -> None:
    assert canonical("", link=link) == expected
    assert found(b"%PDF", link=link, kind=Kind.OTHER).canonical == expected


def test_header_and_markup_have_to_agree() -> None:
    html, link = "<link rel=canonical href=/c>", "</{}>; rel=canonical"
    assert canonical(html, link=link.format("c")) == "http://example.org/c"
    assert canonical(html, link=link.format("d")) is None


def test_a_page_is_its_own_original_however_its_url_is_escaped() -> None:
    html = "<link rel=canonical href='/l%c3%b6we?x=ü'>"
    for url in ("http://example.org/l%C3%B6we?x=%C3%BC", "http://example.org/löwe?x=ü"):
        assert canonical(html.replace("%c3%b6", "ö") if "ö" in url else html, url=url) == url


@pytest.mark.parametrize("charset", ["utf-16le", "utf-16be", "shift_jis", "iso-2022-jp", "gbk"])
def test_charsets(charset: str) -> None:
    codec = {"gbk": "gb18030"}.get(charset, charset)
    html = "<title>日本</title><link rel=canonical href='/日'>".encode(codec)
    assert found(html, charset=charset).canonical == "http://example.org/%E6%97%A5"


@pytest.mark.parametrize(("html", "expected"), [
    (LD.format('{"datePublished": "2019-01-02T03:04:05+02:00"}'), "2019-01-02T01:04:05"),
    (LD.format('{"comment": [{"datePublished": "2019-01-02"}]}'), None),
    (LD.format('{"datePublished": "soon"}') + LD.format('[[{"datePublished": "2019-01-02"}]]'),
     "2019-01-02T00:00:00"),
    ("<meta property=article:published_time content=2018-01-01>"
     + LD.format('{"datePublished": "2019-01-02"}'), "2019-01-02T00:00:00"),
    ("<meta property=article:published_time content=2018-01-01><article><time datetime=2017-01-01>",
     "2018-01-01T00:00:00"),
    ("<time datetime=2016-01-01></time><article><time>now</time><time datetime=2017-01-01>",
     "2017-01-01T00:00:00"),
    ("<article></article><time datetime=2017-01-01>", None),
    ("<meta property=article:published_time content=0001-01-01T00:00:00>", None),
    ("<meta property=article:published_time content=2020-06-16T11:59:59Z>", "2020-06-16T11:59:59"),
    ("<meta property=article:published_time content=2020-06-16T12:00:01Z>", None),
    ("<meta property=article:modified_time content=2018-01-01>", None),
])
def test_dates_by_hand(html: str, expected: str | None) -> None:
    assert date(html) == expected


@pytest.mark.parametrize(("modified", "expected"), [
    ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37"),
    ("Sunday, 06-Nov-1994 08:49:37 GMT", "1994-11-06T08:49:37"),
    ("6 Nov 1994 08:49:37 +0100", "1994-11-06T07:49:37"),
    ("Mon, 15 Jun 2020 11:59:00 GMT", "2020-06-15T11:59:00"),
    ("Mon, 15 Jun 2020 11:59:01 GMT", None),  # a minute before it was fetched: made for it
    ("Thu, 01 Jan 1970 00:00:00 GMT", None), ("Sun, 06 Foo 1994 08:49:37 GMT", None),
    ("Sun, 31 Feb 1999 08:49:37 GMT", None), ("", None), ("0", None),
])
def test_the_last_modified_header(modified: str, expected: str | None) -> None:
    assert date("", modified=modified) == expected
    assert date("<article><time datetime=2011-01-01>", modified=modified) == "2011-01-01T00:00:00"
    assert date(b"x", modified=modified, kind=Kind.OTHER) == expected


def test_dates_of_pages_whose_capture_has_no_time() -> None:
    html = "<meta property=article:published_time content={}>"
    assert date(html.format("2099-12-31"), captured=None) == "2099-12-31T00:00:00"
    assert date(html.format("2100-01-02"), captured=None) is None


@pytest.mark.parametrize("html", [
    LD.format('{"datePublished": "2019-01-02", "a": ' + "[" * 100_000 + "]" * 100_000 + "}"),
    LD.format('{"datePublished": ' + "9" * 100_000 + "}"),
    LD.format('{"datePublished": "2019-01-02", "a": "' + "x" * (1 << 20) + '"}'),
    LD.format(b'{"datePublished": "\xff"}'.decode("latin-1")),
    "<meta property=article:published_time content=" + "9" * 100_000 + ">",
    "<link rel=canonical href=" + "x" * 100_000 + ">",
    "<link rel=canonical href=a " + "b " * 100_000,
], ids=["deep", "digits", "huge", "not utf-8", "long date", "long tag", "endless tag"])
def test_what_is_huge_or_broken_declares_nothing(html: str) -> None:
    assert found(html) == Declared()


def test_of_many_tags_the_first_count() -> None:
    many = "<link rel=canonical href=a>" * 64
    assert canonical(many + "<link rel=canonical href=b>" * 100_000) == "http://example.org/a/a"
