"""Labelled pairs against near-duplicates: every figure by its definition, on random crawls."""

import random
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.core.verdicts import Verdict
from beam_reuse.io.sheets import SheetError
from beam_reuse.judging.measures import Measure, Rate
from beam_reuse.judging.pair_figures import JudgedPair
from beam_reuse.judging.pair_lookup import How
from beam_reuse.judging.pair_thresholds import c_sweep, calibrate, choose, halves
from beam_reuse.judging.pairs import PairEvaluation, PairSettings, evaluate_pairs
from beam_reuse.judging.similarities import ALGORITHMS, SimilaritySettings, intervals
from tests.judging.near_duplicates import (
    SETTINGS,
    MadePage,
    b_similarity,
    c_similarity,
    made_pages,
    returned,
    same_site,
    tables_of,
)
from tests.judging.results import crawl_row, pair_row, write_result
from tests.oracles import judging as oracle

WORDS = {"correct": "1", "incorrect": "0", "undecided": "?"}
NAMES = {"positive": "correct", "negative": "incorrect", "undecided": "undecided"}


def sheet(folder: Path, rows: list[list[str]], columns: str = "url_a,url_b,label,reason") -> str:
    path = folder / "pairs.csv"
    path.write_text("\n".join([columns, *(",".join(row) for row in rows)]) + "\n")
    return str(path)


def odd(url: str, rng: random.Random) -> str:
    """The URL as somebody might write it."""
    return rng.choice([url, url.replace("http://", "HTTP://"), url + "#top",
                       url.replace(".example/", ".EXAMPLE:80/")])


def shuffled(rng: random.Random, rows: list[Any]) -> list[Any]:
    return rng.sample(rows, len(rows))


class Judged:
    """A random crawl, a random sheet on it, and both as the oracle takes them."""

    def __init__(self, folder: Path, seed: int, strata: bool, count: int = 24) -> None:
        rng = random.Random(seed)
        self.pages = made_pages(rng, count)
        self.folder = write_result(folder / f"r{seed}", tables_of(self.pages), **SETTINGS)
        self.truth: dict[tuple[str, str], tuple[MadePage, MadePage, str, str]] = {}
        rows = []
        for a, b in combinations(sorted(self.pages, key=lambda page: page.url), 2):
            if rng.random() < 0.6:
                verdict = rng.choice([*WORDS])
                stratum = rng.choice("xyz")
                self.truth[a.url, b.url] = (a, b, verdict, stratum)
                urls = shuffled(rng, [odd(a.url, rng), odd(b.url, rng)])
                rows.append([*urls, WORDS[verdict], f"because {stratum}",
                             *([stratum, "900"] if strata else [])])
        self.strata = strata
        columns = "url_a,url_b,label,reason" + (",stratum,stratum_rows" if strata else "")
        self.path = sheet(folder, shuffled(rng, rows), columns)
        self.found = evaluate_pairs(self.folder, self.path, PairSettings(bins=3, seed=seed))

    def rows(self) -> list[dict[str, Any]]:
        """The judged pairs that count, as the oracle takes them: the verdicts and weights by
        definition, the similarities as they were found (which another test compares)."""
        sizes = {s: 0 for s in "xyz"}
        counted = {k: t for k, t in self.truth.items() if t[0].text != t[1].text}
        for *_, stratum in counted.values():
            sizes[stratum] += 1
        known = {pair.key: pair for pair in self.found.pairs}
        assert known.keys() == counted.keys()
        return [{
            "key": key, "verdict": verdict, "same_site": same_site(*key),
            "weight": Fraction(900, sizes[stratum]) if self.strata else 1,
            "reason": f"because {stratum}",
            "b_similarity": known[key].b_similarity, "c_similarity": known[key].c_similarity,
            **{name: name in known[key].returned for name in ALGORITHMS},
        } for key, (_, _, verdict, stratum) in counted.items()]


@pytest.mark.parametrize("seed", range(8))
def test_every_pair_of_a_crawl_is_found_as_it_is(tmp_path: Path, seed: int) -> None:
    """Through identity sets and stars, too."""
    made = Judged(tmp_path, seed, strata=False)
    derived = 0
    for outcome in made.found.outcomes:
        assert outcome.judgement.key is not None
        a, b, _, _ = made.truth[outcome.judgement.key]
        found = outcome.found
        if a.text == b.text:
            assert found.how is How.IDENTICAL and outcome.pair is None
            continue
        real = returned(a, b)
        assert found.returned == real
        if real:
            assert (found.b_similarity, found.c_similarity) == (
                b_similarity(a, b), c_similarity(a, b))
        derived += found.how is How.DERIVED
    assert derived > 5


