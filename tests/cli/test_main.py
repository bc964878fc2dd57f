"""`main(argv)` from command line to published folder, with a pipeline of a few lines."""

import hashlib
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import beam_reuse
from beam_reuse.cli.main import main, short_message
from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.io.results.manifest import Accounting, Part, RunOutcome
from beam_reuse.io.results.run_folder import ResultFolder, Workspace
from beam_reuse.io.results.table_writer import write_parquet
from beam_reuse.io.results.tables import REJECTS, read
from beam_reuse.plan import RunPlan, RunProgress, Sizes, Survey

Run = Callable[[RunPlan, Workspace, RunProgress], RunOutcome]


SIZES = Sizes(4_000_000_000, 3, 16, 128 << 20, 32 << 20)


class FakePipeline(ModuleType):
    """Writes one `rejects` table; remembers the plan. `fate` may fail instead."""

    def __init__(self) -> None:
        super().__init__("beam_reuse.pipeline")
        self.plans: list[RunPlan] = []
        self.accounting = Accounting(10, 7, {"status": 2}, {"truncated": 1})
        self.fate: Callable[[], None] = lambda: None

    def run(self, plan: RunPlan, work: Workspace, progress: RunProgress) -> RunOutcome:
        self.plans.append(plan)
        progress.expect(100)
        progress.stage("reading")
        self.fate()
        words = {n: VarBytes.from_list([n.encode()]) for n in ("file", "url", "reason", "detail")}
        content = io.BytesIO()
        block = Block({**words, "offset": np.array([5])})
        write_parquet(content, REJECTS, [block])
        path = "rejects/part-00000-of-00001.parquet"
        target = Path(work.tables, path)
        target.parent.mkdir(parents=True)
        target.write_bytes(content.getvalue())
        digest = hashlib.sha256(content.getvalue()).hexdigest()
        return RunOutcome(self.accounting, (Part("rejects", path, 1, digest),), 3_000_000)

    def survey(self, plan: RunPlan) -> Survey:
        self.plans.append(plan)
        steps = ("Rows for 1", "Shuffle 1", "Round 1", "Gather values 1") * 20
        return Survey(tuple((f"in-{i}", 10) for i in range(12)), steps, SIZES,
                      (("read_range",), ("places", "postings")))


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> FakePipeline:
    fake = FakePipeline()
    monkeypatch.setitem(sys.modules, "beam_reuse.pipeline", fake)
    monkeypatch.setattr(beam_reuse, "pipeline", fake, raising=False)
    return fake


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def test_a_run_publishes_tables_manifest_and_run_info(
    pipeline: FakePipeline, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "a", "b", "-o", str(out), "--top", "5", "--project=p"]) == 0
    assert read(str(out), "rejects").num_rows == 1
    plan = pipeline.plans[0]
    assert (plan.inputs, plan.settings.discovery.top) == (("a", "b"), 5)
    assert (plan.runner, plan.beam_args) == ("local", ("--project=p",))
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["kind"] == "result"
    assert manifest["settings"]["top"] == 5
    assert manifest["accounting"] == {
        "records": 10, "pages": 7, "skipped": {"status": 2}, "rejected": {"truncated": 1},
    }
    assert str(out) not in (out / "manifest.json").read_text()
    info = json.loads((out / "run.json").read_text())
    assert info["command"][:2] == ["beam-reuse", "run"] and info["directory"] == os.getcwd()
    assert set(info["versions"]) >= {"beam-reuse", "python", "apache-beam", "pyarrow"}
    shown = capsys.readouterr().out
    for words in ("records 10", "pages 7", "status 2", "truncated 1", "rejects 1", "3.0 MB"):
        assert words in " ".join(shown.split())
    assert sorted(p.name for p in out.iterdir()) == [
        "manifest.json", "rejects", "report.html", "run.json"]


def test_the_manifest_does_not_know_where_or_how_it_was_made(
    pipeline: FakePipeline, tmp_path: Path
) -> None:
    assert main(["run", "a", "-o", str(tmp_path / "one"), "--workers", "1"]) == 0
    assert main(["run", "b", "-o", str(tmp_path / "two"), "--runner", "FlinkRunner"]) == 0
    one, two = ((tmp_path / n / "manifest.json").read_bytes() for n in ("one", "two"))
    assert one == two


