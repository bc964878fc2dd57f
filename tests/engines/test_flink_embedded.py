"""The sample crawl on Flink embedded in the job server: the same bytes as local runs."""

from pathlib import Path

import pytest

from beam_reuse.demo.cases.leaked_test import QUESTIONS
from tests.analyses.planted_items import write
from tests.engines.running import ACCOUNTED, digests, run


@pytest.mark.xdist_group("flink")
def test_all_analyses_give_the_same_bytes(
    flink_job_server: Path, crawl: list[str], local: dict[str, str], tmp_path: Path,
) -> None:
    done = run("run", *crawl, "-o", tmp_path / "flink", "--runner", "flink", "--workers", 2)
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "flink") == local
    assert ACCOUNTED in done.stdout
    assert "reading" in done.stderr or "writing" in done.stderr  # workers reported


@pytest.mark.xdist_group("flink")
def test_a_corpus_is_the_same_for_any_workers_and_on_flink(
    flink_job_server: Path, crawl: list[str], tmp_path: Path,
) -> None:
    options = ("--drop", "near-duplicates,exact-copies", "--shard-bytes", "20K", "--strip",
               "boilerplate,frequent-lines", "--strip-pages", 3)
    found = {}
    for name, how in (("one", ("--workers", 1)), ("two", ("--workers", 2)),
                      ("flink", ("--workers", 2, "--runner", "flink"))):
        done = run("clean", *crawl, "-o", tmp_path / name, *options, *how)
        assert done.returncode == 0, done.stderr
        found[name] = digests(tmp_path / name)
    assert found["one"] == found["two"] == found["flink"]
    assert sum(name.startswith("corpus/") for name in found["one"]) > 2


@pytest.mark.xdist_group("flink")
def test_decontaminate_gives_the_same_bytes(
    flink_job_server: Path, crawl: list[str], tmp_path: Path,
) -> None:
    evals = write(tmp_path / "evals.jsonl", [
        {"id": name, "question": text} for name, text in QUESTIONS.items()])
    for name, options in {"local": [], "flink": ["--runner", "flink", "--workers", 2]}.items():
        done = run("decontaminate", *crawl, "--against", evals, "-o", tmp_path / name, *options)
        assert done.returncode == 0, done.stderr
        assert "2 of 3 items (67%)" in done.stdout
    assert digests(tmp_path / "flink") == digests(tmp_path / "local")
