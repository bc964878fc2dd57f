"""What each runner needs."""

import atexit
import glob
import os
import shutil
from collections.abc import Sequence
from typing import Any

from beam_reuse.plan import RunPlan
from beam_reuse.runners.local import deaths, make_runner, start_fork_server

# Below this much input, worker processes cost more than they save.
SMALL_INPUT = 32 << 20


def prepare(plan: RunPlan) -> None:
    """Start what a run will need, before the caller imports the rest."""
    if plan.runner != "local":
        return
    lean = "://" not in repr(plan)  # every file is on this machine
    if workers_for(plan, _local_bytes(plan.inputs)) > 1:
        start_fork_server(lean)
    if lean:
        import beam_reuse.runners.lean_beam  # noqa: F401


def workers_for(plan: RunPlan, input_bytes: int) -> int:
    """Worker processes of a local run."""
    return 1 if input_bytes < SMALL_INPUT else plan.workers


def _local_bytes(inputs: Sequence[str]) -> int:
    """Bytes of the inputs that are plain local files or folders of them, at a glance."""
    paths = [path for spec in inputs for path in glob.glob(spec)]
    inside = [os.path.join(p, name) for p in paths if os.path.isdir(p) for name in os.listdir(p)]
    return sum(os.path.getsize(path) for path in [*paths, *inside] if os.path.isfile(path))


class WorkerDiedError(RuntimeError):
    """A worker process is gone, so the run is too."""


def run_to_end(pipeline: Any) -> None:
    """Run a pipeline and wait; raises if it fails, naming a dead worker where that was why."""
    deaths.clear()
    try:
        pipeline.run().wait_until_finish()
    except Exception as error:
        if deaths:
            raise WorkerDiedError(
                f"{deaths[0]}; no result was written. Run again, with fewer --workers if "
                "memory is short."
            ) from error
        raise


def pipeline_for(plan: RunPlan, input_bytes: int) -> Any:
    """A Beam pipeline on the runner the plan names."""
    from beam_reuse.runners.quick_graphs import Options, quicken

    quicken()
    if plan.runner == "local":
        workers = workers_for(plan, input_bytes)
        options = Options([*plan.beam_args, f"--direct_num_workers={workers}"])
        return _pipeline(runner=make_runner(workers), options=options)
    return _pipeline(options=Options([*plan.beam_args, f"--runner={plan.runner}"]))


def _pipeline(**how: Any) -> Any:
    """A Beam pipeline whose temporary folder is gone at the end even if it is stopped."""
    import apache_beam as beam

    pipeline = beam.Pipeline(**how)
    atexit.register(shutil.rmtree, pipeline.local_tempdir, ignore_errors=True)
    return pipeline
