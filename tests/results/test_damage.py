"""A result of which one table is missing or damaged: the others are there for every command."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beam_reuse.cli.main import main
from beam_reuse.core.errors import UserError
from beam_reuse.viewer.overview import findings, overview
from beam_reuse.viewer.passages import passage
from beam_reuse.viewer.tables import browse, count
from beam_reuse.viewer.view import open_view
from tests.judging.results import chunk_row, page_row, write_result

Damage = Callable[[Path], object]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(write_result(tmp_path_factory.mktemp("damage") / "r", {
        "frequent_chunks": [[chunk_row(f"{n:040x}", n, "some text") for n in part]
                            for part in (range(1, 30), range(30, 60))],
        "page_reuse": [[page_row("http://a.example/", 1, 2, True)]]}))


def changed(how: Callable[[pa.Table], pa.Table]) -> Damage:
    return lambda part: pq.write_table(how(pq.read_table(part)), part)


def flipped(at: float) -> Damage:
    """One bit is another: DuckDB reads some of these as other values, without an error."""
    def flip(part: Path) -> None:
        content = bytearray(part.read_bytes())
        content[int(at * len(content))] ^= 1
        part.write_bytes(content)
    return flip


DAMAGES: dict[str, Damage] = {
    "missing": lambda part: part.unlink(),
    "renamed": lambda part: part.rename(part.with_suffix(".old")),
    "truncated": lambda part: part.write_bytes(part.read_bytes()[:-20]),
    "empty": lambda part: part.write_bytes(b""),
    "a folder instead": lambda part: (part.unlink(), part.mkdir()),
    "text": lambda part: part.write_text("no Parquet"),
    "fewer rows": changed(lambda table: table.slice(1)),
    "no columns": changed(lambda table: pa.table({"x": [1] * len(table)})),
    "a column less": changed(lambda table: table.drop_columns(["hosts"])),
    "a type": changed(lambda table: table.set_column(1, "occurrences", pa.array(
        ["1"] * len(table)))),
    "other values": changed(lambda table: table.take(list(reversed(range(len(table)))))),
    **{f"a bit at {at}": flipped(at) for at in (0.1, 0.15, 0.2, 0.25, 0.3, 0.5, 0.9)},
}


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("how", DAMAGES)
def test_the_other_tables_are_there(
    how: str, part: int, sound: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "r"
    shutil.copytree(sound, folder)
    path = folder / "frequent_chunks" / f"part-{part:05d}-of-00002.parquet"
    DAMAGES[how](path)

    assert main(["sql", str(folder), "select url from page_reuse", "--to", "csv"]) == 0
    assert capfd.readouterr().out == "url\nhttp://a.example/\n"
    assert main(["sql", str(folder), "select occurrences from Frequent_Chunks"]) == 2
    printed = capfd.readouterr()
    assert not printed.out
    said = printed.err.removeprefix("beam-reuse: ").rstrip("\n")
    assert "\n" not in said and said.startswith(f"frequent_chunks: part {path} ")
    assert said.endswith("; run again, or restore it") and "select" not in said.lower()

    with open_view(str(folder), ()) as view:
        assert [row["url"] for row in browse(view, "page_reuse")["rows"]] == ["http://a.example/"]
        for asked in (lambda: browse(view, "frequent_chunks"), lambda: passage(view, "0" * 40),
                      lambda: browse(view, "by_chunk", "hosts"),
                      lambda: count(view, "frequent_chunks", ["hosts.min.1"])):
            with pytest.raises(UserError, match=r"^frequent_chunks: part .*restore it$"):
                asked()
        assert overview(view)["damaged"] in ([], [said])
        assert findings(view)

    assert main(["report", str(folder)]) == 0


@pytest.mark.parametrize("how", ["missing", "a type", "a bit at 0.1"])
def test_the_report_lists_it(
    how: str, sound: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str],
) -> None:
    reports = []
    for name in ("a", "b"):
        folder = tmp_path / name
        shutil.copytree(sound, folder)
        DAMAGES[how](folder / "frequent_chunks" / "part-00000-of-00002.parquet")
        assert main(["report", str(folder)]) == 0
        reports.append((folder / "report.html").read_text())
    assert "frequent_chunks: part frequent_chunks/part-00000-of-00002.parquet" in reports[0]
    assert reports[0] == reports[1]


def test_a_name_in_a_query_is_no_table(
    sound: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "r"
    shutil.copytree(sound, folder)
    shutil.rmtree(folder / "frequent_chunks")
    assert main(["sql", str(folder), "from frequent_chunks"]) == 2
    assert "part-00000-of-00002.parquet is missing" in capfd.readouterr().err
    assert main(["sql", str(folder), "with frequent_chunks as (select 7 as n) "
                 "select n as frequent_chunks from frequent_chunks", "--to", "csv"]) == 0
    assert capfd.readouterr().out == "frequent_chunks\n7\n"
