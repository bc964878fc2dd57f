"""Examples name the runner they want: without one, Beam first tries to download Prism."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = [path for pattern in ("*.md", "docs/**/*.md", "examples/**/*", "templates/**/*.md",
                                 "deploy/**/*", "beam_reuse/**/*.py", "benchmarks/**/*.py",
                                 "tests/**/*.py")
            for path in ROOT.glob(pattern) if path.is_file() and path != Path(__file__)]
PIPELINE = re.compile(r"\bPipeline\(([^)]*)")
YAML = re.compile(r"^.*apache_beam\.yaml\.main(?:.|\\\n)*?$(?<!\\)", re.M)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_runner_is_named(path: Path) -> None:
    text = path.read_text(errors="replace")
    for match in PIPELINE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        assert "runner=" in match[1] or match[1].strip(), f"{path}:{line} names no runner"
    for command in YAML.findall(text):
        assert "--runner=" in command or command.lstrip().startswith(("import", "from")), path


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 100
    found = [path for path in EXAMPLES if PIPELINE.search(path.read_text(errors="replace"))]
    assert len(found) > 10
