"""A crawl in which everything is an attack, on every screen of the viewer in Chromium: no dialog,
no request, nothing on the console; and no page is drawn before somebody asks for it."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from beam_reuse.cli.main import main
from beam_reuse.core.pages import Kind
from beam_reuse.io.results import tables
from beam_reuse.io.stored_pages import StoredPage
from beam_reuse.viewer.rendered import HEADERS, harmless
from tests.browser.attacks import LINES, MORE, PASSAGE, urls
from tests.browser.chromium import find_chromium
from tests.browser.conftest import NONE, visiting
from tests.browser.visiting import Visitor, at, nothing_happened

pytestmark = pytest.mark.browser

ACTING = ("script", "iframe", "svg", "style", "object", "embed", "link", "[onload]", "[onerror]",
          "[onfocus]")
SECONDS = 10.0


def screens(result: str) -> list[str]:
    """Every screen, with everything that is hostile on it."""
    there = tables.read(result, "pages")["url"].to_pylist()
    assert len(there) == len(urls())
    chunk = max(tables.read(result, "frequent_chunks").to_pylist(), key=lambda row: row["bytes"])
    pairs = tables.read(result, "near_duplicates").to_pylist()
    family = tables.read(result, "families").to_pylist()[0]["family"]
    long = [url for url in there if url.endswith(("words", "letters"))]
    assert pairs and len(long) == 2 * len(LINES)
    return [
        "#/", "#/passages", "#/sites", "#/pages", "#/pairs", "#/quilts", "#/families",
        "#/records", "#/tables", at("passage", sha1=chunk["sha1"]), at("site", host="bad.example"),
        at("shared", a="bad.example", b="worse.example"), "#/nowhere<script>",
        "#/pages?__proto__=x&constructor=y", "#/__proto__", at("pages", words="<script>alert(1)"),
        at("passages", of="lines"), at("passages", f="letters.min.0"),
        at("family", name=family),
        *(at("page", url=url, **more) for url in there for more in ({}, {"as": "source"})),
        *(at("pair", a=row["url_a"], b=row["url_b"]) for row in pairs[:8]),
        *(at("pair", a=a, b=b) for a in long for b in long if a < b),
        *(at("table", name=name) for name in (
            "pages", "frequent_chunks", "rejects", "labels", "boilerplate")),
    ]


def test_nothing_of_a_hostile_crawl_acts(attacked: tuple[Visitor, str]) -> None:
    visitor, result = attacked
    for hash in screens(result):
        began = time.monotonic()
        visitor.go(hash)
        assert time.monotonic() - began < SECONDS, hash
        assert not visitor.run(
            f"[...document.querySelectorAll({','.join(ACTING)!r})].some(e => e.closest('#screen'))"
        ), hash
        assert visitor.run("[...document.querySelectorAll('#screen a')].every("
                           "a => a.getAttribute('href').startsWith('#'))"), hash
        assert "\u202e" not in visitor.text(), hash
        assert "nullnull" not in visitor.text() and "undefined" not in visitor.text(), hash
    first = tables.read(result, "pages")["url"].to_pylist()[0]
    visitor.go(at("page", url=first, **{"as": "source"}))
    assert "<script>alert(1)" in visitor.text() and "\\u202e" in visitor.text()
    nothing_happened(visitor)


def render(visitor: Visitor, url: str) -> str:
    """Ask for a page to be drawn; the address of its frame once it is there."""
    visitor.go(at("page", url=url, **{"as": "rendered"}))
    assert not visitor.run("document.querySelectorAll('iframe').length")
    assert "made to deceive" in visitor.text(".notice")
    visitor.click(".notice button")
    visitor.until("document.querySelector('iframe')")
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        visitor.run("1")
        for address in visitor.frames():
            if visitor.in_frame(address, "document.readyState") == "complete" and (
                    visitor.in_frame(address, "location.pathname") == "/rendered"):
                return address
        time.sleep(0.05)
    raise TimeoutError(f"{url} is not drawn: {visitor.frames()}")


def test_a_page_is_drawn_on_request_and_loads_nothing(attacked: tuple[Visitor, str]) -> None:
    visitor, result = attacked
    for url in tables.read(result, "pages")["url"].to_pylist():
        frame = render(visitor, url)
        long = url.endswith(("words", "letters"))
        shown = str(visitor.in_frame(frame, "document.body.innerText"))
        assert ("more than" in shown) if long else ("A passage that is copied" in shown)
        assert visitor.in_frame(frame, "self.origin") == "null"
        assert visitor.in_frame(frame, "document.querySelectorAll("
                                "'script, iframe, link, object, embed, svg, [href]').length") == 0
    assert visitor.run("document.querySelector('iframe').getAttribute('sandbox')") == ""
    time.sleep(0.5)
    visitor.run("1")
    nothing_happened(visitor)


@contextmanager
def listening() -> Iterator[tuple[str, socket.socket]]:
    """An address at which nobody must call."""
    with socket.create_server(("127.0.0.1", 0)) as ear:
        ear.setblocking(False)
        yield f"127.0.0.1:{ear.getsockname()[1]}", ear


@pytest.mark.parametrize("kind", ["as it is sent", "bare", "without walls"])
def test_the_walls_hold_even_if_the_page_comes_as_it_is(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bare: what is sent is the page itself, so that the sandbox and the policy alone protect;
    a hint to connect early then is the one thing that browsers follow. Without the policy, too,
    requests are made, and seen."""
    if find_chromium() is None:
        pytest.skip(NONE)
    with listening() as (evil, ear):
        attack = "".join((*MORE, PASSAGE)).replace("evil.example", evil)
        if kind != "as it is sent":
            attack = attack.replace("rel=preconnect", "rel=nothing")
            monkeypatch.setattr("beam_reuse.viewer.rendered.harmless",
                                lambda page: page.payload.decode())
        if kind == "without walls":
            monkeypatch.setitem(HEADERS, "Content-Security-Policy", "sandbox")
        (tmp_path / "crawl").mkdir()
        (tmp_path / "crawl" / "a.html").write_text(attack + "<p id=end>The end of the attack</p>")
        assert main(["run", str(tmp_path / "crawl"), "-o", str(tmp_path / "result"), "--workers",
                     "1"]) == 0
        url = tables.read(str(tmp_path / "result"), "pages")["url"].to_pylist()[0]
        for visitor, _ in visiting(str(tmp_path / "result")):
            frame = render(visitor, url)
            assert visitor.in_frame(frame, "self.origin") == "null"
            time.sleep(1)
            assert visitor.in_frame(frame, "location.pathname") == "/rendered"
            assert not [each for each in visitor.complaints
                        if each["method"] == "Page.javascriptDialogOpening"]
            assert bool(visitor.requests) == (kind == "without walls")
            if kind == "as it is sent":
                nothing_happened(visitor)
        with pytest.raises(BlockingIOError):
            ear.accept()