@pytest.mark.parametrize("strata", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_figures_equal_their_definitions(tmp_path: Path, seed: int, strata: bool) -> None:
    made = Judged(tmp_path, seed, strata)
    rows = made.rows()
    seen = set()
    for row in made.found.figures():
        part = oracle.pair_part(rows, row.split, row.value)
        mine = [pair for pair in part if pair[row.algorithm]]
        assert (row.estimate is not None) is strata
        for measure, weigh in ((row.counts, False), (row.estimate, True)):
            if measure is None:
                continue
            same_tally(measure, oracle.counts(mine, weigh))
            if row.split in ("all", "site"):
                assert exact(measure.recall) == oracle.ratio(
                    oracle.correct(mine, weigh), oracle.correct(part, weigh))
            else:
                assert measure.recall is None
            if row.algorithm == "combined" and row.split in ("all", "site"):
                assert exact(measure.kept) == oracle.ratio(
                    oracle.correct(mine, weigh),
                    oracle.correct([p for p in part if p["b"]], weigh))
            else:
                assert measure.kept is None
        seen.add((row.algorithm, row.split, row.value))
    assert {value for name, split, value in seen if (name, split) == ("b", "b_similarity")} == {
        "2", "3", "4"}
    assert {value for name, split, value in seen if (name, split) == ("combined", "c_similarity")
            } == {"6-8", "9-10", "11-12"}
    parts = {name: sum(r.counts.judged for r in made.found.figures()
                       if r.algorithm == name and r.split.endswith("similarity"))
             for name in ALGORITHMS}
    assert parts == {name: sum(pair[name] for pair in rows) for name in ALGORITHMS}


def exact(rate: Rate | None) -> Fraction | None:
    assert rate is not None
    return oracle.ratio(rate.part, rate.whole)


def same_tally(measure: Measure, expected: dict[str, Any]) -> None:
    assert {"correct": measure.correct, "incorrect": measure.incorrect,
            "undecided": measure.undecided, "precision": exact(measure.precision),
            "decided": exact(measure.decided_precision),
            } == {name: value for name, value in expected.items() if name != "r"}


@pytest.mark.parametrize("strata", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_thresholds_equal_their_definitions(tmp_path: Path, seed: int, strata: bool) -> None:
    made = Judged(tmp_path, seed, strata)
    rows = made.rows()
    known = [p for p in rows if p["b"] and p["c_similarity"] is not None]
    levels = {6, *(p["c_similarity"] for p in known)}
    sweep = made.found.sweep()
    for weigh in {False, strata}:
        for step, (t, expected) in zip(
                sweep, oracle.pair_sweep(known, levels, weigh), strict=True):
            measure = step.estimate if weigh else step.counts
            assert measure is not None and step.threshold == t
            same_tally(measure, expected)
            assert exact(measure.kept) == expected["r"]
    for step in made.found.b_steps():
        mine = [p for p in rows if p["b"] and p["b_similarity"] >= step.threshold]
        same_tally(step.counts, oracle.counts(mine, False))
    two = halves(made.found.swept(), seed)
    by_key = {p["key"]: p for p in rows}
    sides = [[by_key[p.key] for p in half] for half in two]
    for choice in made.found.choices():
        mine, other = sides[choice.half - 1], sides[2 - choice.half]
        level = oracle.pair_choice(mine, Fraction(8, 10), strata)
        assert (choice.chosen.threshold if choice.chosen else None) == level
        for row in choice.tested:
            part = oracle.pair_part(other, row.split, row.value)
            ((_, expected),) = oracle.pair_sweep(part, [level], False)
            same_tally(row.counts, expected)
            assert exact(row.counts.kept) == expected["r"]
    assert made.found.calibration().threshold == oracle.calibrated(rows, 9, 12)


PAIRS = st.lists(st.builds(
    lambda verdict, b, c, weight: {"verdict": verdict, "b": b, "c": c >= 3, "c_similarity": c,
                                   "weight": weight},
    st.sampled_from([*WORDS]), st.booleans(), st.integers(0, 5), st.integers(1, 2)), max_size=9)


@given(PAIRS, st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(2, 3), Fraction(1)]))
def test_choice_and_calibration_at_the_edge(rows: list[dict[str, Any]], least: Fraction) -> None:
    """Few pairs, so that R is often just what is asked for, and C returns as many as B."""
    verdicts = {NAMES[verdict.value]: verdict for verdict in Verdict}
    pairs = [
        JudgedPair((str(i), "z"), verdicts[row["verdict"]], "", False,
                   frozenset(name for name in "bc" if row[name]), None, row["c_similarity"],
                   row["weight"]) for i, row in enumerate(rows)]
    of_b = [pair for pair in pairs if "b" in pair.returned]
    weigh = any(pair.weight != 1 for pair in of_b)
    chosen = choose(c_sweep(of_b), least)
    assert (chosen.threshold if chosen else None) == oracle.pair_choice(rows, least, weigh)
    settings = SimilaritySettings(c_threshold=3, projection_bits=5)
    assert calibrate(pairs, settings).threshold == oracle.calibrated(rows, 3, 5)


