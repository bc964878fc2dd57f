"""A web service with fixed answers, in place of a cluster's."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


class Answering(BaseHTTPRequestHandler):
    """Answers GET with JSON. A subclass may answer more."""

    answers: dict[str, Any]

    def do_GET(self) -> None:
        self.answer(200, self.answers[self.path])

    def answer(self, status: int, content: Any) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def log_message(self, *_: object) -> None: ...


@contextmanager
def answering(
    answers: dict[str, Any], handler: type[Answering] = Answering,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """HOST:PORT of a service with these answers by path, which may be changed."""
    server = HTTPServer(("127.0.0.1", 0), type("Handler", (handler,), {"answers": answers}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}", answers
    server.shutdown()
    server.server_close()
