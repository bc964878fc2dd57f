"""Term differences of pairs, read from crawl files and from an index; and their kinds."""

import hashlib
import json
import random
from pathlib import Path
from statistics import mean, quantiles

import pytest

from beam_reuse.cli.main import main
from beam_reuse.core.errors import UserError
from beam_reuse.core.verdicts import Verdict
from beam_reuse.judging.difference_kinds import DifferenceKind, Hunk, kind_of
from beam_reuse.judging.differences import (
    DrawnPair,
    compare,
    difference,
    draw_pairs,
    summary_of,
)
from beam_reuse.judging.page_texts import PageText
from beam_reuse.judging.similarities import ALGORITHMS
from tests.judging.results import crawl_row, pair_row, write_result
from tests.oracles import differences as oracle
from tests.oracles import tokens as token_oracle

A, B = "http://a.example/1", "http://b.example/2"


def written(folder: Path, texts: dict[str, str], kind: str = "text") -> tuple[str, str]:
    """A crawl with these pages (and an older capture of each), and a result made of it."""
    lines = [{"url": url.upper().replace("/1", "/1#x") if old else url,
              kind: text + f" old {url}" * old,
              "timestamp": f"20{20 - old}-01-01T00:00:00Z"}
             for url, text in texts.items() for old in (1, 0)]
    crawl = folder / "crawl.jsonl"
    crawl.write_text("".join(json.dumps(line) + "\n" for line in lines))
    pages = [crawl_row(url, hashlib.sha1(text.encode()).hexdigest())
             for url, text in texts.items()]
    urls = sorted(texts)
    rng = random.Random(1)
    rows = [pair_row(a, b, 2, 360, False, {name for name in ALGORITHMS if rng.random() < 0.6})
            for i, a in enumerate(urls) for b in urls[i + 1:]]
    result = write_result(folder / "result", {"pages": [pages], "near_duplicates": [rows]})
    return result, str(crawl)


def random_texts(seed: int, count: int) -> dict[str, str]:
    rng = random.Random(seed)
    words = ["alpha", "Beta", "γάμμα", "日本", "x1", "2020", "-", "é."]
    base = [rng.choice(words) for _ in range(60)]
    texts = {}
    for i in range(count):
        page = [w if rng.random() < 0.9 else rng.choice(words) for w in base]
        texts[f"http://h{i}.example/"] = " ".join(page[rng.randrange(5):])
    return texts


def test_differences_equal_their_definition(tmp_path: Path) -> None:
    texts = random_texts(3, 9)
    result, crawl = written(tmp_path, texts)
    pairs = draw_pairs(result, 12)
    found = compare(result, pairs, [crawl])
    assert not found.missing and len(found.found) == len(pairs)
    for one in found.found:
        a, b = (token_oracle.tokens(texts[url]) for url in one.pair.key)
        assert one.terms == oracle.term_difference(a, b)
        assert one.deleted - one.inserted == len(a) - len(b)
    kinds = found.kinds()
    for summary in found.summary():
        name = summary["algorithm"]
        mine = [one.terms for one in found.found if name in one.pair.counts_for]
        assert len(mine) == 12 == summary["pairs"]
        assert summary["mean"] == pytest.approx(mean(mine))
        assert summary["median"] == quantiles(mine, n=2, method="inclusive")[0]
        assert sum(row["pairs"] for row in kinds if row["algorithm"] == name) == 12


def test_an_index_gives_the_same(tmp_path: Path) -> None:
    result, crawl = written(tmp_path, random_texts(4, 6))
    pairs = draw_pairs(result, 5)
    index = tmp_path / "index"
    assert main(["index", crawl, "-o", str(index), "--workers", "1"]) == 0
    assert compare(result, pairs, [str(index)]) == compare(result, pairs, [crawl])
    with pytest.raises(UserError, match="is a result, not an index"):
        compare(result, pairs, [result])


