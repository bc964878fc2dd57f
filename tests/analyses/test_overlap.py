"""Overlap against its definition, row by row."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.cli.runs import execute
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from beam_reuse.declaring.settings import Settings
from beam_reuse.io import parts
from beam_reuse.io.results import tables
from beam_reuse.pages import inputs
from beam_reuse.plan import RunPlan
from tests.analyses.overlapping import Document, crowded_documents, random_documents, write
from tests.oracles.overlap import Overlap

LOW = ("3",)
USUAL = BoilerplateSettings()
CASES = {
    "default": OverlapSettings(),
    "low thresholds": OverlapSettings(thresholds=LOW, server_thresholds=LOW),
    "direct": OverlapSettings(thresholds=LOW, server_thresholds=LOW, method="direct"),
    "crowds": OverlapSettings(
        ("whole", "2-lines", "1-lines"), ("2", "1-lines=4"), ("1-lines=2",), max_df=3),
    "words": OverlapSettings(("5-words", "1-words", "7-lines"), LOW, LOW, mirror=0.97),
    "paragraphs and sentences": OverlapSettings(("paragraph", "sentence"), LOW, ("2",)),
    "every pair": OverlapSettings(("whole", "3-lines"), ("1",), ("1",), max_df=10_000, mirror=1.0),
}


@pytest.fixture(autouse=True)
def small_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of several row groups, as large crawls have them."""
    monkeypatch.setattr(parts, "ROW_GROUP_ROWS", 23)
    monkeypatch.setattr(parts, "READ_BYTES", 4000)  # some are read together


def run(given: list[Path], output: Path, overlap: OverlapSettings, command: Any = "run",
        boilerplate: BoilerplateSettings = USUAL, **plan: Any) -> Path:
    settings = Settings(analyses=("overlap",), overlap=overlap, boilerplate=boilerplate)
    execute(RunPlan(command, tuple(map(str, given)), str(output), settings, **plan), [])
    return output


def expect(output: Path, documents: list[Document], overlap: OverlapSettings,
           boilerplate: BoilerplateSettings = USUAL) -> Overlap:
    """Every table and every count is as defined."""
    expected = Overlap([document.page() for document in documents], overlap, boilerplate)
    for name, rows in expected.tables().items():
        assert tables.read(str(output), name).to_pylist() == rows, name
    assert dict(tables.read_manifest(str(output)).accounting.noted) == expected.noted()
    return expected


@pytest.mark.parametrize("case", CASES)
def test_a_run_equals_its_definition(case: str, tmp_path: Path) -> None:
    documents = random_documents(len(case), 120)
    given = [write(tmp_path / f"{n}.jsonl", documents[n::2]) for n in range(2)]
    run(given, tmp_path / "out", CASES[case])
    expected = expect(tmp_path / "out", documents, CASES[case])
    assert all(expected.tables()[name] for name in (
        "exact_copies", "replicas", "skippable", "crawl_savings", "popular_collections",
        "server_overlap"))
    causes = {row["cause"] for row in expected.exact_copies()}
    assert causes - {"server-alias"} == {None, "url-alias", "replication"}
    assert "server-alias" in causes or case not in ("default", "low thresholds", "crowds")
    assert {row["same_ip"] for row in expected.exact_copies()} == {None, False, True}
    assert (case == "crowds") == ("overlap-fingerprints-too-frequent" in expected.noted())


SHUFFLES = {
    "one bucket": {"buckets": 1},
    "many buckets, small slabs": {"buckets": 37, "flush_bytes": 3000, "bucket_budget": 20_000},
    "rows one by one": {"buckets": 3, "flush_bytes": 1, "bucket_budget": 1},
}


