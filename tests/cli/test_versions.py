"""`beam-reuse --version`: ours, what it runs on, and the engines that were fetched."""

from importlib import metadata
from pathlib import Path

import pytest

from beam_reuse import __version__
from beam_reuse.cli import versions
from beam_reuse.cli.arguments import parse
from beam_reuse.runners.fetching import Kit, fetch


def filled(folder: Path) -> str:
    (folder / "a.jar").write_text("jar")
    return "a toy"


KITS = [Kit("toy", "1.0", "a toy", filled), Kit("toy-2.0", "2.0", "a newer toy", filled)]


def shown(capsys: pytest.CaptureFixture[str]) -> list[str]:
    with pytest.raises(SystemExit) as end:
        parse(["--version"])
    assert end.value.code == 0
    return capsys.readouterr().out.splitlines()


@pytest.fixture(autouse=True)
def kits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(versions, "KITS", {kit.name: kit for kit in KITS})
    monkeypatch.setenv("BEAM_REUSE_ENGINES", str(tmp_path))
    return tmp_path


def test_versions_of_ours_and_of_beam(capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third = shown(capsys)
    assert first == f"beam-reuse {__version__}"
    assert second.endswith(f", apache-beam {metadata.version('apache-beam')}")
    assert third == "engines: local (others are fetched with: beam-reuse engines)"


def test_engines_that_are_there_and_whole(capsys: pytest.CaptureFixture[str], kits: Path) -> None:
    folders = [fetch(kit, kits).folder for kit in KITS]
    assert [folder.name for folder in folders] == ["toy-1.0", "toy-2.0"]
    assert shown(capsys)[2] == f"engines: local, toy 1.0, toy 2.0 ({kits})"
    (folders[0] / "a.jar").unlink()
    assert shown(capsys)[2] == f"engines: local, toy 2.0 ({kits})"
