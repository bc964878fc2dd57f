"""Results that somebody else has made: nothing in them becomes SQL, or a path outside of them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beam_reuse.cli.main import main
from tests.judging.results import chunk_row, write_result

NAMES = ['a" as select 1; copy (select 1) to \'{out}\'; create view "b', "../pages", "a b", ""]
PATHS = ["../precious.parquet", "/etc/passwd", "frequent_chunks/../../precious.parquet",
         "http://evil.example/x.parquet"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = write_result(tmp_path / "result", {"frequent_chunks": [[
        chunk_row(f"{n:040x}", n, "text") for n in range(1, 4)]]})
    return Path(made)


def change(folder: Path, how: Any) -> None:
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    how(content["tables"])
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("command", ["sql", "view", "report"])
@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_a_table_is_no_sql(command: str, name: str, folder: Path,
                                     capsys: pytest.CaptureFixture[str]) -> None:
    out = folder.parent / "written.csv"
    change(folder, lambda tables: tables.update({
        name.format(out=out): tables["frequent_chunks"]}))
    more = {"sql": ["select 1"], "view": ["--no-browser"], "report": []}[command]
    assert main([command, str(folder), *more]) == 2
    assert "Do not trust this folder" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("path", PATHS)
def test_a_part_is_inside(path: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part = next((folder / "frequent_chunks").iterdir())
    shutil.copy(part, folder.parent / "precious.parquet")
    change(folder, lambda tables: tables["frequent_chunks"]["parts"][0].update(path=path))
    assert main(["sql", str(folder), "select * from frequent_chunks"]) == 2
    assert "outside of it" in capsys.readouterr().err


def test_a_name_of_a_column_is_no_sql(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part = next((folder / "frequent_chunks").iterdir())
    strange = pa.array(["x"] * 3)
    pq.write_table(pq.read_table(part).append_column('sha1" from (select 1) --', strange), part)
    assert main(["view", str(folder), "--no-browser"]) == 2
    assert "Do not trust this folder" in capsys.readouterr().err


def test_a_folder_may_be_called_anything(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    strange = folder.parent / "r[1]'\"; drop *?<b>$(touch x)"
    folder.rename(strange)
    assert main(["sql", str(strange), "select count(*) as n from frequent_chunks", "--to",
                 "csv"]) == 0
    assert capsys.readouterr().out.split() == ["n", "3"]


@pytest.mark.parametrize("command", ["sql", "view", "report"])
def test_a_file_is_no_result(command: str, folder: Path,
                             capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(folder / "manifest.json")]) == 2
    assert "is no finished result" in capsys.readouterr().err
