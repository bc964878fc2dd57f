"""The viewer's server: fixed files of the package, and answers to named queries, as JSON.

It listens on this machine alone. GET asks, POST judges; nothing else is known. No part of a request
is ever a path of a file, or SQL.
"""

import ctypes
import json
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any
from urllib.parse import parse_qs, urlsplit

from beam_reuse.core.errors import UserError
from beam_reuse.judging.judged_sheet import JudgedMeanwhile
from beam_reuse.viewer.asking import answer, change
from beam_reuse.viewer.guard import HOSTS, OPEN, Guard, Refused
from beam_reuse.viewer.overview import figure_svg
from beam_reuse.viewer.view import NotThere, View

POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
          "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
          "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'")
HEADERS = {
    "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY", "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
TYPES = {"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
         "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml; charset=utf-8",
         "json": "application/json; charset=utf-8"}
SECONDS = 60.0


def static_files() -> dict[str, tuple[str, bytes]]:
    """What is served as it is: paths of addresses, with types and contents. `/` is the page."""
    folder = resources.files("beam_reuse.viewer").joinpath("static")
    files = {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}
    found = {f"/{name}": (TYPES[name.rpartition(".")[2]], content)
             for name, content in files.items()}
    return found | {"/": found["/index.html"]}


def refusal(message: str) -> bytes:
    """A page for who opens the viewer and is refused; it loads nothing, as all else is refused."""
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Not opened - beam-reuse</title>
<h1>Not opened</h1>
<p>{escape(message)}
</html>
""".encode()


def _give_back() -> None:
    """What an answer has needed goes back to the system; the C library would keep it."""
    with suppress(OSError, AttributeError):  # where there is another one
        ctypes.CDLL(None).malloc_trim(0)


class Viewer(ThreadingHTTPServer):
    """A server of one result on a port of this machine; 0 is any that is free."""

    daemon_threads = True

    def __init__(self, view: View, port: int = 0, debug: bool = False) -> None:
        super().__init__((HOSTS[0], port), _Handler)
        self.view, self.debug = view, debug
        self.guard = Guard(self.server_port)
        self.files = static_files()

    @cached_property
    def figure_style(self) -> bytes:
        """The report's colours, for figures: an image has no style but its own."""
        style = resources.files("beam_reuse.report").joinpath("report.css").read_bytes()
        return b"<style>" + style + b"</style>"

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that has gone away is none of our errors."""
        if self.debug and not isinstance(sys.exc_info()[1], ConnectionError):
            traceback.print_exc()


class _Handler(BaseHTTPRequestHandler):
    server: Viewer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "beam-reuse", ""
    timeout = SECONDS

    def do_GET(self) -> None:
        self._guarded(self._get)

    def do_POST(self) -> None:
        """Where it is refused the connection ends: what else was sent is no request of its own."""
        self._ends, self.close_connection = self.close_connection, True
        self._guarded(self._post)

    def _get(self, headers: Mapping[str, str]) -> None:
        guard, asked = self.server.guard, urlsplit(self.path)
        given = parse_qs(asked.query, keep_blank_values=True, max_num_fields=100)
        if asked.path == "/" and "token" in given:
            if not guard.knows(given["token"][0]):
                raise Refused("This token is not, or no longer, the viewer's. " + OPEN)
            self._send(HTTPStatus.SEE_OTHER, "html", b"",
                       {"Location": "/", "Set-Cookie": guard.cookie})
            return
        guard.check_cookie(headers)
        try:
            self._answer(asked.path, given)
        finally:
            _give_back()

    def _post(self, headers: Mapping[str, str]) -> None:
        self.server.guard.check_cookie(headers)
        length = self.server.guard.check_change(headers)
        if not self.path.startswith("/api/"):
            raise NotThere("Nothing is changed here.")
        content = self.rfile.read(length)
        if len(content) < length:
            raise ConnectionError("cut short")
        self.close_connection = self._ends
        self._send_json(change(self.server.view, self.path.removeprefix("/api/"), content))

    def _guarded(self, answered: Callable[[Mapping[str, str]], None]) -> None:
        try:
            headers = {name.title(): value for name, value in self.headers.items()}
            self.server.guard.check_origin(headers)
            answered(headers)
        except Refused as error:
            if urlsplit(self.path).path == "/" and self.command == "GET":
                self._send(HTTPStatus.FORBIDDEN, "html", refusal(str(error)))
            else:
                self._say(HTTPStatus.FORBIDDEN, str(error))
        except NotThere as error:
            self._say(HTTPStatus.NOT_FOUND, str(error))
        except JudgedMeanwhile as error:
            self._say(HTTPStatus.CONFLICT, str(error))
        except (UserError, ValueError) as error:
            self._say(HTTPStatus.BAD_REQUEST, str(error))
        except ConnectionError:
            raise
        except Exception as error:
            if self.server.debug:
                traceback.print_exc()
            self._say(HTTPStatus.INTERNAL_SERVER_ERROR,
                      f"The viewer has failed: {type(error).__name__}: {error}")

    def _answer(self, path: str, given: Mapping[str, list[str]]) -> None:
        if path in self.server.files:
            kind, content = self.server.files[path]
            self._send(HTTPStatus.OK, kind, content)
        elif path.startswith("/api/"):
            self._send_json(answer(self.server.view, path.removeprefix("/api/"), given))
        elif path == "/rendered" and list(given) == ["url"]:
            from beam_reuse.viewer import rendered  # what parses HTML is not for the first screen

            self._send(HTTPStatus.OK, "html", rendered.rendered(self.server.view, given["url"][0]),
                       rendered.HEADERS)
        elif number := re.fullmatch(r"/figure/(\d{1,3})\.svg", path):
            self._send(HTTPStatus.OK, "svg", self._figure(int(number[1])))
        else:
            raise NotThere("There is no such page of the viewer.")

    def _figure(self, number: int) -> bytes:
        try:
            drawn = figure_svg(self.server.view, number)
        except IndexError:
            raise NotThere("There is no such figure.") from None
        start, rest = drawn.split(b">", 1)
        return start + b' xmlns="http://www.w3.org/2000/svg">' + self.server.figure_style + rest

    def _send_json(self, found: Any) -> None:
        content = json.dumps(found, default=str).encode("utf-8", "replace")
        self._send(HTTPStatus.OK, "json", content)

    def _say(self, status: HTTPStatus, message: str) -> None:
        self._send(status, "json", json.dumps({"error": message[:2_000]}).encode())

    def _send(self, status: HTTPStatus, kind: str, content: bytes,
              more: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        sent = {"Content-Type": TYPES.get(kind, kind), "Content-Length": str(len(content)),
                **HEADERS, **(more or {})}
        if self.close_connection:
            sent["Connection"] = "close"
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_error(self, code: int, message: str | None = None,
                   explain: str | None = None) -> None:
        """What the library refuses, methods it does not know among it, in our words."""
        known = HTTPStatus.METHOD_NOT_ALLOWED if code == HTTPStatus.NOT_IMPLEMENTED else (
            HTTPStatus(code))
        self.close_connection = True
        self._say(known, known.phrase)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: addresses hold URLs that people looked at."""
