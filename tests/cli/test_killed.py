"""Whole runs, really stopped: what is left is no result, and the next run works."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from beam_reuse.cli.main import main
from beam_reuse.demo.sample import sample_crawl
from beam_reuse.demo.writing import write_crawl
from beam_reuse.io.results.manifest import NoResultError
from beam_reuse.io.results.run_folder import WORK_PREFIX
from beam_reuse.io.results.tables import read, read_manifest

# A small input is read by one process unless asked otherwise.
WITH_WORKERS = ("import beam_reuse.runners as runners; runners.SMALL_INPUT = 0\n"
                "from beam_reuse.cli.main import entry; entry()")


STRIPPING = ("--strip", "boilerplate,frequent-lines")


def start_run(
    tmp_path: Path, workers: int = 1, command: str = "run", options: Sequence[str] = (),
    **how: Any,
) -> subprocess.Popen:
    """A run of the sample crawl in a process of its own (and those of its workers), past the
    start of its work."""
    write_crawl(sample_crawl(), str(tmp_path / "crawl"))
    process = subprocess.Popen(
        [sys.executable, "-c", WITH_WORKERS, command, str(tmp_path / "crawl"),
         "-o", str(tmp_path / "out"), "--workers", str(workers), *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **how,
    )
    while process.poll() is None and not list((tmp_path / "out").glob(WORK_PREFIX + "*")):
        time.sleep(0.05)
    return process


def no_result(folder: Path) -> bool:
    try:
        read_manifest(str(folder))
    except NoResultError:
        return True
    return False


def test_kill_9_leaves_no_result_and_the_next_run_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random()
    for _ in range(2):
        process = start_run(tmp_path)
        time.sleep(rng.uniform(0, 2))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert no_result(tmp_path / "out")
    assert main(["run", str(tmp_path / "crawl"), "-o", str(tmp_path / "out")]) == 0
    assert read(str(tmp_path / "out"), "pages").num_rows == len(sample_crawl().pages)
    assert not [p.name for p in (tmp_path / "out").iterdir() if p.name.startswith(".")]


def test_a_corpus_that_was_killed_is_no_result_and_the_next_one_is_whole(tmp_path: Path) -> None:
    rng = random.Random()
    out = tmp_path / "out"
    for _ in range(3):
        process = start_run(tmp_path, command="clean", options=STRIPPING)
        time.sleep(rng.uniform(0, 6))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if not no_result(out):  # it was done before
            break
        assert not list(out.glob("manifest.json"))
    command = ["clean", str(tmp_path / "crawl"), "-o", str(out), "--overwrite", *STRIPPING]
    assert main(command) == 0
    manifest = read_manifest(str(out))
    assert sorted(path.name for path in (out / "corpus").iterdir()) == [
        part.path.rpartition("/")[2] for part in manifest.shards]
    kept = sum(part.rows for part in manifest.shards)
    what = read(str(out), "removed").column("what").to_pylist()
    assert kept + what.count("page") == len(sample_crawl().pages) and "lines" in what
    assert not [p.name for p in out.iterdir() if p.name.startswith(".")]


DIES_WRITING = """
import os, signal, sys
from beam_reuse.io.labels import compact_writer
copy = compact_writer._Spool.copy_to
def copy_to(spool, target):
    if "known.brl" in target.name.rpartition("/")[2]:
        os.kill(os.getpid(), signal.SIGKILL)
    copy(spool, target)
compact_writer._Spool.copy_to = copy_to
from beam_reuse.cli.main import main
main(sys.argv[1:])
"""


def test_labels_killed_while_writing_leave_nothing_after_the_next(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>a page</p>")
    command = ["labels", str(tmp_path / "a.html"), "-o", str(tmp_path / "known.brl"),
               "--min-chunk-bytes", "1"]
    killed = subprocess.run([sys.executable, "-c", DIES_WRITING, *command], check=False,
                            capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not (tmp_path / "known.brl").exists()
    assert main(command) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "known.brl"]


def test_a_polite_kill_cleans_up_even_where_a_shell_has_switched_ctrl_c_off(
    tmp_path: Path,
) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = start_run(tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "stopped; no result was written" in told
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("ctrl_c_heard")
@pytest.mark.parametrize(("workers", "seconds"), [(1, 0), (1, 0.6), (2, 0.8), (2, 1.4)])
def test_ctrl_c_prints_one_line_and_ends_at_once(
    tmp_path: Path, workers: int, seconds: float,
) -> None:
    """As a terminal does it: the signal goes to all processes of the run. (What workers are
    forked from ends a moment later, when its imports are done.)"""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    # Sockets of workers need shorter names than this folder's.
    place = {"TMPDIR": str(temporary)} if workers == 1 else {}
    process = start_run(tmp_path, workers, start_new_session=True, env={**os.environ, **place})
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    process.wait(timeout=60)
    _, told = process.communicate(timeout=60)
    lines = [line for line in told.splitlines() if not re.match(r"\d+:\d\d  ", line)]
    assert lines == ["beam-reuse: stopped; no result was written."]
    assert process.returncode == 1
    assert not (tmp_path / "out").exists()
    assert not list(temporary.iterdir())


def test_ctrl_c_after_the_result_was_written_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    """Its summary takes a moment, too."""
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "a.html").write_text("<p>words")
    monkeypatch.setattr("beam_reuse.cli.summary.print_summary", stopped)
    out = tmp_path / "out"
    assert main(["run", str(tmp_path / "a.html"), "-o", str(out), "--analyses", "discovery"]) == 1
    assert f"stopped; the result in {out} is whole." in capsys.readouterr().err
    assert not no_result(out)
