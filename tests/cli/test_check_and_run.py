"""The command `check` says of a page what `run` says of it."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from beam_reuse.analyses.reuse.settings import DetectionSettings
from beam_reuse.cli.main import main
from beam_reuse.cli.runs import execute
from beam_reuse.core.settings import ChunkSettings, StopSettings
from beam_reuse.declaring.settings import Settings
from beam_reuse.io.results import tables
from beam_reuse.plan import RunPlan
from tests.analyses.test_reuse import random_labels
from tests.cli.checking import answers
from tests.crawls import random_captures, write_warc
from tests.labels.writing import SETTINGS, write_labels


@pytest.mark.parametrize(("chunks", "stops", "rules"), [
    (ChunkSettings(), StopSettings(), {}),
    (ChunkSettings(), StopSettings(), {"page_threshold": 0.0}),
    (ChunkSettings(("p",), "none"), StopSettings(min_chunk_bytes=12),
     {"page_threshold": 0.4, "min_chunks": 3}),
    (ChunkSettings(("p", "b"), "text"), StopSettings(min_chunk_bytes=4, min_chunk_tokens=2),
     {"page_threshold": 0.2, "min_matching": 2}),
    (ChunkSettings(), StopSettings(), {"page_threshold": 0.1, "count_own": True}),
])
def test_check_says_what_run_says(
        chunks: ChunkSettings, stops: StopSettings, rules: dict[str, Any], tmp_path: Path,
        capsys: pytest.CaptureFixture[str]) -> None:
    """Every row of page_reuse, matched_chunks and matched_files, from the same crawl."""
    captures = write_warc(tmp_path / "crawl.warc.gz", random_captures(7, 150))
    known = random_labels(8, captures, Settings(chunks=chunks))
    path = write_labels(
        tmp_path / "l.parquet", [(hash_, kind, source) for kind, hash_, source, _ in known],
        {**SETTINGS, "chunk-tags": list(chunks.tags), "chunk-normalise": chunks.normalise,
         "min-chunk-bytes": stops.min_chunk_bytes, "min-chunk-tokens": stops.min_chunk_tokens},
        [domains for *_, domains in known])
    settings = Settings(analyses=("detection",), chunks=chunks, stops=stops,
                        detection=DetectionSettings(labels=(path,), **rules))
    crawl = str(tmp_path / "crawl.warc.gz")
    given = [word for name, value in rules.items() for word in (
        f"--{name.replace('_', '-')}", *([] if value is True else [str(value)]))]
    ran = compare(crawl, settings, given, capsys)
    assert any(rows[2] for rows in ran.values())


@pytest.mark.parametrize(("normalise", "threshold"), [("whitespace", 60), ("text", 20)])
def test_check_says_what_run_says_of_what_is_similar(
        normalise: str, threshold: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Labels with digests are of other pages of the same words, some of the same hosts."""
    crawl, others = str(tmp_path / "crawl.warc.gz"), str(tmp_path / "others.warc.gz")
    write_warc(Path(crawl), random_captures(7, 150))
    write_warc(Path(others), random_captures(9, 40))
    path = str(tmp_path / "l.parquet")
    assert main(["labels", others, "-o", path, "--matcher", "nilsimsa", "--chunk-normalise",
                 normalise, "--min-chunk-bytes", "4"]) == 0
    settings = Settings(
        analyses=("detection",), chunks=ChunkSettings(normalise=normalise),
        stops=StopSettings(min_chunk_bytes=4), detection=DetectionSettings(
            labels=(path,), page_threshold=0.3, matcher="nilsimsa",
            nilsimsa_thresholds=(threshold,)))
    ran = compare(crawl, settings, ["--page-threshold", "0.3", "--matcher", "nilsimsa",
                                    "--nilsimsa-threshold", str(threshold)], capsys)
    scores = [row[-1] for rows in ran.values() for row in rows[1]]
    assert None in scores and any(score is not None for score in scores)
    assert any(len({row[4] for row in rows[1]}) < rows[0][5] for rows in ran.values())


def compare(crawl: str, settings: Settings, given: list[str],
            capsys: pytest.CaptureFixture[str]) -> dict[str, list[list]]:
    """The rows of page_reuse, matched_chunks and matched_files of each page of a run, once `check`
    says the same with the options given."""
    (labels,), result = settings.detection.labels, f"{crawl}.result"
    execute(RunPlan("run", (crawl,), result, settings), [])
    capsys.readouterr()
    assert main(["check", crawl, "--labels", labels, "--json", *given]) in (0, 1)
    said = defaultdict(list)
    for answer in answers(capsys):
        if "error" not in answer:
            said[answer["url"]].append(_rows_of(answer))
    ran: dict[str, list[list]] = {}
    for row in tables.read(result, "page_reuse").to_pylist():
        ran[row["url"]] = [[*row.values()], [], []]
    for place, name, columns in (
            (1, "matched_chunks", ("url", "position", "start", "end", "sha1", "source_url",
                                   "sources", "own", "score")),
            (2, "matched_files", ("url", "source_url", "own"))):
        for row in tables.read(result, name).to_pylist():
            ran[row["url"]][place].append([row[column] for column in columns])
    assert len(ran) > 20 and any(rows[1] for rows in ran.values())
    for url, rows in ran.items():
        assert rows in said[url]
    return ran


def _rows_of(answer: dict[str, Any]) -> list[list]:
    """An answer as the rows `run` writes of its page; a file's hash is not in it."""
    url = answer["url"]
    columns = ("url", "chunks", "stop_chunks", "matching", "own_matching", "distinct_matching",
               "contains", "file_match", "flagged")
    matches = [[url, *match.values()] for match in answer["matches"]]
    known = answer["file_match"] or answer["own_file"]
    files = [[url, answer["file_source"], answer["own_file"]]] if known else []
    return [[answer[name] for name in columns], matches, files]
