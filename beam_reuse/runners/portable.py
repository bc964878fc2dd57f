"""What all engines behind a job server of Beam have in common."""

import re
from collections.abc import Callable, Mapping, Sequence

from beam_reuse.plan import RunPlan
from beam_reuse.runners.engine import Engine, pipeline_of, worker_trouble
from beam_reuse.runners.job_server import JobServer
from beam_reuse.runners.python_workers import PythonWorkers

# Else an engine ends its workers whenever no task needs one, and starts others for the next. A
# Flink session cluster does so all the same.
KEPT = "--environment_cache_millis=60000"
# Else Beam asks pip what is installed here, for a log that nobody sees.
UNASKED = "--experiments=disable_logging_submission_environment"
# What is before the words that matter when a job server reports a failure.
_BEFORE = re.compile(
    r"(Pipeline \S+ failed in state \w+: )?((?:[\w$]+\.)+\w+(?:Exception|Error): )*")


class EngineError(RuntimeError):
    """The run failed on the engine; the message has what a user can do with."""


def words_of(error: Exception) -> str:
    """What a job server says of a failure, without the names of Java's classes before it."""
    text = str(error)
    before = _BEFORE.match(text)
    return text[before.end() :] if before else text


def remedy(error: Exception, remedies: Mapping[str, str]) -> str | None:
    """The remedy for what an error says, by words in it; None if there is none."""
    return next((told for said, told in remedies.items() if said in str(error)), None)


def portable_engine(
    plan: RunPlan, defaults: Sequence[str], workers: PythonWorkers, server: JobServer | None,
    explained: Callable[[Exception], str] = words_of,
    tasks: Callable[[], tuple[int, int] | None] | None = None, name: str = "",
    takes_fused: bool = True, waits: Callable[[], str] | None = None,
) -> Engine:
    """An engine to which graphs are handed through `server`; None if the user has named one of his
    own. The user's own options of Beam override `defaults`. `explained` says why a run failed where
    nothing of ours has died; the job is called `name`, if given. `takes_fused`: whether the engine
    understands a graph whose steps Beam has fused."""

    def trouble(error: Exception) -> None:
        worker_trouble(workers.deaths)
        if server is not None:
            server.check()
        if workers.refused and "Connection refused" in str(error):
            raise EngineError(workers.refused) from error
        raise EngineError(explained(error)) from error

    fused = fused_here(plan.beam_args) if takes_fused else []
    pipeline = pipeline_of([
        *defaults, KEPT, UNASKED, *plan.beam_args, *fused, *workers.arguments,
        *([f"--job_endpoint={server.endpoint}"] if server else []),
        *([f"--job_name={name}"] if name else []), "--runner=PortableRunner",
    ])
    return Engine(pipeline, trouble, is_remote=True, tasks=tasks, waits=waits)


def fused_here(arguments: Sequence[str]) -> list[str]:
    """Options by which Beam fuses the graph before it hands it to a job server, which takes far
    longer for it: 4 s instead of 14 s for all analyses, and 3 s instead of 16 s in Flink's
    planner."""
    told = any("pre_optimize" in argument for argument in arguments)
    return [] if told else ["--experiments=pre_optimize=all"]
