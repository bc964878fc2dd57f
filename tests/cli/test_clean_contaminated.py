"""`clean --drop contaminated`: a corpus without pages that hold evaluation items."""

import json
from pathlib import Path

import pytest

from beam_reuse.cli.main import main
from beam_reuse.io.results.tables import read_manifest
from tests.cli.cleaning import all_bytes, cleaned, random_rows, removals, rows_of, write_lines

DROP = ("near-duplicates", "exact-copies", "contaminated")


@pytest.fixture
def given(tmp_path: Path) -> tuple[Path, Path]:
    """A corpus, and an evaluation set of some of its lines."""
    rows = random_rows(4, 120)
    write_lines(tmp_path / "rows.jsonl", rows)
    lines = [row["text"].split("\n")[-1].upper() for row in rows[:40:9]]
    (tmp_path / "evals.jsonl").write_text("".join(
        json.dumps({"id": i, "question": line}) + "\n" for i, line in enumerate(lines)))
    return tmp_path / "rows.jsonl", tmp_path / "evals.jsonl"


def test_pages_with_items_go_and_what_they_stood_for_stays(
    tmp_path: Path, given: tuple[Path, Path],
) -> None:
    source, evals = given
    out = tmp_path / "out"
    asked = ("--drop", ",".join(DROP), "--against", str(evals), "--min-share", "0.6")
    noted = cleaned(source, out, *asked)
    gone = removals(out, DROP)
    assert noted["dropped-pages-contaminated"] == len(rows_of(out, "contaminated_pages")) > 5
    assert {why.reason for why in gone.values()} >= {"contaminated", "near-duplicate"}
    (named,) = read_manifest(str(out)).settings["against"]
    assert named.startswith("evals.jsonl sha256:")
    alone = tmp_path / "alone"
    cleaned(source, alone, "--drop", "contaminated", *asked[2:])
    assert main(["decontaminate", str(source), "-o", str(tmp_path / "found"), *asked[2:]]) == 0
    cleaned(source, tmp_path / "from", "--drop", "contaminated", "--result",
            str(tmp_path / "found"))
    assert all_bytes(tmp_path / "from") == all_bytes(alone)
    assert rows_of(tmp_path / "from", "removed") == rows_of(alone, "removed")


@pytest.mark.parametrize(("options", "said"), [
    (("--drop", "contaminated"), "clean: give evaluation files with --against FILE..."),
    (("--against", "evals.jsonl"), "--against does nothing without --drop contaminated."),
    (("--min-share", "0.5"), "--min-share does nothing without --drop contaminated."),
    (("--drop", "contaminated", "--against", "rows.csv"), "rows.csv"),
])
def test_wrong_usage_says_what_to_give(
    options: tuple[str, ...], said: str, tmp_path: Path, given: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("id,question\n")
    assert main(["clean", "rows.jsonl", "-o", "out", *options]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
