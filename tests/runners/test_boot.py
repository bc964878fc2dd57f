"""A pool of workers as a program: it says where it is, refuses a port that is taken, and ends."""

import signal
import socket
import subprocess
import sys

import pytest

from beam_reuse.boot import main

POOL = [sys.executable, "-m", "beam_reuse.boot", "--pool"]


def test_a_pool_serves_until_it_is_stopped() -> None:
    pool = subprocess.Popen([*POOL, "0"], stdout=subprocess.PIPE, text=True)
    assert pool.stdout is not None
    assert "forking workers at 127.0.0.1:" in pool.stdout.readline()
    pool.send_signal(signal.SIGTERM)
    assert pool.wait(60) == 0
    pool.stdout.close()


def test_a_port_that_is_taken_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = subprocess.run([*POOL, str(taken.getsockname()[1])], capture_output=True, text=True,
                              check=False)
    assert done.returncode == 2
    assert "the port is taken. Choose another." in done.stderr


def test_without_anything_to_do_it_says_what_to_give(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        main([])
    assert "give --pool PORT, or let an engine start it" in capsys.readouterr().err
