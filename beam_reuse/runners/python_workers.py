"""Where the Python workers of an engine come from."""

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from beam_reuse.core.errors import UserError
from beam_reuse.plan import RunPlan

LOOPBACK, PROCESS, EXTERNAL = "LOOPBACK", "PROCESS", "EXTERNAL"
BOOT = "beam-reuse-worker"
_HERE = ("localhost", "127.", "[::1]")


@dataclass(frozen=True)
class PythonWorkers:
    """How Beam is told of them, and what is known of those that died."""

    arguments: Sequence[str]
    deaths: Sequence[str] = ()


def is_here(address: str) -> bool:
    """Whether an address is one of this machine alone."""
    return address.startswith(_HERE)


@contextmanager
def python_workers(
    plan: RunPlan, portable: Any, cluster: str | None,
) -> Iterator[PythonWorkers]:
    """The workers for `plan` that `portable`, Beam's options, ask for. By default they are forked
    here as the engine asks for them, if it runs in our job server (`cluster` is None) or on this
    machine; else each machine of the cluster starts its own."""
    asked = portable.environment_type or (
        LOOPBACK if cluster is None or is_here(cluster) else PROCESS)
    if cluster is not None and asked != LOOPBACK:
        require_whole_paths(plan)
    is_configured = portable.environment_config or portable.environment_options
    if asked == LOOPBACK:
        if cluster is not None and not is_here(cluster):
            raise UserError(
                f"--environment_type LOOPBACK: workers of this machine cannot serve the cluster at "
                f"{cluster}. Use PROCESS, with beam-reuse installed on all its machines.")
        from beam_reuse.runners.pool import worker_pool

        with worker_pool() as (address, pool):
            yield PythonWorkers(
                ["--environment_type=EXTERNAL", f"--environment_config={address}"], pool.deaths)
    elif asked == PROCESS and not is_configured:
        config = json.dumps({"command": boot_command()})
        yield PythonWorkers(["--environment_type=PROCESS", f"--environment_config={config}"])
    elif asked == EXTERNAL and not is_configured:
        raise UserError("--environment_type EXTERNAL needs the address of the worker pool on each "
                        "machine of the cluster: --environment_config localhost:PORT, after "
                        f"{BOOT} --pool PORT was started there.")
    else:
        yield PythonWorkers([f"--environment_type={asked}"])


def require_whole_paths(plan: RunPlan) -> None:
    """Refuse paths that mean something else where workers start, which is not this folder."""
    for option, path in plan.places:
        if "://" not in path and not os.path.isabs(path):
            raise UserError(f"{option} {path}: workers of a cluster do not start in this folder. "
                            f"Give the whole path: {os.path.abspath(path)}")


def boot_command() -> str:
    """The program that starts a worker, at the same place on every machine."""
    beside = os.path.join(os.path.dirname(sys.executable), BOOT)
    found = beside if os.path.exists(beside) else shutil.which(BOOT)
    if found is None:
        raise UserError(
            f"--environment_type PROCESS: there is no {BOOT} beside {sys.executable}. Install "
            "beam-reuse with pip on every machine of the cluster, or name the program with "
            """--environment_config '{"command": "/path/to/""" + BOOT + """"}'.""")
    return found
