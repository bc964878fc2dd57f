"""The server behind `beam-reuse-worker`: has everything imported, and forks a worker for each call.

A caller (`beam_reuse.boot`) connects, is forked for at once, and hands its request to the fork: its
outputs, then a line of JSON. It gets an empty line when the worker begins, and the exit status when
it has ended. A caller that goes away takes its worker with it.
"""

import json
import os
import select
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from typing import NoReturn

_FAILED = 1


class ForkServer:
    """Forks a worker for each connection to `listener`, until there was none for `idle` seconds."""

    def __init__(self, listener: socket.socket, idle: float) -> None:
        self._listener = listener
        self._idle = idle
        self._callers: dict[int, socket.socket] = {}
        self._bell, self._rung = socket.socketpair()

    def serve(self) -> None:
        """Fork until idle. This process must have one thread only."""
        self._bell.setblocking(False)
        self._rung.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._rung.fileno(), warn_on_full_buffer=False)
        while self._has_work():
            self._reap()

    def _has_work(self) -> bool:
        """Wait for a call, which is answered, or the end of a worker; False if neither came."""
        ready, _, _ = select.select([self._listener, self._bell], [], [], self._idle)
        if self._listener in ready:
            caller, _ = self._listener.accept()
            worker = os.fork()
            if worker == 0:
                self._become_worker(caller)
            self._callers[worker] = caller
        return bool(ready or self._callers)

    def _reap(self) -> None:
        """Report workers that have ended to their callers."""
        with suppress(BlockingIOError):
            self._bell.recv(4096)
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                with self._callers.pop(ended[0]) as caller, suppress(OSError):
                    caller.sendall(str(os.waitstatus_to_exitcode(ended[1])).encode())

    def _become_worker(self, caller: socket.socket) -> NoReturn:
        """In the fork: let go of what is the server's, and work."""
        status = _FAILED
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for each in (self._listener, self._bell, self._rung, *self._callers.values()):
                each.close()
            work_for(caller)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)


def work_for(caller: socket.socket) -> None:
    """Be the worker that the caller asks for, as if it had become one itself."""
    from beam_reuse.workers.provisioned_worker import work

    _, outputs, _, _ = socket.recv_fds(caller, 1, 2)
    for number, output in enumerate(outputs, start=1):
        os.dup2(output, number)
        os.close(output)
    request = json.loads(caller.makefile("rb").readline())
    os.environ.clear()
    os.environ.update(request["environ"])
    os.chdir(request["folder"])
    caller.sendall(b"\n")
    threading.Thread(target=_follow, args=[caller], daemon=True).start()
    work(request["id"], request["endpoint"])


def _follow(caller: socket.socket) -> None:
    """End when the caller does."""
    with suppress(OSError):
        caller.recv(1)
    os._exit(_FAILED)


def main(where: str, listener: str, idle: str) -> None:
    """Serve at the socket that the first caller has made, and remove it in the end."""
    import beam_reuse.workers.provisioned_worker  # noqa: F401

    with socket.socket(fileno=int(listener)) as made:
        ForkServer(made, float(idle)).serve()
        os.remove(where)


if __name__ == "__main__":
    main(*sys.argv[1:])
