"""Detection against labelled rows: counts, rates, classes, sweep; and sheets that are refused."""

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.core.pages import RawPage
from beam_reuse.core.shares import ONE, given_threshold
from beam_reuse.core.verdicts import Verdict, verdict_of
from beam_reuse.io.sheets import SheetError, read_sheet
from beam_reuse.judging.detection_report import as_json, detection_report
from beam_reuse.judging.evaluate import NEIGHBOURHOODS, PAGES, Evaluation, evaluate
from beam_reuse.judging.judgements import page_key, page_url, prefix_key
from beam_reuse.judging.measures import Confusion, confusion_of, sweep
from beam_reuse.judging.reports import file_names, write_report
from tests.crawl.reading import read_whole
from tests.judging.results import page_row, prefix_row, write_result
from tests.oracles import judging as oracle

COUNTS = ("tp", "fp", "fn", "tn")


def sheet(folder: Path, text: str, name: str = "labels.csv") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def counts(confusion: Confusion) -> dict[str, Any]:
    return {name: getattr(confusion, name) for name in COUNTS}


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """Pages with shares 0, 1/4, 1/2 and 1 and one without chunks; flagged above 1/4."""
    rows = [page_row(f"http://a.example/{m}", m, 4, m > 1) for m in (0, 1, 2, 4)]
    rows += [page_row("http://b.example/x/empty", 0, 0, False),
             page_row("http://b.example/x/half", 2, 4, True)]
    return write_result(tmp_path / "r", {"page_reuse": [rows[:3], rows[3:]]}, min_chunks=1)


def test_counts_rates_and_what_is_left_out(folder: str, tmp_path: Path) -> None:
    path = sheet(tmp_path, """url,label,reason
HTTP://A.example:80/4#top,phish,direct
http://a.example/2,benign,news
http://a.example/1,1,obfuscated
http://b.example/x/half,?,
http://a.example/0,0,
http://b.example/x/empty,bad,direct
http://gone.example/,spam,
not a url,spam,
http://a.example/0,benign,again
http://c.example/,,not judged
""")
    found = evaluate(folder, path, PAGES)
    assert counts(found.confusion()) == {"tp": 1, "fp": 1, "fn": 2, "tn": 1}
    rates = {name: (rate.part, rate.whole) for name, rate in found.confusion().rates().items()}
    assert rates == {"precision": (1, 2), "recall": (1, 3), "f1": (2, 5),
                     "false_positive_rate": (1, 2), "accuracy": (2, 5)}
    assert [o.key for o in found.undecided] == ["http://b.example/x/half"]
    assert [j.cell("url") for j in found.absent] == ["http://gone.example/", "not a url"]
    assert (found.judgements.unlabelled, found.judgements.repeated) == (1, 1)
    assert {o.key: o.name for o in found.outcomes} == {
        "http://a.example/0": "tn", "http://a.example/1": "fn", "http://a.example/2": "fp",
        "http://a.example/4": "tp", "http://b.example/x/empty": "fn",
        "http://b.example/x/half": "undecided"}
    assert found.by == ("reason",)
    assert [(c.verdict.value, c.values, c.rows, c.of_verdict, c.flagged)
            for c in found.classes()] == [
        ("positive", ("direct",), 2, 3, 1), ("positive", ("obfuscated",), 1, 3, 0),
        ("negative", ("",), 1, 2, 0), ("negative", ("news",), 1, 2, 1),
        ("undecided", ("",), 1, 1, 1)]


def test_classes_by_what_the_url_tells(folder: str, tmp_path: Path) -> None:
    path = sheet(tmp_path, "url,label,Team\n" + "".join(
        f"http://{page},1,blue\n" for page in ("a.example/1", "a.example/4", "b.example/x/half")))
    for by, expected in {
        ("host",): [("a.example",), ("b.example",)],
        ("neighbourhood", "team"): [("a.example/", "blue"), ("b.example/x/", "blue")],
    }.items():
        assert [c.values for c in evaluate(folder, path, PAGES, by).classes()] == expected
    assert evaluate(folder, path, PAGES).classes() == []
    with pytest.raises(SheetError, match=r"no column 'colour'.*host"):
        evaluate(folder, path, PAGES, ("colour",))


