"""Chromium at a server of this machine, with a record of all it does that nobody asked for."""

import base64
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from beam_reuse.io.results import tables
from tests.browser.chromium import Chromium, Message

_NOTED = {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded",
          "Page.javascriptDialogOpening", "Page.windowOpen", "Target.targetCreated"}
PATIENCE = 20.0


class Visitor(Chromium):
    """A browser that reaches one server. `requests` are those to anything else, `complaints` what
    was said on the console, dialogs and windows."""

    def __init__(self, path: str, address: str) -> None:
        super().__init__(path)
        self.address = address
        self.requests: list[str] = []
        self.complaints: list[Message] = []
        self._frames: dict[str, str] = {}
        self._speaker = ""

    def __enter__(self) -> "Visitor":
        super().__enter__()
        self._ask("Runtime.enable")
        self._ask("Log.enable")
        self._ask("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True,
                  flatten=True)
        return self

    def go(self, address: str) -> None:
        """Open an address, or a part of it behind `#`, until the screen is there."""
        if address.startswith("#"):
            self.run(f"location.hash = {address!r}")
        else:
            self._ask("Page.navigate", url=address)
        time.sleep(0.05)
        self.until("document.getElementById('screen')?.querySelector('h1') && "
                   "!document.getElementById('screen').hasAttribute('aria-busy')")

    def until(self, condition: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if self.run(f"!!({condition})"):
                    return
            except RuntimeError:  # the page is being replaced
                pass
            time.sleep(0.05)
        raise TimeoutError(f"never true: {condition}; the screen shows {self.text()[:500]!r}")

    def text(self, selector: str = "#screen") -> str:
        """What a reader sees of an element."""
        return str(self.run(f"document.querySelector({selector!r})?.innerText ?? ''"))

    def click(self, selector: str) -> None:
        self.run(f"document.querySelector({selector!r}).click()")

    def press(self, key: str) -> None:
        """A key, as a keyboard sends it."""
        for kind in ("keyDown", "keyUp"):
            self._ask("Input.dispatchKeyEvent", type=kind, key=key,
                      **({"text": key} if kind == "keyDown" and len(key) == 1 else {}))

    def key(self, name: str, code: int, text: str = "") -> None:
        """A key that does something: its name, its code, and what it types."""
        for kind in ("keyDown", "keyUp"):
            self._ask("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                      windowsVirtualKeyCode=code,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def look(self, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """A window of this size, light or dark."""
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self._ask("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._ask("Page.captureScreenshot")["data"]))

    def frames(self) -> list[str]:
        """The addresses of frames that have processes of their own, as sandboxed ones do."""
        return list(self._frames.values())

    def in_frame(self, address: str, script: str) -> Any:
        """The value of an expression in such a frame."""
        session = next(key for key, value in self._frames.items() if value == address)
        mine, self._session = self._session, session
        try:
            return self.run(script)
        finally:
            self._session = mine

    def _serve(self, asked: Message) -> None:
        mine, self._session = self._session, self._speaker
        try:
            self._pass(asked)
        finally:
            self._session = mine

    def _pass(self, asked: Message) -> None:
        if urlsplit(asked["request"]["url"]).netloc == urlsplit(self.address).netloc:
            self._say("Fetch.continueRequest", requestId=asked["requestId"])
            return
        self.requests.append(asked["request"]["url"])
        super()._serve(asked)

    def _next(self, end: float) -> Message:
        message = super()._next(end)
        self._speaker = message.get("sessionId", self._session)
        if message.get("method") == "Target.attachedToTarget" and self._session:
            self._watch(message["params"])
        elif message.get("method") == "Target.detachedFromTarget":
            self._frames.pop(message["params"]["sessionId"], None)
        if message.get("method") in _NOTED:
            self.complaints.append(message)
        return message

    def _watch(self, attached: Message) -> None:
        """Another process of the page is observed like the page."""
        mine, self._session = self._session, attached["sessionId"]
        self._frames[self._session] = attached["targetInfo"]["url"]
        for method in ("Runtime.enable", "Log.enable"):
            self._say(method)
        self._say("Fetch.enable", patterns=[{"urlPattern": "*"}])
        self._say("Runtime.runIfWaitingForDebugger")
        self._session = mine


def nothing_happened(visitor: Visitor) -> None:
    """No request went elsewhere, and the browser has nothing to say."""
    assert (visitor.requests, visitor.complaints) == ([], [])


def at(screen: str, **parameters: Any) -> str:
    """The address of a screen."""
    return f"#/{screen}?{urlencode(parameters, doseq=True)}"


def first(result: str, table: str) -> dict[str, Any]:
    row: dict[str, Any] = tables.read(result, table).to_pylist()[0]
    return row
