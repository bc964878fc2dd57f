"""A machine on which Numba can keep nothing: no folder for compiled code can be written."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import beam_reuse
from beam_reuse.io.results.tables import read


def test_a_run_works_without_a_cache_for_compiled_code(tmp_path: Path) -> None:
    """Where folders are wanted there are files, which stops root, too."""
    package = tmp_path / "code" / "beam_reuse"
    shutil.copytree(Path(beam_reuse.__file__).parent, package,
                    ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (package, *(p for p in package.rglob("*") if p.is_dir())):
        (folder / "__pycache__").touch()
    nowhere = tmp_path / "nowhere"
    nowhere.touch()
    (tmp_path / "crawl.jsonl").write_text(json.dumps({"url": "http://a.example/", "html": "<p>x"}))
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-m", "beam_reuse", "run", "crawl.jsonl", "-o", "out", "--workers", "1"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env=environment | {"PYTHONPATH": str(package.parent), "HOME": str(nowhere),
                           "XDG_CACHE_HOME": str(nowhere / "cache")},
    )
    assert done.returncode == 0, done.stderr
    assert read(str(tmp_path / "out"), "pages")["url"].to_pylist() == ["http://a.example/"]
    assert not list(tmp_path.rglob("*.nb[ic]"))
