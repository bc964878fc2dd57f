"""What a run will lack, as far as that is plain before it starts. `estimate` knows more."""

import os
import shutil
from collections.abc import Iterator

from beam_reuse.core.wording import megabytes
from beam_reuse.io.files import is_local
from beam_reuse.plan import RunPlan
from beam_reuse.runners import local_bytes, machine_memory, workers_for

# Bytes on disk for each byte of input, measured with all analyses: of compressed files, of others.
DISK = {True: 18, False: 3}
COMPRESSED = (".gz", ".zst", ".parquet")
# Who writes less finds out soon enough.
LEAST_DISK = 64 << 20
# The least that a worker process takes, whatever its limit.
LEAST_MEMORY = 300 << 20


def shortages(plan: RunPlan) -> Iterator[str]:
    """Warnings, for runs on this machine: a disk that is likely to run full, and workers that have
    more memory than the machine."""
    if plan.runner.lower() != "local":
        return
    size = local_bytes(plan.inputs)
    if is_local(plan.output) and size:
        compressed = any(path.rstrip("*").endswith(COMPRESSED) for path in plan.inputs)
        needed, free = DISK[compressed] * size, _free(plan.output)
        if needed > max(free, LEAST_DISK):
            yield (f"warning: about {megabytes(needed)} may be written below {plan.output}, and "
                   f"{megabytes(free)} are free there. `beam-reuse estimate` says more; "
                   "--analyses with fewer needs less.")
    workers = workers_for(plan, size)
    memory = workers * max(plan.worker_memory, LEAST_MEMORY)
    if memory > machine_memory():
        yield (f"warning: {workers} workers may take {megabytes(memory)} of memory, and this "
               f"machine has {megabytes(machine_memory())}. Give fewer --workers, or less "
               "--worker-memory.")


def _free(path: str) -> int:
    """The bytes that are free where a folder is, or will be."""
    above = os.path.abspath(path)
    while not os.path.exists(above):
        above = os.path.dirname(above)
    return shutil.disk_usage(above).free