def test_the_sweep_and_the_place_of_the_run_in_it(folder: str, tmp_path: Path) -> None:
    path = sheet(tmp_path, """url,label
http://a.example/0,0
http://a.example/1,1
http://a.example/2,0
http://b.example/x/half,1
http://b.example/x/empty,0
http://a.example/4,1
""")
    found = evaluate(folder, path, PAGES)
    steps = [(step.share / ONE, *counts(step.confusion).values()) for step in found.sweep()]
    assert steps == [(0.0, 3, 1, 0, 2), (0.25, 2, 1, 1, 2), (0.5, 1, 0, 2, 3), (1.0, 0, 0, 3, 3)]
    assert found.step_of_run() == ONE // 4


def test_the_sweep_of_evidence_and_its_share_by_target(tmp_path: Path) -> None:
    """Distinct chunks that match 1, 3, 3 and 5; a page with 9 that was not flagged stays so."""
    rows = [page_row(f"http://{n}.example/", matching, 10, flagged) for n, (matching, flagged) in
            enumerate([(1, True), (3, True), (3, True), (5, True), (9, False)])]
    for row in rows:
        row["distinct_matching"] = row["matching"]
    folder = write_result(tmp_path / "r", {"page_reuse": [rows]})
    path = sheet(tmp_path, "url,label,target\n" + "".join(
        f"http://{n}.example/,{label},{target}\n" for n, (label, target) in
        enumerate([(0, "none"), (1, "bank"), (0, "none"), (1, "bank"), (1, "shop")])))
    found = evaluate(folder, path, PAGES, ("target",))
    assert [(step.share + 1, *counts(step.confusion).values()) for step in
            found.evidence_sweep()] == [(1, 2, 2, 1, 0), (2, 2, 1, 1, 1), (4, 1, 0, 2, 2),
                                        (6, 0, 0, 3, 2)]
    assert {row.values: row.evidence for row in found.classes()} == {
        ("bank",): pytest.approx(0.4), ("none",): pytest.approx(0.2), ("shop",): None}
    written = {table.name: table for table in detection_report(found).tables}
    assert [row[0] for row in written["evidence"].rows] == [1, 2, 4, 6]


def test_pages_with_too_few_chunks_are_flagged_by_no_threshold(tmp_path: Path) -> None:
    rows = [page_row("http://a.example/", 3, 4, False), page_row("http://b.example/", 1, 5, True)]
    folder = write_result(tmp_path / "r", {"page_reuse": [rows]}, min_chunks=5)
    path = sheet(tmp_path, "url,label\nhttp://a.example/,1\nhttp://b.example/,1\n")
    found = evaluate(folder, path, PAGES)
    assert [counts(step.confusion)["tp"] for step in found.sweep()] == [1, 0]
    assert found.step_of_run() == 0


def test_pages_with_too_few_matching_chunks_are_flagged_by_no_threshold(tmp_path: Path) -> None:
    rows = [page_row("http://a.example/", 3, 4, False), page_row("http://b.example/", 1, 5, True)]
    rows[0]["distinct_matching"] = 2
    folder = write_result(tmp_path / "r", {"page_reuse": [rows]}, min_matching=2)
    path = sheet(tmp_path, "url,label\nhttp://a.example/,1\nhttp://b.example/,1\n")
    found = evaluate(folder, path, PAGES)
    assert [counts(step.confusion)["tp"] for step in found.sweep()] == [1, 0]


def test_flags_that_follow_from_no_threshold_have_no_place(folder: str, tmp_path: Path) -> None:
    rows = [page_row("http://a.example/", 3, 4, False), page_row("http://b.example/", 1, 4, True)]
    odd = write_result(tmp_path / "odd", {"page_reuse": [rows]})
    path = sheet(tmp_path, "url,label\nhttp://a.example/,1\nhttp://b.example/,1\n")
    assert evaluate(odd, path, PAGES).step_of_run() is None


SHARES = st.tuples(st.booleans(), st.integers(0, 6), st.integers(1, 6)).map(
    lambda given: (given[0], Fraction(min(given[1:]), given[2])))


@given(st.lists(SHARES, max_size=30))
def test_the_sweep_equals_its_definition(pages: list[tuple[bool, Fraction]]) -> None:
    found = sweep([(positive, int(share * ONE)) for positive, share in pages])
    assert [(step.share, counts(step.confusion)) for step in found] == [
        (int(t * ONE), expected) for t, expected in oracle.sweep(pages)]
    for step in found:
        assert given_threshold(step.share / ONE) == step.share


