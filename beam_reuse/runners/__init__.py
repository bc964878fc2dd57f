"""What each runner needs."""

from typing import Any

from beam_reuse.plan import RunPlan
from beam_reuse.runners.local import make_runner

# Below this much input, worker processes cost more than they save.
SMALL_INPUT = 32 << 20


def pipeline_for(plan: RunPlan, input_bytes: int) -> Any:
    """A Beam pipeline on the runner the plan names."""
    import apache_beam as beam

    from beam_reuse.runners.quick_graphs import Options, remember_dofn_specs

    remember_dofn_specs()
    if plan.runner == "local":
        workers = 1 if input_bytes < SMALL_INPUT else plan.workers
        options = Options([*plan.beam_args, f"--direct_num_workers={workers}"])
        return beam.Pipeline(runner=make_runner(workers), options=options)
    return beam.Pipeline(options=Options([*plan.beam_args, f"--runner={plan.runner}"]))
