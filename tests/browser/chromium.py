"""Chromium without a window, driven by its DevTools protocol over two pipes.

No page reaches the network: what a test loads is served by the test itself, all else fails.
"""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-extensions", "--remote-debugging-pipe",
)
PATIENCE = 60.0
_STEP = 1 << 16
# The protocol is spoken on the descriptors 3 (to the browser) and 4 (from it).
_START = """
import fcntl, os, sys
high = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
os.dup2(high[0], 3)
os.dup2(high[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""

Message = dict[str, Any]


def find_chromium() -> str | None:
    """Where Chromium is installed: what CHROMIUM names, or else what the path has."""
    return next(filter(None, map(shutil.which, (os.environ.get("CHROMIUM", ""), *NAMES))), None)


class Chromium:
    """A browser with one page. A context: it ends with it. `flags` are what it is started with.

        with Chromium(path) as browser:
            browser.load("<p>Hello", scripts=False)
            browser.run("document.documentElement.outerHTML")
    """

    flags: tuple[str, ...] = FLAGS

    def __init__(self, path: str) -> None:
        self._path = path
        self._numbers = itertools.count(1)
        self._read = b""
        self._session = ""
        self._served: dict[str, str] = {}

    def __enter__(self) -> "Chromium":
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(theirs_in), str(theirs_out), self._path, *self.flags,
             f"--user-data-dir={self._folder.name}", "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"]
        self._ask("Page.enable")
        self._prepare()
        return self

    def _prepare(self) -> None:
        self._ask("Fetch.enable", patterns=[{"urlPattern": "*"}])

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 where: TracebackType | None) -> None:
        os.close(self._to)
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)
        self._folder.cleanup()

    def load(self, html: str, scripts: bool, url: str = "http://page.example/") -> None:
        """Show a page, as if it came from `url`, until it is loaded."""
        self._served = {url: html}
        self._ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        loader = self._ask("Page.navigate", url=url).get("loaderId")
        self._wait(lambda message: message.get("method") == "Page.loadEventFired", loader)

    def run(self, script: str) -> Any:
        """The value of an expression of JavaScript in the page, also where its scripts are off."""
        answer = self._ask("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def _ask(self, method: str, **parameters: Any) -> Message:
        number = self._say(method, **parameters)
        answer = self._wait(lambda message: message.get("id") == number, method)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: Message = answer["result"]
        return result

    def _say(self, method: str, **parameters: Any) -> int:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters} | (
            {"sessionId": self._session} if self._session else {})
        content = json.dumps(message).encode() + b"\0"
        while content:
            content = content[os.write(self._to, content[:_STEP]):]
        return number

    def _wait(self, wanted: Any, what: object) -> Message:
        """The next message that is wanted; requests of the page are answered meanwhile."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            message = self._next(end)
            if message.get("method") == "Fetch.requestPaused":
                self._serve(message["params"])
            elif message.get("method") == "Page.javascriptDialogOpening":
                self._say("Page.handleJavaScriptDialog", accept=False)
            if wanted(message):
                return message
        raise TimeoutError(f"Chromium says nothing of {what}")

    def _serve(self, asked: Message) -> None:
        html = self._served.pop(asked["request"]["url"], None)
        if html is None and asked["resourceType"] != "Document":
            self._say("Fetch.failRequest", requestId=asked["requestId"],
                      errorReason="InternetDisconnected")
            return
        if html is None:  # a page that leads elsewhere: without content it stays as it is
            self._say("Fetch.fulfillRequest", requestId=asked["requestId"], responseCode=204)
            return
        self._say("Fetch.fulfillRequest", requestId=asked["requestId"], responseCode=200,
                  responseHeaders=[{"name": "Content-Type", "value": "text/html; charset=utf-8"}],
                  body=base64.b64encode(html.encode("utf-8", "replace")).decode())

    def _next(self, end: float) -> Message:
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._from], [], [], max(end - time.monotonic(), 0))
            piece = os.read(self._from, _STEP) if ready else b""
            if not piece:
                raise TimeoutError("Chromium has ended, or says nothing")
            self._read += piece
        content, _, self._read = self._read.partition(b"\0")
        message: Message = json.loads(content)
        return message
