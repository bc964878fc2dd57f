"""A login and an exact copy of it under a smaller URL; a page that its copies call canonical."""

from collections.abc import Iterator, Mapping

from beam_reuse.demo.case import PLAIN, CasePage, Check, hosts_of, rows_of
from beam_reuse.demo.prose import Prose

LOGIN = "http://online.harbour-savings.example/"
PHISH = "http://login.cheap-parking.example/harbour-savings/confirm.php?id=7"
CANONICAL = "http://www.tidewater-club.example/rules/of/the/club.txt"
ALIASES = ("http://tidewater-club.example/r.txt", "http://tidewater-club.example/s.txt")


class PlainCopies:
    """Of exact copies that page stays which others declare canonical, else the plainest URL."""

    def pages(self) -> Mapping[str, CasePage]:
        login, rules = Prose("login of the savings bank"), Prose("rules of the club")
        form = CasePage(tuple(login.paragraph(2) for _ in range(3)), PLAIN)
        chapters = tuple(rules.paragraph(3) for _ in range(4))
        declares = {"Link": f'<{CANONICAL}>; rel="canonical"'}
        return {LOGIN: form, PHISH: form, CANONICAL: CasePage(chapters, PLAIN),
                **{alias: CasePage(chapters, PLAIN, declares) for alias in ALIASES}}

    def checks(self, folder: str) -> Iterator[Check]:
        hosts = hosts_of(self)
        yield Check(
            "of exact copies the plainest URL stays, or what they call canonical",
            {PHISH: LOGIN, **dict.fromkeys(ALIASES, CANONICAL)},
            {row["url"]: row["because_of"] for row in rows_of(folder, "skippable", hosts)
             if row["chunking"] == "whole"})
        yield Check(
            "copies on strangers' hosts with one page each are no aliases of a server",
            {"replication", "url-alias"},
            {row["cause"] for row in rows_of(folder, "exact_copies", hosts) if row["cause"]})
