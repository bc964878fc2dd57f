"""A crawl that grows: runs with a baseline against a run over both, less what is old alone."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beam_reuse import pipeline
from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings
from beam_reuse.analyses.near_duplicates.find import FindNearDuplicates
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.analyses.quilts.find import FindQuilts
from beam_reuse.analyses.quilts.settings import QuiltSettings
from beam_reuse.cli.main import main
from beam_reuse.core.errors import UserError
from beam_reuse.declaring.settings import Settings
from beam_reuse.io.results import tables
from beam_reuse.pages import inputs
from beam_reuse.pages.inputs import Inputs
from beam_reuse.pages.sides import Sides
from tests.analyses import near_copies, overlapping, patchwork, templated, test_origins
from tests.analyses.test_runs import CASES, run
from tests.crawls import random_captures, write_warc
from tests.oracles import baseline, crawl
from tests.oracles.boilerplate import Boilerplate
from tests.oracles.crawl import Capture
from tests.oracles.quilts import Quilts

OLD_FILES = ("old0.warc.gz", "old1.warc.gz")


@pytest.fixture(scope="module", params=range(2))
def grown(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Capture]]:
    """A crawl of few URLs, each capture in the new file or in one of two old ones, and an index of
    each old one."""
    folder = tmp_path_factory.mktemp("grown")
    rng = random.Random(request.param)
    share = (0.2, 0.6)[request.param]
    given: dict[str, list[Capture]] = {"new.warc.gz": [], **{name: [] for name in OLD_FILES}}
    for capture in random_captures(request.param, 240):
        given["new.warc.gz" if rng.random() < share else rng.choice(OLD_FILES)].append(capture)
    captures = [capture for name, some in given.items()
                for capture in write_warc(folder / name, some)]
    return folder, captures


def rows_of(output: Path, name: str, like: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a table, with the columns that others have."""
    found = tables.read(str(output), name).to_pylist()
    return [{key: row[key] for key in (like[0] if like else row)} for row in found]


@pytest.mark.parametrize("case", CASES)
def test_a_run_with_a_baseline_equals_its_definition(
    case: str, grown: tuple[Path, list[Capture]], tmp_path: Path,
) -> None:
    folder, captures = grown
    settings = CASES[case]
    indexed = Settings(read=replace(settings.read, captures="latest"))
    old = []
    for name in OLD_FILES:
        old.append(run([folder / name], tmp_path / f"index-{name}", indexed, command="index"))
    output = run([folder / "new.warc.gz"], tmp_path / "out", settings,
                 baseline=tuple(map(str, old)))
    expected = baseline.tables(captures, lambda c: c.file == "new.warc.gz", settings)
    manifest = tables.read_manifest(str(output))
    assert set(manifest.tables()) - {"origins"} == set(expected)
    for name, rows in expected.items():
        assert rows_of(output, name, rows) == rows, name
    if "origins" in manifest.tables():
        assert test_origins.found(str(output)) == test_origins.expected(str(output), lambda _: "")
    pages, _ = crawl.accounting(captures, settings)
    new = [name for name, c in pages.items() if c.file == "new.warc.gz"]
    found = manifest.accounting
    assert found.records == sum(c.file == "new.warc.gz" for c in captures)
    assert found.pages == len(new)
    assert found.noted["pages-of-baseline"] == len(pages) - len(new)
    sides = {row["url"]: row["crawl"] for row in tables.read(str(output), "pages").to_pylist()}
    assert {url for url, side in sides.items() if not side.startswith("baseline:")} == {*new}


def split(
    documents: Sequence[Any], seed: int, tmp_path: Path, settings: Settings, share: float = 0.3,
) -> tuple[Path, set[str]]:
    """A run in which some of the documents are new and the others are the baseline; and the URLs
    of the new ones."""
    rng = random.Random(seed)
    new = [document for document in documents if rng.random() < share]
    old = [document for document in documents if document not in new]
    return sides_of(new, old, tmp_path, settings), {document.url for document in new}


def sides_of(
    new: Sequence[Any], old: Sequence[Any], tmp_path: Path, settings: Settings,
) -> Path:
    """A run over the new documents with an index of the old ones as baseline."""
    for name, some in (("new", new), ("old", old)):
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{each.line}\n" for each in some))
    index = run([tmp_path / "old.jsonl"], tmp_path / "index", Settings(), command="index")
    return run([tmp_path / "new.jsonl"], tmp_path / "out", settings, baseline=(str(index),))


