"""What pyproject.toml says can be what its readers take it for, and files are whole."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = re.compile(r"\w+(\.\w+)*(\.\*)?")


def test_the_type_checker_is_given_names_of_modules() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    names = [name for override in settings["overrides"] for name in override["module"]]
    assert names and not [name for name in names if not MODULES.fullmatch(name)]


def test_no_file_holds_the_marks_of_a_merge_conflict() -> None:
    """Python and Markdown are looked at by other checks, scripts of the viewer by none."""
    marks = tuple(f"{sign * 7} " for sign in "<>")
    folders = ("beam_reuse", "benchmarks", "configs", "docs", "examples", "extension", "templates",
               "tests")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*")
             if path.suffix in (".css", ".html", ".js", ".json", ".md", ".mjs", ".py", ".yaml")
             and "node_modules" not in path.parts] + [*ROOT.glob("*.md")]
    assert len(files) > 300
    assert not [str(path) for path in files
                if any(line.startswith(marks) for line in path.read_text("utf-8").splitlines())]
