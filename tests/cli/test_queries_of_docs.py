"""Every query that the README, docs, configs and help show is answered by `beam-reuse sql`."""

import json
import re
from pathlib import Path

import pytest

from beam_reuse.cli.main import main
from beam_reuse.demo.cases.leaked_test import QUESTIONS
from beam_reuse.demo.sample import sample_crawl
from beam_reuse.demo.writing import write_crawl

TOP = Path(__file__).parents[2]
PAGES = [TOP / "README.md", *sorted((TOP / "docs").glob("*.md")),
         *sorted((TOP / "configs").glob("*.yaml")), TOP / "beam_reuse/cli/help/sql.txt"]


def shown() -> list[tuple[str, str]]:
    """Where a query is shown, and the query."""
    return [(page.name, query) for page in PAGES for query in re.findall(
        r'beam-reuse sql \S+ "(.*?)"', re.sub(r"(?m)^# ?", "", page.read_text()), re.DOTALL)]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The demo's crawl, analysed, cleaned, compared with an evaluation set, and with itself."""
    folder = tmp_path_factory.mktemp("queries")
    crawl = write_crawl(sample_crawl(), str(folder / "crawl"))
    evals = folder / "evals.jsonl"
    evals.write_text("".join(json.dumps({"id": name, "question": text}) + "\n"
                             for name, text in QUESTIONS.items()))
    options = {"run": [], "clean": [], "decontaminate": ["--against", str(evals)]}
    for command, more in options.items():
        assert main([command, *crawl, "-o", str(folder / command), "--workers", "1", *more]) == 0
    assert main(["index", crawl[0], "-o", str(folder / "index"), "--workers", "1"]) == 0
    assert main(["run", *crawl, "-o", str(folder / "grown"), "--workers", "1",
                 "--baseline", str(folder / "index")]) == 0
    return {name: folder / name for name in (*options, "grown")}


def test_each_is_answered(results: dict[str, Path], tmp_path: Path) -> None:
    found = shown()
    assert len(found) > 30
    assert {"README.md", "quilts.md", "overlap.md", "boilerplate.md", "origins.md", "tables.md",
            "spam-quilts.yaml", "sql.txt"} <= {name for name, _ in found}
    for number, (name, query) in enumerate(found):
        if "select ..." not in query:
            command = ("clean" if re.search("from removed", query, re.I) else "decontaminate"
                       if re.search("from (contaminat|evaluations)", query) else "grown"
                       if "FROM recrawled" in query else "run")
            result = str(results[command])
            assert main(["sql", result, query, "-o", str(tmp_path / f"{number}.txt")]) == 0, (
                name, query)


def test_no_page_asks_for_another_program() -> None:
    assert not [page.name for page in PAGES if re.search(r"duckdb -c|duckdb -s", page.read_text())]
