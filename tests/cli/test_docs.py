"""Pages of docs that follow from the code are as `make docs` would write them; links lead
somewhere, and every page is in the site."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from beam_reuse.io.results.tables import PAGES_WITHOUT_LABELS, SCHEMAS
from beam_reuse.options.table import OPTIONS

TOP = Path(__file__).parents[2]
DOCS = TOP / "docs"
WRITTEN = [*sorted(DOCS.rglob("*.md")), *sorted(TOP.glob("*.md")),
           *sorted((TOP / "templates").rglob("*.md"))]
make = runpy.run_path(str(DOCS / "make.py"))


@pytest.mark.parametrize("name", make["PAGES"])
def test_a_generated_page_is_as_made(name: str) -> None:
    assert (DOCS / name).read_text() == make["PAGES"][name](), "run `make docs`"


def test_every_option_is_on_its_page() -> None:
    text = (DOCS / "options.md").read_text()
    assert all(f"`--{option.name}" in text for option in OPTIONS)


def test_the_provider_for_beam_yaml_is_as_made() -> None:
    text = (DOCS.parent / "beam_reuse" / "provider.yaml").read_text()
    assert text == make["provider"](), "run `make docs`"


def test_the_walk_through_is_as_made() -> None:
    text = (DOCS / "adding-an-analysis.md").read_text()
    assert text == make["walk_through"](text), "run `make docs`"


def test_every_column_is_explained() -> None:
    """Where a table has its paragraph in tables.md, or its own page, all columns are named."""
    text = (DOCS / "tables.md").read_text() + (DOCS / "experiments.md").read_text()
    words = set(re.findall(r"\w+", text))
    for name, schema in SCHEMAS.items():
        if name != PAGES_WITHOUT_LABELS.name:
            assert f"**{name}**" in text, name
            assert set(schema.names) <= words, (name, set(schema.names) - words)


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = {path.relative_to(DOCS).with_suffix("") for path in DOCS.rglob("*.md")}
    for page in pages:
        html = tmp_path / page / "index.html" if page.name != "index" else tmp_path / "index.html"
        assert html.exists(), page
        assert not re.search(r'(src|href)="https?://(?!www.mkdocs.org|readthedocs)', re.sub(
            r"<main.*|<div role=.main.*", "", html.read_text(), flags=re.S)), "loads from the net"


def test_links_lead_to_files_and_headings() -> None:
    for page in WRITTEN:
        text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, heading = target.partition("#")
            there = (page.parent / path).resolve() if path else page
            assert there.exists(), f"{page}: {target}"
            if heading:
                assert heading in headings_of(there), f"{page}: {target}"


def headings_of(page: Path) -> set[str]:
    """The names by which headings are linked to."""
    return {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", line.strip().lower()))
            for line in re.findall(r"^#+ (.*)$", page.read_text(), re.M)}


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(TOP)))
def test_lines_fit_a_screen(page: Path) -> None:
    """Tables and blocks of code may be wider."""
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.M | re.S)
    assert not [line for line in text.splitlines()
                if len(line) > 100 and not line.lstrip().startswith(("|", "![", "http"))]
