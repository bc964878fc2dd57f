"""`labels --grams` and `check`: the same answers as `decontaminate`, page by page."""

import json
from pathlib import Path

import pytest

from beam_reuse import Detector
from beam_reuse.cli.main import main
from beam_reuse.io.results import tables
from tests.analyses.planted_items import random_items, random_pages, write


@pytest.mark.parametrize(("seed", "size", "most"), [(1, 13, 100), (2, 9, 5), (3, 4, 2)])
def test_a_page_has_at_the_edge_what_it_has_in_a_run(
    seed: int, size: int, most: int, tmp_path: Path,
) -> None:
    rows = random_items(seed, 60)
    evals = [write(tmp_path / f"{n}.jsonl", rows[n::2]) for n in range(2)]
    pages = random_pages(seed, rows, 40)
    corpus = write(tmp_path / "corpus.jsonl", pages)
    common = ["--max-items-per-gram", str(most)]
    assert main(["decontaminate", str(corpus), "--against", *map(str, evals), "-o",
                 str(tmp_path / "out"), "--gram-size", str(size), *common]) == 0
    assert main(["labels", *map(str, evals), "--grams", str(size), "-o",
                 str(tmp_path / "evals.parquet"), *common]) == 0
    detector = Detector(str(tmp_path / "evals.parquet"))
    found, contaminated = [], []
    for page in pages:
        answer = (detector.check(page["html"], page["url"]) if "html" in page
                  else detector.check(page["text"].encode(), page["url"], "text"))
        found += [{"url": page["url"], **item} for item in answer.as_json()["items"]]
        contaminated += [page["url"]] * bool(answer.contaminated)
    names = tables.CONTAMINATION.names
    wanted = tables.read(str(tmp_path / "out"), "contamination").to_pylist()
    assert sorted(json.dumps({name: row[name] for name in names}) for row in found) == sorted(
        json.dumps(row) for row in wanted)
    assert len(wanted) > 20
    assert sorted(contaminated) == tables.read(
        str(tmp_path / "out"), "contaminated_pages")["url"].to_pylist()


def test_the_command_shows_items_and_takes_lists_of_chunks_beside_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    text = "Which of the rivers that flow through the old town is the longest one, and why?"
    evals = write(tmp_path / "e.jsonl", [{"id": 7, "question": text}, {"question": "short"}])
    (tmp_path / "page.html").write_text(f"<p>Quiz: {text.upper()}</p>")
    grams, chunks = str(tmp_path / "e.parquet"), str(tmp_path / "page.brl")
    assert main(["labels", str(evals), "--grams", "13", "-o", grams]) == 0
    assert "1 item in" in (said := capsys.readouterr().out)
    assert "1 text of fewer than 8 tokens" in said
    page = str(tmp_path / "page.html")
    assert main(["labels", page, "-o", chunks, "--min-chunk-bytes", "5"]) == 0
    capsys.readouterr()
    assert main(["check", page, "--labels", grams, "--labels", chunks, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["matching"] == answer["chunks"] == 1 and answer["contaminated"]
    assert [(item["id"], item["share"]) for item in answer["items"]] == [("7", 1.0)]
    assert main(["check", page, "--labels", grams]) == 0
    said = capsys.readouterr().out
    assert "CONTAMINATED" in said and "100% of e.jsonl 7 (question), at tokens 1-17" in said


@pytest.mark.parametrize(("arguments", "said"), [
    (["labels", "{e}", "--grams", "0", "-o", "{x}.parquet"], "--grams: "),
    (["labels", "{e}", "--grams", "13", "-o", "{x}.brl"], "gram labels are Parquet"),
    (["labels", "{e}", "--grams", "13", "-o", "{x}.parquet", "--all-chunks"], "--all-chunks"),
    (["labels", "{e}", "--eval-id", "id", "-o", "{x}.parquet"], "add --grams 13"),
    (["check", "{e}", "--labels", "{e}", "--min-share", "0.3"], "names none"),
])
def test_what_makes_no_sense_is_refused(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    evals = write(tmp_path / "e.jsonl", [{"id": 7, "question": "some words"}])
    given = [each.format(e=evals, x=tmp_path / "x") for each in arguments]
    assert main(given) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["e.jsonl"]
