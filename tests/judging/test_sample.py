"""Samples: the rows their definition names, whatever the order of parts; and what is drawn from."""

import datetime
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import SettingError
from beam_reuse.io.results import scan as scanning
from beam_reuse.io.results import tables
from beam_reuse.io.results.manifest import NoResultError
from beam_reuse.io.sheets import cell_text, write_sheet
from beam_reuse.judging.pairs import PairSettings, evaluate_pairs
from beam_reuse.judging.row_hashes import row_hashes
from beam_reuse.judging.sample import Sample, SampleSettings, draw, equal_quotas
from beam_reuse.judging.similarities import SimilaritySettings
from beam_reuse.judging.strata import StrataError, parse_by
from tests.judging.results import chunk_row, page_row, pair_row, prefix_row, write_result
from tests.oracles import judging as oracle


def pages(n: int, seed: int = 1) -> list[dict[str, Any]]:
    """Rows of page_reuse: some without chunks, many without a match."""
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        chunks = rng.choice([0, 1, 3, 10, 40])
        matching = rng.randint(0, chunks) if rng.random() < 0.4 else 0
        rows.append(page_row(f"http://h{i % 7}.example/{i}", matching, chunks, matching > 2))
    return rows


def drawn(sample: Sample) -> list[dict[str, Any]]:
    return sample.rows.to_pylist()


def test_a_row_is_hashed_by_its_content() -> None:
    moment = datetime.datetime(2020, 5, 17, 1, 2, 3, 450_000, datetime.UTC)
    rows = [
        {"t": "é", "n": 5, "x": 0.25, "f": True, "l": ["a", "bc"], "m": moment},
        {"t": "", "n": -1, "x": None, "f": False, "l": [], "m": None},
        {"t": None, "n": 0, "x": 0.0, "f": False, "l": ["abc"], "m": moment},
    ]
    schema = pa.schema({"t": pa.string(), "n": pa.int64(), "x": pa.float64(), "f": pa.bool_(),
                        "l": pa.list_(pa.string()), "m": pa.timestamp("us", "UTC")})
    (batch,) = pa.Table.from_pylist(rows, schema).to_batches()
    for seed in (0, 7, 2**64 - 1):
        expected = [oracle.row_hash(row, seed) for row in rows]
        assert row_hashes(batch, seed).tolist() == expected
        assert row_hashes(batch.slice(1), seed).tolist() == expected[1:]


def bin_of_share(value: float | None, bins: int) -> int:
    return -1 if value is None else min(int(value * bins), bins - 1)


@pytest.mark.parametrize("by", [(), ("flagged",), ("flagged", "contains")])
def test_a_sample_equals_its_definition(tmp_path: Path, by: tuple[str, ...]) -> None:
    rows = pages(500)
    folder = write_result(tmp_path / "r", {"page_reuse": [rows[:200], [], rows[200:]]})

    def stratum(row: dict[str, Any]) -> tuple:
        known = {"flagged": row["flagged"], "contains": bin_of_share(row["contains"], 4)}
        return tuple(known[name] for name in by)

    for n in (1, 7, 100, 499, 500, 1000):
        sample = draw(folder, SampleSettings("page_reuse", n, seed=3, by=by, bins=4))
        sizes = Counter(map(stratum, rows))
        labels = dict(zip(sorted(sizes), (s.label for s in sample.strata), strict=True))
        assert drawn(sample) == oracle.sample(rows, n, 3, stratum, labels)
        taken = Counter(map(stratum, drawn(sample)))
        assert [(s.rows, s.drawn) for s in sample.strata] == [
            (sizes[key], taken[key]) for key in sorted(sizes)]
        assert sample.table_rows == 500


def test_parts_their_order_and_the_size_of_batches_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = pages(300)
    settings = SampleSettings("page_reuse", 40, by=("contains", "flagged"))
    one = draw(write_result(tmp_path / "a", {"page_reuse": [rows]}), settings)
    monkeypatch.setattr(scanning, "BATCH_ROWS", 17)
    random.Random(5).shuffle(rows)
    parts = [rows[:10], rows[10:250], rows[250:]]
    other = draw(write_result(tmp_path / "b", {"page_reuse": parts}), settings)
    assert one.rows == other.rows
    assert one.strata == other.strata


