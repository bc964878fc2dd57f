"""Two pages side by side: what is said of them is what their lines and the tables say."""

import json
import re
from pathlib import Path

import pytest

from beam_reuse.cli.main import main
from beam_reuse.demo.prose import Prose
from beam_reuse.io.results import tables
from tests.browser.conftest import visiting
from tests.browser.visiting import Visitor, at, nothing_happened

pytestmark = pytest.mark.browser


def test_a_page_that_is_dropped_although_its_text_is_nowhere_else(tmp_path: Path) -> None:
    words = sorted(set(Prose("boats").paragraph(80).split()))
    orders = (words, sorted(words, key=lambda word: word[::-1]))
    pages = [{"url": f"http://h{n}.example/", "html": "<p>" + "<p>".join(order)}
             for n, order in enumerate(orders)]
    (tmp_path / "crawl.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    assert main(["run", str(tmp_path / "crawl.jsonl"), "-o", str(tmp_path / "r"), "--workers", "1",
                 "--analyses", "near-duplicates"]) == 0
    for visitor, result in visiting(str(tmp_path / "r")):
        (row,) = tables.read(result, "near_duplicates").to_pylist()
        assert row["c"] and not row["b"]
        visitor.go(at("pair", a=pages[0]["url"], b=pages[1]["url"]))
        said = visitor.text(".measures")
        assert "The right page is dropped for the left one although only the projections (C)" in (
            said)
        assert "A run with --min-containment 0.8 keeps both" in said and "Keep the" not in said
        same = visitor.run("document.querySelectorAll('.row.same').length")
        part = re.search(r"([\d.]+)\s% of the lines below are on both", said)
        assert part and abs(float(part[1]) - 100 * int(same) / len(words)) < 2
        nothing_happened(visitor)


def test_overlap_says_of_which_chunks_a_share_is(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    rows = tables.read(result, "page_overlap").to_pylist()
    for chunking, pieces in (("2-lines", "pieces of 2 lines"), ("4-lines", "pieces of 4 lines")):
        row = next(row for row in rows if row["chunking"] == chunking)
        visitor.go(at("pair", a=row["url_b"], b=row["url_a"]))
        assert (f"{row['shared']} {pieces} are on both pages, "
                f"{_percent(row['containment_b'])} of the left page's and "
                f"{_percent(row['containment_a'])} of the right page's") in visitor.text()
    nothing_happened(visitor)


def _percent(share: float) -> str:
    return f"{share:.{0 if share == 1 else 1}%}".replace("%", "\u00a0%")
