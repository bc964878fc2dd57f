"""Where the Python workers of an engine come from."""

import json
import os
import shutil
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from beam_reuse.core.errors import UserError
from beam_reuse.plan import RunPlan

LOOPBACK, PROCESS, EXTERNAL = "LOOPBACK", "PROCESS", "EXTERNAL"
KINDS = (LOOPBACK, PROCESS, EXTERNAL, "DOCKER")
SECONDS = 5
BOOT = "beam-reuse-worker"
_HERE = ("localhost", "127.", "[::1]")


@dataclass(frozen=True)
class PythonWorkers:
    """How Beam finds them, and what is known of those that died. `refused`: what it means if
    an engine says that a connection was refused, '' if that is unknown."""

    arguments: Sequence[str]
    deaths: Sequence[str] = ()
    refused: str = ""


def is_here(address: str) -> bool:
    """Whether an address is one of this machine alone."""
    return address.startswith(_HERE)


def kind_of(plan: RunPlan, portable: Any, cluster: str | None) -> str:
    """The kind of workers for `plan` that `portable`, Beam's options, ask for. By default they are
    forked here as the engine asks for them, if it runs in our job server (`cluster` is None) or on
    this machine; else each machine of the cluster starts its own. UserError if they cannot work."""
    asked = str(portable.environment_type or (
        LOOPBACK if cluster is None or is_here(cluster) else PROCESS))
    if asked not in KINDS and "." not in asked and ":" not in asked:
        raise UserError(f"--environment_type {asked}: there is no such kind of Python workers. Use "
                        f"{', '.join(KINDS)}.")
    if cluster is not None and asked != LOOPBACK:
        require_whole_paths(plan)
    if asked == LOOPBACK and cluster is not None and not is_here(cluster):
        raise UserError(
            f"--environment_type LOOPBACK: workers of this machine cannot serve the cluster at "
            f"{cluster}. Use PROCESS, with beam-reuse installed on all its machines.")
    if asked == EXTERNAL and not (portable.environment_config or portable.environment_options):
        raise UserError("--environment_type EXTERNAL needs the address of the worker pool on each "
                        "machine of the cluster: --environment_config localhost:PORT, after "
                        f"{BOOT} --pool PORT was started there.")
    return asked


@contextmanager
def python_workers(
    plan: RunPlan, portable: Any, cluster: str | None,
) -> Iterator[PythonWorkers]:
    """The workers for `plan`, of the kind that `kind_of` gives."""
    asked = kind_of(plan, portable, cluster)
    is_configured = portable.environment_config or portable.environment_options
    if asked == LOOPBACK:
        from beam_reuse.runners.pool import worker_pool

        with worker_pool() as (address, pool):
            yield PythonWorkers(
                ["--environment_type=EXTERNAL", f"--environment_config={address}"], pool.deaths)
    elif asked == PROCESS and not is_configured:
        config = json.dumps({"command": boot_command()})
        yield PythonWorkers(["--environment_type=PROCESS", f"--environment_config={config}"])
    elif asked == EXTERNAL:
        no_pool = (
            f"--environment_config {portable.environment_config}: no worker pool answers there. "
            f"Start one on every machine of the cluster: {BOOT} --pool PORT")
        if (cluster is None or is_here(cluster)) and is_refused(portable.environment_config or ""):
            raise UserError(no_pool)
        yield PythonWorkers([f"--environment_type={asked}"], refused=no_pool)
    else:
        yield PythonWorkers([f"--environment_type={asked}"])


def is_refused(address: str) -> bool:
    """Whether nobody listens at HOST:PORT."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), SECONDS).close()
    except ConnectionRefusedError:
        return True
    except (OSError, ValueError):  # the engine will say so
        return False
    return False


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
