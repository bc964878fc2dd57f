"""A graph's engine: a pipeline to build on, and how to run it to its end."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any


class WorkerDiedError(RuntimeError):
    """A worker process is gone, so the run is too."""


class EngineError(RuntimeError):
    """The engine failed in a way that it cannot tell well itself."""


def nothing_known() -> None:
    """No trouble."""


@dataclass(frozen=True)
class Engine:
    """A Beam pipeline, on which a graph is built, and the runner that it is for.

    `trouble` raises what the user should read if it knows better than the runner why a run
    failed. `is_remote`: the run goes on elsewhere, and is to be cancelled when it is given up.
    """

    pipeline: Any
    trouble: Callable[[], None] = nothing_known
    is_remote: bool = False

    def run(self) -> None:
        """Run the graph and wait for its end; raises if it fails."""
        try:
            result = self.pipeline.run()
            try:
                result.wait_until_finish()
            except BaseException:
                if self.is_remote:
                    with suppress(Exception):
                        result.cancel()
                raise
        except Exception:
            self.trouble()
            raise


def worker_trouble(deaths: Sequence[str]) -> None:
    """Raise if a worker process has died."""
    if deaths:
        raise WorkerDiedError(f"{deaths[0]}; no result was written. Run again, with fewer "
                              "--workers if memory is short.")


def fused_here(arguments: Sequence[str]) -> list[str]:
    """Options by which Beam fuses the graph before it hands it to a job server, which takes far
    longer for it: 4 s instead of 14 s for all analyses, and 3 s instead of 16 s in Flink's
    planner."""
    told = any("pre_optimize" in argument for argument in arguments)
    return [] if told else ["--experiments=pre_optimize=all"]


def pipeline_of(arguments: Sequence[str], runner: Any = None) -> Any:
    """A pipeline with these options of Beam, whose graph is built quickly."""
    import apache_beam as beam

    from beam_reuse.runners.quick_graphs import Options, quicken

    quicken()
    return beam.Pipeline(runner=runner, options=Options(list(arguments)))