def test_an_index_says_that_it_is_one(pipeline: FakePipeline, out: Path) -> None:
    assert main(["index", "a", "-o", str(out)]) == 0
    assert pipeline.plans[0].command == "index"
    assert json.loads((out / "manifest.json").read_text())["kind"] == "index"


def failed(capsys: pytest.CaptureFixture[str]) -> str:
    """What a failed command printed: nothing on stdout, a short message and no traceback."""
    shown = capsys.readouterr()
    assert not shown.out
    assert "Traceback" not in shown.err
    assert shown.err.startswith("beam-reuse: ")
    assert shown.err.strip().count("\n") <= 1
    return shown.err


def test_a_result_is_replaced_only_when_told(
    pipeline: FakePipeline, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "a", "-o", str(out)]) == 0
    capsys.readouterr()
    assert main(["run", "a", "-o", str(out)]) == 2
    assert "--overwrite" in failed(capsys)
    assert main(["run", "a", "-o", str(out), "--top", "3", "--overwrite"]) == 0
    assert json.loads((out / "manifest.json").read_text())["settings"]["top"] == 3


def test_someone_elses_folder_is_not_touched(
    pipeline: FakePipeline, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    assert main(["run", "a", "-o", str(out), "--overwrite"]) == 2
    assert "thesis.txt" in failed(capsys)
    assert [p.name for p in out.iterdir()] == ["thesis.txt"]
    assert not pipeline.plans


def test_too_many_rejects_fail_the_run_and_leave_no_result(
    pipeline: FakePipeline, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "a", "-o", str(out), "--max-rejects", "0.05"]) == 1
    told = failed(capsys)
    assert "1 of 10 records were rejected (truncated 1)" in told
    assert "file at 5: reason (detail)" in told
    assert "raise --max-rejects" in told
    assert not out.exists()


def test_rejects_up_to_the_limit_are_fine(pipeline: FakePipeline, out: Path) -> None:
    assert main(["run", "a", "-o", str(out), "--max-rejects", "0.1"]) == 0


def test_a_failure_is_told_in_two_lines_and_leaves_nothing(
    pipeline: FakePipeline, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise OSError("the disk is full")

    pipeline.fate = fail
    assert main(["run", "a", "-o", str(out)]) == 1
    assert "the disk is full\nRun again with --debug" in failed(capsys)
    assert not out.exists()


def test_debug_shows_the_traceback(
    pipeline: FakePipeline, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise OSError("the disk is full")

    pipeline.fate = fail
    assert main(["--debug", "run", "a", "-o", str(out)]) == 1
    assert "in fail" in capsys.readouterr().err


def test_ctrl_c_leaves_nothing(
    pipeline: FakePipeline, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    pipeline.fate = stop
    assert main(["run", "a", "-o", str(out)]) == 1
    assert "stopped" in failed(capsys)
    assert not out.exists()


def test_a_failed_overwrite_keeps_the_old_result(pipeline: FakePipeline, out: Path) -> None:
    assert main(["run", "a", "-o", str(out)]) == 0
    before = (out / "manifest.json").read_bytes()
    assert main(["run", "a", "-o", str(out), "--overwrite", "--max-rejects", "0"]) == 1
    assert (out / "manifest.json").read_bytes() == before
    assert read(str(out), "rejects").num_rows == 1


def test_a_dry_run_shows_the_plan_and_writes_nothing(
    pipeline: FakePipeline, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "a", "-o", str(out), "--dry-run", "--top", "4"]) == 0
    shown = capsys.readouterr().out
    for words in ("12 input files", "in-0", "2 more", "top: 4", "max-record-bytes: 64M",
                  "classic: false", "graph: 80 steps, 40 of them groupings, in 2 rounds:\n"
                  "  0: read_range\n  1: places, postings\n",
                  "3 ranges", "16 buckets, sorted 128M at a time, from files of 32M; memory of a "
                  "worker 4.0 GB", "nothing was written"):
        assert words in shown
    assert not out.exists()


@pytest.mark.parametrize(("options", "told"), [
    (["--flink_master", "localhost:8081"],
     "--flink_master is an option of flink, and this run would be a local one. Add --runner flink"),
    (["--runner", "flink", "--flink_master", "flink.example:8081"], "Give the whole path"),
    (["--runner", "spark", "--spark_master_url", "spark://s:7077", "--environment_type",
      "LOOPBACK"], "cannot serve the cluster at s:7077"),
    (["--runner", "dataflow"], "workers of --runner dataflow do not see this machine"),
])
@pytest.mark.parametrize("dry", [["--dry-run"], []])
def test_what_its_runner_cannot_run_is_refused(
    pipeline: FakePipeline, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], dry: list[str], options: list[str], told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "a", "-o", "out", *dry, *options]) == 2
    assert told in capsys.readouterr().err
    assert not Path("out").exists()


