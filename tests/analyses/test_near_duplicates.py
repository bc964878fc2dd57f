"""Near-duplicates against their definition, row by row."""

import random
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beam_reuse.analyses.near_duplicates.signatures import decided_classes
from beam_reuse.cli.runs import execute
from beam_reuse.columnar import Block, Shuffle, Store
from beam_reuse.core.near_duplicates import MOST_EQUAL
from beam_reuse.core.settings import NearDuplicateSettings, Settings
from beam_reuse.io import parts
from beam_reuse.io.results import tables
from beam_reuse.pages import inputs
from beam_reuse.plan import RunPlan
from tests.analyses.near_copies import Document, random_documents, write
from tests.oracles.near_duplicates import NearDuplicates

SMALL = {"shingle_size": 3, "min_values": 12, "projection_bits": 100, "combined_threshold": 80}
CASES = {
    "default": NearDuplicateSettings(),
    "small": NearDuplicateSettings(**SMALL, c_threshold=96),
    "pairs of pieces": NearDuplicateSettings(c_threshold=360, keep_by="c", keep_rule="longest"),
    "all pairs": NearDuplicateSettings(c_threshold=330, keep_by="hybrid", keep_rule="earliest"),
    "crowds": NearDuplicateSettings(**SMALL, c_threshold=97, max_group=12, keep_by="b"),
    "tiny crowds": NearDuplicateSettings(max_group=2, combined_threshold=380),
    "crowds among all pairs": NearDuplicateSettings(
        **SMALL, c_threshold=75, max_group=13, b_threshold=5, keep_by="c"),
}


@pytest.fixture(autouse=True)
def small_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of several row groups, as large crawls have them."""
    monkeypatch.setattr(parts, "ROW_GROUP_ROWS", 23)


def run(given: list[Path], output: Path, near: NearDuplicateSettings, command: Any = "run",
        **plan: Any) -> Path:
    settings = Settings(analyses=("near-duplicates",), near_duplicates=near)
    execute(RunPlan(command, tuple(map(str, given)), str(output), settings, **plan), [])
    return output


def expect(output: Path, documents: list[Document], near: NearDuplicateSettings) -> NearDuplicates:
    """Every table and every count is as defined."""
    expected = NearDuplicates([document.page() for document in documents], near)
    for name, rows in expected.tables().items():
        assert tables.read(str(output), name).to_pylist() == rows, name
    assert dict(tables.read_manifest(str(output)).accounting.noted) == expected.noted()
    return expected


@pytest.mark.parametrize("case", CASES)
def test_a_run_equals_its_definition(case: str, tmp_path: Path) -> None:
    documents = random_documents(len(case), 150, *((1, 200) if "crowds" in case else ()))
    given = [write(tmp_path / f"{n}.jsonl", documents[n::2]) for n in range(2)]
    run(given, tmp_path / "out", CASES[case])
    expected = expect(tmp_path / "out", documents, CASES[case])
    assert expected.pairs
    assert ("crowds" in case) == any(expected.skipped.values())


def equal_pages(rng: random.Random, count: int) -> list[Document]:
    """For each way to be equal (in B, in C, in both) so many pages, and one page that is near
    to those of the first and the last way."""
    words = [f"word{rng.randrange(900)}" for _ in range(120)]
    texts = [
        *(words * 3 + words[:n] for n in range(count)),
        *(rng.sample(words, len(words)) for _ in range(count)),
        *(words * (n + 8) for n in range(count)),
        [*words * 5, "more"],
    ]
    return [Document(f"http://h{n % 7}.example/{n:03}", " ".join(text))
            for n, text in enumerate(texts)]


@pytest.mark.parametrize(("count", "shuffle"), [
    (MOST_EQUAL // 2 - 1, "as given"), (MOST_EQUAL // 2, "as given"),
    (MOST_EQUAL // 2 + 1, "rows one by one"), (2 * MOST_EQUAL + 3, "many buckets, small slabs")])
def test_classes_of_equal_pages(
    count: int, shuffle: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Few equal pages are compared each for itself, of many the first for all."""
    if shuffle in SHUFFLES:
        monkeypatch.setattr("beam_reuse.pipeline.shuffle_for",
                            lambda *_: Shuffle(Store("inline"), **SHUFFLES[shuffle]))
    documents = equal_pages(random.Random(count), count)
    near = NearDuplicateSettings(keep_by="b", keep_rule="longest")
    run([write(tmp_path / "equal.jsonl", documents)], tmp_path / "out", near)
    expected = expect(tmp_path / "out", documents, near)
    every = [pair for pair in combinations(expected.ordered(expected.sets), 2)
             if any(expected.flags(*pair).values())]
    sizes = {x: max(map(len, expected.classes(x))) for x in ("b", "c", "combined")}
    assert sizes["b"] in (2 * count, 2 * count + 1) and sizes["c"] == 2 * count + 1
    if max(sizes.values()) <= MOST_EQUAL:
        assert expected.pairs == set(every) and not expected.noted()
    else:
        assert len(expected.pairs) < len(every) and sum(expected.unlisted.values())


