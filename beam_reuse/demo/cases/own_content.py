"""A bank's pages, a thief's copy of one, and a shop that shares nothing but short phrases with
them: whoever has learned the bank's page knows the copy, and takes neither bank nor shop for it."""

from collections.abc import Iterator, Mapping

from beam_reuse.core.settings import ChunkSettings, StopSettings
from beam_reuse.demo.case import CasePage, Check
from beam_reuse.demo.prose import Prose
from beam_reuse.detector import Detector

BANK, BRANCH = "https://www.bank-case.github.io/login", "https://help.bank-case.github.io/login"
THIEF, SHOP = "http://thief-case.github.io/bank", "http://www.shop-case.example/login"
PHRASES = ("<p>Log in</p>", "<div>Forgot it?</div>")
PASSAGES = tuple(f"<p>{Prose(f'own content {n}').paragraph(2)}</p>" for n in range(3))


class OwnContent:
    """Two hosts of one owner, another user of the same provider, and a stranger."""

    def pages(self) -> Mapping[str, CasePage]:
        return {
            BANK: _page("Bank", *PHRASES, *PASSAGES),
            BRANCH: _page("Help", *PASSAGES[1:], PASSAGES[1]),
            THIEF: _page("Bank", *PHRASES, *(
                passage.replace("<p>", '<p class="x">') for passage in PASSAGES)),
            SHOP: _page("Shop", *PHRASES, f"<p>{Prose('a shop').paragraph(2)}</p>"),
        }

    def checks(self, folder: str) -> Iterator[Check]:
        pages = self.pages()
        detector = Detector((), chunks=ChunkSettings(normalise="text"),
                            stops=StopSettings(min_chunk_tokens=5))
        detector.learn(pages[BANK].body, BANK)
        for url, what, flagged, own, matching in (
            (THIEF, "is known as a copy of the bank's, its neighbour's", True, 0, 3),
            (BRANCH, "may hold what is its own", False, 3, 0),
            (SHOP, "shares phrases of few words, which are no evidence", False, 0, 0),
        ):
            found = detector.check(pages[url].body, url)
            yield Check(f"{url} {what}", (flagged, own, matching),
                        (found.flagged, found.own_matching, found.matching))


def _page(title: str, *chunks: str) -> CasePage:
    head = f"<html><head><title>{title}</title></head><body>"
    return CasePage((head, *chunks, "<div>End</div></body></html>"))