def test_options_of_an_engine_do_no_harm_where_another_is_asked_for(
    pipeline: FakePipeline, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A config for a cluster may be tried locally."""
    given = ["--flink_master", "localhost:8081", "--runner", "local", "--dry-run"]
    assert main(["run", "a", "-o", str(out), *given]) == 0
    assert "options of Beam: --flink_master localhost:8081\n" in capsys.readouterr().out


def test_one_file_is_not_files(
    pipeline: FakePipeline, out: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(pipeline, "survey", lambda plan: Survey(
        (("in", 10),), ("Counts",), SIZES, (("a",),)))
    assert main(["run", "a", "-o", str(out), "--dry-run", "--workers", "1"]) == 0
    shown = capsys.readouterr().out
    assert "1 input file," in shown and "graph: 1 step, 0 of them groupings, in 1 round:" in shown
    assert "runner local, 1 worker;" in shown


def test_a_dry_run_checks_the_output_folder(
    pipeline: FakePipeline, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "a", "-o", str(out)]) == 0
    capsys.readouterr()
    assert main(["run", "a", "-o", str(out), "--dry-run"]) == 2
    assert "--overwrite" in failed(capsys)
    below_a_file = str(out / "manifest.json" / "x")
    assert main(["run", "a", "-o", below_a_file, "--dry-run"]) == 2
    assert "manifest.json is a file, not a folder" in failed(capsys)
    with ResultFolder(str(out), True):
        assert main(["run", "a", "-o", str(out), "--dry-run", "--overwrite"]) == 2
    assert "another run is writing" in failed(capsys)


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["run", "a"], "-o DIR"),
        (["run", "-o", "x"], "INPUT"),
        (["run", "a", "-o", "x", "--workers", "0"], "--workers"),
        (["run", "a", "-o", "x", "--max-rejects", "2"], "--max-rejects"),
        (["run", "a", "-o", "x", "--max-record-bytes", "5"], "--max-record-bytes"),
        (["nun"], "run"),
    ],
)
def test_wrong_usage_is_exit_status_2(
    argv: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    assert told in failed(capsys)


def test_beams_long_messages_are_cut_to_their_gist() -> None:
    worker = RuntimeError(
        "Error received from SDK harness: Traceback (most recent call last):\n"
        '  File "x.py", line 3, in process\n    boom()\n'
        "beam_reuse.columnar.store.StoreError: spill file f is damaged at offset 3\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n"
        '  File "y.py", line 9, in run\n    again()\n'
        "OSError: spill file f is damaged at offset 3 [while running 'Write']\n"
    )
    gist = "OSError: spill file f is damaged at offset 3"
    assert short_message(worker) == gist
    ours = RuntimeError(str(worker).split("\n\n")[0])
    assert short_message(ours) == "spill file f is damaged at offset 3"
    assert short_message(ValueError()) == "ValueError"
    for line in ("MemoryError", "MemoryError: in 'places'", "pyarrow.lib.ArrowMemoryError: malloc",
                 "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 3 GiB"):
        ended = RuntimeError(f"Traceback (most recent call last):\n  File 'x'\n{line}\n")
        assert "--worker-memory" in short_message(ended)
    assert "--worker-memory" in short_message(MemoryError())
    assert "--worker-memory" not in short_message(ValueError("no MemoryError: a value"))
    assert short_message(OSError(28, "No space left on device", "f")) == (
        "No space left on device: 'f'")