@pytest.mark.parametrize("seed", range(30))
def test_classes_are_the_same_however_the_stream_is_cut(seed: int) -> None:
    rng = random.Random(seed)
    most = rng.randint(1, 5)
    sizes = [rng.choice((1, 2, most, most + 1, most + 7)) for _ in range(rng.randint(1, 12))]
    key = np.repeat(np.arange(len(sizes)), sizes)
    rows = Block({"key": key, "page": np.arange(len(key))})
    cuts = sorted({0, len(key), *(rng.randrange(len(key)) for _ in range(rng.randint(0, 9)))})
    seen = []
    for found in decided_classes((rows.slice(a, b) for a, b in pairwise(cuts)), ("key",), most):
        page = found.rows.array("page")
        seen += zip(page[found.new].tolist(), page[found.first].tolist(),
                    found.place.tolist(), found.large.tolist(), strict=True)
    starts = np.cumsum([0, *sizes[:-1]])
    assert seen == [
        (page, starts[kind], page - starts[kind], sizes[kind] > most)
        for page, kind in enumerate(key.tolist())]


def test_pairs_of_c_do_not_depend_on_settings_of_b(tmp_path: Path) -> None:
    """Where no signature is that of many pages: some with the same words in any order, and each
    of them with a word more."""
    rng = random.Random(7)
    words = [f"word{rng.randrange(900)}" for _ in range(500)]
    texts = [rng.sample(words, len(words)) for _ in range(MOST_EQUAL)]
    texts += [[*text[:250], f"more{n}", *text[250:]] for n, text in enumerate(texts)]
    documents = [Document(f"http://h.example/{n:03}", " ".join(text))
                 for n, text in enumerate(texts)]
    found = []
    for n, near in enumerate((NearDuplicateSettings(), NearDuplicateSettings(b_threshold=6))):
        run([write(tmp_path / "equal.jsonl", documents)], tmp_path / str(n), near)
        rows = tables.read(str(tmp_path / str(n)), "near_duplicates").to_pylist()
        found.append({(r["url_a"], r["url_b"], r["c_similarity"]) for r in rows if r["c"]})
    assert found[0] == found[1] and len(found[0]) > MOST_EQUAL**2


SHUFFLES = {
    "one bucket": {"buckets": 1},
    "many buckets, small slabs": {"buckets": 37, "flush_bytes": 3000, "bucket_budget": 20_000},
    "rows one by one": {"buckets": 3, "flush_bytes": 1, "bucket_budget": 1},
}


