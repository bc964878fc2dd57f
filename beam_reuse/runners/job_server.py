"""Beam's job server: a Java program that takes our graph and submits it to Flink or Spark."""

import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from beam_reuse.core.errors import UserError
from beam_reuse.runners.fetching import find, kits_folder
from beam_reuse.runners.kits import JARS, KITS
from beam_reuse.runners.local import short_temporary_folder
from beam_reuse.runners.processes import Follower, cause, java, java_version

# Java writes a job's graph to the cluster vertex by vertex, each inside the one before: a graph
# of some hundred vertices needs more stack than the usual megabyte.
STACK = "-Xss32m"
# Bytes do not pass through it, so it needs no code that is compiled for minutes.
LIGHT = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
LOG = "job-server.log"
JOB_SERVER = "the job server"
_SECONDS_TO_START = 120
_SECONDS_TO_DIE = 2.0
_STARTED = re.compile(r"JobService started on (\S+:\d+)")


class JobServerError(RuntimeError):
    """The job server did not start, or died."""


@dataclass(frozen=True)
class JobServer:
    """A job server that runs. `endpoint` is where graphs are handed in, `name` what people call
    it."""

    endpoint: str
    program: Follower
    name: str = JOB_SERVER

    def check(self) -> None:
        """Raise JobServerError if it is dead, or dies within a moment: whoever talks with it
        notices first."""
        if (status := self.program.status(_SECONDS_TO_DIE)) is not None:
            words = complaint(self.program.words())
            raise JobServerError(f"{self.name} died ({cause(status)}); no result was written. "
                                 f"{f'It said: {words}' if words else 'Run again.'}")


@contextmanager
def job_server(
    main_class: str, class_path: str, java_options: Sequence[str], arguments: Sequence[str],
    files: Mapping[str, str] | None = None, environment: Mapping[str, str] | None = None,
) -> Iterator[JobServer]:
    """A job server on free ports of this machine, as long as the `with` lasts. `files` are written
    to its folder first, whose name takes the place of {folder} in an argument."""
    java_version()
    with short_temporary_folder() as place:
        made = tempfile.TemporaryDirectory(prefix="beam-reuse-job-server-", dir=place)
    with made as folder:
        for name, content in (files or {}).items():
            Path(folder, name).write_text(content)
        with serving([
            java(), STACK, *LIGHT, *java_options, "-cp", class_path, main_class,
            "--job-host=127.0.0.1", "--job-port=0", "--artifact-port=0", "--expansion-port=0",
            f"--artifacts-dir={folder}",
            *(argument.replace("{folder}", folder) for argument in arguments),
        ], Path(folder) / LOG, _STARTED, **(environment or {})) as server:
            yield server


@contextmanager
def serving(
    command: Sequence[str], log: Path, started: re.Pattern[str], name: str = JOB_SERVER,
    **environment: str,
) -> Iterator[JobServer]:
    """A program that takes graphs where it says in words that match `started`, as long as the
    `with` lasts."""
    program = Follower(command, log, **environment)
    try:
        yield JobServer(_endpoint(program, started, name), program, name)
    finally:
        program.stop()


def class_path(engine: str, jar: str | None, kits: str) -> str:
    """The jar the user named with `--ENGINE_job_server_jar`, else the kit that was fetched."""
    if jar is None:
        return str(find(KITS[engine], kits_folder(kits)) / JARS / "*")
    if not Path(jar).is_file():
        raise UserError(f"--{engine}_job_server_jar {jar}: there is no such file.")
    return jar


def _endpoint(program: Follower, started: re.Pattern[str], name: str) -> str:
    """Where the server listens, once it has said so."""
    until = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < until:
        if told := started.search(program.words()):
            return told[1]
        if not program.is_alive:
            raise JobServerError(f"{name} did not start: {gist(program.words())}")
        time.sleep(0.1)
    raise JobServerError(f"{name} did not start within {_SECONDS_TO_START} seconds")


def gist(words: str) -> str:
    """The line of a Java program's words that says why it failed."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    return complaint(words) or (lines or ["it said nothing"])[-1][:400]


def complaint(words: str) -> str:
    """The last cause, else the last error, that a Java program has reported; '' if none."""
    lines = [line.strip() for line in words.splitlines()]
    told = [line for line in lines if line.startswith("Caused by:")] or [
        line for line in lines if re.search(r"(Exception|Error)\b", line)]
    return told[-1][:400] if told else ""