@pytest.mark.parametrize(("case", "shuffle", "store"), [
    ("low thresholds", "one bucket", "inline"),
    ("crowds", "many buckets, small slabs", "files"),
    ("crowds", "rows one by one", "inline"),
])
def test_any_store_and_buckets(
    case: str, shuffle: str, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Lists that do not fit into a slab, keys in any bucket, rows in any store."""
    folder = str(tmp_path / "spill") if store == "files" else ""
    monkeypatch.setattr("beam_reuse.pipeline.shuffle_for",
                        lambda *_: Shuffle(Store(store, folder), **SHUFFLES[shuffle]))
    documents = random_documents(9, 40)
    run([write(tmp_path / "all.jsonl", documents)], tmp_path / "out", CASES[case])
    expect(tmp_path / "out", documents, CASES[case])


def test_the_same_bytes_for_any_workers_order_and_from_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    documents = random_documents(4, 150)
    settings = OverlapSettings(("whole", "2-lines", "paragraph", "sentence"), LOW, LOW, max_df=9)
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


@pytest.mark.parametrize("contents", [[], ["one"], ["", " ", "!"], ["one\ntwo", "one\ntwo"]])
def test_few_pages(contents: list[str], tmp_path: Path) -> None:
    documents = [Document(f"http://a.example/{n}", text) for n, text in enumerate(contents)]
    documents.append(Document("http://b.example/", "", html=True))
    settings = OverlapSettings(("whole", "2-lines", "1-words", "paragraph", "sentence"))
    run([write(tmp_path / "few.jsonl", documents)], tmp_path / "out", settings)
    expect(tmp_path / "out", documents, settings)


CROWDS = ("whole", "1-lines", "2-lines", "5-words")


@pytest.mark.parametrize(("method", "max_df", "least", "shuffle"), [
    ("iceberg", 2, "6", "one bucket"), ("direct", 12, "9", "many buckets, small slabs"),
    ("iceberg", 30, "14", "many buckets, small slabs"),
])
def test_crowds(
    method: str, max_df: int, least: str, shuffle: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some pairs are found by crowds alone, and some are not, as no crowd compares them."""
    settings = OverlapSettings(CROWDS, (least,), (least, "whole=1"), max_df=max_df, method=method)
    monkeypatch.setattr("beam_reuse.pipeline.shuffle_for",
                        lambda *_: Shuffle(Store("inline", ""), **SHUFFLES[shuffle]))
    documents = crowded_documents(max_df, 150)
    run([write(tmp_path / "all.jsonl", documents)], tmp_path / "out", settings)
    expected = expect(tmp_path / "out", documents, settings)
    noted = expected.noted()
    assert noted["overlap-pairs-not-compared"] > 0 and noted["server-pairs-not-compared"] > 0
    every = Overlap([document.page() for document in documents],
                    replace(settings, max_df=len(documents)))
    for found, wanted in ((expected.page_pairs, every.page_pairs),
                          (expected.host_pairs, every.host_pairs)):
        assert found["1-lines"].items() < wanted["1-lines"].items()


def test_the_most_replicated_page_is_found(tmp_path: Path) -> None:
    """Of near-copies on many hosts all but one are skippable, however many they are."""
    text = "\n".join(f"line {n} of a text" for n in range(120))
    for copies in (150, 250):
        documents = [Document(f"http://h{n}.example/", f"{text}\n{n}") for n in range(copies)]
        output = run([write(tmp_path / "copies.jsonl", documents)], tmp_path / f"{copies}",
                     OverlapSettings())
        rows = tables.read(str(output), "skippable").to_pylist()
        assert {row["because_of"] for row in rows} == {"http://h0.example/"}
        assert Counter(row["chunking"] for row in rows) == {
            "2-lines": copies - 1, "4-lines": copies - 1}


@pytest.mark.parametrize(("skip", "boilerplate"), [
    (0.0, USUAL), (0.6, BoilerplateSettings(2, 0.05)), (0.9, BoilerplateSettings(3, 0.1)),
    (1.0, BoilerplateSettings(2, 0.01)),
])
def test_redundant_is_what_has_its_own_lines_elsewhere(
    skip: float, boilerplate: BoilerplateSettings, tmp_path: Path,
) -> None:
    documents = random_documents(7, 130)
    settings = OverlapSettings(("2-lines", "1-lines", "paragraph"), ("2",), LOW, max_df=8,
                               skip=skip)
    given = [write(tmp_path / f"{n}.jsonl", documents[n::2]) for n in range(2)]
    run(given, tmp_path / "out", settings, boilerplate=boilerplate)
    expected = expect(tmp_path / "out", documents, settings, boilerplate)
    no_copies = [row for row in expected.skippable()
                 if row["because_of"] != expected.centre[str(row["url"])]]
    assert no_copies
    for row in no_copies:
        own = expected.own_lines(expected.pages[expected.centre[str(row["url"])]])
        there = {*expected.pages[str(row["because_of"])].lines}
        assert len(own & there) / len(own) >= skip


def test_articles_in_one_template_stay_and_a_mirror_of_them_goes(tmp_path: Path) -> None:
    """Whatever the lines around them; and a page that is nothing but template, which is lost with
    no line, goes for one that has all of it."""
    def page(host: str, text: str) -> Document:
        frame = "\n".join(f"entry {n} of {host.split('.')[0]}" for n in range(100))
        return Document(f"http://{host}/{text}", f"{frame}\n{text}, 1\n{text}, 2\n{text}, 3")

    articles = [f"article-{n}" for n in range(9)]
    documents = [page("a.example", text) for text in articles]
    documents += [Document(each.url.replace("//a", "//b"), f"{each.content}\nfooter of b\nb")
                  for each in documents]
    frame = documents[0].content.rsplit("\n", 3)[0]
    documents.append(Document("http://a.example/nothing", frame))
    run([write(tmp_path / "all.jsonl", documents)], tmp_path / "out", OverlapSettings())
    expect(tmp_path / "out", documents, OverlapSettings())
    rows = tables.read(str(tmp_path / "out"), "skippable").to_pylist()
    assert {(row["url"], row["because_of"]) for row in rows} == {
        ("http://a.example/nothing", "http://a.example/article-0"),
        *((f"http://b.example/{text}", f"http://a.example/{text}") for text in articles)}


def test_a_page_is_not_skipped_for_one_that_has_little_of_it(tmp_path: Path) -> None:
    """All that is its own are three titles of links, which a list of links has, too."""
    titles = "\n".join(f"title {n}" for n in range(3))
    frame = "\n".join(f"entry {n}" for n in range(30))
    menu = "\n".join(f"menu {n}" for n in range(5))
    others = "\n".join(f"another title {n}" for n in range(40))
    documents = [Document(f"http://b.example/{n}", f"{menu}\n{frame}\nown {n}") for n in range(9)]
    documents += [Document("http://b.example/links", f"{menu}\n{frame}\n{titles}"),
                  Document("http://a.example/", f"{menu}\n{titles}\n{others}")]
    for skip, gone in ((0.9, False), (0.1, True)):
        settings = OverlapSettings(("1-lines",), ("3",), LOW, skip=skip)
        output = run([write(tmp_path / "links.jsonl", documents)], tmp_path / f"{skip}", settings)
        expect(output, documents, settings)
        rows = tables.read(str(output), "skippable").to_pylist()
        assert gone == (("http://b.example/links", "http://a.example/") in {
            (row["url"], row["because_of"]) for row in rows})


def test_pages_of_a_release_go_for_their_namesakes_in_another(tmp_path: Path) -> None:
    """Nearly all of a chapter is in every chapter of the longer release: it goes for the one that
    has most of it, not for the first."""
    common = "\n".join(f"line {n} of every chapter" for n in range(95))
    documents = []
    for n in range(4):
        chapter = f"{common}\nchapter {n}, 1\nchapter {n}, 2"
        added = "\n".join(f"added to {n}, {k}" for k in range(60))
        documents += [Document(f"http://a.example/2/{n}", f"{chapter}\n{added}"),
                      Document(f"http://b.example/1/{n}", f"{chapter}\nversion 1")]
    settings, never = OverlapSettings(), BoilerplateSettings(9)
    output = run([write(tmp_path / "releases.jsonl", documents)], tmp_path / "out", settings,
                 boilerplate=never)
    expect(output, documents, settings, never)
    rows = tables.read(str(output), "skippable").to_pylist()
    assert {(row["url"], row["because_of"]) for row in rows} == {
        (f"http://b.example/1/{n}", f"http://a.example/2/{n}") for n in range(4)}
    assert {row["containment"] for row in rows} == {97 / 98}


def test_a_manual_with_local_footers_is_a_popular_collection_named_once(tmp_path: Path) -> None:
    """Two of the six hosts have the same footer, so that their pages are exact copies."""
    footers = {"a": "a", "b": "b", "c": "c", "d": "c", "e": "e", "f": "f"}
    documents = [
        Document(f"http://{host}.example/manual/{n}",
                 "\n".join([*(f"page {n}, line {k}" for k in range(90)), f"of {footer}", "end"]))
        for host, footer in footers.items() for n in range(7)]
    documents += [Document(f"http://{host}.example/", f"host {host} itself") for host in footers]
    run([write(tmp_path / "all.jsonl", documents)], tmp_path / "out", OverlapSettings())
    expect(tmp_path / "out", documents, OverlapSettings())
    (row,) = tables.read(str(tmp_path / "out"), "popular_collections").to_pylist()
    assert (row["prefix"], row["hosts"], row["pages"]) == ("a.example/manual/", 6, 7)
    assert row["sample_urls"] == [f"http://{host}.example/manual/0" for host in footers]


def test_a_shared_address_decides_nothing(tmp_path: Path) -> None:
    documents = [
        Document("http://a.example/", "one\ntwo", ip="192.0.2.1"),
        Document("http://b.example/", "one\ntwo", ip="192.0.2.1"),
        Document("http://c.example/", "one\ntwo", ip="192.0.2.2"),
        Document("http://d.example/", "one\ntwo"),
        *(Document(f"http://{host}.example/own", f"of {host} alone") for host in "abcd"),
    ]
    run([write(tmp_path / "few.jsonl", documents)], tmp_path / "out", OverlapSettings())
    expect(tmp_path / "out", documents, OverlapSettings())
    copies = tables.read(str(tmp_path / "out"), "exact_copies").to_pylist()
    assert [(row["cause"], row["same_ip"]) for row in copies] == [
        (None, None), ("replication", True), ("replication", False), ("replication", None)]


def test_laws(tmp_path: Path) -> None:
    """Names in order, containments above 0 and up to 1, and no pair of exact copies."""
    documents = random_documents(21, 150)
    output = str(run([write(tmp_path / "a.jsonl", documents)], tmp_path / "out",
                     CASES["every pair"]))
    for table, names in (("page_overlap", ("url_a", "url_b")),
                         ("server_overlap", ("host_a", "host_b"))):
        rows = tables.read(output, table).to_pylist()
        assert rows
        for row in rows:
            assert row[names[0]] < row[names[1]]
            assert 0 < row["containment_a"] <= 1 and 0 < row["containment_b"] <= 1
    centre = {row["url"]: row["centre"] for row in tables.read(output, "exact_copies").to_pylist()}
    for row in tables.read(output, "page_overlap").to_pylist():
        assert all(centre.get(row[name], row[name]) == row[name] for name in ("url_a", "url_b"))
    savings = tables.read(output, "crawl_savings").to_pylist()
    assert all(0 <= row["redundant_pages"] <= row["pages"] for row in savings)
    replicas = tables.read(output, "replicas").to_pylist()
    for chunking in ("whole", "3-lines"):
        pages = [sum(row["pages"] for row in rows if row["chunking"] == chunking)
                 for rows in (savings, replicas)]
        assert pages[0] == pages[1]


def test_skippable_pages_sum_up_to_the_savings_and_are_skipped_for_pages_that_stay(
    tmp_path: Path,
) -> None:
    documents = random_documents(22, 150)
    output = str(run([write(tmp_path / "a.jsonl", documents)], tmp_path / "out",
                     CASES["low thresholds"]))
    skippable = tables.read(output, "skippable").to_pylist()
    counted: Counter[tuple[str, str, str]] = Counter()
    for row in skippable:
        counted[row["chunking"], row["host"], "pages"] += 1
        counted[row["chunking"], row["host"], "bytes"] += row["bytes"]
    for row in tables.read(output, "crawl_savings").to_pylist():
        for what in ("pages", "bytes"):
            assert row[f"redundant_{what}"] == counted.pop(
                (row["chunking"], row["host"], what), 0)
    assert not counted
    centre = {row["url"]: row["centre"] for row in tables.read(output, "exact_copies").to_pylist()}
    overlapping = {(row["chunking"], row["url_a"], row["url_b"])
                   for row in tables.read(output, "page_overlap").to_pylist()}
    gone = {(row["chunking"], row["url"]) for row in skippable}
    ways = Counter()
    for row in skippable:
        mine, stays = centre.get(row["url"], row["url"]), row["because_of"]
        assert (row["chunking"], stays) not in gone
        near = centre.get(stays, stays)
        assert mine == near or (row["chunking"], *sorted((mine, near))) in overlapping
        ways[mine == near, mine == row["url"]] += 1
    assert all(ways[each] for each in ((True, False), (False, True), (False, False)))


@pytest.mark.parametrize("given", [None, ("whole=1",)])
def test_a_few_tiny_pages_make_no_server_alias(
    tmp_path: Path, given: tuple[str, ...] | None,
) -> None:
    """Hosts with all of 4 short pages in common, with all of 5, and with one of many lines."""
    contents = {"four": [f"notice {n}" for n in range(4)], "five": [f"news {n}" for n in range(5)],
                "long": ["\n".join(f"line {n}" for n in range(100))]}
    documents = [Document(f"http://{turn}.{name}.example/{n}", text)
                 for name, texts in contents.items() for n, text in enumerate(texts)
                 for turn in "ab"]
    settings = OverlapSettings(server_thresholds=given)
    output = run([write(tmp_path / "tiny.jsonl", documents)], tmp_path / "out", settings)
    causes = {(row["url"].split(".")[1], row["cause"])
              for row in tables.read(str(output), "exact_copies").to_pylist() if row["cause"]}
    assert causes == {("four", "replication"), ("five", "server-alias"), ("long", "server-alias")}
    mirrors = {(row["host_a"].split(".")[1], row["chunking"])
               for row in tables.read(str(output), "server_overlap").to_pylist()}
    expected = {("five", "whole"), ("long", "2-lines"), ("long", "4-lines")}
    assert mirrors == (expected if given is None else expected | {
        ("four", "whole"), ("long", "whole")})


def test_a_hundred_thousand_copies_of_a_page(tmp_path: Path) -> None:
    """One page everywhere: a set, no pairs of pages, and hosts that share it are crowds."""
    text = "\n".join(f"line {n}" for n in range(60))
    count = 100_000
    documents = [Document(f"http://h{n % 1000}.example/{n}", text) for n in range(count)]
    output = str(run([write(tmp_path / "parked.jsonl", documents)], tmp_path / "out",
                     OverlapSettings()))
    copies = tables.read(output, "exact_copies")
    assert copies.num_rows == count and set(copies["centre"].to_pylist()) == {
        "http://h0.example/0"}
    assert tables.read(output, "page_overlap").num_rows == 0
    of_crowd = 55 + 11 * (1000 - 11)
    assert tables.read(output, "server_overlap").num_rows == of_crowd  # they share one whole page
    assert {(row["chunking"], row["copies"], row["pages"])
            for row in tables.read(output, "replicas").to_pylist()} == {
        (name, count, count) for name in ("whole", "4-lines", "2-lines")}
    redundant = tables.read(output, "crawl_savings").to_pylist()
    assert sum(row["redundant_pages"] for row in redundant) == 3 * (count - 1)
    noted = tables.read_manifest(output).accounting.noted
    assert noted["server-fingerprints-too-frequent"] == 1 + 15 + 30
