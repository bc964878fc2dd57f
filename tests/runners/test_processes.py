"""Programs beside a driver end with it, and Java is looked for."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from beam_reuse.core.errors import UserError
from beam_reuse.runners.job_server import (
    JobServer,
    JobServerError,
    gist,
    job_server,
    serving,
)
from beam_reuse.runners.processes import Follower, java, java_version
from tests.runners.test_fetching import program

DRIVER = """
import sys, time
from pathlib import Path
from beam_reuse.runners.processes import Follower
follower = Follower(["/bin/sh", "-c", "echo $$; exec sleep 600"], Path(sys.argv[1]))
time.sleep(600)
"""


def is_alive(pid: int) -> bool:
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def soon(holds: Callable[[], object], seconds: float = 20) -> bool:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def pid_in(log: Path) -> int:
    assert soon(lambda: log.exists() and log.read_text().endswith("\n"))
    return int(log.read_text())


def test_a_follower_is_stopped_and_its_words_are_kept(tmp_path: Path) -> None:
    follower = Follower(["/bin/sh", "-c", "echo $$; exec sleep 600"], tmp_path / "log")
    pid = pid_in(tmp_path / "log")
    assert follower.is_alive and is_alive(pid)
    follower.stop()
    assert not follower.is_alive and not is_alive(pid)
    assert follower.words().startswith(f"{pid}\n")


def test_a_follower_that_ends_by_itself_is_noticed(tmp_path: Path) -> None:
    follower = Follower(["/bin/sh", "-c", "echo done"], tmp_path / "log")
    assert soon(lambda: not follower.is_alive)
    follower.stop()
    assert follower.words() == "done\n"


def test_a_follower_ends_when_its_driver_is_killed(tmp_path: Path) -> None:
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp_path / "log")])
    pid = pid_in(tmp_path / "log")
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    assert soon(lambda: not is_alive(pid))


def test_no_java_is_told(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(UserError, match=r"Java is not installed \(java is not on the PATH\)"):
        java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UserError, match=r"JAVA_HOME .* has no bin/java"):
        java()


@pytest.mark.parametrize(("told", "version"), [
    ('openjdk version "17.0.15" 2025-04-15', "17.0.15"), ('java version "21"', "21"),
    ('openjdk version "11.0.2"', "11.0.2"),
])
def test_the_version_of_java_is_read(tmp_path: Path, monkeypatch, told: str, version: str) -> None:
    program(tmp_path, "java", f"echo '{told}' >&2")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert java_version() == version


def test_old_java_is_refused(tmp_path: Path, monkeypatch) -> None:
    program(tmp_path, "java", """echo 'java version "1.8.0_372"' >&2""")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(UserError, match=r"is Java 1.8.0_372; Flink and Spark need 11 or 17"):
        java_version()


def test_a_job_server_that_does_not_start_says_why(tmp_path: Path, monkeypatch) -> None:
    program(tmp_path, "java", """
        [ "$1" = -version ] && echo 'openjdk version "17"' >&2 && exit
        echo 'Error: Could not find or load main class org.Nobody'; exit 1""")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with (pytest.raises(JobServerError, match=r"did not start: Error: Could not find or load"),
          job_server("org.Nobody", "x.jar", (), ())):
        pass


def test_what_takes_graphs_says_where_and_is_called_by_its_name(tmp_path: Path) -> None:
    says = "echo '{\"msg\":\"Serving\",\"endpoint\":\"localhost:7\"}'; sleep 600"
    told = re.compile(r"Serving.*?(localhost:\d+)")
    with serving(["/bin/sh", "-c", says], tmp_path / "log", told, "Prism") as server:
        assert server.endpoint == "localhost:7"
    with (pytest.raises(JobServerError, match="Prism did not start: no such port"),
          serving(["/bin/sh", "-c", "echo no such port"], tmp_path / "log", told, "Prism")):
        pass


@pytest.mark.parametrize(("script", "told"), [
    ("kill -9 $$", r"died \(SIGKILL: perhaps out of memory\); no result was written. Run again."),
    ("sleep 0.3; echo 'java.lang.OutOfMemoryError: heap'; exit 3",
     r"died \(exit status 3\); .* It said: java.lang.OutOfMemoryError: heap"),
])
def test_a_job_server_that_dies_is_told(tmp_path: Path, script: str, told: str) -> None:
    server = JobServer("", Follower(["/bin/sh", "-c", script], tmp_path / "log"))
    with pytest.raises(JobServerError, match=told):
        server.check()


def test_the_gist_of_javas_words_is_the_last_cause() -> None:
    words = "SEVERE: bad\njava.lang.A: a\n\tat x\nCaused by: java.lang.B: b\n\tat y\n"
    assert gist(words) == "Caused by: java.lang.B: b"
    assert gist("") == "it said nothing"
