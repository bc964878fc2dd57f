"""Pages of docs that follow from the code are as `make docs` would write them."""

import runpy
from pathlib import Path

from beam_reuse.options.table import OPTIONS

DOCS = Path(__file__).parents[2] / "docs"
make = runpy.run_path(str(DOCS / "make.py"))


def test_the_page_of_options_is_as_made() -> None:
    text = (DOCS / "options.md").read_text()
    assert text == make["options_page"](), "run `make docs`"
    assert all(f"`--{option.name}" in text for option in OPTIONS)


def test_the_walk_through_is_as_made() -> None:
    text = (DOCS / "adding-an-analysis.md").read_text()
    assert text == make["walk_through"](text), "run `make docs`"
