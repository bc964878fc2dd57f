"""Questions of a test that have got into the crawl: one whole, in other letters and lines, one in
part, and one that is nowhere. Whoever has the test finds them by gram labels."""

import os
import tempfile
from collections.abc import Iterator, Mapping

from beam_reuse.core.tokens import scan_plain
from beam_reuse.demo.case import CasePage, Check
from beam_reuse.demo.prose import Prose
from beam_reuse.detector import Detector
from beam_reuse.io.labels.gram_lists import GramSettings, item_batch, write_gram_list

FORUM = "http://forum.leak-case.example/thread/12"
NOTES = "http://notes.leak-case.example/cards.html"
CLASS = "http://www.leak-case.example/reading-list"
QUESTIONS = {name: Prose(f"question {name}").paragraph(4) for name in ("q1", "q2", "q3")}


class LeakedTest:
    """A forum, somebody's notes, and a page that has nothing of the test."""

    def pages(self) -> Mapping[str, CasePage]:
        shouted = "<br>\n".join(QUESTIONS["q1"].upper().replace(",", " -").split(". "))
        cut = " ".join(QUESTIONS["q2"].split()[:25])
        return {FORUM: _page("Forum", f"<p>Does anybody know this one?<br>{shouted}</p>"),
                NOTES: _page("Notes", f"<p>{Prose('notes').paragraph(2)}</p>", f"<p>{cut}</p>"),
                CLASS: _page("Reading list", f"<p>{Prose('reading list').paragraph(5)}</p>")}

    def checks(self, folder: str) -> Iterator[Check]:
        detector = _detector()
        for url, what, expected in (
            (FORUM, "has a question whole, in other letters and lines", {"q1": 1.0}),
            (NOTES, "has 25 words of another", {"q2": _share(25)}),
            (CLASS, "has none", {}),
        ):
            found = detector.check(self.pages()[url].body, url)
            yield Check(f"{url} {what}", (expected, bool(expected)), (
                {item.id: round(item.share, 6) for item in found.items or ()},
                found.contaminated))


def _share(words: int) -> float:
    """The share of 13-grams of q2 that its first words have."""
    return round((words - 12) / (len(scan_plain(QUESTIONS["q2"].encode()).tokens) - 12), 6)


def _detector() -> Detector:
    items = [("test", name, "question", scan_plain(text.encode()).tokens)
             for name, text in QUESTIONS.items()]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "test.parquet")
        write_gram_list(path, [item_batch(items)], GramSettings(13, 100))
        return Detector(path)


def _page(title: str, *chunks: str) -> CasePage:
    head = f"<html><head><title>{title}</title></head><body>"
    return CasePage((head, *chunks, "<div>End</div></body></html>"))
