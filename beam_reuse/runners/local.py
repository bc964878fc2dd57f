"""Beam's in-process runner with worker processes that start in a moment.

FnApiRunner's own `multi_processing` mode starts a fresh interpreter per worker, about six
seconds on two cores, most of it imports. Here one server process imports everything once,
beside the caller's own imports, and each worker is a fork of it.
"""

import contextlib
import logging
import multiprocessing
import multiprocessing.forkserver
import multiprocessing.resource_tracker
import multiprocessing.util
import os
import signal
import tempfile
from collections.abc import Iterator
from typing import Any

from beam_reuse.runners.forks import keep_freed_memory

SHORT = 60
SYSTEMS = "/tmp"


@contextlib.contextmanager
def short_temporary_folder() -> Iterator[str]:
    """A place for temporary files whose name is short and has no blank, for the time of the block:
    that of a socket has 107 bytes, and Beam's job server takes a blank for the end of a name."""
    before = tempfile.tempdir
    usual = tempfile.gettempdir()
    if (len(usual) > SHORT or " " in usual) and os.access(SYSTEMS, os.W_OK):
        tempfile.tempdir = SYSTEMS
    try:
        yield tempfile.gettempdir()
    finally:
        tempfile.tempdir = before


def start_fork_server(lean: bool = False) -> None:
    """Begin to load what workers need, in a process of its own; returns at once. A *lean* one has
    no clients of remote storage. Ctrl-C is for the driver, which ends the workers: they and
    their server are born with it blocked."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([
        *(["beam_reuse.runners.lean_beam"] if lean else []), "beam_reuse.workers.preloaded"])
    with short_temporary_folder():
        multiprocessing.util.get_temp_dir()  # where the sockets of this process will lie
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
