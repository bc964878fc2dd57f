"""Quilts against their definition, row by row."""

import resource
from pathlib import Path
from typing import Any

import pytest

from beam_reuse.analyses.quilts.definition import Combination
from beam_reuse.analyses.quilts.settings import QuiltSettings
from beam_reuse.cli.runs import execute
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from beam_reuse.core.errors import UserError
from beam_reuse.declaring.settings import Settings
from beam_reuse.io import parts
from beam_reuse.io.results import tables
from beam_reuse.pages import inputs
from beam_reuse.plan import RunPlan
from tests.analyses.patchwork import Patchwork, patchworks, write
from tests.oracles.quilts import Quilts

CASES = {
    "default": QuiltSettings(),
    "any": QuiltSettings(variant="any", min_sources=2, min_patch_fraction=0.7),
    "ip": QuiltSettings(variant="ip", min_sources=2, gram_size=4),
    "few pages": QuiltSettings(max_pages_per_gram=5, min_sources=1, min_patch_fraction=0.2),
    "crumbs": QuiltSettings(min_source_share=0.0),
    "no crumbs": QuiltSettings(min_source_share=0.1, min_sources=2),
    "single words": QuiltSettings(gram_size=1, max_pages_per_gram=40, min_sources=3),
    "every patch": QuiltSettings(min_sources=1, min_patch_fraction=0.0, max_pages_per_gram=60),
    "no copies": QuiltSettings(quilt_copy=1.01, min_sources=2),
    "whole copies": QuiltSettings(quilt_copy=1.0, min_sources=1, variant="any"),
    "copies in doubt": QuiltSettings(quilt_copy=0.6, max_pages_per_gram=(6, 3), min_sources=1,
                                     min_patch_fraction=(0.2, 0.0)),
    "pivot": QuiltSettings(
        gram_size=(5, 2, 8), max_pages_per_gram=(10, 40, 3), min_sources=(3, 1, 6),
        min_patch_fraction=(0.5, 0.8, 0.2)),
    "grid": QuiltSettings(
        gram_size=(4, 6), max_pages_per_gram=(30, 5), min_sources=(2, 5), variant="any",
        min_patch_fraction=(0.4, 0.7), sweep="grid", sweep_sources=True),
}


@pytest.fixture(autouse=True)
def small_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of several row groups, as large crawls have them."""
    monkeypatch.setattr(parts, "ROW_GROUP_ROWS", 23)
    monkeypatch.setattr(parts, "READ_BYTES", 4000)  # some are read together


def run(given: list[Path], output: Path, quilts: QuiltSettings, command: Any = "run",
        **plan: Any) -> Path:
    settings = Settings(analyses=("quilts",), quilts=quilts)
    execute(RunPlan(command, tuple(map(str, given)), str(output), settings, **plan), [])
    return output


def expect(output: Path, documents: list[Patchwork], quilts: QuiltSettings,
           addresses: dict[str, str] | None = None) -> dict[str, list]:
    """Both tables and every count are as defined."""
    expected = Quilts([document.page(addresses) for document in documents], quilts)
    found = expected.tables()
    for name, rows in found.items():
        assert tables.read(str(output), name).to_pylist() == rows, name
    assert dict(tables.read_manifest(str(output)).accounting.noted) == expected.noted()
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_run_equals_its_definition(case: str, tmp_path: Path) -> None:
    documents = patchworks(len(case), 90)
    given = [write(tmp_path / f"{n}.jsonl", documents[n::2]) for n in range(2)]
    run(given, tmp_path / "out", CASES[case])
    found = expect(tmp_path / "out", documents, CASES[case])
    assert len(found["quilts"]) > 5
    assert {row["linked"] for row in found["quilt_sources"]} == {"page", "domain", "none"}


SHUFFLES = {
    "one bucket": {"buckets": 1},
    "many buckets, small slabs": {"buckets": 37, "flush_bytes": 3000, "bucket_budget": 20_000},
    "rows one by one": {"buckets": 3, "flush_bytes": 1, "bucket_budget": 1},
}


@pytest.mark.parametrize(("case", "shuffle", "store"), [
    ("pivot", "one bucket", "inline"),
    ("pivot", "many buckets, small slabs", "files"),
    ("few pages", "rows one by one", "inline"),
])
def test_any_store_and_buckets(
    case: str, shuffle: str, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = str(tmp_path / "spill") if store == "files" else ""
    monkeypatch.setattr("beam_reuse.pipeline.shuffle_for",
                        lambda *_: Shuffle(Store(store, folder), **SHUFFLES[shuffle]))
    documents = patchworks(9, 40)
    run([write(tmp_path / "all.jsonl", documents)], tmp_path / "out", CASES[case])
    assert expect(tmp_path / "out", documents, CASES[case])["quilts"]


def test_the_same_bytes_for_any_workers_order_and_from_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    documents, settings = patchworks(4, 90), CASES["pivot"]
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


def test_addresses_come_from_records_and_tables(tmp_path: Path) -> None:
    """The record's address counts; a table has those of hosts without one."""
    documents = patchworks(11, 60)
    table = {"a.example": "198.51.100.1", "x.b.example": "2001:db8::1", "e.example": "203.0.113.5"}
    (tmp_path / "ip.txt").write_text("# hosts\n\n" + "".join(
        f"{host},{address}\n" for host, address in table.items())
        + "E.example. 203.0.113.5\na.example\t198.51.100.1\n")
    settings = QuiltSettings(variant="ip", min_sources=2, ip_tables=(str(tmp_path / "ip.txt"),))
    given = [write(tmp_path / "all.jsonl", documents)]
    run(given, tmp_path / "with", settings)
    with_table = expect(tmp_path / "with", documents, settings, table)
    without = QuiltSettings(variant="ip", min_sources=2)
    run(given, tmp_path / "without", without)
    assert with_table != expect(tmp_path / "without", documents, without)


