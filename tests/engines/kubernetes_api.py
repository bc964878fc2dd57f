"""As much of Kubernetes' service as a Spark driver asks when it wants executors: pods and other
things are taken and remembered, none ever runs."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlparse


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    made: dict[str, list[Any]]
    over: threading.Event

    def do_GET(self) -> None:
        asked = urlparse(self.path)
        kind = asked.path.rsplit("/", 1)[-1]
        if "true" in parse_qs(asked.query).get("watch", []):
            self.close_connection = True
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.over.wait()
        else:
            self.answer(200, {"kind": "List", "apiVersion": "v1", "items": self.made.get(kind, []),
                              "metadata": {"resourceVersion": "1"}})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        kind = urlparse(self.path).path.rsplit("/", 1)[-1]
        found = self.made.setdefault(kind, [])
        asked["metadata"] |= {"uid": f"{kind}-{len(found)}", "namespace": "default",
                              "resourceVersion": "1"}
        found.append(asked)
        self.answer(201, asked)

    def do_DELETE(self) -> None:
        if length := int(self.headers.get("Content-Length") or 0):
            self.rfile.read(length)
        self.answer(200, {"kind": "Status", "apiVersion": "v1", "status": "Success"})

    def answer(self, status: int, content: Any) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def kubernetes_api() -> Iterator[tuple[str, dict[str, list[Any]]]]:
    """Its address, and what was asked for, by kind: pods, configmaps."""
    made: dict[str, list[Any]] = {}
    over = threading.Event()
    handler = type("Handler", (_Handler,), {"made": made, "over": over})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}", made
    finally:
        over.set()
        server.shutdown()
        server.server_close()
