"""Ctrl-C comes at any moment, also while libraries clean up or Python frees an object."""

import signal
import subprocess
import sys

import pytest

START = """
import logging, os, signal, sys, time
from beam_reuse.core import stopping
stopping.listen(debug=False)
def ctrl_c(): os.kill(os.getpid(), signal.{name})
"""

WHILE_FREEING = START + """
class Freed:
    def __del__(self):
        ctrl_c()
try:
    assert not stopping.was_asked()
    Freed()
    time.sleep(30)
except KeyboardInterrupt:
    print("stopped", stopping.was_asked())
"""

WHILE_A_LIBRARY_LOGS = START + """
logging.getLogger("library").setLevel(logging.ERROR)
logging.error("a fault of its own")
try:
    try:
        ctrl_c()
        time.sleep(30)
    except BaseException:
        logging.getLogger("library").critical("Error closing", exc_info=True)
        raise
except KeyboardInterrupt:
    print("stopped", stopping.was_asked())
"""


@pytest.mark.usefixtures("ctrl_c_heard")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize(("script", "told"), [
    (WHILE_FREEING, ""), (WHILE_A_LIBRARY_LOGS, "ERROR:root:a fault of its own\n")])
def test_the_program_stops_and_only_what_came_before_is_told(
    script: str, told: str, name: str,
) -> None:
    done = subprocess.run([sys.executable, "-c", script.format(name=name)], check=True,
                          capture_output=True, text=True, timeout=25)
    assert (done.stdout, done.stderr) == ("stopped True\n", told)


def test_tests_of_ctrl_c_pass_where_it_is_ignored() -> None:
    """As in `nohup make test &`."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__,
             "-k", "only_what_came_before and SIGINT"],
            check=False, capture_output=True, text=True, timeout=100)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.returncode == 0, done.stdout


def test_ctrl_c_that_a_shell_has_switched_off_stays_off() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = subprocess.run(
            [sys.executable, "-c", START.format(name="SIGINT") + "ctrl_c(); print('goes on')"],
            check=True, capture_output=True, text=True, timeout=25)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.stdout == "goes on\n"