@given(st.lists(st.tuples(st.booleans(), st.booleans())))
def test_the_confusion_equals_its_definition(pairs: list[tuple[bool, bool]]) -> None:
    assert counts(confusion_of(pairs)) == oracle.confusion(pairs)
    assert counts(confusion_of(pairs, [Fraction(3)] * len(pairs))) == {
        name: 3 * n for name, n in oracle.confusion(pairs).items()}


def test_of_nothing_there_is_no_rate() -> None:
    assert {rate.value for rate in Confusion().rates().values()} == {None}


def test_strata_are_weighted_back(folder: str, tmp_path: Path) -> None:
    """Of 90 rows two are judged, of 10 one: they count 45, 45 and 10."""
    path = sheet(tmp_path, """url,stratum,stratum_rows,weight,label
http://a.example/0,low,90,30,0
http://a.example/1,low,90,30,1
http://a.example/2,low,90,30,
http://a.example/4,high,10,10,1
""")
    weighted = evaluate(folder, path, PAGES).weighted()
    assert weighted is not None
    assert counts(weighted) == {"tp": 10, "fp": 0, "fn": 45, "tn": 45}
    path = sheet(tmp_path, "url,label\nhttp://a.example/0,1\n")
    assert evaluate(folder, path, PAGES).weighted() is None
    broken = sheet(tmp_path, "url,stratum,stratum_rows,label\nhttp://a.example/0,x,many,1\n")
    with pytest.raises(SheetError, match="row 2: stratum_rows 'many'"):
        evaluate(folder, broken, PAGES).weighted()


def test_captures_are_judged_one_by_one_or_all_at_once(tmp_path: Path) -> None:
    keys = ["http://a.example/#20200101000000", "http://a.example/#20200102000000~2",
            "http://b.example/#20200101000000", "http://b.example/#20200102000000"]
    rows = [page_row(key, 1, 1, True) for key in keys]
    folder = write_result(tmp_path / "r", {"page_reuse": [rows]}, captures="all")
    path = sheet(tmp_path, """url,label
http://A.example#20200102000000~2,1
http://b.example/,1
http://b.example/#20200102000000,0
http://c.example/#frag,0
""")
    found = evaluate(folder, path, PAGES)
    assert {o.key: o.name for o in found.outcomes} == {
        keys[1]: "tp", keys[2]: "tp", keys[3]: "fp"}
    assert [j.cell("url") for j in found.absent] == ["http://c.example/#frag"]


@pytest.mark.parametrize(("score", "flagged"), [("pooled", (True, False)), ("mean", (False, True))])
def test_neighbourhoods(tmp_path: Path, score: str, flagged: tuple[bool, bool]) -> None:
    rows = [prefix_row("a.example/", 3, 4, 0.25, flagged[0]),
            prefix_row("a.example/x/", 1, 4, 0.75, flagged[1])]
    folder = write_result(tmp_path / "r", {"neighbourhoods": [rows]}, neighbourhood_score=score)
    path = sheet(tmp_path, "prefix,label\na.example,bad\nhttp://A.example:8080/x?q,benign\n")
    found = evaluate(folder, path, NEIGHBOURHOODS, ("host",))
    assert [o.flagged for o in found.outcomes] == list(flagged)
    assert [o.share / ONE for o in found.outcomes] == (
        [0.75, 0.25] if score == "pooled" else [0.25, 0.75])
    assert found.step_of_run() == ONE // 4
    assert [c.values for c in found.classes()] == [("a.example",), ("a.example",)]


@pytest.mark.parametrize(
    ("cell", "key"),
    [("a.example", "a.example/"), (" A.Example/x ", "a.example/x/"),
     ("a.example/x/", "a.example/x/"),
     ("https://a.example:8443/x/y?z#f", "a.example/x/y/"), ("a.example/x//", "a.example/x//")],
)
def test_prefixes_as_people_write_them(cell: str, key: str) -> None:
    assert prefix_key(cell) == key


@pytest.mark.parametrize(
    "name", ["a b.txt", "grüße.html", "50% off.txt", "a#b?.txt", "x/y'(z)&=.html"])
