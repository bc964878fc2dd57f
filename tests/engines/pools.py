"""Python workers of a cluster: how a run asks for them, and pools of them, as they run on each
machine (environment EXTERNAL)."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from beam_reuse.core.errors import UserError
from beam_reuse.runners.processes import Follower
from beam_reuse.runners.python_workers import boot_command
from beam_reuse.runners.rest import free_port
from tests.engines.running import environment, run

# Runs the rest of its arguments where the first, a folder, is another and empty one.
ELSEWHERE = 'mount -t tmpfs tmpfs "$0" && exec "$@"'


def environment_of(kind: str, pool: str) -> list[str]:
    """Options for workers of a kind. Skips a test whose workers the engine starts where the program
    for it is not installed."""
    if kind == "PROCESS":
        try:
            boot_command()
        except UserError as missing:
            pytest.skip(str(missing))
    config = ["--environment_config", pool] if kind == "EXTERNAL" else []
    return ["--environment_type", kind, *config]


@contextmanager
def pool(folder: Path, before: Sequence[str] = ()) -> Iterator[str]:
    """The address of a pool, whose log lies in `folder`; `before` starts its program."""
    port = free_port()
    program = Follower(
        [*before, sys.executable, "-m", "beam_reuse.boot", "--pool", str(port)],
        folder / "pool.log", **environment())
    try:
        yield f"localhost:{port}"
    finally:
        program.stop()


def told_of_blind_workers(crawl: list[str], folder: Path, *engine: str) -> None:
    """A run whose workers have another disk where the output folder is for us says so."""
    out = folder / "disk" / "out"
    out.parent.mkdir()
    elsewhere = ["unshare", "--mount", "sh", "-c", ELSEWHERE, str(out.parent)]
    with pool(folder, elsewhere) as workers:
        done = run("run", *crawl, "-o", out, "--analyses", "discovery", *engine,
                   *environment_of("EXTERNAL", workers))
    assert done.returncode == 1
    assert f"does not see {out}" in done.stderr
    assert "Give -o a folder that all machines see under the same name" in done.stderr
    assert not out.exists() or not list(out.iterdir())
