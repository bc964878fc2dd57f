"""An analysis of another distribution, added through an entry point, from end to end."""

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.plugins.outside.shared_images.oracle import shared_images

OUTSIDE = Path(__file__).parent / "outside"
ROOT = Path(__file__).parents[2]
DOC = ROOT / "docs" / "adding-an-analysis.md"
POINT = "shared_images.about:SHARED_IMAGES"


def install(folder: Path, **points: str) -> None:
    """A distribution with these analyses as pip leaves it behind, but for its code."""
    info = folder / "shared_images-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shared-images\nVersion: 1.2\n")
    lines = [f"{name.replace('_', '-')} = {place}" for name, place in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[beam_reuse.analyses]", *lines, ""]))


def beam_reuse(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """`beam-reuse` where the distribution in `folder` is installed."""
    path = os.pathsep.join(map(str, (folder, OUTSIDE, ROOT)))
    return subprocess.run(
        [sys.executable, "-m", "beam_reuse", *argv], text=True, capture_output=True, cwd=folder,
        env={**os.environ, "PYTHONPATH": path}, timeout=300)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("site")
    install(folder, shared_images=POINT)
    return folder


def random_pages(seed: int) -> dict[str, str]:
    """Pages of some hosts with images of their own, of others, and inside of them."""
    draw = random.Random(seed)
    hosts = [f"{name}.example" for name in "abcde"]
    images = ["logo.png", "/logo.png", "data:image/gif;base64,R0lGOD", "http://cdn.example/x.png",
              *(f"//{host}/i/{n}.jpg" for host in hosts for n in range(4))]
    return {
        f"http://{host}/d/{n}.html": "<p>" + "".join(
            f'<img src="{draw.choice(images)}"> text' for _ in range(draw.randrange(6)))
        for host in hosts for n in range(5)}


def test_it_runs_from_end_to_end_and_equals_its_definition(installed: Path) -> None:
    pages = random_pages(5)
    crawl = installed / "crawl.jsonl"
    crawl.write_text("".join(
        json.dumps({"url": url, "html": html}) + "\n" for url, html in pages.items()))
    done = beam_reuse(installed, "run", str(crawl), "-o", "result", "--analyses", "shared-images",
                      "--min-image-hosts", "3")
    assert done.returncode == 0, done.stderr
    expected, inside = shared_images(pages, 3)
    manifest = json.loads((installed / "result" / "manifest.json").read_text())
    parts = manifest["tables"]["shared_images"]["parts"]
    found = [row for part in parts
             for row in pq.ParquetFile(installed / "result" / part["path"]).read().to_pylist()]
    assert found == expected and len(expected) > 3
    assert set(manifest["tables"]) <= {
        "pages", "rejects", "skipped", "depth_histogram", "shared_images"}
    assert manifest["settings"]["min-image-hosts"] == 3
    assert manifest["noted"] == {"images-without-url": inside} and inside
    versions = json.loads((installed / "result" / "run.json").read_text())["versions"]
    assert versions["shared-images"] == "1.2"
    assert f"shared images: {len(expected)} images on 3 hosts or more" in done.stdout
    assert "images-without-url: images inside of a page (data:) are not compared" in done.stdout


def test_help_and_errors_speak_of_it(installed: Path) -> None:
    told = beam_reuse(installed, "run", "--help").stdout
    assert re.search(r"shared-images:\n +--min-image-hosts N", told)
    assert "shared-images: which images are shown by several hosts" in told
    unwrapped = re.sub(r"(?<=-)\n +", "", told)
    assert "overlap, quilts, boilerplate, shared-images" in " ".join(unwrapped.split())
    refused = beam_reuse(installed, "run", "x.warc", "-o", "r", "--analyses", "shared-images",
                         "--min-image-hosts", "1")
    assert refused.returncode == 2
    assert "--min-image-hosts: 1 is not allowed; it must be 2 or more" in refused.stderr
    idle = beam_reuse(installed, "run", "x.warc", "-o", "r", "--min-image-hosts", "3").stderr
    assert "--min-image-hosts does nothing" in idle and "an option of shared-images" in idle


@pytest.mark.parametrize(("points", "reason"), [
    ({"shared_images": "shared_images.missing:X"}, "No module named 'shared_images.missing'"),
    ({"shared_images": "shared_images.about:WHOLE"}, "it is no About, but OptionKind"),
    ({"one": POINT, "two": POINT}, "the name 'shared-images' is taken"),
])
def test_a_broken_distribution_is_named(
    tmp_path: Path, points: dict[str, str], reason: str,
) -> None:
    install(tmp_path, **points)
    done = beam_reuse(tmp_path, "run", "--help")
    assert done.returncode == 2
    assert reason in done.stderr and "the distribution shared-images" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_walk_through_shows_the_files_as_they_are() -> None:
    blocks = re.findall(r"^`([\w/.]+)`:\n\n```\w*\n(.*?)^```$", DOC.read_text(), re.S | re.M)
    shown = dict(blocks)
    files = {path.name for path in (OUTSIDE / "shared_images").glob("*.py")} - {"__init__.py"}
    assert {f"shared_images/{name}" for name in files} == {name for name in shown if "/" in name}
    for name in files:
        text = (OUTSIDE / "shared_images" / name).read_text()
        assert shown[f"shared_images/{name}"] == text, name
    assert POINT in shown["pyproject.toml"]