def test_files_of_a_folder_may_be_named_as_they_are(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "My Site"
    (folder / "x").mkdir(parents=True)
    (folder / name).write_text("some words")
    (page,) = read_whole(folder)
    assert isinstance(page, RawPage)
    assert page_url(page.fetched_url) == page_url(f"FILE://my-site/{name}") == page.fetched_url
    assert page_key(f"file://my-site/{name}") == page.fetched_url


def test_only_a_moment_is_kept_of_a_fragment() -> None:
    assert page_key("http://A.example#20200102030405") == "http://a.example/#20200102030405"
    assert page_key("http://a.example/#20200102030405~3") == "http://a.example/#20200102030405~3"
    for other in ("#top", "#2020", "#20200102030405~x", "#"):
        assert page_key("http://a.example/" + other) == "http://a.example/"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("http://a.example/0,1\nhttp://a.example/1,banana\n", "row 3: label 'banana' is not known"),
        ("http://a.example/0,1\nhttp://a.example/1,\nHTTP://A.example/0,no\n",
         r"rows 2 and 4 judge http://a.example/0 differently \(1, no\)"),
    ],
)
def test_labels_that_are_refused(folder: str, tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(SheetError, match=told):
        evaluate(folder, sheet(tmp_path, "url,label\n" + text), PAGES)


def test_words() -> None:
    assert verdict_of(" Phish ") is Verdict.POSITIVE and verdict_of("0") is Verdict.NEGATIVE
    assert verdict_of("?") is Verdict.UNDECIDED and verdict_of(" ") is None
    with pytest.raises(ValueError, match="2"):
        verdict_of("2")


def random_evaluation(tmp_path: Path) -> tuple[Evaluation, list[tuple[str, str, dict[str, Any]]]]:
    rng = random.Random(4)
    rows = [page_row(f"http://h{i % 5}.example/{i}", rng.randint(0, 3), 3, rng.random() < 0.5)
            for i in range(60)]
    folder = write_result(tmp_path / "r", {"page_reuse": [rows[:20], rows[20:]]})
    judged = [(row["url"], rng.choice("01?"), row) for row in rows if rng.random() < 0.7]
    text = "url,label,reason\n" + "".join(
        f"{url},{label},=class {label}\n" for url, label, _ in judged)
    return evaluate(folder, sheet(tmp_path, text), PAGES), judged


def test_a_report_holds_what_was_found(tmp_path: Path) -> None:
    found, judged = random_evaluation(tmp_path)
    names = write_report(str(tmp_path / "out"), [detection_report(found)])
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(names)
    assert set(names) <= set(file_names(["pages"]))
    told = json.loads((tmp_path / "out" / "evaluation.json").read_text())["pages"]
    assert told == as_json(found)
    pairs = [(label == "1", row["flagged"]) for _, label, row in judged if label != "?"]
    assert {name: told["confusion"][name] for name in COUNTS} == oracle.confusion(pairs)
    outcomes = read_sheet(str(tmp_path / "out" / "pages-outcomes.csv"), ("url",)).rows
    assert {(r.cells["url"], r.cells["label"], r.cells["reason"]) for r in outcomes} == {
        (url, label, f"=class {label}") for url, label, _ in judged}
    steps = read_sheet(str(tmp_path / "out" / "pages-sweep.csv"), ("threshold",)).rows
    assert [[int(r.cells[name]) for name in COUNTS] for r in steps] == [
        list(counts(step.confusion).values()) for step in found.sweep()]
    classes = read_sheet(str(tmp_path / "out" / "pages-classes.csv"), ("label",)).rows
    assert sum(int(r.cells["rows"]) for r in classes) == len(judged)
    assert (tmp_path / "out" / "pages-classes.csv").read_text().count("'=class") == 3


@pytest.mark.parametrize(("content", "told"), [
    ("url,label\n", "there is no row below the first, .* draw rows with `beam-reuse sample`"),
    ("url,label\nhttp://a.example/0,\n", "no row has a label yet"),
    ("url,label\nhttp://a.example/0,1\n,0\n", "row 3 has a label and no url"),
])
def test_sheets_that_judge_nothing_are_refused(
    content: str, told: str, folder: str, tmp_path: Path,
) -> None:
    with pytest.raises(SheetError, match=told):
        evaluate(folder, sheet(tmp_path, content), PAGES)
