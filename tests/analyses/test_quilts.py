"""Quilts against their definition, row by row."""

from pathlib import Path
from typing import Any

import pytest

from beam_reuse.cli.runs import execute
from beam_reuse.columnar import Shuffle, Store
from beam_reuse.core.settings import QuiltSettings, Settings
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
    "no crumbs": QuiltSettings(min_source_share=0.1, min_sources=2),
    "single words": QuiltSettings(gram_size=1, max_pages_per_gram=40, min_sources=3),
    "every patch": QuiltSettings(min_sources=1, min_patch_fraction=0.0, max_pages_per_gram=60),
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
