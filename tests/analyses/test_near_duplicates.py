"""Near-duplicates against their definition, row by row."""

import random
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from beam_reuse.analyses.near_duplicates.definition import MOST_EQUAL
from beam_reuse.analyses.near_duplicates.settings import (
    ALGORITHMS,
    KEEP_RULES,
    NearDuplicateSettings,
)
from beam_reuse.cli.runs import execute
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from beam_reuse.declaring.settings import Settings
from beam_reuse.io import parts
from beam_reuse.io.results import tables
from beam_reuse.pages import inputs
from beam_reuse.plan import RunPlan
from tests.analyses.near_copies import TIMES, Document, random_documents, write
from tests.oracles.near_duplicates import NearDuplicates

SMALL = {"shingle_size": 3, "min_values": 12, "projection_bits": 100, "combined_threshold": 80}
CASES = {
    "default": NearDuplicateSettings(),
    "small": NearDuplicateSettings(**SMALL, c_threshold=96),
    "pairs of pieces": NearDuplicateSettings(c_threshold=360, keep_by="c", keep_rule="longest"),
    "all pairs": NearDuplicateSettings(c_threshold=330, keep_rule="earliest"),
    "proven": NearDuplicateSettings(**SMALL, c_threshold=85, keep_by="c", min_containment=0.6),
    "all but proven": NearDuplicateSettings(c_threshold=330, keep_by="c", keep_rule="smallest-url",
                                            min_containment=0.9),
    "proven crowds": NearDuplicateSettings(
        **SMALL, c_threshold=97, max_group=12, keep_by="b", min_containment=0.9),
    "crowds": NearDuplicateSettings(**SMALL, c_threshold=97, max_group=12, keep_by="b"),
    "tiny crowds": NearDuplicateSettings(max_group=2, combined_threshold=380),
    "crowds among all pairs": NearDuplicateSettings(
        **SMALL, c_threshold=75, max_group=13, b_threshold=5, keep_by="c"),
}


@pytest.fixture(autouse=True)
def small_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of several row groups, as large crawls have them."""
    monkeypatch.setattr(parts, "ROW_GROUP_ROWS", 23)
    monkeypatch.setattr(parts, "READ_BYTES", 4000)  # some are read together


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
    if "proven" in case:
        assert "all" in case or expected.noted()["more-than-ten-neighbours"]
        dropped = [row for row in expected.kept if not row["keep"]]
        assert {row["reason"] for row in dropped} >= {"identity", "pair"}
        near = replace(CASES[case], min_containment=None)
        all_dropped = [row for row in NearDuplicates(
            expected.pages.values(), near).kept if not row["keep"]]
        assert 0 < len(dropped) < len(all_dropped)


def equal_pages(rng: random.Random, count: int) -> list[Document]:
    """For each way to be equal (in B alone, in C alone, in both, in both on many sites) so many
    pages, and one page that is near to those of the first and the last ways."""
    words = [f"word{rng.randrange(900)}" for _ in range(120)]
    texts = [
        *(words * 3 + words[:n] for n in range(count)),
        *(rng.sample(words, len(words)) for _ in range(count)),
        *(words * (n + 8) for n in range(count)),
    ]
    rng.shuffle(texts)
    texts += [words * (n + 8 + count) for n in range(count)]
    texts.append([*words * 5, "more"])
    hosts = ["h.example"] * 3 * count + [f"h{n % 7}.example" for n in range(count)] + ["x.example"]
    return [Document(f"http://{host}/{n:03}", " ".join(text), time=rng.choice(TIMES))
            for n, (host, text) in enumerate(zip(hosts, texts, strict=True))]


@pytest.mark.parametrize(("count", "shuffle"), [
    (MOST_EQUAL - 2, "as given"), (MOST_EQUAL, "as given"),
    (MOST_EQUAL + 1, "rows one by one"), (2 * MOST_EQUAL + 3, "many buckets, small slabs")])
def test_classes_of_equal_pages(
    count: int, shuffle: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Few equal pages are compared each for itself, of many of one site the first for all; the
    others are returned whatever they equal."""
    use(monkeypatch, shuffle)
    documents = equal_pages(random.Random(count), count)
    near = NearDuplicateSettings(keep_by="b", keep_rule="longest")
    run([write(tmp_path / "equal.jsonl", documents)], tmp_path / "out", near)
    expected = expect(tmp_path / "out", documents, near)
    every = all_pairs(expected)
    sizes = [len(members) for members in expected.classes() if len(members) > 1]
    if count < MOST_EQUAL:
        assert expected.pairs == every and not sizes and not expected.noted()
    else:
        assert len(sizes) == 1 and MOST_EQUAL < sizes[0] <= count + 1
        assert every - expected.pairs and expected.noted()["pairs-not-listed"]
        members = {url for url in expected.sets if expected.leader[url] != url}
        assert {pair for pair in every if not members & set(pair)} < expected.pairs


