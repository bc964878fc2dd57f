"""What a driver and the workers that it forks share."""

import contextlib
import ctypes

FORKED_WORKER = "beam_reuse:environment:forked_worker:v1"
# An environment variable: if it is set, forked workers keep off the standard error.
QUIET = "BEAM_REUSE_QUIET_WORKERS"
# Why worker processes of this driver died, if any did.
deaths: list[str] = []
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def keep_freed_memory(limit: int = 64 << 20) -> None:
    """Have glibc keep up to `limit` freed bytes instead of returning them each time.

    A parser frees a page's tree at once; handing that memory back and faulting it in again
    for the next page took more than half of the parse time where it was measured. No effect
    with another C library. Arrow takes its memory from there, too: of its own it would keep as
    much again, and hand more of it back.
    """
    import pyarrow as pa  # late: those who only declare what a driver shares have no use for it

    pa.set_memory_pool(pa.system_memory_pool())
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_TRIM_THRESHOLD, limit)
        libc.mallopt(_M_MMAP_THRESHOLD, limit // 2)
