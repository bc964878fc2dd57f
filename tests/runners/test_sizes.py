"""Sizes follow from the bytes of the input and the memory of workers, and change no value."""

import tempfile
from pathlib import Path

import pytest

from beam_reuse import runners
from beam_reuse.cli.main import main
from beam_reuse.declaring.settings import Settings
from beam_reuse.demo.sample import sample_crawl
from beam_reuse.demo.writing import write_crawl
from beam_reuse.pages.inputs import Inputs, range_bytes
from beam_reuse.pipeline import shuffle_of, survey
from beam_reuse.plan import RunPlan
from beam_reuse.runners import memory_for
from tests.engines.running import digests

MB, GB = 1 << 20, 1 << 30
CONFIGS = Path(__file__).parents[2] / "configs"


def plan(runner: str = "local", workers: int = 1, memory: int = 0) -> RunPlan:
    return RunPlan("run", ("in",), "out", Settings(), runner, workers, worker_memory=memory)


def inputs(size: int) -> Inputs:
    return Inputs((("in", size),), (), ())


@pytest.mark.parametrize(("memory", "size", "budget", "flush", "buckets"), [
    (64 * GB, 1, 128 * MB, 32 * MB, 16), (GB, GB, 128 * MB, 32 * MB, 64),
    (GB, 4 * GB, 128 * MB, 64 * MB, 256), (512 * MB, 4 * GB, 64 * MB, 32 * MB, 256),
    (64 * MB, 4 * GB, 16 * MB, 8 * MB, 128), (GB, 100 * GB, 128 * MB, 64 * MB, 256),
    (GB, 400_000 * GB, 128 * MB, 128 * MB, 2048),
])
def test_buckets_are_sized_for_input_and_memory(
    memory: int, size: int, budget: int, flush: int, buckets: int,
) -> None:
    shuffle = shuffle_of(plan(memory=memory), inputs(size), "spill")
    assert (shuffle.bucket_budget, shuffle.flush_bytes, shuffle.buckets) == (
        budget, flush, buckets)


@pytest.mark.parametrize("memory", [64 * MB, GB, 64 * GB])
def test_pieces_grow_with_the_bytes_and_with_nothing_else(memory: int) -> None:
    for size in (MB, GB, 100 * GB, 10_000 * GB, 400_000 * GB):
        shuffle = shuffle_of(plan(memory=memory), inputs(size), "spill")
        assert shuffle.flush_bytes // shuffle.buckets >= 64 << 10
        assert range_bytes(size) * 400_000 >= size


def test_memory_is_what_the_runner_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "machine_memory", lambda: 8 * GB)
    assert memory_for(plan(workers=4), GB) == 2 * GB
    assert memory_for(plan(workers=4), 1) == 8 * GB  # one worker does a small input
    assert memory_for(plan(workers=4, memory=MB), GB) == MB
    for runner in ("flink", "spark", "dataflow", "prism", "DirectRunner"):
        assert memory_for(plan(runner, 4), GB) == GB


def test_this_machine_has_memory() -> None:
    assert 256 * MB < runners.machine_memory() < 1 << 60


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return write_crawl(sample_crawl(), str(tmp_path_factory.mktemp("sample") / "crawl"))


def test_a_small_memory_gives_the_same_bytes(crawl: list[str], tmp_path: Path) -> None:
    for name, options in (("ample", []), ("small", ["--worker-memory", "1M"])):
        assert main(["run", *crawl, "-o", str(tmp_path / name), "--workers", "1", "--analyses",
                     "discovery,overlap", *options]) == 0
    assert digests(tmp_path / "ample") == digests(tmp_path / "small")


def test_the_graph_of_all_analyses_is_small(crawl: list[str], tmp_path: Path) -> None:
    """Steps cost time where they have nothing to do, and groupings buffers of an engine."""
    shown = survey(RunPlan("run", tuple(crawl), str(tmp_path / "out"), Settings()))
    groupings = [step for step in shown.steps if "Shuffle" in step or "Gather" in step]
    assert (len(shown.steps) <= 80, len(groupings) <= 36, len(shown.rounds) <= 22) == (
        True, True, True)


@pytest.mark.parametrize("runner", ["local", "flink", "spark", "dataflow"])
def test_a_dry_run_shows_graph_and_sizes_and_asks_nobody(
    runner: str, crawl: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    config = [] if runner == "local" else ["--config", str(CONFIGS / f"{runner}.yaml")]
    status = main(["run", *crawl, "-o", str(tmp_path / "out"), "--dry-run", "--worker-memory",
                   "512M", "--analyses", "discovery,detection,quilts", *config])
    shown, told = capsys.readouterr()
    assert (status, "do not see this machine" in told) == (
        (2, True) if runner == "dataflow" else (0, False))  # it would be refused
    for words in ("\ngraph: ", "\n  0: ", "read_range", "detect_in_parts", "patch_lists",
                  "part of quilts", "sorted 64M at a time, from files of 16M",
                  f"\nrunner {runner}"):
        assert words in shown
    assert "signature_rows" not in shown
    assert not (tmp_path / "out").exists()
    assert not list(temporary.iterdir())
