"""What each runner needs."""

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib import import_module
from typing import Any

from beam_reuse.plan import RunPlan
from beam_reuse.runners.engine import Engine, pipeline_of, worker_trouble
from beam_reuse.runners.forks import deaths
from beam_reuse.runners.local import make_runner, start_fork_server
from beam_reuse.runners.proxies import go_round_proxies

# Each has a module of its name with `require` and `engine`, which is imported when asked for.
SERVICES = ("flink", "spark", "prism", "dataflow")
ENGINES = ("local", *SERVICES)
# Below this much input, worker processes cost more than they save.
SMALL_INPUT = 32 << 20
# What a worker of a cluster is taken to have: the least that is usual.
CLUSTER_MEMORY = 1 << 30


def require(plan: RunPlan) -> None:
    """Refuse a plan that its runner cannot run, before anything is opened or asked."""
    if plan.runner.lower() in SERVICES:
        _module_of(plan).require(plan)


def prepare(plan: RunPlan) -> None:
    """Start what a run will need, before the caller imports the rest."""
    go_round_proxies()
    if plan.runner != "local":
        return
    lean = "://" not in repr(plan)  # every file is on this machine
    if workers_for(plan, local_bytes(plan.inputs)) > 1:
        start_fork_server(lean)
    if lean:
        import beam_reuse.runners.lean_beam  # noqa: F401


def workers_for(plan: RunPlan, input_bytes: int) -> int:
    """Worker processes of a local run."""
    return 1 if input_bytes < SMALL_INPUT else plan.workers


def memory_for(plan: RunPlan, input_bytes: int) -> int:
    """Bytes of memory of each worker process: as the user says; else, on this machine, its share
    of the machine's; elsewhere CLUSTER_MEMORY."""
    if plan.worker_memory:
        return plan.worker_memory
    if plan.runner.lower() != "local":
        return CLUSTER_MEMORY
    return machine_memory() // workers_for(plan, input_bytes)


def machine_memory() -> int:
    """Bytes of memory this process may use, as far as the system says."""
    known = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError), open(file) as limit:
            known.append(int(limit.read()))
    return min(known)


def local_bytes(inputs: Sequence[str]) -> int:
    """Bytes of the inputs that are plain local files or folders of them, at a glance."""
    paths = [path for spec in inputs for path in glob.glob(spec)]
    inside = [os.path.join(p, name) for p in paths if os.path.isdir(p) for name in os.listdir(p)]
    return sum(os.path.getsize(path) for path in [*paths, *inside] if os.path.isfile(path))


@contextmanager
def _local(plan: RunPlan, input_bytes: int) -> Iterator[Engine]:
    workers = workers_for(plan, input_bytes)
    deaths.clear()
    pipeline = pipeline_of([*plan.beam_args, f"--direct_num_workers={workers}"],
                           make_runner(workers))
    yield Engine(pipeline, lambda _: worker_trouble(deaths))


@contextmanager
def _named(plan: RunPlan) -> Iterator[Engine]:
    """Any runner under Beam's own name for it, with Beam's own defaults."""
    yield Engine(pipeline_of([*plan.beam_args, f"--runner={plan.runner}"]))


def engine_for(plan: RunPlan, input_bytes: int) -> AbstractContextManager[Engine]:
    """The engine the plan names; what it starts ends with the `with`."""
    go_round_proxies()
    name = plan.runner.lower()
    if name == "local":
        return _local(plan, input_bytes)
    found: AbstractContextManager[Engine] = (
        _module_of(plan).engine(plan) if name in SERVICES else _named(plan))
    return found


def _module_of(plan: RunPlan) -> Any:
    """What knows the service that the plan names."""
    return import_module(f"beam_reuse.runners.{plan.runner.lower()}")