def test_reasons_are_counted(tmp_path: Path) -> None:
    made = Judged(tmp_path, 3, strata=False)
    rows = made.rows()
    found = made.found.reasons()
    for row in found:
        mine = [p for p in rows if p[row["algorithm"]] and p["verdict"] == row["label"]]
        same = [p for p in mine if p["same_site"]]
        for part, name, share in ((mine, "pairs", "share"),
                                  (same, "same_site", "share_of_same_site")):
            assert row[name] == sum(p["reason"] == row["reason"] for p in part)
            assert row[share] == (row[name] / len(part) if part else None)
    assert sum(row["pairs"] for row in found if row["algorithm"] == "b") == sum(
        p["b"] for p in rows)


def test_halves_depend_on_urls_and_seed_alone(tmp_path: Path) -> None:
    made = Judged(tmp_path, 5, strata=False)
    pairs = made.found.pairs
    first, second = halves(pairs, 7)
    assert len(first) - len(second) in (0, 1)
    assert {p.key for p in first} | {p.key for p in second} == {p.key for p in pairs}
    assert halves(pairs[::-1], 7) == (first, second)
    assert halves(pairs, 8) != (first, second)


@pytest.fixture
def small(tmp_path: Path) -> str:
    """Two B-similar pairs, one of them combined, and one that C alone returns; default
    thresholds."""
    rows = [pair_row("http://a.x.org/1", "http://a.x.org/2", 3, 360, True,
                     {"b", "combined", "hybrid"}),
            pair_row("http://a.x.org/1", "http://b.x.org/3", 2, 320, True, {"b"}),
            pair_row("http://a.x.org/1", "http://c.y.org/4", 0, 380, False, {"c", "hybrid"})]
    pages = [crawl_row(url) for url in ("http://a.x.org/1", "http://a.x.org/2", "http://b.x.org/3",
                                        "http://c.y.org/4", "http://c.y.org/5")]
    return write_result(tmp_path / "small", {"near_duplicates": [rows], "pages": [pages],
                                             "identity_sets": [[]]})


def test_what_is_left_out_and_what_is_missed(small: str, tmp_path: Path) -> None:
    path = sheet(tmp_path, [
        ["http://a.x.org/2", "HTTP://a.x.org/1", "correct", "url"],
        ["http://a.x.org/1", "http://b.x.org/3", "incorrect", "shop"],
        ["http://a.x.org/1", "http://c.y.org/5", "correct", "time"],
        ["http://a.x.org/1", "http://gone.org/", "correct", ""],
        ["http://a.x.org/1", "no url", "?", ""],
        ["http://a.x.org/1", "http://c.y.org/4", "", ""],
        ["http://a.x.org/1", "http://a.x.org/2", "1", "again"],
    ])
    found = evaluate_pairs(small, path, PairSettings())
    assert (found.judgements.unlabelled, found.judgements.repeated) == (1, 1)
    assert [o.judgement.row.number for o in found.found(How.ABSENT)] == [5, 6]
    assert len(found.found(How.UNLISTED)) == 1
    first = {row.algorithm: row.counts for row in found.figures() if row.split == "all"}
    assert first["b"].recall == Rate(1, 2) and first["b"].precision == Rate(1, 2)
    assert first["c"].recall == Rate(0, 2) and first["c"].precision.value is None
    assert first["combined"].kept == Rate(1, 1) and first["hybrid"].recall == Rate(1, 2)
    assert found.calibration().threshold is None
    assert found.calibration().b_correct == 1