@pytest.mark.parametrize("by", [(), ("flagged",), ("contains", "flagged")])
def test_more_rows_keep_the_earlier_ones(tmp_path: Path, by: tuple[str, ...]) -> None:
    folder = write_result(tmp_path / "r", {"page_reuse": [pages(200)]})
    samples = [
        [row["url"] for row in drawn(draw(folder, SampleSettings("page_reuse", n, by=by)))]
        for n in range(1, 205, 7)
    ]
    for smaller, larger in pairwise(samples):
        assert set(smaller) <= set(larger)
        if not by:
            assert larger[: len(smaller)] == smaller


def test_every_row_has_the_same_chance(tmp_path: Path) -> None:
    rows = pages(40)
    folder = write_result(tmp_path / "r", {"page_reuse": [rows]})
    seen: Counter[str] = Counter()
    for seed in range(400):
        seen.update(row["url"] for row in drawn(draw(
            folder, SampleSettings("page_reuse", 10, seed))))
    # Each is drawn 100 times on average, with a deviation of 8.7; six of these are never passed.
    assert len(seen) == 40 and all(48 <= count <= 152 for count in seen.values())


def test_every_stratum_has_the_same_chance_where_rows_are_few(tmp_path: Path) -> None:
    folder = write_result(tmp_path / "r", {"page_reuse": [pages(200)]})
    seen: Counter[str] = Counter()
    for seed in range(300):
        sample = draw(folder, SampleSettings("page_reuse", 1, seed, by=("contains",), bins=2))
        seen.update(stratum.label for stratum in sample.strata if stratum.drawn)
    # Each of the three (null is one) has 100 turns on average, with a deviation of 8.2.
    assert len(seen) == 3 and all(50 <= count <= 150 for count in seen.values())


@given(st.lists(st.integers(0, 20), max_size=6), st.integers(0, 100), st.randoms())
def test_quotas_are_equal_as_far_as_strata_reach(
    sizes: list[int], rows: int, luck: random.Random,
) -> None:
    turns = luck.sample(range(len(sizes)), len(sizes))
    quotas = equal_quotas(sizes, rows, turns)
    assert sum(quotas) == min(rows, sum(sizes))
    assert all(q <= size for q, size in zip(quotas, sizes, strict=True))
    not_exhausted = [q for q, size in zip(quotas, sizes, strict=True) if q < size]
    if not_exhausted:
        assert max(quotas) - min(not_exhausted) <= 1
    more = equal_quotas(sizes, rows + 1, turns)
    assert all(a <= b for a, b in zip(quotas, more, strict=True))


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ("matching > 3", lambda r: r["matching"] > 3),
        ("matching>=3", lambda r: r["matching"] >= 3),
        ("contains < 0.5", lambda r: r["contains"] is not None and r["contains"] < 0.5),
        ("contains <= 0.5", lambda r: r["contains"] is not None and r["contains"] <= 0.5),
        ("flagged = true", lambda r: r["flagged"]),
        ("flagged != true", lambda r: not r["flagged"]),
        ("contains = null", lambda r: r["contains"] is None),
        ("contains != null", lambda r: r["contains"] is not None),
        ("url = 'http://h1.example/1'", lambda r: r["url"] == "http://h1.example/1"),
        ("url <> http://h1.example/1", lambda r: r["url"] != "http://h1.example/1"),
        ("url ~ H3.EXAMPLE", lambda r: "h3.example" in r["url"]),
    ],
)
def test_conditions(tmp_path: Path, where: str, holds: Any) -> None:
    rows = pages(150)
    folder = write_result(tmp_path / "r", {"page_reuse": [rows]})
    sample = draw(folder, SampleSettings("page_reuse", 1000, where=(where, "chunks != 3")))
    expected = {r["url"] for r in rows if holds(r) and r["chunks"] != 3}
    assert {row["url"] for row in drawn(sample)} == expected
    assert 0 < sample.table_rows == len(expected) < 150


