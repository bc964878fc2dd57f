"""Programs that run beside a driver and end with it, however it ends; Java."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from beam_reuse.core.errors import UserError

OLDEST_JAVA = 11
_SECONDS_TO_END = 10
_BY_SIGNAL = 128  # what a shell adds to the number of the signal that ended a program
# Runs a program until it ends or the standard input does, which is a pipe that the driver holds.
_FOLLOWER = """
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
(cat <&3 >/dev/null; kill $child; sleep 10; kill -9 $child) 2>/dev/null &
exec 3<&-
wait $child
"""


class Follower:
    """A program in a process group of its own, its words in the file `log`.

    It ends when `stop` is called and when this process dies, even by kill -9.
    """

    def __init__(self, command: Sequence[str], log: Path, **environment: str) -> None:
        self.log = log
        with log.open("wb") as words:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _FOLLOWER, "follower", *command], stdin=subprocess.PIPE,
                stdout=words, stderr=words, start_new_session=True,
                env={**os.environ, **environment})

    @property
    def pid(self) -> int:
        """Its session and process group."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def status(self, seconds: float) -> int | None:
        """The exit status, if the program ends within so many seconds: below 0 for a signal."""
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        return _BY_SIGNAL - status if status > _BY_SIGNAL else status

    def words(self) -> str:
        """What the program has said so far."""
        return self.log.read_text(errors="replace")

    def stop(self) -> None:
        """Ask the program to end, and make it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_SECONDS_TO_END)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def cause(status: int | None) -> str:
    """Why a process ended, in words."""
    if status is None or status >= 0:
        return f"exit status {status}"
    name = signal.Signals(-status).name
    return f"{name}: perhaps out of memory" if name == "SIGKILL" else name


def java() -> str:
    """The Java program: that of JAVA_HOME, else the one on the PATH."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(os.path.join(home, "bin", "java")) if home else shutil.which("java")
    if found is None:
        where = f"JAVA_HOME {home} has no bin/java" if home else "java is not on the PATH"
        raise UserError(f"Java is not installed ({where}), and Flink and Spark need it. Install "
                        f"Java {OLDEST_JAVA} or 17 (Debian: apt install openjdk-17-jre-headless).")
    return found


def java_version() -> str:
    """The version of the installed Java; UserError if there is none, or it is too old."""
    told = subprocess.run([java(), "-version"], capture_output=True, text=True, check=False)
    version = re.search(r'version "([^"]+)"', told.stderr)
    if version is None:
        raise UserError(f"{java()} -version fails: {told.stderr.strip()[:200]}")
    first, _, rest = version[1].partition(".")
    major = int(rest.split(".")[0] if first == "1" else re.sub(r"\D.*", "", first))
    if major < OLDEST_JAVA:
        raise UserError(f"{java()} is Java {version[1]}; Flink and Spark need {OLDEST_JAVA} or 17. "
                        "Install one and name it with JAVA_HOME.")
    return version[1]