def check(output: Path, expected: baseline.Tables) -> None:
    for name, rows in expected.items():
        assert rows_of(output, name, rows) == rows, name


NEAR = {
    "default": NearDuplicateSettings(),
    "all pairs": NearDuplicateSettings(c_threshold=330, combined_threshold=300),
    "crowds": NearDuplicateSettings(max_group=5),
    "proven": NearDuplicateSettings(min_containment=0.6, keep_by="b"),
    "proven, loosely": NearDuplicateSettings(min_containment=0.3, keep_rule="longest"),
    "earliest": NearDuplicateSettings(keep_by="c", keep_rule="earliest", shingle_size=3),
}


@pytest.mark.parametrize("case", NEAR)
@pytest.mark.parametrize("seed", range(2))
def test_near_duplicates_of_new_pages(case: str, seed: int, tmp_path: Path) -> None:
    documents = near_copies.random_documents(seed, 70)
    settings = Settings(analyses=("near-duplicates",), near_duplicates=NEAR[case])
    output, new = split(documents, seed, tmp_path, settings, (0.15, 0.5)[seed])
    pages = [document.page() for document in documents]
    new = {page.url for page, document in zip(pages, documents, strict=True)
           if document.url in new}
    check(output, baseline.NearDuplicates(pages, NEAR[case], new).tables())


LAP = {
    "default": OverlapSettings(thresholds=("3",), server_thresholds=("4",)),
    "crowds": OverlapSettings(("1-lines", "whole"), ("2",), ("2",), max_df=4),
    "loose": OverlapSettings(("2-lines", "paragraph"), ("1",), ("1",), skip=0.5),
}


@pytest.mark.parametrize("case", LAP)
@pytest.mark.parametrize("seed", range(2))
def test_overlap_of_new_pages(case: str, seed: int, tmp_path: Path) -> None:
    documents = overlapping.random_documents(seed, 70)
    settings = Settings(analyses=("overlap",), overlap=LAP[case])
    output, new = split(documents, seed, tmp_path, settings, (0.15, 0.5)[seed])
    pages = [document.page() for document in documents]
    check(output, baseline.Overlap(pages, LAP[case], new).tables())


QUILTED = {
    "default": QuiltSettings(min_sources=2),
    "sweep": QuiltSettings(gram_size=(3, 5), max_pages_per_gram=(50, 3), min_sources=(2, 1),
                           variant="any", sweep_sources=True),
    "ip": QuiltSettings(min_sources=1, variant="ip", quilt_copy=0.6),
}


@pytest.mark.parametrize("case", QUILTED)
@pytest.mark.parametrize("seed", range(2))
def test_quilts_of_new_pages(case: str, seed: int, tmp_path: Path) -> None:
    documents = patchwork.patchworks(seed, 60)
    settings = Settings(analyses=("quilts",), quilts=QUILTED[case])
    output, new = split(documents, seed, tmp_path, settings, (0.15, 0.5)[seed])
    expected = Quilts([document.page() for document in documents], QUILTED[case]).tables()
    new = {document.page().url for document in documents if document.url in new}
    check(output, {name: baseline.of_new(rows, new) for name, rows in expected.items()})


@pytest.mark.parametrize("seed", range(2))
def test_template_lines_of_hosts_with_new_pages(seed: int, tmp_path: Path) -> None:
    documents = templated.templated_documents(seed, 120)
    settings = Settings(analyses=("boilerplate",), boilerplate=BoilerplateSettings(3, 0.1))
    hosts = ("http://a.", "http://few.") if seed else ("http://",)
    rng = random.Random(seed)
    new = [each for each in documents if each.url.startswith(hosts) and rng.random() < 0.3]
    output = sides_of(new, [each for each in documents if each not in new], tmp_path, settings)
    known = Boilerplate([document.page() for document in documents], settings.boilerplate)
    check(output, baseline.boilerplate(known, {each.url for each in new}))


def parts_of(output: Path) -> dict[str, list[str]]:
    """The tables of a result, by the hashes of their files."""
    found = tables.read_manifest(str(output)).tables()
    return {name: [part.sha256 for part in parts] for name, parts in found.items()}


