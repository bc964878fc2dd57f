"""What tests of the command `check` share: pages, a list that knows them, and its answers."""

import hashlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.labels.writing import write_labels

BANK = "<html><p>Welcome to the bank</p><p>Enter your password</p>"
PHISH = "<html><title>x</title><p>Enter  your password</p> <div>now"


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()


ROWS = [(sha1(BANK), "file", "http://bank.com/"),
        (sha1("<p>Enter your password</p>"), "chunk", "http://bank.com/"),
        (sha1("<p>Enter your password</p>"), "chunk", "http://www.shop.co.uk/a")]
GOOD = json.dumps({"url": "http://x.org", "html": PHISH}).encode()


@pytest.fixture
def labels(tmp_path: Path) -> str:
    return write_labels(tmp_path / "bank.parquet", ROWS)


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Any:
    def give(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    return give


def page(path: Path, content: str | bytes) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def answers(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]
