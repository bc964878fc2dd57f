"""What axe-core finds in a page: barriers for people who do not see it, or use no mouse."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chromium import Chromium

NONE = "no axe-core: `make browser` installs it"
_SEVERE = ("serious", "critical")
_RUN = """
axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations.map((one) => (
  {id: one.id, impact: one.impact, at: one.nodes.slice(0, 5).map((node) => node.target.join(" ")),
   why: one.nodes[0].failureSummary})))
"""


def axe_script() -> str:
    """axe-core, from the package that `make browser` installs, of which nothing else is used; the
    test is skipped, and says so, where it is not installed."""
    spec = find_spec("axe_playwright_python")
    if spec is None or spec.origin is None:
        pytest.skip(NONE)
    return Path(spec.origin).with_name("axe.min.js").read_text()


def barriers(page: Chromium, script: str) -> list[dict[str, Any]]:
    """The serious and critical findings in the page that is shown."""
    if not page.run("typeof axe === 'object'"):
        page.run(script + "; 0")
    return [found for found in page.run(_RUN) if found["impact"] in _SEVERE]
