"""Near-duplicates, overlap and quilts of pages without their template lines, row by row."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.analyses.quilts.settings import QuiltSettings
from beam_reuse.cli.main import main
from beam_reuse.cli.runs import execute
from beam_reuse.declaring.settings import Settings
from beam_reuse.io import parts
from beam_reuse.io.results import tables
from beam_reuse.kernels.grams import placed
from beam_reuse.pages import inputs
from beam_reuse.plan import RunPlan
from tests.analyses.overlapping import Document, write
from tests.analyses.templated import similar_documents
from tests.oracles import near_duplicates, quilts
from tests.oracles.boilerplate import Boilerplate, Row, own_page, own_places
from tests.oracles.crawl import domain, site
from tests.oracles.overlap import Overlap
from tests.oracles.tokens import fingerprint, tokens

IGNORING = BoilerplateSettings(min_pages=4, ignore=True)
OVERLAP = OverlapSettings(
    ("whole", "2-lines", "5-words", "paragraph", "sentence"), ("2",), ("2",))
QUILTS = QuiltSettings(gram_size=(3,), min_sources=(1,), min_patch_fraction=(0.2,), variant="any")
NEAR = NearDuplicateSettings(shingle_size=3, c_threshold=330, combined_threshold=300)
ANALYSES = ("near-duplicates", "overlap", "quilts", "boilerplate")


@pytest.fixture(autouse=True)
def small_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of several row groups, as large crawls have them."""
    monkeypatch.setattr(parts, "ROW_GROUP_ROWS", 17)
    monkeypatch.setattr(parts, "READ_BYTES", 3000)


def settings_of(*analyses: str, ignoring: BoilerplateSettings = IGNORING) -> Settings:
    return Settings(analyses=analyses, boilerplate=ignoring, overlap=OVERLAP, quilts=QUILTS,
                    near_duplicates=NEAR)


def run(given: list[Path], output: Path, settings: Settings, command: Any = "run",
        **plan: Any) -> Path:
    execute(RunPlan(command, tuple(map(str, given)), str(output), settings, **plan), [])
    return output


def expected(documents: Sequence[Document]) -> dict[str, list[Row]]:
    """All tables of the pages without template lines, and boilerplate itself."""
    pages = [document.page() for document in documents]
    known = Boilerplate(pages, IGNORING)
    own = [own_page(page, known) for page in pages]
    assert any(page.lines and not mine.lines for page, mine in zip(pages, own, strict=True))
    images = [re.findall(r'<img src="/i/([^"]*)"', document.content) for document in documents]
    near = near_duplicates.NearDuplicates([
        near_duplicates.Page(page.url, site(page.host), tuple(
            fingerprint(token) for token in [*tokens(page.text), *shown]),
            len(tokens(page.text)), domain=domain(page.host), file=document.content.encode())
        for page, shown, document in zip(own, images, documents, strict=True)], NEAR)
    stitched = quilts.Quilts([quilts.Page(
        page.url, domain(page.host), tuple(tokens(page.text))) for page in own], QUILTS).tables()
    places = {page.url: own_places(page, known) for page in pages}
    for row in stitched["quilt_sources"]:
        row["spans"] = on_page(row["spans"], places[str(row["url"])])
    overlapping = Overlap(own, OVERLAP, IGNORING).tables()
    return {**overlapping, **near.tables(), **stitched, **known.tables()}


def on_page(spans: Any, places: list[int]) -> list[Row]:
    """Spans of the tokens that are left, as spans of the page, cut where lines were removed."""
    found: list[Row] = []
    for span in spans:
        for at in range(span["start"], span["end"]):
            if at > span["start"] and places[at] == places[at - 1] + 1:
                found[-1]["end"] = places[at] + 1
            else:
                found.append({"start": places[at], "end": places[at] + 1})
    return found


