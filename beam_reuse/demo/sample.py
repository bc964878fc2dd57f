"""The sample crawl itself: about 300 pages on 20 hosts in two WARC files.

Beside the planted passages it has what real crawls have: redirects, missing pages, images,
older captures, revisits, requests, the same robots.txt everywhere, a crawler trap, three
encodings, and damage.
"""

import datetime
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from beam_reuse.demo.case import HTML, PLAIN
from beam_reuse.demo.cases import CASES
from beam_reuse.demo.planted import (
    FILE,
    HOSTS,
    MIRROR,
    PAGES_PER_HOST,
    PASSAGES,
    QUILT_HOSTS,
    QUILT_PAGE,
    QUILT_URL,
    REPORT,
    REWRITE,
    THEFT,
    DamagedPlace,
    Planted,
    PlantedQuilt,
    occurrence_histogram,
)
from beam_reuse.demo.prose import Prose
from beam_reuse.demo.warc import chunked, gzip_member, http_response, warc_record

FILES = ("sample-00000.warc.gz", "sample-00001.warc.gz")
SCRIPT = "application/javascript"
ROBOTS_TXT = b"User-agent: *\nDisallow: /search\nCrawl-delay: 10\n"
START = datetime.datetime(2026, 1, 5, 8, 0, 0)


@dataclass
class SampleCrawl:
    """A crawl being written: the members of each file, and what must come out of them."""

    members: dict[str, list[bytes]] = field(default_factory=lambda: {f: [] for f in FILES})
    pages: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    chunks: Counter[str] = field(default_factory=Counter)
    damaged: list[DamagedPlace] = field(default_factory=list)
    _clock: int = 0

    def now(self) -> datetime.datetime:
        """The next moment of the crawl: every record has a time of its own."""
        self._clock += 1
        return START + datetime.timedelta(seconds=self._clock)

    def add(self, record: bytes) -> None:
        """Append a sound record to one of the files, in turn."""
        self.members[FILES[self._clock % len(FILES)]].append(gzip_member(record))

    def add_page(
        self, url: str, response: bytes, chunks: Sequence[str],
        captured: datetime.datetime | None = None, address: str | None = None,
    ) -> None:
        now = self.now()
        self.add(_response(url, response, captured or now, address))
        self.pages.append(url)
        self.chunks.update(chunks)

    def add_skipped(self, reason: str, record: bytes) -> None:
        self.add(record)
        self.skipped[reason] += 1

    def add_damaged(self, file: str, member: bytes) -> None:
        """Append bytes that are no readable record."""
        self.damaged.append(DamagedPlace(file, len(b"".join(self.members[file]))))
        self.members[file].append(member)

    def files(self) -> dict[str, bytes]:
        return {name: b"".join(members) for name, members in self.members.items()}

    def planted(self) -> Planted:
        return Planted(
            frozenset(self.pages),
            dict(self.skipped),
            tuple(self.damaged),
            occurrence_histogram(self.chunks),
            PlantedQuilt(QUILT_URL, tuple(page_url(host, QUILT_PAGE) for host in QUILT_HOSTS)),
        )


def sample_crawl() -> SampleCrawl:
    """The crawl, the same on every machine."""
    crawl = SampleCrawl()
    for file in FILES:
        info = b"software: beam-reuse demo\r\nformat: WARC File Format 1.0\r\n"
        crawl.members[file].append(
            gzip_member(warc_record("warcinfo", info, content_type="application/warc-fields"))
        )
        crawl.skipped["warcinfo"] += 1
    for number, host in enumerate(HOSTS):
        _add_site(crawl, host)
        if number % 2 == 0:
            _add_captures(crawl, host)
        _add_leftovers(crawl, host, number)
    _add_theft(crawl)
    _add_quilt(crawl)
    copy = _rewritten_chunks()
    crawl.add_page(REWRITE.url, http_response("\n".join(copy).encode(), HTML), copy)
    for url, text in REPORT.pages().items():
        crawl.add_page(url, _plain([text], PLAIN), [text])
    for url, text in MIRROR.pages().items():
        crawl.add_page(url, _plain([text], PLAIN), [" ".join(text.split())])
    for case in CASES:
        for url, page in case.pages().items():
            response = http_response(page.body, page.content_type, extra=dict(page.headers))
            crawl.add_page(url, response, [" ".join(chunk.split()) for chunk in page.chunks],
                           page.captured, page.address)
    _add_damage(crawl)
    return crawl


