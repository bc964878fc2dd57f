"""Progress: workers report, the monitor shows; in a pipe as plain lines."""

import io
import json
import threading
import time
from pathlib import Path

import pytest

from beam_reuse.cli import progress
from beam_reuse.cli.progress import Pace, ProgressMonitor, clock, progress_line
from beam_reuse.core.wording import megabytes
from beam_reuse.io.results import reporting
from beam_reuse.io.results.reporting import ProgressReporter, ReadSoFar, read_figures


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "LOCAL_SECONDS", 0.0)
    monkeypatch.setattr(progress._PlainLines, "seconds", 0.02)


def test_threads_of_a_process_add_up(tmp_path: Path) -> None:
    reporter = ProgressReporter(str(tmp_path))

    def work() -> None:
        for _ in range(50):
            reporter.update(bytes=2, records=1, stage="reading")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reporter.update(stage="writing")
    figures = read_figures(str(tmp_path))
    assert (figures.bytes, figures.records, figures.stage) == (400, 200, "writing")


def test_files_of_several_processes_add_up_and_broken_ones_are_ignored(tmp_path: Path) -> None:
    for pid, at in ((1, 5.0), (2, 9.0), (3, 7.0)):
        told = {"bytes": 10 * pid, "records": pid, "stage": f"stage {pid}", "at": at}
        (tmp_path / f"host-{pid}.json").write_text(json.dumps(told))
    (tmp_path / "host-4.json").write_text("{")
    figures = read_figures(str(tmp_path))
    assert (figures.bytes, figures.records, figures.stage) == (60, 6, "stage 2")


def test_reports_are_throttled_but_what_waits_can_be_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reporting, "LOCAL_SECONDS", 60.0)
    reporter = ProgressReporter(str(tmp_path))
    for _ in range(10_000):
        reporter.update(bytes=1)
    assert read_figures(str(tmp_path)).bytes == 1
    reporter.flush()
    assert read_figures(str(tmp_path)).bytes == 10_000


def test_the_last_report_is_shown_when_it_is_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporting, "LOCAL_SECONDS", 0.1)
    for _ in range(10):
        ProgressReporter(str(tmp_path)).update(bytes=1)
    time.sleep(0.3)
    assert read_figures(str(tmp_path)).bytes == 10


def test_reporting_after_the_run_folder_is_gone_does_no_harm(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    ProgressReporter(str(gone)).update(bytes=1)
    assert not gone.exists()


def test_plain_lines_when_not_a_terminal(tmp_path: Path) -> None:
    out = io.StringIO()
    with ProgressMonitor(str(tmp_path), out) as monitor:
        monitor.expect(4_000_000)
        for _ in range(2):
            ProgressReporter(str(tmp_path)).update(500_000, 125, "reading")
            time.sleep(0.3)
    lines = out.getvalue().splitlines()
    assert any("reading, 1.0 MB of 4.0 MB (25%), 250 records, about 0:0" in x for x in lines)
    assert "\x1b" not in out.getvalue()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_in_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress._Terminal, "seconds", 0.02)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "140")
    out = Terminal()
    with ProgressMonitor(str(tmp_path), out) as monitor:
        monitor.stage("starting workers")
        time.sleep(0.2)
        monitor.expect(2_000)
        ProgressReporter(str(tmp_path)).update(1_000, 3, "reading")
        time.sleep(0.4)
    assert "starting workers" in out.getvalue()
    assert "1.0 kB of 2.0 kB (50%), 3 records" in out.getvalue()


@pytest.mark.parametrize(
    ("figures", "total", "left", "line"),
    [
        (ReadSoFar(), 0, None, "starting"),
        (ReadSoFar(0, 0, "listing"), 10, None, "listing"),
        (ReadSoFar(500, 2, "reading"), 0, None, "reading, 500 B, 2 records"),
        (ReadSoFar(500, 2, "reading"), 1000, 60.0,
         "reading, 500 B of 1.0 kB (50%), 2 records, about 1:00 left to read"),
        (ReadSoFar(1000, 4, "sorting"), 1000, None, "sorting, 1.0 kB of 1.0 kB (100%), 4 records"),
    ],
)
def test_what_a_line_says(figures: ReadSoFar, total: int, left: float | None, line: str) -> None:
    assert progress_line(figures, total, left) == line


def test_an_engines_tasks_are_told() -> None:
    assert progress_line(ReadSoFar(500, 2, "reading"), 0, None, 7, 1316) == (
        "reading, 500 B, 2 records, 7 of 1,316 tasks done")


def test_the_time_left_follows_from_the_pace_since_the_first_bytes() -> None:
    pace = Pace()
    assert pace.left(0, 1000, 3.0) is None
    assert pace.left(100, 1000, 50.0) is None
    assert pace.left(100, 1000, 51.0) is None
    assert pace.left(300, 1000, 54.0) == 4.0 * 700 / 200
    assert pace.left(1000, 1000, 60.0) is None


def test_numbers_for_people() -> None:
    assert [megabytes(n) for n in (999, 1e3, 2.5e6, 3e9)] == ["999 B", "1.0 kB", "2.5 MB", "3.0 GB"]
    assert [clock(s) for s in (5, 65, 3725)] == ["0:05", "1:05", "1:02:05"]
