"""Reports of results that have not every table of today, or not every column."""

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from beam_reuse.cli.main import main
from beam_reuse.io.results import tables
from beam_reuse.io.results.manifest import MANIFEST, Manifest
from beam_reuse.report.page import REPORT, report_of
from tests.report.test_page import parsed, texts


def of_tables(folder: Path, names: set[str]) -> Manifest:
    manifest = tables.read_manifest(str(folder))
    return replace(manifest, parts=tuple(
        part for part in manifest.parts if part.table in names))


def counts(manifest: Manifest, folder: Path) -> tuple[int, int, str]:
    root = parsed(report_of(manifest, str(folder)))
    (said,) = ("".join(each.itertext()) for each in root.iter("section")
               if texts(each, "h2") == ["What this report does not show"])
    return len(texts(root, "article")), len(texts(root, "figure")), said


def test_any_table_may_be_missing_and_is_named(result: Path) -> None:
    every = set(tables.read_manifest(str(result)).tables())
    all_cards, all_figures, complete = counts(of_tables(result, every), result)
    assert "this result has no such table" not in complete
    fewer = []
    for name in sorted(every):
        cards, figures, said = counts(of_tables(result, every - {name}), result)
        if (cards, figures) != (all_cards, all_figures):
            fewer.append(name)
            assert f"What is in {name}: this result has no such table" in said
        assert cards + figures >= all_cards + all_figures - 5
    assert {"keep", "families", "skippable", "frequent_chunks", "server_overlap",
            "near_duplicate_degrees", "quilts", "neighbourhoods", "replicas"} <= set(fewer)


def test_any_table_may_be_the_only_one(result: Path) -> None:
    for name in sorted(tables.read_manifest(str(result)).tables()):
        cards, figures, _ = counts(of_tables(result, {name}), result)
        assert cards + figures <= 4, name
    assert counts(of_tables(result, set()), result)[:2] == (0, 0)


def test_a_table_of_an_older_version_is_left_out(
    result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    """Its card is missing, all others are there; the command says nothing of an error."""
    manifest = tables.read_manifest(str(result))
    for part in manifest.parts:
        (tmp_path / part.path).parent.mkdir(exist_ok=True)
        old = pq.read_table(result / part.path)
        pq.write_table(old.drop_columns(["because_of"]) if part.table == "keep" else old,
                       tmp_path / part.path)
    (tmp_path / MANIFEST).write_text(manifest.to_json())
    assert main(["report", str(tmp_path)]) == 0
    assert str(tmp_path / REPORT) in "".join(capsys.readouterr().out.splitlines())
    titles = texts(parsed((tmp_path / REPORT).read_bytes()), "h2")
    assert "What should I keep?" not in titles
    assert "Which pages on different domains are made of the same thing?" in titles
