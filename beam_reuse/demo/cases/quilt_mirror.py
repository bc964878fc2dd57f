"""A quilt and its mirror: each is stitched from the same five pages, and hides not the other."""

from collections.abc import Iterator, Mapping

from beam_reuse.demo.case import CasePage, Check, rows_of
from beam_reuse.demo.prose import Prose

QUILT = "http://quilted-weekly.example/best.html"
MIRROR = "http://quilted-weekly-mirror.example/best.html"
SOURCES = tuple(f"http://{name}-letters.example/essay.html"
                for name in ("amber", "birch", "cedar", "dune", "elder"))


class QuiltMirror:
    """Paragraphs of five essays are stitched together on a page, which a mirror has too."""

    def pages(self) -> Mapping[str, CasePage]:
        essays = {url: [Prose(f"letter {n} of {url}").paragraph() for n in range(4)]
                  for url in SOURCES}
        text = " ".join(paragraphs[1] for paragraphs in essays.values())
        return {
            **{url: CasePage((f"<title>{url}</title>", *(f"<p>{each}</p>" for each in paragraphs)))
               for url, paragraphs in essays.items()},
            QUILT: CasePage(("<title>The best of the letters</title>", f"<p>{text}</p>")),
            MIRROR: CasePage(("<title>Best letters, mirrored</title>", f"<p>{text} Mirrored.</p>")),
        }

    def checks(self, folder: str) -> Iterator[Check]:
        hosts = {url.split("/")[2] for url in (QUILT, MIRROR)}
        found = {row["url"]: (row["sources"], row["copies"])
                 for row in rows_of(folder, "quilts", hosts)}
        yield Check("a quilt and its mirror, each a copy of the other, of 5 sources",
                    dict.fromkeys((QUILT, MIRROR), (len(SOURCES), 1)), found)
        taken = {(row["url"], row["source_url"])
                 for row in rows_of(folder, "quilt_sources", hosts)}
        yield Check("the five essays they are stitched from",
                    {(url, source) for url in (QUILT, MIRROR) for source in SOURCES}, taken)
