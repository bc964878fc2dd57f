"""Evaluation items in a corpus against their definition, row by row."""

from pathlib import Path
from typing import Any

import pytest

from beam_reuse.analyses.decontaminate import definition, matching
from beam_reuse.analyses.decontaminate.settings import DecontaminateSettings
from beam_reuse.cli.runs import execute
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from beam_reuse.declaring.settings import Settings
from beam_reuse.io import parts
from beam_reuse.io.results import tables
from beam_reuse.pages import inputs
from beam_reuse.plan import RunPlan
from tests.analyses.planted_items import items_of, random_items, random_pages, words_of, write
from tests.oracles import decontaminate as oracle

CASES = {
    "default": DecontaminateSettings(),
    "any gram": DecontaminateSettings(min_share=0.0),
    "whole items": DecontaminateSettings(min_share=1.0),
    "short grams": DecontaminateSettings(gram_size=3, min_share=0.5),
    "single words": DecontaminateSettings(gram_size=1),
    "eight": DecontaminateSettings(gram_size=8),
    "long grams": DecontaminateSettings(gram_size=25),
    "few items per gram": DecontaminateSettings(max_items_per_gram=2, min_share=0.0),
    "prompts": DecontaminateSettings(max_items_per_gram=12, min_share=0.1),
}


@pytest.fixture(autouse=True)
def small_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of several row groups and blocks of few hits, as large crawls have them."""
    monkeypatch.setattr(parts, "ROW_GROUP_ROWS", 7)
    monkeypatch.setattr(parts, "READ_BYTES", 2000)
    monkeypatch.setattr(matching, "_AT_ONCE", 200)


class Example:
    """Two evaluation files and a corpus in two, and what is found of them."""

    def __init__(self, folder: Path, seed: int, items: int = 60, pages: int = 60) -> None:
        self.rows = random_items(seed, items), random_items(seed + 1, items // 2)
        self.pages = random_pages(seed, [*self.rows[0], *self.rows[1]], pages)
        self.evals = [write(folder / f"{name}.jsonl", rows)
                      for name, rows in zip("ab", self.rows, strict=True)]
        self.corpus = [write(folder / f"{n}.jsonl", self.pages[n::2]) for n in range(2)]

    def run(self, output: Path, settings: DecontaminateSettings, given: list[Path] | None = None,
            command: Any = "decontaminate", **plan: Any) -> Path:
        made = Settings(analyses=("decontaminate",), decontaminate=DecontaminateSettings(
            tuple(map(str, self.evals)), settings.gram_size, settings.min_share,
            max_items_per_gram=settings.max_items_per_gram))
        execute(RunPlan(command, tuple(map(str, given or self.corpus)), str(output), made, **plan),
                [])
        return output

    def expect(self, output: Path, settings: DecontaminateSettings) -> dict[str, list]:
        """Every table is as defined."""
        wanted = oracle.tables(
            {page["url"]: words_of(page) for page in self.pages},
            [*items_of(self.rows[0], "a.jsonl"), *items_of(self.rows[1], "b.jsonl")],
            settings.gram_size, settings.min_share, settings.max_items_per_gram)
        sizes = {f"{name}.jsonl": len(rows) for name, rows in zip("ab", self.rows, strict=True)}
        for row in wanted["evaluations"]:
            row |= {"rows": sizes[row["eval"]], "rejected": 0}
        for name, rows in wanted.items():
            found = tables.read(str(output), name).to_pylist()
            assert len(found) == len(rows), name
            for one, other in zip(found, rows, strict=True):
                assert one == other, name
        assert not tables.read(str(output), "eval_rejects").num_rows
        return wanted


@pytest.mark.parametrize("case", CASES)
def test_a_run_equals_its_definition(case: str, tmp_path: Path) -> None:
    example = Example(tmp_path, len(case))
    found = example.expect(example.run(tmp_path / "out", CASES[case]), CASES[case])
    assert len(found["contamination"]) > 20 and len(found["contaminated_pages"]) > 5
    assert {row["too_short"] > 0 for row in found["evaluations"]} == {CASES[case].gram_size > 1}


@pytest.mark.parametrize("seed", range(4))
def test_random_corpora_equal_their_definition(seed: int, tmp_path: Path) -> None:
    settings = DecontaminateSettings(gram_size=(5, 10, 13, 9)[seed], min_share=0.3,
                                     max_items_per_gram=(100, 3, 8, 1)[seed])
    example = Example(tmp_path, 100 + seed, items=100)
    found = example.expect(example.run(tmp_path / "out", settings), settings)
    assert any(row["prompts"] for row in found["evaluations"]) == (seed > 0)


@pytest.mark.parametrize(("shuffle", "store"), [
    ({"buckets": 1}, "inline"),
    ({"buckets": 37, "flush_bytes": 3000, "bucket_budget": 20_000}, "files"),
    ({"buckets": 3, "flush_bytes": 20_000, "bucket_budget": 50_000}, "inline"),
])
def test_any_store_buckets_and_a_filter_that_is_too_small(
    shuffle: dict[str, int], store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = str(tmp_path / "spill") if store == "files" else ""
    monkeypatch.setattr(definition, "BITS_PER_KEY", 1)
    monkeypatch.setattr("beam_reuse.pipeline.shuffle_for",
                        lambda *_: Shuffle(Store(store, folder), **shuffle))
    example = Example(tmp_path, 5, items=30, pages=30)
    settings = CASES["prompts"]
    assert example.expect(example.run(tmp_path / "out", settings), settings)["contamination"]


def test_the_same_bytes_for_any_workers_order_and_from_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    example, settings = Example(tmp_path, 4), CASES["default"]
    one = example.run(tmp_path / "one", settings, workers=1)
    example.expect(one, settings)
    monkeypatch.setattr("beam_reuse.runners.SMALL_INPUT", 0)
    monkeypatch.setattr(inputs, "LEAST_RANGE", 3000)
    example.run(tmp_path / "index", settings, example.corpus[:1], command="index")
    others = [
        example.run(tmp_path / "three", settings, example.corpus[::-1], workers=3),
        example.run(tmp_path / "indexed", settings, [tmp_path / "index", example.corpus[1]],
                    workers=2),
    ]
    for other in others:
        assert (one / "manifest.json").read_bytes() == (other / "manifest.json").read_bytes()
