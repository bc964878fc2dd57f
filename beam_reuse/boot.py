"""`beam-reuse-worker`: Python workers on a machine of a cluster.

With --pool PORT it stays, and forks workers as the engine on this machine asks for them
(environment EXTERNAL). Otherwise the engine starts it, once for each worker (environment PROCESS),
with an id and the address of its provision service, which has the rest. Beam's own boot program
is part of its container images only.

An engine may start many workers in one run, and importing Beam takes seconds: the first
call on a machine starts a server, from which the workers of all calls are forked. So nothing is
imported here that a call does not need.
"""

import argparse
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from typing import NoReturn

from beam_reuse import __version__

SECONDS_IDLE = 60  # a server without a worker for so long ends
SECONDS_TO_START = 120
SOCKET, LOCK, LOG = "socket", "lock", "log"
_ATTEMPTS = 3


class NoServerError(OSError):
    """No worker can be had from a server."""


def entry() -> NoReturn:
    """The installed program."""
    sys.exit(main(sys.argv[1:]))


def main(argv: Sequence[str]) -> int:
    """Serve the engine until it hangs up; a pool, until it is stopped."""
    parser = argparse.ArgumentParser(
        prog="beam-reuse-worker", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pool", type=int, metavar="PORT", help="fork workers as they are asked "
                        "for at this port, which only programs of this machine reach")
    parser.add_argument("--id", help="the worker's name, from the engine")
    parser.add_argument("--provision_endpoint", metavar="HOST:PORT", help="from the engine")
    given, _ = parser.parse_known_args(argv)
    if given.pool is not None:
        return serve_pool(given.pool)
    if given.id is None or given.provision_endpoint is None:
        parser.error("give --pool PORT, or let an engine start it (environment PROCESS)")
    try:
        return forked(given.id, given.provision_endpoint)
    except OSError as error:
        print(f"beam-reuse-worker: no server to fork from ({error}), so this takes seconds",
              file=sys.stderr)
    from beam_reuse.workers.provisioned_worker import work

    work(given.id, given.provision_endpoint)
    return 0


def serve_pool(port: int) -> int:
    """Fork workers until SIGTERM or Ctrl-C."""
    import threading

    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    from beam_reuse.core.errors import UserError
    from beam_reuse.runners.pool import worker_pool

    try:
        with worker_pool(port) as (address, _):
            print(f"beam-reuse-worker: forking workers at {address}", flush=True)
            stopped.wait()
    except UserError as error:
        print(f"beam-reuse-worker: {error}", file=sys.stderr)
        return 2
    return 0


def forked(worker_id: str, endpoint: str) -> int:
    """Let the server of this machine fork a worker, and wait for its end, which comes with ours at
    the latest; the exit status. OSError if there is no server and none can be started."""
    folder = private_folder()
    for _ in range(_ATTEMPTS):
        with socket.socket(socket.AF_UNIX) as server:
            server.settimeout(SECONDS_TO_START)
            connect(server, folder)
            if not _ask(server, worker_id, endpoint):
                continue  # it was about to end
            server.settimeout(None)
            status = server.recv(16)
            return int(status) if status else 1
    raise NoServerError("it ends again and again")


def _ask(server: socket.socket, worker_id: str, endpoint: str) -> bool:
    """Ask for a worker with our environment, folder and outputs; False if the server is gone."""
    request = {"id": worker_id, "endpoint": endpoint, "environ": dict(os.environ),
               "folder": os.getcwd()}
    try:
        socket.send_fds(server, [b"\n"], [1, 2])
        server.sendall(json.dumps(request).encode() + b"\n")
        return server.recv(1) == b"\n"
    except ConnectionError:
        return False


def connect(server: socket.socket, folder: str) -> None:
    """Connect to the server of `folder`, which is started if there is none."""
    where = os.path.join(folder, SOCKET)
    with suppress(ConnectionRefusedError, FileNotFoundError):
        return server.connect(where)
    with open(os.path.join(folder, LOCK), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(ConnectionRefusedError, FileNotFoundError):
            return server.connect(where)
        start_server(folder)
        server.connect(where)


def start_server(folder: str) -> None:
    """Start a server; it listens when this returns, and will answer when it has loaded all."""
    with open(os.path.join(folder, LOG), "wb") as log, socket.socket(socket.AF_UNIX) as listener:
        where = os.path.join(folder, SOCKET)
        with suppress(FileNotFoundError):
            os.remove(where)
        listener.bind(where)
        listener.listen(socket.SOMAXCONN)
        subprocess.Popen(
            [sys.executable, "-P", "-m", "beam_reuse.workers.fork_server", where,
             str(listener.fileno()), str(SECONDS_IDLE)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[listener.fileno()],
            start_new_session=True, cwd="/",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))})


def private_folder() -> str:
    """A folder that only this user sees, for the server of this installation."""
    base = os.path.join(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir(),
                        f"beam-reuse-{os.getuid()}")
    package = os.path.dirname(os.path.abspath(__file__))
    installation = [__version__, package, os.stat(package).st_mtime_ns, sys.executable, sys.path]
    folder = os.path.join(base, sha256(repr(installation).encode()).hexdigest()[:16])
    for each in (base, folder):
        with suppress(FileExistsError):
            os.mkdir(each, 0o700)
        found = os.lstat(each)
        if found.st_uid != os.getuid() or found.st_mode & 0o170077 != 0o040000:
            raise NoServerError(f"{each} is not a folder that only this user may enter")
    return folder


if __name__ == "__main__":
    entry()
