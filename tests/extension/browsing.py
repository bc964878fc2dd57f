"""Chromium with the extension, at a server that is every host of the web."""

import base64
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tests.browser.chromium import FLAGS, Chromium
from tests.extension.server import Web

PATIENCE = 60.0  # of a busy machine
# What Chromium asks the web for by itself is switched off: what is left is the pages'.
_QUIET = ("--ignore-certificate-errors", "--enable-unsafe-extension-debugging",
          "--disable-default-apps", "--disable-domain-reliability", "--no-pings",
          "--disable-features=OptimizationHints,MediaRouter,NetworkTimeServiceQuerying,"
          "HttpsUpgrades,HttpsFirstBalancedModeAutoEnable")
T = TypeVar("T")


class Browsing(Chromium):
    """A browser with the extension. `run` is in the page; `ask_extension` in a page of the
    extension, which is open beside it."""

    def __init__(self, path: str, extension: Path, web: Web) -> None:
        super().__init__(path)
        self.web = web
        self._extension = extension
        self.flags = (*(flag for flag in FLAGS if flag != "--disable-extensions"), *_QUIET,
                      f"--host-resolver-rules={web.rules}")

    def _prepare(self) -> None:
        page = self._session
        self._session = ""
        self.id = self._ask("Extensions.loadUnpacked", path=str(self._extension))["id"]
        self._session = page
        self._options = self.open(self.page("options"))
        self._ask("Emulation.setFocusEmulationEnabled", enabled=True)
        self.until(lambda: self.ask_extension(
            "location.protocol === 'chrome-extension:' && document.readyState === 'complete'"))

    def page(self, name: str) -> str:
        """The address of a page of the extension."""
        return f"chrome-extension://{self.id}/pages/{name}.html"

    def open(self, url: str) -> str:
        """Another tab; returns its session."""
        mine, self._session = self._session, ""
        target = self._ask("Target.createTarget", url=url, background=True)["targetId"]
        session: str = self._ask("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"]
        self._session = session
        self._ask("Page.enable")
        self._session = mine
        return session

    def go(self, url: str) -> None:
        """Visit a page until it is loaded."""
        loader = self._ask("Page.navigate", url=url).get("loaderId")
        self._wait(lambda message: message.get("method") == "Page.loadEventFired"
                   and message.get("sessionId") == self._session, loader)

    def ask_extension(self, script: str) -> Any:
        """The value of an expression in a page of the extension."""
        return self.inside(self._options, script)

    def inside(self, session: str, script: str) -> Any:
        mine, self._session = self._session, session
        try:
            return self.run(script)
        finally:
            self._session = mine

    def soon(self, script: str) -> None:
        """Run a script in the page that may end it."""
        self.run(f"setTimeout(() => {{ {script} }}); 0")

    def with_store(self, task: str) -> Any:
        """The value of a function of the store."""
        return self.ask_extension(
            f"import('/core/store.js').then(({{ withStore }}) => withStore({task}))")

    def sites(self) -> dict[str, int]:
        """Learnt sites, and how many passages each has."""
        heads = self.with_store("async (store) => store.heads()")
        return {head["domain"]: head["count"] for head in heads}

    def forget_all(self) -> None:
        self.with_store("""async (store) => {
          const heads = await store.heads();
          await store.commit(new Map(heads.map(({ domain }) => [domain, null])), []);
          await store.setNever([]);
          await store.setSettings((await import("/core/store.js")).SETTINGS);
        }""")

    def state(self) -> dict[str, Any] | None:
        """What the content script says of the page in front."""
        found: dict[str, Any] | None = self.ask_extension("""
          chrome.tabs.query({}).then((tabs) => Promise.all(tabs.map(({ id }) =>
            chrome.tabs.sendMessage(id, { kind: "state" }, { frameId: 0 }).catch(() => null))))
          .then((states) => states.find((state) => state) ?? null)""")
        return found

    def read(self, times: int = 1) -> dict[str, Any]:
        """The state after the page was read, so many times."""
        return self.until(lambda: (state := self.state()) and state["reply"]
                          and state["readings"] >= times and state)

    def until(self, condition: Callable[[], T]) -> T:
        """Wait until something is true; returns it."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if found := condition():
                    return found
            except RuntimeError:  # the page is being replaced
                pass
            time.sleep(0.03)
        raise TimeoutError("never true")

    def bar(self) -> dict[str, Any] | None:
        """The bar: its text, and the ids of its buttons by choice."""
        host = self._ask("Runtime.evaluate", expression=(
            "[...document.querySelectorAll('div[popover=manual]')].findLast("
            "(one) => one.parentNode === document.documentElement)"))["result"]
        if "objectId" not in host:
            return None
        node = self._ask("DOM.describeNode", objectId=host["objectId"], depth=-1, pierce=True)
        roots = node["node"].get("shadowRoots", [])
        if not roots or roots[0]["shadowRootType"] != "closed":
            return None
        found: dict[str, Any] = {"text": "", "buttons": {}, "passages": []}
        _collect(roots[0], found)
        return found

    def warned(self) -> dict[str, Any]:
        """The bar, as soon as there is one."""
        return self.until(self.bar)  # type: ignore[return-value]

    def press(self, choice: str) -> None:
        """Click a button of the bar, as a hand does, when it can be clicked."""
        self.warned()
        time.sleep(1.05)
        self.click_node(self.warned()["buttons"][choice])

    def click_node(self, node: int) -> None:
        quad = self.until(lambda: self._ask("DOM.getContentQuads", backendNodeId=node)["quads"])[0]
        self.click_at(sum(quad[::2]) / 4, sum(quad[1::2]) / 4)

    def search(self, selector: str) -> int:
        """An element of the page, in whatever tree it is."""
        document = self._ask("DOM.getDocument", depth=-1, pierce=True)["root"]
        found = self._ask("DOM.performSearch", query=selector, includeUserAgentShadowDOM=True)
        nodes = self._ask("DOM.getSearchResults", searchId=found["searchId"], fromIndex=0,
                          toIndex=found["resultCount"])["nodeIds"]
        assert document and nodes, f"no {selector}"
        node: int = self._ask("DOM.describeNode", nodeId=nodes[0])["node"]["backendNodeId"]
        return node

    def click_at(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self._ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def click(self, selector: str) -> None:
        """Click an element of the page, as a hand does."""
        x, y = self.run(f"(() => {{ const box = document.querySelector({selector!r})"
                        ".getBoundingClientRect(); return [box.x + box.width / 2, "
                        "box.y + box.height / 2]; })()")
        self.click_at(x, y)

    def type(self, text: str) -> None:
        """Type letters, as a keyboard does."""
        for letter in text:
            self.key(letter, ord(letter.upper()), letter)

    def key(self, name: str, code: int, text: str = "") -> None:
        self._ask("Input.dispatchKeyEvent", type="keyDown", key=name, windowsVirtualKeyCode=code,
                  **({"text": text} if text else {}))
        self._ask("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)

    def log_in(self, url: str) -> None:
        """Visit a page and begin to log in, until it is learnt."""
        self.go(url)
        self.read()
        self.click("input[type=password]")
        self.type("x")
        self.until(lambda: (state := self.state()) and state["reply"] and state["reply"]["learnt"])

    def stop_worker(self) -> None:
        """End the worker, as the browser does when it has nothing to do."""
        self.until(self._stop_worker)

    def worker_runs(self) -> bool:
        return bool(self._workers())

    def _stop_worker(self) -> bool:
        mine, self._session = self._session, ""
        for worker in self._workers():
            self._ask("Target.closeTarget", targetId=worker)
        self._session = mine
        return not self._workers()

    def _workers(self) -> list[str]:
        mine, self._session = self._session, ""
        targets = self._ask("Target.getTargets")["targetInfos"]
        self._session = mine
        return [target["targetId"] for target in targets
                if target["type"] == "service_worker" and self.id in target["url"]]

    def look(self, width: int = 1280, height: int = 800, dark: bool = False) -> None:
        """A window of this size, light or dark."""
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self._ask("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._ask("Page.captureScreenshot")["data"]))

    def address(self) -> str:
        return str(self.run("location.href"))


def _collect(node: dict[str, Any], found: dict[str, Any]) -> None:
    attributes = dict(zip(*[iter(node.get("attributes", []))] * 2, strict=True))
    if "data-choice" in attributes:
        found["buttons"][attributes["data-choice"]] = node["backendNodeId"]
    if node["nodeName"] == "Q":
        found["passages"].append("".join(one["nodeValue"] for one in node["children"]))
    if node["nodeName"] != "STYLE":
        found["text"] += node.get("nodeValue", "")
        for child in node.get("children", []):
            _collect(child, found)


def quoted(html: str) -> str:
    """Text as a literal of JavaScript, in a script of a page."""
    return json.dumps(html).replace("<", "\\u003c")
