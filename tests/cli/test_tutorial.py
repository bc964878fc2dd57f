"""The tutorial: its commands run one after the other, and print what the page says. So does the
demo as the README shows it."""

import re
import shlex
from pathlib import Path

import pytest

from beam_reuse.cli.main import main

README = Path(__file__).parents[2] / "README.md"
PAGE = README.parent / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def shown_in(printed: str, shown: str) -> bool:
    """Whether these lines were printed, all of them and in order; `...` stands for any lines."""
    lines = [line.rstrip() for line in printed.strip().splitlines()]
    parts = [part.strip("\n").splitlines() for part in re.split(r"^\.\.\.$", shown, flags=re.M)]
    at = 0
    for number, part in enumerate(parts):
        if not part:
            continue
        places = [place for place in range(at, len(lines) - len(part) + 1)
                  if lines[place:place + len(part)] == part]
        if not places or (number == 0 and places[0] != 0):
            return False
        at = places[0] + len(part)
    return not parts[-1] or at == len(lines)


def test_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                    capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    commands = 0
    (_, first), *_ = [each for each in BLOCK.findall(README.read_text()) if each[0] == "console"]
    for language, content in BLOCK.findall(PAGE.read_text()):
        if language == "html":
            Path("page.html").write_text(content)
            continue
        assert language == "console"
        for step in re.split(r"^\$ ", content, flags=re.M)[1:]:
            command, _, shown = step.partition("\n")
            words = shlex.split(command)
            assert words[0] == "beam-reuse"
            assert main(words[1:]) == 0, command
            printed = capsys.readouterr().out
            assert shown_in(printed, shown), f"$ {command}\n{printed}"
            if words[1] == "demo":
                assert shown_in(printed, first.partition("\n")[2]), f"README.md\n{printed}"
            commands += 1
    assert commands == 9


def test_what_is_shown_is_compared_line_by_line() -> None:
    printed = "a\nb\nc\nd\n"
    assert all(shown_in(printed, shown) for shown in
               ("a\nb\nc\nd\n", "a\n...\nd\n", "...\nc\nd\n", "a\nb\n...\n", "...\n"))
    assert not any(shown_in(printed, shown) for shown in
                   ("a\nb\n", "b\n...\n", "a\nc\n...\n", "...\nc\n", "a\n...\nx\n"))
