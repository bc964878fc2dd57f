"""A site whose pages share a menu and a footer, and nothing else."""

from collections.abc import Iterator, Mapping

from beam_reuse.demo.case import CasePage, Check, rows_of
from beam_reuse.demo.prose import Prose

HOST = "almanac.example"
PAGES = 12
MENU = ("Start page of the almanac", "All articles from A to Z")
FOOTER = "Printed and posted by the almanac society, all rights reserved."
SOME = "This article is a draft."


class SiteTemplate:
    """Two lines above every article and one below; a notice on one page, which is not enough."""

    def pages(self) -> Mapping[str, CasePage]:
        prose = Prose("almanac")
        found = {}
        for number in range(PAGES):
            articles = tuple(f"<p>{prose.paragraph(4)}</p>" for _ in range(3))
            notice = (f"<p>{SOME}</p>",) if number == 0 else ()
            menu = "".join(f"<li>{line}</li>" for line in MENU)
            found[f"http://{HOST}/{number:02}"] = CasePage((
                f"<title>{prose.title()} {number}</title>", f"<div><ul>{menu}</ul></div>",
                *notice, *articles, f"<div>{FOOTER}</div>"))
        return found

    def checks(self, folder: str) -> Iterator[Check]:
        lines = rows_of(folder, "boilerplate", {HOST})
        by_position = sorted(lines, key=lambda row: row["position"])
        yield Check("template lines of a site, from the top, with their pages",
                    [(line, PAGES) for line in (*MENU, FOOTER)],
                    [(row["text"], row["pages"]) for row in by_position])
        yield Check("its pages with a title, three template lines and three paragraphs",
                    PAGES - 1, sum((row["lines"], row["template_lines"]) == (7, 3)
                                   for row in rows_of(folder, "boilerplate_pages", {HOST})))
