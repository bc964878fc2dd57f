"""A real Spark cluster on this machine: a master and workers, each a process."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from beam_reuse.runners.processes import Follower
from beam_reuse.runners.rest import free_port

SECONDS_TO_START = 120


@contextmanager
def spark_cluster(kit: Path, folder: Path, workers: int = 2) -> Iterator[str]:
    """What `--spark_master_url` takes of a cluster on free ports; logs lie in `folder`."""
    port = free_port()
    master = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        def start(log: str, program: str, *arguments: str) -> Follower:
            follower = Follower(
                [str(kit / "bin" / "spark-class"), f"org.apache.spark.deploy.{program}", "--host",
                 "127.0.0.1", "--webui-port", "0", *arguments],
                folder / log, SPARK_HOME=str(kit), SPARK_LOCAL_IP="127.0.0.1")
            stack.callback(follower.stop)
            return follower

        leader = start("master.log", "master.Master", "--port", str(port))
        wait_for(port, leader)
        started = [
            start(f"worker-{n}.log", "worker.Worker", "-c", "1", "-m", "2g", "-d",
                  str(folder / f"worker-{n}"), master)
            for n in range(workers)
        ]
        until = time.monotonic() + SECONDS_TO_START
        while not all("Successfully registered" in each.words() for each in started):
            assert time.monotonic() < until, started[0].words()[-2000:]
            time.sleep(0.2)
        yield master


def wait_for(port: int, leader: Follower) -> None:
    """Wait until something listens at `port`."""
    until = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < until, leader.words()[-2000:]
            time.sleep(0.2)
