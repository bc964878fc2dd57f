"""Near-duplicates of which the plainest URL stays, a list that only looks like another, and two
families: parked pages, and a kit whose pictures are elsewhere on each of its domains."""

from collections.abc import Iterator, Mapping

from beam_reuse.demo.case import CasePage, Check, hosts_of, rows_of
from beam_reuse.demo.prose import Prose

PLAIN = "http://guides.tea-notes.example/steeping.html"
MALFORMED = "http://guides.tea-notes.example/index.php?&page=steeping&&sid=41"
BY_NAME = "http://harbour-register.example/by-name.html"
BY_BERTH = "http://berths-of-the-coast.example/by-berth.html"
PARKED = tuple(f"http://{name}-domains.example/" for name in ("cheap", "fine", "golden"))
KIT = tuple(f"http://{name}.example/login" for name in ("secure-teabank", "teabank-update"))


class SimilarPages:
    """The same guide under two URLs, the same names in another order, parked domains, and a kit."""

    def pages(self) -> Mapping[str, CasePage]:
        guide = Prose("a guide to tea").paragraph(40)
        names = sorted({word for word in Prose("boats").paragraph(80).split() if word.istitle()})
        offer = Prose("parked").paragraph(30)
        return {
            PLAIN: _page("Steeping", guide),
            MALFORMED: _page("Steeping", f"{guide} Print."),
            BY_NAME: _page("Boats", " ".join(names)),
            BY_BERTH: _page("Boats", " ".join(sorted(names, key=lambda name: name[::-1]))),
            PARKED[0]: _page("For sale", offer), PARKED[1]: _page("For sale", offer),
            PARKED[2]: _page("For sale", f"{offer} Golden."),
            **{url: _page("Tea bank", "Log in with your name and your secret word." + "".join(
                f'<img src="http://cdn{n}.example/{n}-{i}.png">' for i in range(20)))
               for n, url in enumerate(KIT)},
        }

    def checks(self, folder: str) -> Iterator[Check]:
        kept = {row["url"]: (row["because_of"], row["reason"])
                for row in rows_of(folder, "keep", hosts_of(self))}
        yield Check("of a guide under two URLs the one without a query stays",
                    {PLAIN: (None, None), MALFORMED: (PLAIN, "pair")},
                    {url: kept.get(url) for url in (PLAIN, MALFORMED)})
        lists = {BY_NAME, BY_BERTH}
        pairs = [{row["url_a"], row["url_b"]}
                 for row in rows_of(folder, "near_duplicates", hosts_of(self)) if row["hybrid"]]
        yield Check("a list in another order is a near-duplicate, and --min-containment saves it",
                    (True, dict.fromkeys(lists, (None, None))),
                    (lists in pairs, {url: kept.get(url) for url in lists}))
        families = rows_of(folder, "families", hosts_of(self))
        parked, kit = ([(row["url"], row["alike"]) for row in families if row["family"] == first]
                       for first in (PARKED[0], KIT[0]))
        yield Check(f"a family of pages parked on {len(PARKED)} domains, two with the same file",
                    [*((url, "file") for url in PARKED[:2]), (PARKED[2], "similar")], parked)
        yield Check(f"a family of a kit on {len(KIT)} domains, whatever its pictures",
                    [(url, "words") for url in KIT], kit)


def _page(title: str, text: str) -> CasePage:
    return CasePage((f"<title>{title}</title>", f"<p>{text}</p>"))
