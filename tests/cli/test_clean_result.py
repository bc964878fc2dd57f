"""`clean --result`: an earlier result decides, and nothing is analysed again."""

from pathlib import Path

import pytest

from beam_reuse.cli.main import main
from tests.cli.cleaning import ALL, all_bytes, cleaned, random_rows, removals, rows_of, write_lines
from tests.crawls import random_captures, write_warc

FINDING = ("--chunk-threshold", "2", "--page-threshold", "0.3")


def made(folder: Path, source: Path, *options: str) -> Path:
    assert main(["run", str(source), "-o", str(folder / "result"), *options]) == 0
    return folder / "result"


@pytest.mark.parametrize("seed", [1, 2])
def test_a_result_gives_the_same_corpus_as_its_analyses(tmp_path: Path, seed: int) -> None:
    rows = random_rows(seed)
    source = tmp_path / "rows.jsonl"
    write_lines(source, rows)
    listed = [rows[5]["url"], rows[30]["url"]]
    (tmp_path / "list.txt").write_text("\n".join(listed) + "\n")
    options = ("--drop", ",".join(ALL), "--shard-bytes", "4K",
               "--drop-table", str(tmp_path / "list.txt"))
    result = made(tmp_path, source, "--min-containment", "0.8", *FINDING)
    cleaned(source, tmp_path / "from", *options, "--result", str(result))
    cleaned(source, tmp_path / "direct", *options, *FINDING)
    assert removals(tmp_path / "direct", ALL, listed)
    assert rows_of(tmp_path / "from", "removed") == rows_of(tmp_path / "direct", "removed")
    assert all_bytes(tmp_path / "from") == all_bytes(tmp_path / "direct")


def test_pages_are_read_as_the_result_has_read_them(tmp_path: Path) -> None:
    source = tmp_path / "crawl.warc.gz"
    write_warc(source, random_captures(5, 120))
    result = made(tmp_path, source, "--analyses", "near-duplicates", "--min-containment", "0.8",
                  "--captures", "all")
    cleaned(source, tmp_path / "from", "--result", str(result))
    cleaned(source, tmp_path / "direct", "--captures", "all")
    assert all_bytes(tmp_path / "from") == all_bytes(tmp_path / "direct")
    assert main(["clean", str(source), "-o", str(tmp_path / "other"), "--result", str(result),
                 "--captures", "latest"]) == 2


def test_a_result_that_cannot_decide_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    source, out = tmp_path / "rows.jsonl", tmp_path / "out"
    rows = random_rows(3, 30)
    write_lines(source, rows)
    result = made(tmp_path, source, "--analyses", "near-duplicates")

    def refused(*options: str, status: int = 2) -> str:
        capsys.readouterr()
        command = ["clean", str(source), "-o", str(out), "--result", str(result), *options]
        assert main(command) == status
        assert not out.exists()
        return capsys.readouterr().err

    assert "without --min-containment" in refused()
    proven = ("--min-containment", "0")
    assert "has no table 'quilts'" in refused(*proven, "--drop", "near-duplicates,quilts")
    assert "--keep-rule does nothing with --result" in refused(*proven, "--keep-rule", "longest")
    write_lines(source, rows[1:])
    assert f"{rows[0]['url']} of it is not in the input" in refused(*proven, status=1)
    write_lines(source, [*rows, {"url": "http://new.example/", "text": "words"}])
    assert "http://new.example/ of the input is not in it" in refused(*proven, status=1)
    rows[4]["text"] += " more"
    write_lines(source, rows)
    assert f"{rows[4]['url']} has other content in it" in refused(*proven, status=1)
    assert main(["index", str(source), "-o", str(tmp_path / "index")]) == 0
    result = tmp_path / "index"
    assert "it is an index" in refused(*proven)