def test_labels_that_contradict_are_refused(small: str, tmp_path: Path) -> None:
    path = sheet(tmp_path, [["http://a.x.org/2", "http://a.x.org/1", "1", ""],
                            ["http://a.x.org/1", "http://a.x.org/2", "0", ""]])
    with pytest.raises(SheetError, match=r"rows 2 and 3 judge http://a.x.org/1 and .*/2 differ"):
        evaluate_pairs(small, path, PairSettings())
    with pytest.raises(SheetError, match="no column 'url_b'"):
        evaluate_pairs(small, sheet(tmp_path, [["http://a.x.org/2", "1"]], "url_a,label"),
                       PairSettings())


@pytest.mark.parametrize(("row", "told"), [
    (["http://a.x.org/1", "http://A.x.org/1#top", "1", ""],
     "row 2: url_a and url_b are one page, http://a.x.org/1; give another, or delete the row"),
    (["http://a.x.org/1", " ", "0", ""], "row 2 has a label and no url_b; fill it, or delete"),
    (["", "", "correct", ""], "row 2 has a label and no url_a"),
    (["http://a.x.org/1", "http://a.x.org/2", "1", "a, b", "c"],
     "row 2 has 6 cells, the first row names 4 columns; quote cells"),
])
def test_rows_that_judge_nothing_are_refused(
    row: list[str], told: str, small: str, tmp_path: Path,
) -> None:
    with pytest.raises(SheetError, match=told):
        evaluate_pairs(small, sheet(tmp_path, [row]), PairSettings())


def test_rows_without_label_may_be_empty_or_long(small: str, tmp_path: Path) -> None:
    path = sheet(tmp_path, [["http://a.x.org/1", "http://a.x.org/2", "1", "", "", ""],
                            ["http://a.x.org/1", "", "", "later"]])
    assert evaluate_pairs(small, path, PairSettings()).judgements.unlabelled == 1


def test_captures_are_named_with_their_moment(tmp_path: Path) -> None:
    keys = ["http://a.org/#20200101000000", "http://a.org/#20210101000000"]
    folder = write_result(tmp_path / "r", {
        "near_duplicates": [[pair_row(*keys, 6, 384, True, ALGORITHMS)]],
        "pages": [[crawl_row(key) for key in keys]]}, captures="all")
    path = sheet(tmp_path, [[keys[1].replace("a.org", "A.org"), keys[0], "1", ""]])
    found = evaluate_pairs(folder, path, PairSettings())
    assert [o.found.how for o in found.outcomes] == [How.LISTED]


def test_a_sheet_may_be_parquet(small: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.parquet"
    pq.write_table(pa.table({"url_b": ["http://a.x.org/1"], "url_a": ["http://a.x.org/2"],
                             "label": [1]}), path)
    found: PairEvaluation = evaluate_pairs(small, str(path), PairSettings())
    assert [pair.returned for pair in found.pairs] == [frozenset({"b", "combined", "hybrid"})]


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.binary(), pa.bool_()])
def test_parquet_urls_must_be_text(kind: pa.DataType, small: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.parquet"
    urls = pa.nulls(1, kind)
    pq.write_table(pa.table({"url_a": ["http://a.x.org/2"], "url_b": urls, "label": [1]}), path)
    with pytest.raises(SheetError, match=f"column 'url_b' holds {kind}, not URLs as text; write"):
        evaluate_pairs(small, str(path), PairSettings())


def test_parquet_urls_may_be_any_kind_of_text(small: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.parquet"
    a = pa.array(["http://a.x.org/2"]).dictionary_encode()
    b = pa.array(["http://a.x.org/1"], pa.large_string())
    pq.write_table(pa.table({"url_a": a, "url_b": b, "label": ["1"]}), path)
    assert len(evaluate_pairs(small, str(path), PairSettings()).pairs) == 1


def test_intervals_are_those_of_the_paper() -> None:
    assert intervals(372, 384, 4) == [(372, 375), (376, 378), (379, 381), (382, 384)]
    assert intervals(383, 384, 4) == [(383, 383), (384, 384)]
    assert SimilaritySettings().c_intervals("combined") == [
        (355, 362), (363, 370), (371, 377), (378, 384)]
