"""What a user sees while a run goes on: a bar in a terminal, plain lines elsewhere."""

import sys
import threading
import time
from typing import TextIO

from beam_reuse.core.wording import megabytes
from beam_reuse.io.files import is_local
from beam_reuse.io.results.reporting import ReadSoFar, read_figures

TERMINAL_SECONDS = 0.5
PLAIN_SECONDS = 5.0
REMOTE_SECONDS = 15.0


class ProgressMonitor:
    """`with ProgressMonitor(folder) as progress:` shows what workers report below `folder`.

    The pipeline calls `expect` and `stage` (see `plan.RunProgress`).
    """

    def __init__(self, folder: str, out: TextIO | None = None) -> None:
        self._folder = folder
        self._out = out or sys.stderr
        self._display = display_on(self._out)
        self._total = 0
        self._tasks = (0, 0)
        self._stage, self._stage_since = "", 0.0
        self._started = time.monotonic()
        self._pace = Pace()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="progress", daemon=True)

    def expect(self, total_bytes: int) -> None:
        self._total = total_bytes

    def stage(self, name: str) -> None:
        self._stage, self._stage_since = name, time.time()

    def tasks(self, done: int, total: int) -> None:
        self._tasks = (done, total)

    def __enter__(self) -> "ProgressMonitor":
        self._display.open()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._display.close()

    def _watch(self) -> None:
        seconds = self._display.seconds if is_local(self._folder) else REMOTE_SECONDS
        while not self._done.wait(seconds):
            figures = read_figures(self._folder)
            if self._stage_since > figures.at or not figures.stage:
                figures.stage = self._stage
            figures.bytes = min(figures.bytes, self._total or figures.bytes)
            now = time.monotonic()
            left = self._pace.left(figures.bytes, self._total, now)
            line = progress_line(figures, self._total, left, *self._tasks)
            self._display.show(line, figures.bytes, self._total, now - self._started)


class Pace:
    """How fast bytes are read, from the first report of any on: start-up does not count."""

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None

    def left(self, done: int, total: int, now: float) -> float | None:
        """Seconds until `total` is read; None while unknown, or when all is read."""
        if not done:
            return None
        first, before = self._first = self._first or (now, done)
        if done == before or done >= total:
            return None
        return (now - first) * (total - done) / (done - before)


class _PlainLines:
    """A line every few seconds, only when something has changed."""

    seconds = PLAIN_SECONDS

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._last = ""

    def open(self) -> None: ...

    def show(self, line: str, done: int, total: int, elapsed: float) -> None:
        if line != self._last:
            print(f"{clock(elapsed)}  {line}", file=self._out, flush=True)
        self._last = line

    def close(self) -> None: ...


class _Terminal:
    """A bar that is redrawn, and gone when the run ends."""

    seconds = TERMINAL_SECONDS

    def __init__(self, out: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._progress = Progress(
            TextColumn("[bold]{task.fields[elapsed]}"),
            BarColumn(bar_width=24),
            TextColumn("{task.description}"),
            console=Console(file=out),
            transient=True,
        )
        self._task = self._progress.add_task("starting", total=None, elapsed="0:00")

    def open(self) -> None:
        self._progress.start()

    def show(self, line: str, done: int, total: int, elapsed: float) -> None:
        reading = 0 < done < total
        self._progress.update(
            self._task,
            total=total if reading else None,
            completed=done if reading else 0,
            description=line,
            elapsed=clock(elapsed),
        )

    def close(self) -> None:
        self._progress.stop()


def display_on(out: TextIO) -> _PlainLines | _Terminal:
    """What shows progress there: a bar in a terminal, plain lines elsewhere."""
    return _Terminal(out) if out.isatty() else _PlainLines(out)


def progress_line(
    figures: ReadSoFar, total: int, left: float | None, tasks: int = 0, all_tasks: int = 0,
) -> str:
    """Stage, bytes, records, the engine's tasks and the time left, as far as they are known."""
    words = [figures.stage or "starting"]
    if figures.bytes and total:
        share = figures.bytes / total
        words.append(f"{megabytes(figures.bytes)} of {megabytes(total)} ({share:.0%})")
    elif figures.bytes:
        words.append(megabytes(figures.bytes))
    if figures.records:
        words.append(f"{figures.records:,} records")
    if all_tasks:
        words.append(f"{tasks:,} of {all_tasks:,} tasks done")
    if left is not None:
        words.append(f"about {clock(left)} left to read")
    return ", ".join(words)


def clock(seconds: float) -> str:
    """Seconds as h:mm:ss, or m:ss below an hour."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