@pytest.mark.parametrize(("content", "said"), [
    (b"a.example\n", "row 1: '' is no IP address"),
    (b"#\na.example 300.1.1.1\n", "row 2: '300.1.1.1' is no IP address"),
    (b"a.example 10.0.0.1\nb.example 10.0.0.1\nA.example. 10.0.0.2\n",
     r"ip.txt, row 3: 'A.example.' has the address 10.0.0.2 here and 10.0.0.1 before"),
    (b"a.example,10.0.0.1\n\nb.example,10.0.0.1,10.0.0.2\n",
     r"ip.txt, row 3: '10.0.0.2' is one field too many"),
    (b"", "ip.txt has no rows"), (b"# host, address\n\n", "ip.txt has no rows"),
])
def test_a_bad_table_of_addresses_is_named(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "ip.txt").write_bytes(content)
    settings = QuiltSettings(variant="ip", ip_tables=(str(tmp_path / "ip.txt"),))
    with pytest.raises(UserError, match=said):
        run([write(tmp_path / "a.jsonl", patchworks(1, 3))], tmp_path / "out", settings)


def test_laws_of_sweeps(tmp_path: Path) -> None:
    """One run gives what single runs give; monotone in the fraction and the sources; a page's
    patch fraction in the limit."""
    documents = patchworks(21, 80)
    given = [write(tmp_path / "all.jsonl", documents)]
    sweep = QuiltSettings(
        gram_size=(4, 6), max_pages_per_gram=(6, 20, 60), min_sources=(3, 1, 2, 5),
        min_patch_fraction=(0.4, 0.1, 0.6), sweep="grid", sweep_sources=True)
    run(given, tmp_path / "sweep", sweep)
    rows = tables.read(str(tmp_path / "sweep"), "quilts").to_pylist()
    found: dict[tuple, dict[str, float]] = {}
    for row in rows:
        key = tuple(row[name] for name in Combination._fields)
        found.setdefault(key, {})[row["url"]] = row["patch_fraction"]
    assert len(found) == 2 * 3 * 4 * 3
    for k, m, c, theta in found:
        for other in found:
            if (k, m) == other[:2] and c <= other[2] and theta <= other[3]:
                assert set(found[other]) <= set(found[k, m, c, theta])
            if k == other[0] and m <= other[1]:
                both = set(found[other]) & set(found[k, m, c, theta])
                assert all(found[k, m, c, theta][url] <= found[other][url] for url in both)
    assert len({len(urls) for urls in found.values()}) > 10
    for one in ((4, 6, 3, 0.4), (6, 60, 1, 0.1)):
        single = QuiltSettings(*one)
        run(given, tmp_path / f"{one}", single)
        for name in ("quilts", "quilt_sources"):
            swept = tables.read(str(tmp_path / "sweep"), name).to_pylist()
            assert tables.read(str(tmp_path / f"{one}"), name).to_pylist() == [
                row for row in swept if tuple(row[n] for n in Combination._fields) == one]