def all_pairs(expected: NearDuplicates) -> set[tuple[str, str]]:
    """Every pair that some algorithm returns, whatever is collapsed."""
    return {pair for pair in combinations(expected.ordered(expected.sets), 2)
            if any(expected.flags(*pair).values())}


def use(monkeypatch: pytest.MonkeyPatch, shuffle: str, store: str = "inline",
        folder: str = "") -> None:
    if shuffle in SHUFFLES:
        monkeypatch.setattr("beam_reuse.pipeline.shuffle_for",
                            lambda *_: Shuffle(Store(store, folder), **SHUFFLES[shuffle]))


def near_a_class(equal: int, outside: str, far: str) -> list[Document]:
    """Pages of one site with equal signatures and different tokens; pages of their site and of
    another that are near to them, earlier, longer and smaller or larger as their URLs say; and
    copies of two of them."""
    rng = random.Random(equal)
    words = [f"word{rng.randrange(900)}" for _ in range(119)]
    early, late = TIMES[1], TIMES[3]
    documents = [
        Document(f"http://h.example/m{n:02}", " ".join(words * (n + 2)), time=late)
        for n in range(equal)]
    for host, extra in ((outside, "more"), (far, "other")):
        text = " ".join([*words * (equal + 9), extra])
        documents.append(Document(f"http://{host}", text, time=early))
    documents += [Document(f"http://copy.example/{n}", documents[n].content, time=early)
                  for n in (3, 7)]
    return documents


@pytest.mark.parametrize(("rule", "by", "shuffle"), [
    ("smallest-url", "combined", "rows one by one"), ("earliest", "b", "one bucket"),
    ("longest", "hybrid", "many buckets, small slabs"), ("earliest", "c", "as given")])