def test_the_same_tables_for_any_workers_cuts_and_forms(
    grown: tuple[Path, list[Capture]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, _ = grown
    new = folder / "new.warc.gz"
    old = [run([folder / name], tmp_path / name, Settings(), command="index")
           for name in OLD_FILES]
    indexed = run([new], tmp_path / "indexed", Settings(), command="index")
    one = run([new], tmp_path / "one", CASES["files too"], baseline=tuple(map(str, old)))
    monkeypatch.setattr("beam_reuse.runners.SMALL_INPUT", 0)
    monkeypatch.setattr(inputs, "LEAST_RANGE", 1000)
    for given, name in ((new, "cut"), (indexed, "from an index")):
        other = run([given], tmp_path / name, CASES["files too"], workers=3,
                    baseline=tuple(map(str, old[::-1])))
        assert parts_of(other) == parts_of(one)


def test_one_side_may_be_empty(grown: tuple[Path, list[Capture]], tmp_path: Path) -> None:
    """Beside a baseline without pages a run is as without one; a crawl without pages gives tables
    without rows."""
    folder, _ = grown
    new, settings = folder / "new.warc.gz", CASES["files too"]
    empty = tmp_path / "empty.warc.gz"
    write_warc(empty, [replace(random_captures(0, 1)[0], status=404)])
    nothing = run([empty], tmp_path / "nothing", Settings(), command="index")
    alone = parts_of(run([new], tmp_path / "alone", settings))
    beside = parts_of(run([new], tmp_path / "beside", settings, baseline=(str(nothing),)))
    recrawled = beside.pop("recrawled")
    assert beside == alone
    old = run([new], tmp_path / "old", Settings(), command="index")
    output = run([empty], tmp_path / "none", settings, baseline=(str(old),))
    found = tables.read_manifest(str(output))
    assert {name for name, parts in found.tables().items() if parts[0].rows} == {
        "pages", "skipped"}
    assert (found.accounting.records, found.accounting.pages) == (1, 0)
    assert parts_of(output)["recrawled"] == recrawled


def test_an_index_with_others_added_is_one_of_all(
    grown: tuple[Path, list[Capture]], tmp_path: Path,
) -> None:
    folder, _ = grown
    new, old = folder / "new.warc.gz", [folder / name for name in OLD_FILES]
    assert main(["index", *map(str, old), "-o", str(tmp_path / "old")]) == 0
    assert main(["index", str(new), "-o", str(tmp_path / "both"), "--add",
                 str(tmp_path / "old")]) == 0
    settings = CASES["files too"]
    grown_index = run([tmp_path / "both"], tmp_path / "from index", settings)
    files = run([new, *old], tmp_path / "from files", settings)
    assert parts_of(grown_index) == parts_of(files)


@pytest.mark.parametrize(("command", "option", "given", "said"), [
    ("run", "--baseline", "crawl.jsonl", "is no index. Make one of the earlier crawl with"),
    ("run", "--baseline", "nowhere", "is no index. Make one of the earlier crawl with"),
    ("run", "--baseline", "result", "is a result, not an index"),
    ("run", "--baseline", "index", "is an INPUT, too. Give it as one of the two."),
    ("index", "--add", "crawl.jsonl", "is no index. Make one of the earlier crawl with"),
    ("index", "--add", "result", "is a result, not an index"),
    ("clean", "--baseline", "index", "--baseline"),
])
def test_what_is_no_baseline_is_refused(
    command: str, option: str, given: str, said: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("crawl.jsonl").write_text('{"url": "http://a.example/", "text": "words of a page"}\n')
    if given in ("index", "result"):
        what = ["run", "--analyses", "discovery"] if given == "result" else ["index"]
        assert main([*what, "crawl.jsonl", "-o", given]) == 0
    source = "index" if given == "index" else "crawl.jsonl"
    assert main([command, source, "-o", "out", option, given]) == 2
    assert said in capsys.readouterr().err
    assert not Path("out").exists()


def test_an_analysis_that_knows_no_sides_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FindQuilts, "grows", False)
    both = [FindQuilts(), FindNearDuplicates()]
    with pytest.raises(UserError, match="--baseline: quilts cannot tell new pages from old ones"):
        pipeline._require_growing(both, Inputs((), (), (), sides=Sides(0)))
    pipeline._require_growing(both, Inputs((), (), ()))