def test_moments_are_compared_as_moments(tmp_path: Path) -> None:
    rows = [chunk_row(f"{i:040x}", 11) for i in range(5)]
    for day, row in enumerate(rows[1:], 1):
        row["first_timestamp"] = datetime.datetime(2020, 1, day, 12, tzinfo=datetime.UTC)
    folder = write_result(tmp_path / "r", {"frequent_chunks": [rows]})
    for text in ("2020-01-02T12:00:00Z", "2020-01-02 12:00", "2020-01-02T13:00+01:00"):
        where = (f"first_timestamp > {text}",)
        found = drawn(draw(folder, SampleSettings("frequent_chunks", where=where)))
        assert sorted(r["sha1"] for r in found) == [r["sha1"] for r in rows[3:]]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"where": ("nonsense",)}, "COLUMN OP VALUE"),
        ({"where": ("colour = 1",)}, "no column 'colour'.*occurrences"),
        ({"where": ("occurrences = many",)}, "'many' is no value of the column occurrences"),
        ({"where": (f"occurrences > {2**63}",)}, f"'{2**63}' is no value of the column"),
        ({"where": ("occurrences ~ 1",)}, "~ does not work on the column occurrences"),
        ({"where": ("sample_urls = x",)}, "does not work on the column sample_urls"),
        ({"by": ("colour",)}, "no column 'colour'.*occurrences"),
        ({"by": ("sample_urls",)}, "no column 'sample_urls'"),
        ({"by": ("sha1",)}, "--by sha1: more than 1,000 strata"),
        ({"by": ("first_url", "hosts"), "bins": 40}, "--by first_url,hosts: more than 1,000"),
        ({"table": "quilts"}, "no table 'quilts'; it has frequent_chunks"),
    ],
)
def test_what_cannot_be_drawn_is_refused(tmp_path: Path, settings: dict, told: str) -> None:
    rows = [chunk_row(f"{i:040x}", 11) | {"first_url": str(i % 40), "hosts": i // 40}
            for i in range(1201)]
    folder = write_result(tmp_path / "r", {"frequent_chunks": [rows]})
    with pytest.raises(UserError, match=told):
        draw(folder, SampleSettings(**{"table": "frequent_chunks", **settings}))


def test_wrong_numbers_and_folders_are_refused(tmp_path: Path) -> None:
    for wrong in ({"rows": 0}, {"rows": 1_000_000}, {"bins": 0}, {"seed": -1}):
        with pytest.raises(SettingError, match="is not allowed"):
            SampleSettings("pages", **wrong)
    with pytest.raises(NoResultError, match="no finished result"):
        draw(str(tmp_path), SampleSettings("pages"))


def test_a_part_that_is_not_what_the_manifest_says_is_refused(tmp_path: Path) -> None:
    folder = write_result(tmp_path / "r", {"page_reuse": [pages(3), pages(5)]})
    first, second = sorted((tmp_path / "r" / "page_reuse").iterdir())
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    with pytest.raises(NoResultError, match=r"has 5 rows, manifest\.json says 3"):
        draw(folder, SampleSettings("page_reuse"))
    first.write_bytes(content)
    second.write_bytes(b"no parquet")
    with pytest.raises(NoResultError, match="cannot be read"):
        draw(folder, SampleSettings("page_reuse"))


def labels(folder: str, table: str, column: str, bins: int) -> list[str]:
    sample = draw(folder, SampleSettings(table, by=(column,), bins=bins))
    return [f"{s.label}: {s.rows}" for s in sample.strata]


def test_counts_are_cut_by_ratio_and_shares_by_width(tmp_path: Path) -> None:
    counts = [1, 2, 9, 10, 99, 100, 500, 9_999]
    rows = [chunk_row(f"{i:040x}", n) for i, n in enumerate(counts)]
    reuse = [page_row(f"http://a.example/{m}", m, 8, False) for m in range(9)]
    reuse.append(page_row("http://a.example/none", 0, 0, False))
    folder = write_result(tmp_path / "r", {"frequent_chunks": [rows], "page_reuse": [reuse]})
    assert labels(folder, "frequent_chunks", "occurrences", 3) == [
        "occurrences 1 to 32: 4", "occurrences 33 to 583: 3", "occurrences 584 to 9999: 1"]
    assert labels(folder, "page_reuse", "contains", 2) == [
        "contains null: 1", "contains 0 to below 0.5: 4", "contains 0.5 to 1: 5"]
    assert labels(folder, "page_reuse", "stop_chunks", 5) == ["stop_chunks 0: 10"]
    assert labels(folder, "page_reuse", "matching", 9)[-1] == "matching 8: 1"
    assert labels(folder, "page_reuse", "flagged", 5) == ["flagged false: 10"]


def test_times_are_cut_by_width_and_shown_as_times(tmp_path: Path) -> None:
    rows = [chunk_row(f"{i:040x}", 11) for i in range(4)]
    for day, row in enumerate(rows[1:], 1):
        row["first_timestamp"] = datetime.datetime(2020, 1, day, tzinfo=datetime.UTC)
    folder = write_result(tmp_path / "r", {"frequent_chunks": [rows]})
    assert labels(folder, "frequent_chunks", "first_timestamp", 2) == [
        "first_timestamp null: 1",
        "first_timestamp 2020-01-01T00:00:00+00:00 to below 2020-01-02T00:00:00+00:00: 1",
        "first_timestamp 2020-01-02T00:00:00+00:00 to 2020-01-03T00:00:00+00:00: 2"]


def test_the_sheets_columns_and_cells(tmp_path: Path) -> None:
    rows = [chunk_row("0" * 40, 11, "=cmd()", ["http://a.example/", 'http://b.example/"'])]
    places = [prefix_row("a.example/x/", 1, 4, 0.25, True)]
    rejects = [{"file": "f", "offset": 3, "url": None, "reason": "truncated", "detail": "-x"}]
    folder = write_result(tmp_path / "r", {
        "frequent_chunks": [rows], "neighbourhoods": [places], "rejects": [rejects]})

    def sheet(table: str, *by: str) -> dict[str, str]:
        sample = draw(folder, SampleSettings(table, by=by))
        (cells,) = sample.cells()
        return dict(zip(sample.columns(), cells, strict=True))

    chunk = sheet("frequent_chunks")
    assert chunk["text"] == "'=cmd()" and chunk["occurrences"] == "11"
    assert chunk["sample_urls"] == '["http://a.example/", "http://b.example/\\""]'
    assert chunk["first_timestamp"] == ""
    assert list(chunk)[-2:] == ["label", "reason"] and chunk["label"] == chunk["reason"] == ""
    place = sheet("neighbourhoods", "depth")
    assert place["link"] == "http://a.example/x/" and place["prefix"] == "a.example/x/"
    assert place["stratum"] == "depth 2"
    assert (place["stratum_rows"], place["weight"]) == ("1", "1.0")
    assert place["badness"] == "0.25" and place["flagged"] == "true"
    reject = sheet("rejects")
    assert (reject["rejects_reason"], reject["reason"]) == ("truncated", "")
    assert (reject["detail"], reject["offset"]) == ("'-x", "3")


def test_numbers_keep_their_sign() -> None:
    assert cell_text(-5) == "-5" and cell_text(-0.5) == "-0.5" and cell_text("-5") == "'-5"
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
    assert cell_text(moment) == "2020-01-02T03:04:05+00:00"


def test_an_empty_table_gives_an_empty_sample(tmp_path: Path) -> None:
    folder = write_result(tmp_path / "r", {"page_reuse": [[]]})
    for by in ((), ("flagged",), ("contains",)):
        sample = draw(folder, SampleSettings("page_reuse", by=by))
        assert sample.rows.num_rows == 0 and list(sample.cells()) == [] and sample.strata == ()


def pairs_folder(tmp_path: Path) -> str:
    rng = random.Random(2)
    rows = []
    for i in range(400):
        b, c = rng.choice([0, 2, 3, 6]), rng.randint(300, 384)
        returned = SimilaritySettings().returned(b, c, i % 2 == 0)
        rows.append(pair_row(f"http://a.example/{i:03d}", f"http://b.example/{i}", b, c,
                             i % 2 == 0, returned))
    return write_result(tmp_path / "pairs", {"near_duplicates": [rows[:150], rows[150:]]})


def test_pairs_are_cut_at_the_thresholds_of_the_run(tmp_path: Path) -> None:
    folder = pairs_folder(tmp_path)
    rows = tables.read(folder, "near_duplicates").to_pylist()

    def of(column: str, low: int, high: int) -> int:
        return sum(low <= row[column] <= high for row in rows)

    assert labels(folder, "near_duplicates", "b_similarity", 2) == [
        f"b_similarity {n}: {of('b_similarity', n, n)}" for n in (0, 2, 3, 6)]
    assert labels(folder, "near_duplicates", "c_similarity", 2) == [
        f"c_similarity {low} to {high}: {of('c_similarity', low, high)}" for low, high in
        ((0, 354), (355, 371), (372, 375), (376, 378), (379, 381), (382, 384))]
    assert labels(folder, "near_duplicates", "c_similarity:350.5:380", 2) == [
        f"c_similarity {low} to {high}: {of('c_similarity', low, high)}"
        for low, high in ((300, 350), (351, 379), (380, 384))]
    sample = draw(folder, SampleSettings("near_duplicates", rows=40, by=("b", "c", "hybrid")))
    assert {s.label for s in sample.strata} == {
        f"b {r['b']}, c {r['c']}, hybrid {r['hybrid']}".lower() for r in rows}
    for wrong, told in (("c_similarity:x", "numbers at which"), ("url_a:3", "holds no numbers")):
        with pytest.raises(UserError, match=told):
            draw(folder, SampleSettings("near_duplicates", by=(wrong,)))


def test_a_drawn_sheet_of_pairs_can_be_judged_and_read_back(tmp_path: Path) -> None:
    """All pairs drawn and judged by one rule: the estimates are the table's own figures."""
    folder = pairs_folder(tmp_path)
    rows = tables.read(folder, "near_duplicates").to_pylist()
    settings = SampleSettings("near_duplicates", rows=120, by=("b", "c", "same_site"))
    sample = draw(folder, settings)
    columns = sample.columns()
    cells = [dict(zip(columns, row, strict=True)) for row in sample.cells()]
    for row in cells:
        row["label"] = "correct" if row["same_site"] == "true" else "incorrect"
    path = tmp_path / "sheet.tsv"
    write_sheet(str(path), columns, [list(row.values()) for row in cells])
    found = evaluate_pairs(folder, str(path), PairSettings())
    for figures in found.figures():
        if figures.split == "all" and figures.algorithm in ("b", "c"):
            mine = [row for row in rows if row[figures.algorithm]]
            assert figures.estimate is not None
            whole = figures.estimate
            assert (whole.judged, whole.correct) == (len(mine), sum(r["same_site"] for r in mine))


@pytest.mark.parametrize(("by", "told"), [
    (("c:372:355",), "--by c:372:355: the numbers .* must rise: c:355:372"),
    (("c:1:2.5:2.5",), "must rise: c:1:2.5$"),
    (("c:1:nan",), "--by c:1:nan: after the column give the numbers"),
    (("c:1:", "d"), "--by c:1:: after the column"),
    (("c:1", "d", "c:2"), "--by: names c twice; give all its cuts at once"),
])
def test_cuts_that_do_not_rise_are_refused(by: tuple[str, ...], told: str) -> None:
    with pytest.raises(StrataError, match=told):
        parse_by(by)
    assert parse_by(("c:355:372", "d")) == {"c": [355, 372], "d": []}
