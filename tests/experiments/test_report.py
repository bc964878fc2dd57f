"""Experiments have a report, from their tables alone."""

from pathlib import Path

import pytest

from beam_reuse.cli.main import main
from beam_reuse.io.results import tables
from tests.experiments import sites
from tests.report.test_page import nothing_acts, parsed, texts

PAGES = sites.pages(1, "site.example")


def reported(folder: Path) -> tuple[str, list[str], list[str]]:
    """Title, cards and figures; `report` writes the same bytes again."""
    content = (folder / "report.html").read_bytes()
    nothing_acts(content)
    manifest = (folder / "manifest.json").read_bytes()
    (folder / "report.html").unlink()
    assert main(["report", str(folder)]) == 0
    assert (folder / "report.html").read_bytes() == content
    assert (folder / "manifest.json").read_bytes() == manifest
    root = parsed(content)
    return texts(root, "h1")[0], texts(root, "article"), texts(root, "figure")


def test_inject(tmp_path: Path) -> None:
    site = sites.write(tmp_path, "site", PAGES)
    assert main(["experiment", "inject", site, "--copies", "2,6,30", "-o",
                 str(tmp_path / "out")]) == 0
    title, (card,), (figure,) = reported(tmp_path / "out")
    rows = tables.read(str(tmp_path / "out"), "inject").to_pylist()
    assert "copies of a site" in title
    assert (f"With 30 copies, {rows[-1]['chunks']:,} of {rows[-1]['distinct_chunks']:,} distinct "
            "chunks") in card
    assert "copies until every chunk is found" in card and "copies of the site" in figure


def test_mutate(tmp_path: Path) -> None:
    site = sites.write(tmp_path, "site", PAGES)
    assert main(["experiment", "mutate", site, "--multiples", "0,1,4", "--ways", "add,change",
                 "--chunk-threshold", "4", "-o", str(tmp_path / "out")]) == 0
    title, (card,), figures = reported(tmp_path / "out")
    assert "changed" in title and len(figures) == 6
    for row in tables.read(str(tmp_path / "out"), "tolerances").to_pylist():
        assert row["tolerance"] is None or f"{row['tolerance']:.2f} times" in card
    assert sum("threshold 0.144" in figure for figure in figures) == 2


@pytest.mark.parametrize("judged", [("chunk",), ("chunk", "file")])
def test_thresholds(judged: tuple[str, ...], tmp_path: Path) -> None:
    site = sites.write(tmp_path, "site", PAGES)
    assert main(["run", site, "-o", str(tmp_path / "run"), "--workers", "1", "--chunk-threshold",
                 "1", "--file-threshold", "1", "--analyses", "discovery"]) == 0
    hashes = [tables.read(str(tmp_path / "run"), f"frequent_{kind}s")["sha1"].to_pylist()
              for kind in judged]
    (tmp_path / "bad").write_text("\n".join(h for some in hashes for h in some[::2]))
    (tmp_path / "benign").write_text("\n".join(h for some in hashes for h in some[1::2]))
    assert main(["experiment", "thresholds", site, "--bad", str(tmp_path / "bad"), "--benign",
                 str(tmp_path / "benign"), "-o", str(tmp_path / "out")]) == 0
    title, (card,), figures = reported(tmp_path / "out")
    effect = tables.read(str(tmp_path / "out"), "stop_chunk_effect").to_pylist()
    assert "judged" in title and len(figures) == 2 * len(judged)
    assert all(f"stop chunks {row['stop_chunks']}" in card for row in effect)
