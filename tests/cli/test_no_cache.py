"""A machine on which no folder for compiled code can be written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import beam_reuse
from beam_reuse.io.results.tables import read


def test_a_run_works_without_a_cache_for_compiled_code(tmp_path: Path) -> None:
    """Where a folder is wanted there is a file, which stops root, too."""
    nowhere = tmp_path / "nowhere"
    nowhere.touch()
    (tmp_path / "crawl.jsonl").write_text(json.dumps({"url": "http://a.example/", "html": "<p>x"}))
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-m", "beam_reuse", "run", "crawl.jsonl", "-o", "out", "--workers", "1"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env=environment | {"PYTHONPATH": str(Path(beam_reuse.__file__).parents[1]),
                           "XDG_CACHE_HOME": str(nowhere)},
    )
    assert done.returncode == 0, done.stderr
    assert read(str(tmp_path / "out"), "pages")["url"].to_pylist() == ["http://a.example/"]
    assert nowhere.read_bytes() == b""
