"""Modules of the extension under Node, where it is installed."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ASK = Path(__file__).with_name("ask.mjs")
NONE = "no Node.js: its package is `nodejs`"


def ask(built: Path, name: str, values: Sequence[Any]) -> list[Any]:
    """What a function of ask.mjs gives for each of the values, with modules of a built folder; the
    test is skipped, and says so, where there is no Node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip(NONE)
    done = subprocess.run([node, str(ASK), str(built), name], input=json.dumps(list(values)),
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found
