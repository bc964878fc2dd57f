"""Output folders on disks that are full or read-only: said so, nothing left, the way out works."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from beam_reuse.cli.main import main
from beam_reuse.demo.sample import sample_crawl
from beam_reuse.demo.writing import write_crawl
from beam_reuse.io.results.tables import read
from tests.disks import mounted, remount
from tests.engines.running import run


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with little room."""
    with mounted(tmp_path / "disk", "size=256k") as folder:
        yield folder


@pytest.fixture
def crawl(tmp_path: Path) -> str:
    write_crawl(sample_crawl(), str(tmp_path / "crawl"))
    return str(tmp_path / "crawl")


@pytest.mark.parametrize("command", ["run", "index"])
def test_a_full_disk_is_told(
    disk: Path, crawl: str, command: str, capsys: pytest.CaptureFixture[str],
) -> None:
    asked = [command, crawl, "-o", str(disk / "out"), "--workers", "1",
             *(["--analyses", "discovery"] if command == "run" else [])]
    assert main(asked) == 1
    told = capsys.readouterr().err
    assert f"no room is left on the disk of {disk / 'out'}" in told
    assert "Make room there and run again" in told and "Traceback" not in told
    assert not list(disk.iterdir())
    remount(disk, "size=64m")
    assert main(asked) == 0
    assert (disk / "out" / "manifest.json").exists()


def test_a_full_disk_is_told_in_two_lines_by_worker_processes_too(disk: Path, crawl: str) -> None:
    done = run("run", crawl, "-o", disk / "out", "--workers", 2, "--analyses", "discovery")
    assert done.returncode == 1
    told = [line for line in done.stderr.splitlines() if not re.match(r"\d+:\d\d  ", line)]
    assert len(told) == 2 and "no room is left on the disk of" in told[0]
    assert not list(disk.iterdir())


def test_a_full_disk_leaves_an_earlier_result(
    disk: Path, crawl: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "page.jsonl").write_text('{"url": "http://a.example/", "html": "<p>one</p>"}\n')
    out = str(disk / "out")
    options = ["-o", out, "--workers", "1", "--analyses", "discovery", "--overwrite"]
    assert main(["run", str(tmp_path / "page.jsonl"), *options]) == 0
    assert main(["run", crawl, *options]) == 1
    assert "no room is left" in capsys.readouterr().err
    assert read(out, "pages").num_rows == 1
    assert not list((disk / "out").glob(".*"))


@pytest.mark.parametrize(("command", "name"), [
    ("run", ""), ("run", "out"), ("index", "out/of/reach"), ("labels", "known.parquet"),
])
def test_a_read_only_disk_is_told(
    disk: Path, crawl: str, command: str, name: str, capsys: pytest.CaptureFixture[str],
) -> None:
    remount(disk, "ro")
    assert main([command, crawl, "-o", str(disk / name), "--workers", "1"]) == 2
    assert capsys.readouterr().err == (
        f"beam-reuse: -o {disk / name}: the disk of {disk} is read-only. Choose another place, or "
        "have it mounted for writing.\n")
