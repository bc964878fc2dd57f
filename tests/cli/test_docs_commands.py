"""Every block of code in the README and in docs is run, or says beside it why it is not.

A block that cannot run here has a comment before it, `<!-- not run: REASON -->`; the reasons are
counted below. Blocks of a page run one after the other, in a folder that has what they name.
"""

import csv
import re
import shlex
import shutil
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from beam_reuse.cli.arguments import parse
from beam_reuse.cli.main import main
from tests.cli.docs_sandbox import TOP, make_sandbox

PAGES = [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))]
# These have tests of their own that run their blocks, with data of their own.
ELSEWHERE = {"docs/tutorial.md": "test_tutorial.py", "docs/recipes.md": "test_recipes.py",
             "docs/adding-an-analysis.md": "plugins"}
BLOCK = re.compile(r"(?:<!-- not run: (.*?) -->\n\n?)?^( *)```(\w*)\n(.*?)^ *```$", re.M | re.S)
NOT_RUN = {"needs a cluster", "needs the internet", "takes hours", "needs another package",
           "needs BigQuery", "part of a pipeline of yours",
           "another program", "a settings file of another program", "output"}


class Block(NamedTuple):
    why_not: str
    language: str
    content: str


def blocks_of(page: Path) -> list[Block]:
    return [Block(why or "", language, content)
            for why, _, language, content in BLOCK.findall(page.read_text())]


def name_of(page: Path) -> str:
    return str(page.relative_to(TOP))


def commands_of(content: str) -> list[list[str]]:
    """The commands of a block: of a transcript those after `$`, else every line. A quoted argument
    may go over several lines."""
    lines = content.replace("\\\n", " ")
    if re.search(r"^\$ ", lines, re.M):
        starts = [match.start() for match in re.finditer(r"^\$ ", lines, re.M)]
        texts = [_whole(lines[start + 2:]) for start in starts]
    else:
        texts = []
        while lines.strip():
            text = _whole(lines)
            lines = lines[len(text):].lstrip("\n")
            texts.append(text)
    return [words for text in texts if (words := shlex.split(text, comments=True))]


def _whole(text: str) -> str:
    """The first command: up to the first line end that is outside of quotes."""
    end = 0
    while True:
        end = text.find("\n", end + 1)
        command = text if end < 0 else text[:end]
        try:
            shlex.split(command, comments=True)
            return command
        except ValueError:
            if end < 0:
                raise


@pytest.fixture(scope="module")
def whole_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    make_sandbox(folder)
    return folder


@pytest.fixture
def sandbox(whole_sandbox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy for one page."""
    shutil.copytree(whole_sandbox, tmp_path, symlinks=True, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_command(words: list[str]) -> None:
    assert words[0] == "beam-reuse", f"{words[0]}: mark the block as not run, and say why"
    argv = words[1:]
    if argv[0] == "view" or "--help" in argv:
        if argv[0] == "view":  # it ends when it is stopped: tests/viewer runs it
            parse(argv)
        return
    output = argv[argv.index("-o") + 1] if "-o" in argv else ""
    if output and Path(output).exists() and "--overwrite" not in argv:
        argv = [*argv, "--overwrite"]
    assert main(argv) == 0, words
    if argv[0] == "sample" and output:
        judge(Path(output))


def judge(sheet: Path) -> None:
    """Do what the page leaves to people: every other row is right."""
    with sheet.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows, f"{sheet}: nothing to judge"
    for number, row in enumerate(rows):
        row["label"] = ("correct", "incorrect")[number % 2]
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def run_block(block: Block, names: dict[str, Any]) -> None:
    if block.language in ("sh", "console"):
        for words in commands_of(block.content):
            run_command(words)
    elif block.language == "python":
        exec(compile(block.content, "block", "exec"), names)
    elif block.language == "yaml":
        assert isinstance(yaml.safe_load(block.content), dict)
        if match := re.search(r"^# (\S+), for: beam-reuse (.*)$", block.content, re.M):
            Path(match[1]).write_text(block.content)
            assert main([*shlex.split(match[2]), "--overwrite"]) == 0
    elif block.language == "toml":
        assert tomllib.loads(block.content)
    else:
        assert block.language == "html", f"a block without a known language:\n{block.content}"


@pytest.mark.parametrize("page", [page for page in PAGES if name_of(page) not in ELSEWHERE],
                         ids=name_of)
def test_blocks_run(page: Path, sandbox: Path) -> None:
    if not (found := [each for each in blocks_of(page) if not each.why_not]):
        pytest.skip("no block to run")
    names: dict[str, Any] = {"html": Path("page.html").read_text(), "__name__": "docs"}
    names |= {"page": names["html"], "trusted_page": names["html"]}
    for block in found:
        run_block(block, names)


def test_what_is_not_run_says_why() -> None:
    reasons = Counter(block.why_not for page in PAGES for block in blocks_of(page)
                      if block.why_not)
    assert set(reasons) <= NOT_RUN
    run = sum(not block.why_not for page in PAGES for block in blocks_of(page))
    assert sum(reasons.values()) < 30 and run > 80, (reasons, run)


def test_no_fence_is_left_open() -> None:
    for page in PAGES:
        assert page.read_text().count("```") == 2 * len(blocks_of(page)), name_of(page)
