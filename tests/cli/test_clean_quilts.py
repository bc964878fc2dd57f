"""`clean --drop quilts`: a page goes only for sources that have it, and that stay."""

import random
from pathlib import Path

import pytest

from beam_reuse.cli.main import main
from tests.cli.cleaning import all_bytes, cleaned, removals, rows_of, write_lines

PIECE = 30


class Pieces:
    """Pages on domains of their own, made of pieces that are named by letters; a blank is a piece
    that is on no other page."""

    def __init__(self, folder: Path) -> None:
        self.source, self.rng = folder / "rows.jsonl", random.Random(4)
        self.known: dict[str, str] = {}
        self.rows: list[dict[str, str]] = []

    def add(self, name: str, pieces: str) -> str:
        self.rows.append({"url": f"http://{name}.example/", "text": "\n".join(
            self._new() if each == " " else self.known.setdefault(each, self._new())
            for each in pieces)})
        write_lines(self.source, self.rows)
        return self.rows[-1]["url"]

    def _new(self) -> str:
        return " ".join(f"w{self.rng.randrange(10**6)}" for _ in range(PIECE))


@pytest.fixture
def pieces(tmp_path: Path) -> Pieces:
    """Ten pages with a letter of their own, and a piece that others do not have."""
    found = Pieces(tmp_path)
    for letter in "abcdefghij":
        found.add(f"page-{letter}", f"{letter} ")
    return found


def gone(pieces: Pieces, to: Path, *options: str, least: float = 0.8,
         drop: tuple[str, ...] = ("quilts",), listed: tuple[str, ...] = ()) -> set[str]:
    """The pages that went, which are those of the definition."""
    cleaned(pieces.source, to, "--drop", ",".join(drop), *options)
    return set(removals(to, drop, listed, least))


def test_a_page_that_its_sources_have_goes_and_one_with_much_of_its_own_stays(
    pieces: Pieces, tmp_path: Path,
) -> None:
    whole, half = pieces.add("whole", "abcd"), pieces.add("half", "efgh   ")
    assert gone(pieces, tmp_path / "usual") == {whole}
    (row,) = rows_of(tmp_path / "usual", "removed")
    (quilt,) = (each for each in rows_of(tmp_path / "usual", "quilts") if each["url"] == whole)
    assert row["containment"] == quilt["patch_fraction"] * quilt["covered"] > 0.8
    assert gone(pieces, tmp_path / "loose", "--min-covered", "0.5", least=0.5) == {whole, half}


def test_quilts_of_a_page_that_goes_stay(pieces: Pieces, tmp_path: Path) -> None:
    whole, other = pieces.add("whole", "abcd"), pieces.add("other", "efgh")
    listed = (pieces.rows[3]["url"],)  # of page-d
    (tmp_path / "list.txt").write_text(listed[0])
    assert gone(pieces, tmp_path / "out", "--drop-table", str(tmp_path / "list.txt"),
                listed=listed) == {other, *listed}
    assert whole in {row["url"] for row in rows_of(tmp_path / "out", "quilts")}


def test_quilts_of_each_other_stay_and_so_does_what_only_they_have(
    pieces: Pieces, tmp_path: Path,
) -> None:
    both = pieces.add("one", "abcx"), pieces.add("two", "defx")
    whole = pieces.add("whole", "ghij")
    assert gone(pieces, tmp_path / "out") == {whole}
    assert {row["url"] for row in rows_of(tmp_path / "out", "quilts")} == {*both, whole}


def test_quilts_of_a_page_that_goes_as_a_near_duplicate_stay(
    pieces: Pieces, tmp_path: Path,
) -> None:
    long = "".join(map(chr, range(0x4e00, 0x4e64)))
    pieces.add("first", long)
    second, quilt = pieces.add("second", f"{long}u"), pieces.add("quilt", "abcu")
    drop = ("near-duplicates", "quilts")
    assert gone(pieces, tmp_path / "out", drop=drop) == {second}
    assert second in {row["source_url"] for row in rows_of(tmp_path / "out", "quilt_sources")
                      if row["url"] == quilt}


def test_of_a_sweep_only_combinations_with_sources_count(
    pieces: Pieces, tmp_path: Path,
) -> None:
    whole = pieces.add("whole", "abcd")
    sweep = ("--min-sources", "5,4")
    assert gone(pieces, tmp_path / "pivot", *sweep) == set()
    assert gone(pieces, tmp_path / "all", *sweep, "--sweep-sources") == {whole}


def test_an_earlier_result_decides_in_the_same_way(pieces: Pieces, tmp_path: Path) -> None:
    pieces.add("whole", "abcd")
    pieces.add("half", "efgh   ")
    result = tmp_path / "result"
    assert main(["run", str(pieces.source), "-o", str(result), "--analyses", "quilts"]) == 0
    for least in ("0.8", "0.5"):
        options = ("--drop", "quilts", "--min-covered", least)
        cleaned(pieces.source, tmp_path / f"direct-{least}", *options)
        cleaned(pieces.source, tmp_path / f"later-{least}", *options, "--result", str(result))
        assert all_bytes(tmp_path / f"later-{least}") == all_bytes(tmp_path / f"direct-{least}")
        assert (rows_of(tmp_path / f"later-{least}", "removed")
                == rows_of(tmp_path / f"direct-{least}", "removed"))