def test_a_run_equals_its_definition(tmp_path: Path) -> None:
    documents = similar_documents(3, 110)
    given = [write(tmp_path / f"{n}.jsonl", documents[n::2]) for n in range(2)]
    output = str(run(given, tmp_path / "out", settings_of(*ANALYSES)))
    for name, rows in expected(documents).items():
        got = tables.read(output, name).to_pylist()
        shown = [{key: row[key] for key in (rows[0] if rows else row)} for row in got]
        assert shown == rows, name
        assert rows or name == "popular_collections", name
    counts = {row["url"]: (row["lines"], row["tokens"])
              for row in tables.read(output, "pages").to_pylist()}
    assert counts == {document.url: (len(document.page().lines),
                                     len(tokens(document.page().text)))
                      for document in documents}, "pages still counts everything"
    cut = [row for row in tables.read(output, "quilt_sources").to_pylist()
           if any(span["end"] - span["start"] < 3 for span in row["spans"])]
    assert cut, "no gram crosses a removed line"


def test_the_same_bytes_for_any_workers_order_and_from_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    documents = similar_documents(4, 90)
    settings = settings_of(*ANALYSES)
    given = [write(tmp_path / f"{n}.jsonl", documents[n::3]) for n in range(3)]
    one = run(given, tmp_path / "one", settings, workers=1)
    monkeypatch.setattr("beam_reuse.runners.SMALL_INPUT", 0)
    monkeypatch.setattr(inputs, "LEAST_RANGE", 3000)
    run(given[:2], tmp_path / "index", settings, command="index")
    for other in (run(given[::-1], tmp_path / "three", settings, workers=3),
                  run([tmp_path / "index", given[2]], tmp_path / "indexed", settings, workers=2)):
        assert (one / "manifest.json").read_bytes() == (other / "manifest.json").read_bytes()


@pytest.mark.parametrize("analysis", ["near-duplicates", "overlap", "quilts"])
def test_each_analysis_alone_finds_the_same(analysis: str, tmp_path: Path) -> None:
    """Whatever else is kept of pages."""
    documents = similar_documents(5, 60)
    given = [write(tmp_path / "all.jsonl", documents)]
    alone = str(run(given, tmp_path / "alone", settings_of(analysis)))
    together = str(run(given, tmp_path / "together", settings_of(*ANALYSES)))
    names = set(tables.read_manifest(alone).tables())
    assert names < set(tables.read_manifest(together).tables())
    for name in names - {"origins"}:
        assert tables.read(alone, name) == tables.read(together, name), name
    if "origins" in names:
        rows, every = (tables.read(each, "origins").to_pylist() for each in (alone, together))
        kinds = {"identity"} if analysis == "near-duplicates" else {"copies", "hosts"}
        assert rows == [row for row in every if row["kind"] in kinds] != []


def test_spans_are_cut_where_places_are_left_out() -> None:
    places = np.array([0, 1, 5, 6, 7, 9], np.uint32)
    found = placed(np.array([0, 1]), np.array([0, 3]), np.array([4, 6]), places)
    assert [each.tolist() for each in found] == [[0, 0, 1, 1], [0, 5, 6, 9], [2, 7, 8, 10]]


@pytest.mark.parametrize(("given", "told"), [
    (["--analyses", "boilerplate", "--ignore-boilerplate"], "it is for near-duplicates"),
    (["--analyses", "quilts", "--boilerplate-pages", "7"], "--ignore-boilerplate, or leave it out"),
    (["--analyses", "discovery", "--ignore-boilerplate"],
     "it is for near-duplicates, overlap, quilts. Ask for one of these with --analyses, or leave"),
    (["--analyses", "discovery", "--boilerplate-pages", "7"],
     "Add boilerplate to these, or leave it out"),
])
def test_options_that_would_do_nothing_are_refused(
    given: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    crawl = write(tmp_path / "a.jsonl", similar_documents(1, 5))
    assert main(["run", str(crawl), "-o", str(tmp_path / "out"), *given]) == 2
    assert told in " ".join(capsys.readouterr().err.split())
