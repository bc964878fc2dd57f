"""What pyproject.toml says can be what its readers take it for."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = re.compile(r"\w+(\.\w+)*(\.\*)?")


def test_the_type_checker_is_given_names_of_modules() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    names = [name for override in settings["overrides"] for name in override["module"]]
    assert names and not [name for name in names if not MODULES.fullmatch(name)]
