"""What a browser gets is read by people, too: short lines, small files, nothing that is built."""

from importlib import resources

import pytest

FILES = [each for folder in ("beam_reuse.viewer.static", "beam_reuse.report")
         for each in resources.files(folder.rpartition(".")[0]).joinpath(
             folder.rpartition(".")[2]).iterdir()
         if each.name.endswith((".js", ".css", ".html"))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_lines_are_short_and_files_small(file: resources.abc.Traversable) -> None:
    lines = file.read_text().splitlines()
    assert len(lines) < 300
    assert [line for line in lines if len(line) > 100] == []