def page_url(host: str, number: int) -> str:
    """Where page `number` of a host is; page 0 is its front page."""
    if number == 0:
        return f"http://{host}/"
    return f"http://{host}/{2020 + number % 5}/{'notes/' * (number % 3)}story-{number}.html"


def _add_site(crawl: SampleCrawl, host: str) -> None:
    """The documents of one host, with the passages planted on them, a script and a text."""
    for number in range(PAGES_PER_HOST):
        chunks = _page_chunks(host, number)
        crawl.add_page(page_url(host, number), _encoded(number, "\n".join(chunks)), chunks)
    if host in HOSTS[: FILE.hosts]:
        crawl.add_page(f"http://{host}{FILE.path}", _plain([FILE.content], SCRIPT), [FILE.content])
    script = [f"// {host}\nvar name = '{host}';", f"function greet() {{ return '{host}'; }}"]
    crawl.add_page(f"http://{host}/main.js", _plain(script, SCRIPT), script)
    text = [Prose(f"{host} text {i}").paragraph() for i in range(3)]
    crawl.add_page(f"http://{host}/about.txt", _plain(text, PLAIN), text)


def _page_chunks(host: str, number: int) -> list[str]:
    """A page as its chunks: head, paragraphs of its own, planted passages, foot."""
    prose = Prose(f"{host} {number}")
    title = f"{prose.title()}, {host} no. {number}"
    head = f"<!doctype html>\n<html><head><title>{title}</title></head>\n<body><h1>{title}</h1>"
    own = [f"<p>{prose.paragraph()}</p>" for _ in range(3 + number % 4)]
    planted = [
        passage.html
        for passage in PASSAGES
        if (host, number) in passage.page_numbers()
        for _ in range(passage.per_page)
    ]
    if (host, number) == (THEFT.victim, THEFT.victim_page):
        planted += THEFT.html
    foot = f'<div class="foot">Page {number} of {host}</div>\n</body></html>'
    return [head, *own[:2], *planted, *own[2:], foot]


def _add_theft(crawl: SampleCrawl) -> None:
    """A site that lives on another's article."""
    for number in range(THEFT.pages):
        head = f"<html><head><title>Read this, no. {number}</title></head><body>"
        foot = f'<div class="foot">Finest articles, page {number}</div></body></html>'
        chunks = [head, *THEFT.html, foot]
        crawl.add_page(f"http://{THEFT.thief}/{THEFT.directory}/{number}.html",
                       http_response("\n".join(chunks).encode(), HTML), chunks)


def _add_quilt(crawl: SampleCrawl) -> None:
    """A page stitched from paragraphs of others, in one chunk; it links to some of them."""
    links = page_url(QUILT_HOSTS[0], QUILT_PAGE), page_url(QUILT_HOSTS[1], 0)
    head = "<html><head><title>The best of the week</title></head><body>" + "".join(
        f'<a href="{link}">More</a>' for link in links)
    patches = (_page_chunks(host, QUILT_PAGE)[1] for host in QUILT_HOSTS)
    text = " ".join(patch.removeprefix("<p>").removesuffix("</p>") for patch in patches)
    chunks = [head, f"<p>{text}</p>"]
    crawl.add_page(QUILT_URL, http_response("\n".join(chunks).encode(), HTML), chunks)


def _rewritten_chunks() -> list[str]:
    """A page with paragraphs of another, in other markup, between its own ones."""
    head = '<html class="paint"><head><title>Fresh today</title></head><body id="b1">'
    taken = []
    original = _page_chunks(REWRITE.victim, REWRITE.victim_page)
    for n, paragraph in enumerate(original[1 : 1 + REWRITE.paragraphs]):
        word, _, rest = paragraph.removeprefix("<p>").partition(" ")
        taken.append(f'<p class="c{n}" onclick="go({n})"><a href="/ads/{n}">{word}</a> {rest}'
                     f"<script>seen({n})</script>")
    prose = Prose("fresh paint")
    own = [f"<p>{prose.paragraph()}</p>" for _ in range(6)]
    return [head, *own[:3], *taken, *own[3:], "<div>All fresh.</div></body></html>"]


