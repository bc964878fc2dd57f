"""Talking with an engine's own web service."""

import json
import socket
import urllib.request
from typing import Any

LOOPBACK_ADDRESS = "127.0.0.1"
_SECONDS = 20


# The job server, which talks with the same services, knows no proxy either.
_DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(where: str, path: str, method: str = "GET") -> Any:
    """An answer of the service at `where`, HOST:PORT."""
    request = urllib.request.Request(f"http://{where}/{path}", method=method)
    with _DIRECTLY.open(request, timeout=_SECONDS) as answer:
        return json.load(answer)


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK_ADDRESS, 0))
        return int(probe.getsockname()[1])