def test_a_class_is_dropped_as_one(
    rule: str, by: str, shuffle: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a page outside drops the smallest URL of 41 equal pages it drops them all, as if
    nothing had been collapsed."""
    use(monkeypatch, shuffle)
    documents = near_a_class(41, "h.example/a", "far.example/")
    near = NearDuplicateSettings(keep_rule=rule, keep_by=by)
    run([write(tmp_path / "equal.jsonl", documents)], tmp_path / "out", near)
    expected = expect(tmp_path / "out", documents, near)
    assert max(map(len, expected.classes())) in (39, 41)
    for algorithm in ALGORITHMS:
        assert expected.adjacent(algorithm) == neighbours(expected, algorithm)
    kept = {row["url"] for row in expected.keep() if row["keep"]}
    assert len(kept) < 4 and not any("/m" in str(url) for url in kept)


def random_classes(seed: int) -> list[Document]:
    """Some classes of equal pages, small and large, on few sites, some with a text in common but
    for a few words; pages between them, and copies of all of these."""
    rng = random.Random(seed)
    base = [f"word{rng.randrange(900)}" for _ in range(80)]
    found = []
    for kind in range(4):
        words = list(base)
        for _ in range(rng.randint(0, 3)):
            words[rng.randrange(len(words))] = f"own{kind}"
        host = rng.choice(("www.a.example", "www.b.example", "www.c.example"))
        for n in range(rng.choice((MOST_EQUAL, MOST_EQUAL + 1, 16))):
            found.append((host, words * (n + 2)))
        for _ in range(3):
            found.append((rng.choice(("www.a.example", "www.d.example")),
                          [*words * rng.randint(2, 9), *rng.sample(words, rng.randint(0, 4))]))
    found += [(f"copy{n}.a.example", rng.choice(found)[1]) for n in range(8)]
    rng.shuffle(found)
    return [Document(f"http://{host}/{n:03}", " ".join(words), time=rng.choice(TIMES))
            for n, (host, words) in enumerate(found)]


@pytest.mark.parametrize("seed", range(6))
def test_classes_among_other_pages(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All rules and algorithms, with and without crowds; without, as if nothing was collapsed."""
    use(monkeypatch, ("one bucket", "many buckets, small slabs")[seed % 2])
    documents = random_classes(seed)
    near = NearDuplicateSettings(
        keep_by=ALGORITHMS[seed % 4], keep_rule=KEEP_RULES[(seed + 3) % 4],
        min_containment=(None, 0.85, 0.0)[seed % 3],
        c_threshold=(372, 340)[seed // 2 % 2], combined_threshold=(355, 380)[seed // 3],
        max_group=(1000, 5)[seed // 4])
    run([write(tmp_path / "classes.jsonl", documents)], tmp_path / "out", near)
    expected = expect(tmp_path / "out", documents, near)
    assert any(len(members) > MOST_EQUAL for members in expected.classes())
    if not any(expected.skipped.values()):
        for algorithm in ALGORITHMS:
            assert expected.adjacent(algorithm) == neighbours(expected, algorithm)


def neighbours(expected: NearDuplicates, algorithm: str) -> dict[str, set[str]]:
    """What each representative is similar to, by comparing it with every other."""
    near: dict[str, set[str]] = {url: set() for url in expected.sets}
    for a, b in all_pairs(expected):
        if expected.flags(a, b)[algorithm]:
            near[a].add(b)
            near[b].add(a)
    return near


def test_hybrid_does_not_depend_on_the_site_of_the_smallest_url(tmp_path: Path) -> None:
    """Pages with equal signatures on two sites, and one that is similar to them by C alone: hybrid
    returns it with all of the other site, with none of its own."""
    rng = random.Random(5)
    words = [f"word{rng.randrange(900)}" for _ in range(400)]
    documents = [Document(f"http://www.{site}.example/{n:02}", " ".join(words * (n + shift)))
                 for site, shift in (("a", 2), ("b", 40)) for n in range(15)]
    documents.append(Document("http://www.b.example/shuffled", " ".join(rng.sample(words, 400))))
    near = NearDuplicateSettings(keep_by="hybrid")
    run([write(tmp_path / "sites.jsonl", documents)], tmp_path / "out", near)
    expected = expect(tmp_path / "out", documents, near)
    assert [len(members) for members in expected.classes()] == [15, 15, 1]
    found = expected.adjacent("hybrid")
    assert found == neighbours(expected, "hybrid")
    assert {url.split(".")[1] for url in found["http://www.b.example/shuffled"]} == {"a"}
    assert len(found["http://www.b.example/shuffled"]) == 15


def test_pages_equal_in_b_alone_are_compared_each_for_itself(tmp_path: Path) -> None:
    """Their similarities by C differ, so the pairs of combined are not those of one of them."""
    rng = random.Random(11)
    words = [f"word{rng.randrange(900)}" for _ in range(60)]
    documents = [Document(f"http://h.example/{n:02}", " ".join(words + words[:9] * n))
                 for n in range(2, 16)]
    near = NearDuplicateSettings()
    run([write(tmp_path / "b.jsonl", documents)], tmp_path / "out", near)
    expected = expect(tmp_path / "out", documents, near)
    signatures = {expected.b[url] for url in expected.sets}
    assert len(signatures) == 1 and len(set(expected.c.values())) > MOST_EQUAL
    assert expected.pairs == all_pairs(expected)
    combined = {expected.flags(*pair)["combined"] for pair in expected.pairs}
    assert combined == {False, True}


def test_pairs_of_c_do_not_depend_on_settings_of_b(tmp_path: Path) -> None:
    """Pages with the same words in any order, and each of them with a word more."""
    rng = random.Random(7)
    words = [f"word{rng.randrange(900)}" for _ in range(500)]
    texts = [rng.sample(words, len(words)) for _ in range(2 * MOST_EQUAL)]
    texts += [[*text[:250], f"more{n}", *text[250:]] for n, text in enumerate(texts)]
    documents = [Document(f"http://h.example/{n:03}", " ".join(text))
                 for n, text in enumerate(texts)]
    found = []
    for n, near in enumerate((NearDuplicateSettings(), NearDuplicateSettings(b_threshold=6))):
        run([write(tmp_path / "equal.jsonl", documents)], tmp_path / str(n), near)
        rows = tables.read(str(tmp_path / str(n)), "near_duplicates").to_pylist()
        found.append({(r["url_a"], r["url_b"], r["c_similarity"]) for r in rows if r["c"]})
    assert found[0] == found[1] and len(found[0]) > 4 * MOST_EQUAL**2


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
    use(monkeypatch, shuffle, store, folder)
    documents = random_documents(9, 55, 1, 200)
    run([write(tmp_path / "all.jsonl", documents)], tmp_path / "out", CASES[case])
    assert any(expect(tmp_path / "out", documents, CASES[case]).skipped.values())


def test_the_same_bytes_for_any_workers_order_and_from_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    documents = [*random_documents(4, 200, 4, 50), *near_a_class(14, "h.example/a", "far.example/")]
    settings = CASES["crowds"]
    given = [write(tmp_path / f"{n}.jsonl", documents[n::3]) for n in range(3)]
    one = run(given, tmp_path / "one", settings, workers=1)
    assert {*expect(one, documents, settings).noted()} >= {
        "pairs-not-listed", "pairs-not-compared-b", "pairs-not-compared-c"}
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
    kept = {row["url"] for row in expected.kept if row["keep"]}
    assert 1 < len(kept) < 20
    for row in expected.kept:
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
