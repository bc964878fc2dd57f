"""A guide whose chapters share a frame, and its mirror, which adds a footer to every chapter."""

from collections.abc import Iterator, Mapping

from beam_reuse.demo.case import PLAIN, CasePage, Check, hosts_of, rows_of
from beam_reuse.demo.prose import Prose

GUIDE, MIRROR = "guide.handbook.example", "mirrors.handbook-friends.example"
# Five of them: the frame is a template, and no frequent chunk of the sample crawl.
CHAPTERS = tuple(f"guide/chapter-{n}.txt" for n in range(1, 6))


class MirroredGuide:
    """The frame is nine tenths of every chapter: none may be skipped for another of them."""

    def pages(self) -> Mapping[str, CasePage]:
        frame = _lines("frame of the guide", 60)
        pages = {}
        for chapter in CHAPTERS:
            text = _lines(chapter, 6)
            pages[f"http://{GUIDE}/{chapter}"] = CasePage((frame, text), PLAIN)
            pages[f"http://{MIRROR}/{chapter}"] = CasePage(
                (frame, text, _lines("footer of the mirror", 2)), PLAIN)
        return pages

    def checks(self, folder: str) -> Iterator[Check]:
        hosts = hosts_of(self)
        yield Check(
            "a mirror's chapters are skippable, each for the guide's own; those of one frame stay",
            {f"http://{MIRROR}/{each}": f"http://{GUIDE}/{each}" for each in CHAPTERS},
            {row["url"]: row["because_of"] for row in rows_of(folder, "skippable", hosts)
             if row["chunking"] == "2-lines"})
        prefix = f"{GUIDE}/guide/"
        yield Check(
            f"{prefix} is on 2 hosts, whatever the mirror's footer",
            [(prefix, 2, len(CHAPTERS))],
            [(row["prefix"], row["hosts"], row["pages"])
             for row in rows_of(folder, "popular_collections", hosts)])


def _lines(seed: str, count: int) -> str:
    return "\n".join(Prose(f"{seed}, line {n}").paragraph(1) for n in range(count))
