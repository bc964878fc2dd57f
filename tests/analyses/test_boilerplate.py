"""Boilerplate against its slow definition, row by row."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from beam_reuse.analyses.boilerplate.lines import template_lines
from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings
from beam_reuse.cli.runs import execute
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from beam_reuse.core.settings import SettingError
from beam_reuse.declaring.settings import Settings
from beam_reuse.io import parts
from beam_reuse.io.results import tables
from beam_reuse.pages import inputs
from beam_reuse.pages.pages import Pages
from beam_reuse.plan import RunPlan
from beam_reuse.rows import Plan
from tests.analyses.overlapping import Document, write
from tests.analyses.templated import templated_documents
from tests.oracles.boilerplate import Boilerplate

CASES = {
    "default": BoilerplateSettings(),
    "two pages": BoilerplateSettings(min_pages=2, min_share=0.01),
    "many pages": BoilerplateSettings(min_pages=20),
    "nearly all pages": BoilerplateSettings(min_share=0.9),
    "all pages": BoilerplateSettings(min_share=1.0),
}


@pytest.fixture(autouse=True)
def small_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of several row groups, as large crawls have them."""
    monkeypatch.setattr(parts, "ROW_GROUP_ROWS", 17)
    monkeypatch.setattr(parts, "READ_BYTES", 3000)  # some are read together


def run(given: list[Path], output: Path, boilerplate: BoilerplateSettings, command: Any = "run",
        **plan: Any) -> Path:
    settings = Settings(analyses=("boilerplate",), boilerplate=boilerplate)
    execute(RunPlan(command, tuple(map(str, given)), str(output), settings, **plan), [])
    return output


def expect(output: Path, documents: Sequence[Document], settings: BoilerplateSettings) -> None:
    expected = Boilerplate([document.page() for document in documents], settings)
    for name, rows in expected.tables().items():
        assert tables.read(str(output), name).to_pylist() == rows, name


@pytest.mark.parametrize("case", CASES)
def test_a_run_equals_its_definition(case: str, tmp_path: Path) -> None:
    documents = templated_documents(len(case), 200)
    given = [write(tmp_path / f"{n}.jsonl", documents[n::2]) for n in range(2)]
    run(given, tmp_path / "out", CASES[case])
    expect(tmp_path / "out", documents, CASES[case])
    assert tables.read(str(tmp_path / "out"), "boilerplate").num_rows > 5 * (case != "all pages")


SHUFFLES = {
    "one bucket": {"buckets": 1},
    "many buckets, small slabs": {"buckets": 37, "flush_bytes": 3000, "bucket_budget": 9000},
    "rows one by one": {"buckets": 3, "flush_bytes": 1, "bucket_budget": 1},
}


@pytest.mark.parametrize(("shuffle", "store"), [
    ("one bucket", "inline"), ("many buckets, small slabs", "files"),
    ("rows one by one", "inline"),
])
def test_any_store_and_buckets(
    shuffle: str, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = str(tmp_path / "spill") if store == "files" else ""
    monkeypatch.setattr("beam_reuse.pipeline.shuffle_for",
                        lambda *_: Shuffle(Store(store, folder), **SHUFFLES[shuffle]))
    documents = templated_documents(9, 60)
    given = [write(tmp_path / f"{n}.jsonl", documents[n::3]) for n in range(3)]
    run(given, tmp_path / "out", CASES["two pages"])
    expect(tmp_path / "out", documents, CASES["two pages"])


def test_the_same_bytes_for_any_workers_order_and_from_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    documents = templated_documents(4, 300)
    settings = CASES["default"]
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


@pytest.mark.parametrize("contents", [[], ["one"], ["", " ", "!"], ["menu"] * 5, ["menu"] * 4])
def test_few_pages(contents: list[str], tmp_path: Path) -> None:
    documents = [Document(f"http://a.example/{n}", text) for n, text in enumerate(contents)]
    documents.append(Document("http://b.example/", "", html=True))
    run([write(tmp_path / "few.jsonl", documents)], tmp_path / "out", BoilerplateSettings())
    expect(tmp_path / "out", documents, BoilerplateSettings())


def test_pages_without_lines_do_not_make_a_template_rarer(tmp_path: Path) -> None:
    """5 of 50 pages with lines have the menu; of all 100 pages 5 would be too few."""
    documents = [Document(f"http://a.example/{n:02}", f"own {n}" + "\nmenu" * (n < 5))
                 for n in range(50)]
    documents += [Document(f"http://a.example/empty/{n}", "") for n in range(50)]
    run([write(tmp_path / "a.jsonl", documents)], tmp_path / "out", BoilerplateSettings())
    expect(tmp_path / "out", documents, BoilerplateSettings())
    (row,) = tables.read(str(tmp_path / "out"), "boilerplate").to_pylist()
    assert (row["text"], row["pages"], row["share"], row["position"]) == ("menu", 5, 0.1, 0.5)


def test_template_lines_are_made_once_for_all_who_ask() -> None:
    plan = Plan(Shuffle(Store("inline", "")))
    pages = Pages(plan, plan.rows([], "parts"), plan.rows([], "names"), "", 1)
    first = template_lines(pages, BoilerplateSettings())
    assert template_lines(pages, BoilerplateSettings()) is first
    assert template_lines(pages, BoilerplateSettings(min_pages=6)) is not first


@pytest.mark.parametrize(("given", "told"), [
    ({"min_pages": 1}, "2 to 255"), ({"min_pages": 256}, "2 to 255"),
    ({"min_share": 0.0}, "0.001 to 1"), ({"min_share": 1.5}, "0.001 to 1"),
])
def test_settings_that_mean_nothing_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingError, match=told):
        BoilerplateSettings(**given)
