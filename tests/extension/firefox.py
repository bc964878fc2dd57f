"""Firefox without a window, driven by its Marionette protocol; a proxy is every host of the web."""

import json
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.extension.server import Web

NAMES = ("firefox", "firefox-esr")
NONE = "no Firefox: its package is `firefox-esr`, or name one in FIREFOX"
PATIENCE = 60.0


def find_firefox() -> str | None:
    """Where Firefox is installed: what FIREFOX names, or else what the path has."""
    return next(filter(None, map(shutil.which, (os.environ.get("FIREFOX", ""), *NAMES))), None)


class Firefox:
    """A browser with one page and an extension. A context: it ends with it."""

    def __init__(self, path: str, extension: Path, web: Web, folder: Path) -> None:
        self._path, self._extension, self._web, self._folder = path, extension, web, folder
        self._number, self._read = 0, b""

    def __enter__(self) -> "Firefox":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        profile = self._folder / "profile"
        profile.mkdir()
        settings = {
            "marionette.port": port, "network.proxy.type": 1, "network.proxy.http": "127.0.0.1",
            "network.proxy.http_port": self._web.ports[0], "dom.security.https_first": False,
            "datareporting.policy.dataSubmissionEnabled": False, "app.update.enabled": False,
            "browser.shell.checkDefaultBrowser": False}
        (profile / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in settings.items()))
        self._process = subprocess.Popen(
            [self._path, "--headless", "--marionette", "--no-remote", "--profile", str(profile)],
            env=os.environ | {"HOME": str(self._folder)}, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self._socket = self._connected(port)
        self._message()
        self.ask("WebDriver:NewSession")
        self.ask("Addon:Install", path=str(self._extension), temporary=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 where: TracebackType | None) -> None:
        self._socket.close()
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def ask(self, command: str, **parameters: Any) -> Any:
        self._number += 1
        content = json.dumps([0, self._number, command, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(content), content))
        _, _, error, result = self._message()
        if error:
            raise RuntimeError(f"{command}: {error['message']}")
        return result

    def go(self, url: str) -> None:
        self.ask("WebDriver:Navigate", url=url)

    def run(self, script: str) -> Any:
        """What a body of a function returns in the page."""
        return self.ask("WebDriver:ExecuteScript", script=script, args=[])["value"]

    def address(self) -> str:
        return str(self.ask("WebDriver:GetCurrentURL")["value"])

    def until(self, script: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.run(f"return !!({script})"):
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.05)

    def type_into(self, selector: str, text: str) -> None:
        """Focus an element and press keys, as a keyboard does."""
        self.run(f"document.querySelector({selector!r}).focus()")
        self.ask("WebDriver:PerformActions", actions=[{
            "type": "key", "id": "keyboard", "actions": [
                {"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")
            ]}])

    def click_at(self, x: float, y: float) -> None:
        self.ask("WebDriver:PerformActions", actions=[{
            "type": "pointer", "id": "mouse", "actions": [
                {"type": "pointerMove", "x": int(x), "y": int(y)},
                {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]}])

    def _connected(self, port: int) -> socket.socket:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def _message(self) -> Any:
        while b":" not in self._read:
            self._more()
        length, _, self._read = self._read.partition(b":")
        while len(self._read) < int(length):
            self._more()
        content, self._read = self._read[:int(length)], self._read[int(length):]
        return json.loads(content)

    def _more(self) -> None:
        piece = self._socket.recv(1 << 16)
        if not piece:
            raise TimeoutError("Firefox has ended")
        self._read += piece