WORDS = [f"word{n}" for n in range(600)]
PATCHES = [WORDS[40 * n:40 * n + 20] for n in range(5)]
FRAME = WORDS[400:430]


def stitched(*more: list[str]) -> str:
    return " ".join(" ".join(words) for words in (*PATCHES, *more))


def quilts_among(
    tmp_path: Path, pages: dict[str, str], settings: QuiltSettings | None = None,
) -> dict[str, tuple[int, int, int]]:
    """Patch grams, sources and copies of the quilts among pages, five sources and a crowd of 60
    pages with one frame."""
    settings = settings or QuiltSettings()
    pages = pages | {f"http://source{n}.example/": " ".join(WORDS[40 * n:40 * n + 40])
                     for n in range(5)}
    pages |= {f"http://crowd{n}.example/": " ".join([*FRAME, str(n)]) for n in range(60)}
    documents = [Patchwork(url, text) for url, text in pages.items()]
    run([write(tmp_path / "all.jsonl", documents)], tmp_path / "out", settings, overwrite=True)
    return {row["url"]: (row["patch_grams"], row["sources"], row["copies"])
            for row in expect(tmp_path / "out", documents, settings)["quilts"]}


def test_a_copy_hides_no_quilt(tmp_path: Path) -> None:
    """A mirror is no source. What only the mirror has too is no patch. To the paper both are one
    another's only source."""
    own = [f"own{n}" for n in range(30)]
    pages = dict.fromkeys(("http://quilt.example/", "http://mirror.example/"), stitched(own))
    assert quilts_among(tmp_path, pages) == dict.fromkeys(pages, (80, 5, 1))
    assert not quilts_among(tmp_path, pages, QuiltSettings(quilt_copy=1.01))


def test_a_longer_page_is_a_copy_but_has_none(tmp_path: Path) -> None:
    """A page that holds a quilt and half as much again is its copy, and takes from it alone."""
    own = [f"own{n}" for n in range(60)]
    pages = {"http://quilt.example/": stitched(), "http://long.example/": stitched(own)}
    assert quilts_among(tmp_path, pages) == {"http://quilt.example/": (80, 5, 1)}


@pytest.mark.parametrize(("held", "found"), [(30, {"http://quilt.example/": (80, 5, 1)}),
                                             (10, {})])
def test_grams_on_too_many_pages_count_in_copies(
    held: int, found: dict[str, tuple[int, int, int]], tmp_path: Path,
) -> None:
    """Two pages share their patches and more or less of a frame that a crowd has, too."""
    pages = {"http://quilt.example/": stitched(FRAME),
             "http://other.example/": stitched(FRAME[:held], [f"own{n}" for n in range(40)])}
    assert quilts_among(tmp_path, pages) == found


def test_a_quilt_with_too_many_copies_is_no_quilt(tmp_path: Path) -> None:
    """Of 60 mirrors every gram is on more than 50 pages, and no patch; with a higher limit each is
    a quilt with 59 copies."""
    pages = {f"http://mirror{n}.example/": stitched() for n in range(60)}
    assert not quilts_among(tmp_path, pages)
    found = quilts_among(tmp_path, pages, QuiltSettings(max_pages_per_gram=70))
    assert found == dict.fromkeys(pages, (80, 5, 59))


def test_hundred_thousand_copies_of_a_page(tmp_path: Path) -> None:
    """All of their grams occur on too many pages: they are counted, and cost no memory."""
    text = " ".join(f"word{n}" for n in range(30))
    documents = [Patchwork(f"http://h{n}.example/", text) for n in range(100_000)]
    stitched = " ".join(f"own{n // 9} {'abcdefghi'[n % 9]}{n // 9}" for n in range(54))
    words = stitched.split()
    documents += [Patchwork(f"http://source{n}.example/", " ".join(words[n * 18:n * 18 + 18]))
                  for n in range(6)]
    documents.append(Patchwork("http://quilt.example/", stitched))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run([write(tmp_path / "parked.jsonl", documents)], tmp_path / "out", QuiltSettings(), workers=1)
    used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert used < 1500, f"{used:.0f} MB"
    (quilt,) = tables.read(str(tmp_path / "out"), "quilts").to_pylist()
    assert (quilt["url"], quilt["sources"]) == ("http://quilt.example/", 6)
    noted = tables.read_manifest(str(tmp_path / "out")).accounting.noted
    assert noted["grams-on-too-many-pages"] == 26
