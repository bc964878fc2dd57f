"""What is planted in the sample crawl, and so must come out of a run on it.

Each kind of reuse is a tuple of values here; `sample.py` builds pages that contain it and
`checks.py` looks for it in the tables.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from beam_reuse.demo.prose import Prose

HOSTS = (
    "www.harbour-news.example", "archive.harbour-news.example", "www.orchard-weekly.example",
    "blog.orchard-weekly.example", "www.ferry-times.example", "old.ferry-times.example",
    "lantern-society.example", "railway-museum.example", "choir.example", "www.mill-town.example",
    "glacier-watch.example", "www.printers-guild.example", "regatta.example", "meadow-farm.example",
    "www.clockmakers.example", "quarry-lake.example", "vineyard-road.example",
    "www.canal-trust.example", "observatory.example", "lighthouse-keepers.example",
)
PAGES_PER_HOST = 14
AUTO_THRESHOLD = 10


@dataclass(frozen=True)
class PlantedPassage:
    """A paragraph that occurs `per_page` times on each of `pages` pages of `hosts` hosts.

    The hosts are those from number `first_host` on. Counts are exact: nothing else in the
    crawl holds this paragraph.
    """

    name: str
    pages: int
    hosts: int
    first_host: int
    per_page: int = 1

    @property
    def html(self) -> str:
        """The paragraph as a page has it: one chunk, whatever follows it."""
        text = Prose(f"passage {self.name}").paragraph(4)
        return f"<p>{text.replace('é', 'e')}</p>"

    @property
    def sha1(self) -> str:
        return hashlib.sha1(self.html.encode()).hexdigest()

    @property
    def occurrences(self) -> int:
        return self.pages * self.per_page

    @property
    def on_hosts(self) -> tuple[str, ...]:
        turned = HOSTS[self.first_host :] + HOSTS[: self.first_host]
        return turned[: self.hosts]

    @property
    def domains(self) -> int:
        return len({".".join(host.split(".")[-2:]) for host in self.on_hosts})

    @property
    def is_frequent(self) -> bool:
        """Whether discovery with its default threshold must report it."""
        return self.occurrences > AUTO_THRESHOLD

    def page_numbers(self) -> list[tuple[str, int]]:
        """The pages it is on, as (host, number of the page there)."""
        return [
            (self.on_hosts[i % self.hosts], 1 + i // self.hosts) for i in range(self.pages)
        ]


PASSAGES = (
    PlantedPassage("a notice every site has", pages=100, hosts=20, first_host=0),
    PlantedPassage("a press release", pages=36, hosts=12, first_host=3),
    PlantedPassage("a menu of one site", pages=13, hosts=1, first_host=7),
    PlantedPassage("a refrain, twice a page", pages=8, hosts=8, first_host=10, per_page=2),
    PlantedPassage("one copy above the threshold", pages=11, hosts=11, first_host=5),
    PlantedPassage("as many copies as the threshold", pages=10, hosts=10, first_host=15),
)


@dataclass(frozen=True)
class PlantedTheft:
    """An article of one host whose paragraphs are on every page of a directory elsewhere."""

    victim: str
    victim_page: int
    thief: str
    directory: str
    pages: int
    paragraphs: int

    @property
    def html(self) -> tuple[str, ...]:
        return tuple(
            f"<p>{Prose(f'article {i}').paragraph(8).replace('é', 'e')}</p>"
            for i in range(self.paragraphs))

    @property
    def sha1s(self) -> tuple[str, ...]:
        return tuple(hashlib.sha1(text.encode()).hexdigest() for text in self.html)

    @property
    def source(self) -> str:
        """Registered domain of the host it was taken from."""
        return ".".join(self.victim.split(".")[-2:])


@dataclass(frozen=True)
class PlantedReport:
    """A long text on several hosts: on `same` hosts with the same words, each typed another way,
    on `edited` hosts with a number of its own in it. No version has a chunk of another."""

    path: str
    same: tuple[str, ...]
    edited: tuple[str, ...]

    def pages(self) -> dict[str, str]:
        """URLs and texts."""
        text = f"Reader number 1. {Prose('report').paragraph(60)}"
        ends = (".", "!", "?", ";")
        versions = {host: text.replace(".", end)
                    for host, end in zip(self.same, ends, strict=False)}
        versions |= {host: text.replace("number 1", f"number {n}")
                     for n, host in enumerate(self.edited, 2)}
        return {f"http://{host}{self.path}": text for host, text in versions.items()}

    @property
    def copies(self) -> tuple[str, ...]:
        """The URLs with the same words."""
        return tuple(f"http://{host}{self.path}" for host in self.same)


@dataclass(frozen=True)
class PlantedMirror:
    """A handbook in `chapters` of `lines` lines each, on its own host and on a mirror; and a page
    elsewhere that begins with the first `quoted` lines of the first chapter."""

    host: str
    mirror: str
    chapters: int
    lines: int
    digest: str
    quoted: int
    more: int

    def texts(self) -> list[str]:
        chapters = [Prose(f"chapter {n}") for n in range(self.chapters)]
        return ["\n".join(chapter.sentence() for _ in range(self.lines)) for chapter in chapters]

    def urls(self, host: str) -> list[str]:
        return [f"http://{host}/handbook/{n}.txt" for n in range(self.chapters)]

    def pages(self) -> dict[str, str]:
        """URLs and texts."""
        texts = self.texts()
        digest = Prose("digest")
        own = (digest.sentence() for _ in range(self.more))
        quotation = "\n".join([*texts[0].split("\n")[: self.quoted], *own])
        return {**dict(zip(self.urls(self.host), texts, strict=True)),
                **dict(zip(self.urls(self.mirror), texts, strict=True)), self.digest: quotation}


@dataclass(frozen=True)
class PlantedQuilt:
    """A page with a paragraph of each of `sources`, pages of other domains; it links to the first
    of them and to the front page of the second."""

    url: str
    sources: tuple[str, ...]

    def linked(self) -> dict[str, str]:
        """What its links say of each source."""
        said = ("page", "domain", *["none"] * len(self.sources))
        return dict(zip(self.sources, said, strict=False))


@dataclass(frozen=True)
class PlantedRewrite:
    """A page with the first two paragraphs of a page of another host, in markup of its own: other
    classes, links and scripts. Chunks of text show them, chunks of bytes do not."""

    url: str
    victim: str
    victim_page: int
    paragraphs: int = 2


@dataclass(frozen=True)
class PlantedFile:
    """A file that is, byte for byte, on the first `hosts` hosts."""

    path: str
    hosts: int

    @property
    def content(self) -> str:
        """One chunk, too: there is no blank line in it."""
        return f"/* {Prose('library').paragraph(3).replace('é', 'e')} */"

    @property
    def sha1(self) -> str:
        return hashlib.sha1(self.content.encode()).hexdigest()


THEFT = PlantedTheft("www.clockmakers.example", 7, "finest-articles.example", "stolen", 12, 3)
REWRITE = PlantedRewrite("http://fresh-paint.example/story.html", "www.canal-trust.example", 3)
FILE = PlantedFile("/library.js", 12)
QUILT_URL = "http://patchwork.example/best-of.html"
QUILT_HOSTS = ("lantern-society.example", "choir.example", "glacier-watch.example",
               "quarry-lake.example", "observatory.example")
QUILT_PAGE = 12
REPORT = PlantedReport("/report.txt", ("choir.example", "observatory.example"),
                       ("regatta.example", "www.canal-trust.example"))
MIRROR = PlantedMirror("handbook.example", "handbook-mirror.example", 5, 80,
                       "http://digest.example/best-of.txt", 60, 200)


@dataclass(frozen=True)
class DamagedPlace:
    """Where a record cannot be read: file name and offset of its first byte."""

    file: str
    offset: int


@dataclass(frozen=True)
class Planted:
    """All that a run on the sample crawl must find."""

    page_urls: frozenset[str]
    skipped: Mapping[str, int]
    damaged: tuple[DamagedPlace, ...]
    chunk_occurrences: Mapping[int, int]
    quilt: PlantedQuilt
    passages: tuple[PlantedPassage, ...] = PASSAGES
    theft: PlantedTheft = THEFT
    file: PlantedFile = FILE
    report: PlantedReport = REPORT
    mirror: PlantedMirror = MIRROR
    rewrite: PlantedRewrite = REWRITE

    @property
    def records(self) -> int:
        return len(self.page_urls) + sum(self.skipped.values()) + len(self.damaged)


def occurrence_histogram(chunks: Counter[str]) -> dict[int, int]:
    """How many distinct chunks occur how often."""
    return dict(sorted(Counter(chunks.values()).items()))
