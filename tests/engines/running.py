"""Runs of the command line as users start them, and what makes two results the same."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from beam_reuse.demo.sample import sample_crawl

ACCOUNTED = f"{sample_crawl().planted().records}  = pages + skipped + rejected"
"""What every run on the sample crawl says."""

# As the installed program, but worker processes are used however small the input is, and a run of
# seconds shows how far it is, too.
PROGRAM = """
import sys
from beam_reuse import runners
from beam_reuse.cli import progress
from beam_reuse.cli.main import entry
if __name__ == "__main__":
    runners.SMALL_INPUT = 0
    progress._PlainLines.seconds = 0.3
    entry()
"""


def run(*arguments: object, seconds: int = 600) -> subprocess.CompletedProcess[str]:
    """`beam-reuse` with these arguments, to its end."""
    return subprocess.run(command(*arguments), capture_output=True, text=True, check=False,
                          timeout=seconds, env=environment())


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-c", PROGRAM, *map(str, arguments)]


def environment() -> Mapping[str, str]:
    """The caller's, with this checkout first where packages are looked for."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def digests(result: Path) -> dict[str, str]:
    """SHA-256 of the manifest and of every table's file, which must be those the manifest has."""
    manifest = json.loads((result / "manifest.json").read_text())
    found = {
        str(path.relative_to(result)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(result.rglob("*")) if path.is_file() and path.name != "run.json"
    }
    for table in manifest["tables"].values():
        for part in table["parts"]:
            assert part["sha256"] in ("", found[part["path"]])
    return found