def test_pages_that_are_not_there_are_told(tmp_path: Path) -> None:
    texts = random_texts(5, 4)
    result, _ = written(tmp_path, texts)
    some = dict(list(texts.items())[:3])
    (tmp_path / "less").mkdir()
    _, crawl = written(tmp_path / "less", some)
    found = compare(result, draw_pairs(result, 99), [crawl])
    gone = set(texts) - set(some)
    assert found.missing and all(gone & set(pair) for pair in found.missing)
    assert not any(gone & set(one.pair.key) for one in found.found)


def test_images_count_and_are_told_apart(tmp_path: Path) -> None:
    page = "<title>T</title><p>one two<img src='{}'>"
    texts = {A: page.format("/i/x.png"), B: page.format("http://c.example/y.png")}
    result, crawl = written(tmp_path, texts, "html")
    (one,) = compare(result, [DrawnPair((A, B), frozenset("b"), Verdict.POSITIVE)], [crawl]).found
    assert (one.deleted, one.inserted, one.kind) == (1, 1, DifferenceKind.IMAGE)


def test_judged_pairs_are_also_summed_by_verdict() -> None:
    pair = DrawnPair((A, B), frozenset({"c"}), Verdict.NEGATIVE)
    one = difference(pair, PageText(b"a b c", ()), PageText(b"a c d e", ()))
    assert (one.deleted, one.inserted, one.terms) == (1, 2, 3)


@pytest.mark.parametrize(("terms", "median", "ninth", "many"), [
    ((), None, None, None), ((5,), 5, 5, 0), ((1, 2), 1.5, 2, 0),
    (tuple(range(1, 11)), 5.5, 9, 0), (tuple(range(1, 12)), 6, 10, 0),
    ((200, 201, 202, 2), 200.5, 202, 0.5),
])
def test_summaries(terms: tuple[int, ...], median: float, ninth: int, many: float) -> None:
    summary = summary_of(terms)
    assert (summary["median"], summary["percentile_90"], summary["share_above_200"]) == (
        median, ninth, many)
    if terms:
        assert sum(t <= ninth for t in terms) * 10 >= 9 * len(terms)
        assert sum(t < ninth for t in terms) * 10 < 9 * len(terms)


def told(a: str, b: str, url_a: str = A, url_b: str = B) -> str:
    pair = DrawnPair((url_a, url_b), frozenset())
    return difference(pair, PageText(a.encode(), ()), PageText(b.encode(), ())).kind.value


@pytest.mark.parametrize(("a", "b", "kind"), [
    ("the same", "The SAME.", "none"),
    ("buy a.example now", "buy b.example now", "url"),
    ("updated 3 May 2021", "updated 14 June 2021", "time stamp"),
    ("now 10:31:07", "now 10:31:09", "time stamp"),
    ("page made in 0.013 seconds", "page made in 0.2 seconds", "time stamp"),
    ("2021年3月4日", "2021年3月5日", "time stamp"),
    ("visitor 1,204 of this site", "visitor 1,317 of this site", "counter"),
    ("sid 9f86d081884c7d65 end", "sid 2c26b46b68ffc68f end", "id"),
    ("message 20394857 end", "message 20394901 end", "id"),
    ("a.example: visitor 12 here", "b.example: visitor 13 here", "combination"),
    ("a red chair", "a blue table", "other"),
    ("price 12 for a red chair", "price 13 for a blue chair", "other"),
    ("we may win 3 games", "we may win 4 games", "counter"),
])
def test_kinds_of_differences(a: str, b: str, kind: str) -> None:
    assert told(a, b) == kind and told(b, a, B, A) == kind


def test_escapes_in_urls_are_read() -> None:
    urls = ("http://a.example/caf%C3%A9", "http://a.example/tea")
    assert told("order café here", "order tea here", *urls) == "url"
    assert kind_of([Hunk(("x",), ())], A, B) is DifferenceKind.OTHER
