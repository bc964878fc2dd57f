"""The commands of docs/recipes.md run, one after the other, and give what the page says."""

import json
import random
import re
import shlex
from pathlib import Path

import pytest
from warcio.cli import main as warcio_main

from beam_reuse.cli.main import main
from beam_reuse.demo.sample import sample_crawl
from beam_reuse.demo.writing import write_crawl
from beam_reuse.io.results.tables import read_manifest
from tests.cli.cleaning import random_rows, rows_of
from tests.crawls import random_captures, write_warc

PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"
CORPORA = ("corpus", "cleaned", "marked", "until-february", "published", "archive", "annotated")


def warcio(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        warcio_main(arguments)
    return int(ended.value.code or 0)


def test_every_recipe_is_cooked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = random.Random(1)
    rows = random_rows(1, 120)
    for row in rows:
        row["text"] = f"Home\nContact\n{row['text']}\n{' '.join(rng.choices(row['text'].split()))}"
    Path("documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("evals.jsonl").write_text(json.dumps(
        {"id": 1, "question": rows[5]["text"].split("\n")[2]}) + "\n")
    for month, seed in (("january", 5), ("february", 6)):
        Path(month).mkdir()
        write_warc(Path(month, "crawl.warc.gz"), random_captures(seed, 60))
    write_crawl(sample_crawl(), "crawl")
    Path("unwanted.txt").write_text("http://h0.example/0\n")
    commands = re.findall(r"^\$ (\S+) (.*)$", PAGE.read_text(), re.M)
    assert len(commands) == 19
    for program, command in commands:
        run = {"beam-reuse": main, "warcio": warcio}[program]
        assert not run(shlex.split(command)), command
    for name in CORPORA:
        assert sum(part.rows for part in read_manifest(name).shards) > 10, name
    assert {row["reason"] for row in rows_of(Path("corpus"), "removed")} >= {
        "near-duplicate", "boilerplate"}
    assert "contaminated" in {row["reason"] for row in rows_of(Path("cleaned"), "removed")}
    assert {row["what"] for row in rows_of(Path("annotated"), "removed")} == {"flag"}
    assert Path("judge.csv").read_text().count("\n") > 5