def rewritten_pages() -> dict[str, str]:
    """The HTML of the page from which paragraphs were taken and of the one that has them in other
    markup, by URL."""
    original = _page_chunks(REWRITE.victim, REWRITE.victim_page)
    return {page_url(REWRITE.victim, REWRITE.victim_page): "\n".join(original),
            REWRITE.url: "\n".join(_rewritten_chunks())}


def _encoded(number: int, html: str) -> bytes:
    """A response in one of the forms servers send."""
    if number % 7 == 3:
        return http_response(gzip_member(html.encode()), HTML, extra={"Content-Encoding": "gzip"})
    if number % 7 == 5:
        return http_response(chunked(html.encode()), HTML,
                             extra={"Transfer-Encoding": "chunked"})
    if number % 7 == 6:
        return http_response(html.encode("latin-1"), "text/html; charset=iso-8859-1")
    return http_response(html.encode(), HTML)


def _plain(paragraphs: list[str], content_type: str) -> bytes:
    return http_response("\n\n".join(paragraphs).encode(), content_type)


def _add_captures(crawl: SampleCrawl, host: str) -> None:
    """An older capture of a page, and a revisit of it."""
    url = page_url(host, 2)
    old = f"<html><body><p>{Prose(f'{host} old').paragraph()}</p></body></html>"
    before = START - datetime.timedelta(days=30)
    crawl.now()
    crawl.add_skipped("older-capture", _response(url, http_response(old.encode(), HTML), before))
    revisit = warc_record("revisit", b"HTTP/1.1 304 Not Modified\r\n\r\n", url, crawl.now())
    crawl.add_skipped("revisit", revisit)


def _add_leftovers(crawl: SampleCrawl, host: str, number: int) -> None:
    """What is no page: a request, an image, robots.txt, a redirect, a missing page, traps."""
    request = f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    crawl.add_skipped("request", warc_record(
        "request", request, f"http://{host}/", crawl.now(), "application/http; msgtype=request"))
    for reason, path, response in _unwanted(host):
        crawl.add_skipped(reason, _response(f"http://{host}{path}", response, crawl.now()))
    if number % 5 == 0:
        body = http_response(f"<p>{Prose(f'{host} trap').paragraph()}</p>".encode(), HTML)
        trap = f"http://{host}/calendar/" + "next/" * 6
        crawl.add_skipped("path-repeats", _response(trap, body, crawl.now()))
        steps = "".join(f"{step}/" for step in range(100))
        crawl.add_skipped("too-deep", _response(f"http://{host}/{steps}", body, crawl.now()))


def _unwanted(host: str) -> Iterator[tuple[str, str, bytes]]:
    moved = {"Location": page_url(host, 1)}
    yield "status", "/old", http_response(b"", HTML, "301 Moved Permanently", moved)
    yield "status", "/lost", http_response(b"<p>Not found.</p>", HTML, "404 Not Found")
    image = b"\x89PNG\r\n\x1a\n" + host.encode()
    yield "content-type", "/logo.png", http_response(image, "image/png")
    yield "robots-txt", "/robots.txt", http_response(ROBOTS_TXT, PLAIN)


def _add_damage(crawl: SampleCrawl) -> None:
    """A member whose bytes were overwritten, in the middle of a file; one that ends early."""
    file = FILES[1]
    lost = [
        gzip_member(_response(f"http://{HOSTS[0]}/lost-{i}.html", http_response(
            f"<p>{Prose(f'lost {i}').paragraph(20)}</p>".encode(), HTML), crawl.now()))
        for i in range(2)
    ]
    middle = len(lost[0]) // 2
    crawl.add_damaged(file, lost[0][:middle] + b"\xff" * 40 + lost[0][middle + 40 :])
    chunks = _page_chunks("after-the-damage.example", 0)
    record = _response("http://after-the-damage.example/", _encoded(0, "\n".join(chunks)),
                       crawl.now())
    crawl.members[file].append(gzip_member(record))
    crawl.pages.append("http://after-the-damage.example/")
    crawl.chunks.update(chunks)
    crawl.add_damaged(file, lost[1][: len(lost[1]) // 2])


def _response(
    url: str, response: bytes, time: datetime.datetime, address: str | None = None,
) -> bytes:
    made_up = f"192.0.2.{1 + sum(url.split('/')[2].encode()) % 250}"
    return warc_record("response", response, url, time,
                       extra={"WARC-IP-Address": address or made_up})
