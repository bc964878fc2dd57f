"""Beam's in-process runner with worker processes that start in a moment.

FnApiRunner's own `multi_processing` mode starts a fresh interpreter per worker, about six
seconds on two cores, most of it imports. Here one server process imports everything once,
beside the caller's own imports, and each worker is a fork of it.
"""

import contextlib
import ctypes
import logging
import multiprocessing
import multiprocessing.forkserver
import multiprocessing.resource_tracker
import signal
from typing import Any

FORKED_WORKER = "beam_reuse:environment:forked_worker:v1"
# An environment variable: if it is set, forked workers keep off the standard error.
QUIET = "BEAM_REUSE_QUIET_WORKERS"
# Why worker processes of this driver died, if any did.
deaths: list[str] = []
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def keep_freed_memory(limit: int = 64 << 20) -> None:
    """Tell glibc to keep up to `limit` freed bytes instead of returning them each time.

    A parser frees a page's tree at once; handing that memory back and faulting it in again
    for the next page took more than half of the parse time where it was measured. No effect
    with another C library.
    """
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_TRIM_THRESHOLD, limit)
        libc.mallopt(_M_MMAP_THRESHOLD, limit // 2)


def start_fork_server(lean: bool = False) -> None:
    """Begin to load what workers need, in a process of its own; returns at once. A *lean* one has
    no clients of remote storage. Ctrl-C is for the driver, which ends the workers: they and
    their server are born with it blocked."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([
        *(["beam_reuse.runners.lean_beam"] if lean else []), "beam_reuse.runners.preloaded"])
    multiprocessing.resource_tracker.ensure_running()  # it would lift what is blocked below
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        multiprocessing.forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def make_runner(workers: int) -> Any:
    """A runner for this machine: this process for one worker, else `workers` forks."""
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner

    keep_freed_memory()
    logging.getLogger("apache_beam.runners.portability.fn_api_runner").setLevel(logging.ERROR)
    if workers == 1:
        return FnApiRunner()
    start_fork_server()
    from beam_reuse.runners.local_worker import ForkedEnvironment

    return FnApiRunner(default_environment=ForkedEnvironment.default())