@pytest.mark.parametrize(("case", "shuffle", "store"), [
    ("crowds", "one bucket", "inline"),
    ("crowds", "many buckets, small slabs", "files"),
    ("crowds", "rows one by one", "inline"),
    ("crowds among all pairs", "one bucket", "files"),
    ("crowds among all pairs", "many buckets, small slabs", "inline"),
    ("crowds among all pairs", "rows one by one", "files"),
])
def test_any_store_and_buckets(
    case: str, shuffle: str, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Groups that do not fit into a slab, keys in any bucket, rows in any store."""
    folder = str(tmp_path / "spill") if store == "files" else ""
    monkeypatch.setattr("beam_reuse.pipeline.shuffle_for",
                        lambda *_: Shuffle(Store(store, folder), **SHUFFLES[shuffle]))
    documents = random_documents(9, 55, 1, 200)
    run([write(tmp_path / "all.jsonl", documents)], tmp_path / "out", CASES[case])
    assert any(expect(tmp_path / "out", documents, CASES[case]).skipped.values())


def test_the_same_bytes_for_any_workers_order_and_from_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    documents = random_documents(4, 200, 4, 50)
    settings = CASES["crowds"]
    given = [write(tmp_path / f"{n}.jsonl", documents[n::3]) for n in range(3)]
    one = run(given, tmp_path / "one", settings, workers=1)
    expect(one, documents, settings)
    monkeypatch.setattr("beam_reuse.runners.SMALL_INPUT", 0)
    monkeypatch.setattr(inputs, "LEAST_RANGE", 3000)
    run(given[:2], tmp_path / "index", settings, command="index")
    others = [
        run(given[::-1], tmp_path / "three", settings, workers=3),
        run([tmp_path / "index", given[2]], tmp_path / "indexed", settings, workers=2),
    ]
    for other in others:
        assert (one / "manifest.json").read_bytes() == (other / "manifest.json").read_bytes()


@pytest.mark.parametrize("contents", [[], ["one two three"], ["", " ", "!"]])
def test_few_pages(contents: list[str], tmp_path: Path) -> None:
    documents = [Document(f"http://a.example/{n}", text) for n, text in enumerate(contents)]
    documents.append(Document("http://b.example/", "", html=True))
    run([write(tmp_path / "few.jsonl", documents)], tmp_path / "out", NearDuplicateSettings())
    expect(tmp_path / "out", documents, NearDuplicateSettings())


def test_pages_without_shingles_are_similar_by_c_alone(tmp_path: Path) -> None:
    """Fewer tokens than a shingle has: no B signature, which is not an equal one."""
    texts = {"a": "one two three", "b": "three two one", "c": "four five six", "d": "one two three"}
    documents = [Document(f"http://h.example/{name}", text) for name, text in texts.items()]
    run([write(tmp_path / "short.jsonl", documents)], tmp_path / "out", NearDuplicateSettings())
    expect(tmp_path / "out", documents, NearDuplicateSettings())
    (pair,) = tables.read(str(tmp_path / "out"), "near_duplicates").to_pylist()
    assert (pair["url_a"][-1], pair["url_b"][-1]) == ("a", "b")
    assert (pair["b_similarity"], pair["c_similarity"]) == (0, 384)
    assert (pair["b"], pair["c"], pair["combined"], pair["hybrid"]) == (False, True, False, False)


def test_chaining_drops_no_page_that_resembles_nothing_kept(tmp_path: Path) -> None:
    """A chain in which each page resembles the next: one cluster, but every other page stays."""
    words = [f"w{n}" for n in range(400)]
    documents = [
        Document(f"http://h.example/{n:02}", " ".join(words[3 * n : 3 * n + 200]))
        for n in range(20)]
    near = NearDuplicateSettings(keep_by="b")
    run([write(tmp_path / "chain.jsonl", documents)], tmp_path / "out", near)
    expected = expect(tmp_path / "out", documents, near)
    assert [len(cluster) for cluster in expected.clusters("b")] == [20]
    kept = {row["url"] for row in expected.keep() if row["keep"]}
    assert 1 < len(kept) < 20
    for row in expected.keep():
        if not row["keep"]:
            pair = tuple(sorted((str(row["url"]), str(row["because_of"]))))
            assert row["because_of"] in kept and expected.flags(*pair)["b"]


def test_crowds_stay_linear(tmp_path: Path) -> None:
    """Parked pages, many with one text and many with nearly one: far fewer pairs than the square,
    every page in one cluster, and what was not compared is counted."""
    text = " ".join(f"word{n}" for n in range(150))
    count = 1500
    documents = [
        Document(f"http://{kind}{n}.example/", text + own)
        for n in range(count) for kind, own in (("same", ""), ("near", f" number{n}"))]
    near = NearDuplicateSettings(max_group=40)
    run([write(tmp_path / "parked.jsonl", documents)], tmp_path / "out", near)
    found = {name: tables.read(str(tmp_path / "out"), name).to_pylist()
             for name in ("identity_sets", "near_duplicates", "near_duplicate_clusters", "keep")}
    assert len(found["identity_sets"]) == count
    keys = 5 + 13
    assert count < len(found["near_duplicates"]) < keys * 40 / 2 * count
    noted = tables.read_manifest(str(tmp_path / "out")).accounting.noted
    assert noted["pairs-not-compared-b"] > count**2 / 4
    assert {row["cluster"] for row in found["near_duplicate_clusters"]
            if row["algorithm"] == "combined"} == {"http://near0.example/"}
    kept = {row["url"] for row in found["keep"] if row["keep"]}
    pairs = {(row["url_a"], row["url_b"]) for row in found["near_duplicates"]}
    first = min(f"http://same{n}.example/" for n in range(count))
    for row in found["keep"]:
        if not row["keep"]:
            a, b = (first if "same" in url else url for url in (row["url"], row["because_of"]))
            assert row["because_of"] in kept
            assert a == b or (min(a, b), max(a, b)) in pairs
