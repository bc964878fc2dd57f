"""Articles, and copies that were captured a day before them: pages declare whose they are."""

import datetime
from collections.abc import Iterator, Mapping

from beam_reuse.demo.case import CasePage, Check, rows_of
from beam_reuse.demo.prose import Prose

SOURCE, SCRAPER = "http://harbour-gazette.example", "http://news-scraper.example"
FIRST = datetime.datetime(2026, 3, 1, 8)
LATER = FIRST + datetime.timedelta(days=1)
LINES = 20
DATED = '<meta property="article:published_time" content="{}">'
# What the copy of an article has in its head and at its end, the head of the article, and what
# then decides.
ARTICLES = {
    "canonical": (f'<link rel="canonical" href="{SOURCE}/canonical.html">', "", ""),
    "link": ("", f'<a href="{SOURCE}/link.html"></a>', ""),
    "date": (DATED.format("2026-02-20"), "", DATED.format("2026-02-10T08:00:00+01:00")),
    "first-capture": ("", "", ""),
}


class ScrapedNews:
    """Four articles, of which a scraper has copies that the crawler fetched first."""

    def pages(self) -> Mapping[str, CasePage]:
        pages = {}
        for name, (head, end, own_head) in ARTICLES.items():
            text = tuple(f"<p>{Prose(f'{name} {n}').paragraph(2)}</p>" for n in range(LINES))
            pages[f"{SOURCE}/{name}.html"] = CasePage(
                (f"<title>News</title>{own_head}", *text), captured=LATER)
            pages[f"{SCRAPER}/{name}.html"] = CasePage(
                (f"<title>News</title>{head}", *text[:-1], text[-1] + end), captured=FIRST)
        return pages

    def checks(self, folder: str) -> Iterator[Check]:
        rows = rows_of(folder, "origins", {url.split("/")[2] for url in (SOURCE, SCRAPER)})
        yield Check(
            "the source of four scraped articles; of one nothing but the first capture is known",
            {(f"{SOURCE if name != 'first-capture' else SCRAPER}/{name}.html", name)
             for name in ARTICLES},
            {(row["origin"], row["evidence"]) for row in rows if row["kind"] == "copies"})
        yield Check(
            "the host that was scraped, by what one page declares of itself",
            [("harbour-gazette.example", "canonical", 4, 1, 0)],
            [(row["origin"], row["evidence"], row["members"], row["agree"], row["against"])
             for row in rows if row["kind"] == "hosts"])
