"""Benchmarks refuse what they do not know before they measure anything."""

import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def test_a_program_that_is_not_known_is_refused(tmp_path: Path) -> None:
    documents = tmp_path / "documents.jsonl"
    documents.write_text('{"url": "http://a.example/", "text": "some words"}\n')
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "near_duplicates.py"), str(documents),
         "--only", "gaoja"], check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert "--only" in last and "'gaoja'" in last and "gaoya-own" in last
    assert [path.name for path in tmp_path.iterdir()] == ["documents.jsonl"]