def test_what_is_sent_is_written_anew() -> None:
    html = ("<title>T</title><style>p{color:red} i{background:url(x)} b{color:blue}</style>"
            "<p class=x style='color:red' onclick=x()>a&lt;script&gt; <a href=x>b</a>"
            "<img src='data:image/png;base64,AAAA' onerror=y()><img src='data:image/svg+xml,<svg>'>"
            "<u style='background:\\75rl(x)'>c</u></p><noscript><p>d</p></noscript>")
    sent = harmless(StoredPage("http://a.example/", Kind.HTML, "utf-8", html.encode()))
    assert sent == (
        "<!doctype html><meta charset=utf-8><html><head><title>T</title><style>p{color:red} "
        'b{color:blue}</style></head><body><p class="x" style="color:red">a&lt;script&gt; '
        '<a>b</a><img src="data:image/png;base64,AAAA"><img><u>c</u></p><p>d</p></body></html>')


def test_of_unknown_elements_the_contents_stay() -> None:
    html = ("<x-app onclick=a()>one <script>no()</script></x-app><marquee onstart=a()>two "
            "</marquee><dialog open><p class=x>three</dialog><form action=/x><label>four "
            "<input a=b><textarea>five<b></textarea></label><button formaction=/y>six</button>"
            "</form><svg onload=a()><text>seven</text><script>no()</script>"
            "<style>p{background:url(no)}</style>"
            "</svg><iframe srcdoc=no>no</iframe><template>no</template><noembed>no</noembed>"
            "<object data=x>eight</object><x:script>nine</x:script><xmp><b>ten</xmp>")
    sent = harmless(StoredPage("http://a.example/", Kind.HTML, "utf-8", html.encode()))
    assert sent == (
        '<!doctype html><meta charset=utf-8><html><head></head><body>one two <p class="x">three</p>'
        "<label>four five&lt;b&gt;</label>sixseven<style></style>eightnine&lt;b&gt;ten</body>"
        "</html>")
