"""A graph's engine: a pipeline to build on, and how to run it to its end."""

import atexit
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from beam_reuse.plan import RunProgress

SECONDS_BETWEEN_LOOKS = 2.0


class WorkerDiedError(RuntimeError):
    """A worker process is gone, so the run is too."""


def nothing_known(_: Exception) -> None:
    """No trouble is known but the error itself."""


@dataclass(frozen=True)
class Engine:
    """A Beam pipeline, on which a graph is built, and the runner that it is for.

    `trouble` is given the error of a run that failed, and raises what the user should read if it
    knows better. `is_remote`: the run goes on elsewhere, and is to be cancelled when it is given
    up. `tasks` gives how many tasks of the engine are done, and of how many, None if unknown;
    `waits` what the run waits for, '' if for nothing.
    """

    pipeline: Any
    trouble: Callable[[Exception], None] = nothing_known
    is_remote: bool = False
    tasks: Callable[[], tuple[int, int] | None] | None = None
    waits: Callable[[], str] | None = None

    def run(self, progress: RunProgress) -> None:
        """Run the graph and wait for its end; raises if it fails."""
        try:
            with self._told(progress):
                self._run()
        except Exception as error:
            self.trouble(error)
            raise

    def launch(self) -> None:
        """Hand the graph over to be run without us."""
        self.pipeline.run()

    def _run(self) -> None:
        with self._temporary_files():
            result = self.pipeline.run()
        try:
            result.wait_until_finish()
        except BaseException:
            if self.is_remote:
                with suppress(Exception):
                    result.cancel()
            raise

    @contextmanager
    def _temporary_files(self) -> Iterator[None]:
        """What Beam makes while it hands a graph over, and forgets, is in a folder that will be
        removed. A graph that runs here takes as long as the run, whose files go elsewhere."""
        before = tempfile.tempdir
        if self.is_remote:
            tempfile.tempdir = self.pipeline.local_tempdir
        try:
            yield
        finally:
            tempfile.tempdir = before

    @contextmanager
    def _told(self, progress: RunProgress) -> Iterator[None]:
        """While the run goes on, `progress` gets the engine's tasks now and then."""
        done = threading.Event()

        def look() -> None:
            while not done.wait(SECONDS_BETWEEN_LOOKS):
                with suppress(Exception):  # for the display alone
                    if self.tasks is not None and (tasks := self.tasks()):
                        progress.tasks(*tasks)
                    if self.waits is not None and (reason := self.waits()):
                        progress.stage(reason)

        if self.tasks is not None:
            threading.Thread(target=look, name="tasks", daemon=True).start()
        try:
            yield
        finally:
            done.set()


def worker_trouble(deaths: Sequence[str]) -> None:
    """Raise if a worker process has died."""
    if deaths:
        raise WorkerDiedError(f"{deaths[0]}; no result was written. Run again, with fewer "
                              "--workers if memory is short.")


def pipeline_of(arguments: Sequence[str], runner: Any = None) -> Any:
    """A pipeline with these options of Beam, whose graph is built quickly, and whose temporary
    folder is gone at the end even if it is stopped."""
    import apache_beam as beam

    from beam_reuse.runners.quick_graphs import Options, quicken

    quicken()
    pipeline = beam.Pipeline(runner=runner, options=Options(list(arguments)))
    atexit.register(shutil.rmtree, pipeline.local_tempdir, ignore_errors=True)
    return pipeline
