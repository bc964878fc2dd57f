"""What is built of this checkout is whole, and works where the checkout is not."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.stager import Stager

from beam_reuse import __version__

ROOT = Path(__file__).parents[1]
SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE")
NOT_SHIPPED = shutil.ignore_patterns("__pycache__", "*.pyc", "*.nbi", "*.nbc")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a package is built of, and nothing else."""
    folder = tmp_path_factory.mktemp("source")
    for name in SOURCES:
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "beam_reuse", folder / "beam_reuse", ignore=NOT_SHIPPED)
    return folder


@pytest.fixture(scope="module")
def files(source: Path) -> set[str]:
    """All files of the package."""
    return {path.relative_to(source).as_posix() for path in source.rglob("beam_reuse/**/*")
            if path.is_file()}


@pytest.fixture(scope="module")
def wheel(source: Path, files: set[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a source distribution, as `python -m build` does."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(source)],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in folder.iterdir()} == {
        f"beam_reuse-{__version__}.tar.gz", f"beam_reuse-{__version__}-py3-none-any.whl"}
    return folder / f"beam_reuse-{__version__}-py3-none-any.whl"


def test_a_wheel_has_every_file(wheel: Path, files: set[str]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert found == files
    assert {Path(name).suffix for name in found} >= {".py", ".txt", ".css", ".js", ".xml"}


def test_a_wheel_runs_the_demo_in_an_empty_venv(wheel: Path, tmp_path: Path) -> None:
    """Other packages are those of this Python, through one line of a .pth file, by which no
    package that is installed for editing is found."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    subprocess.run([sys.executable, "-m", "pip", "--python", venv / "bin" / "python", "install",
                    "-q", "--no-deps", "--no-index", wheel], check=True, capture_output=True)
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*words: str) -> str:
        done = subprocess.run([venv / "bin" / words[0], *words[1:]], cwd=tmp_path, env=environment,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("python", "-c", "import beam_reuse; print(beam_reuse.__file__)").startswith(
        str(site))
    assert run("beam-reuse", "--version").startswith(f"beam-reuse {__version__}\n")
    assert "--pool" in run("beam-reuse-worker", "--help")
    assert "checks passed" in run("beam-reuse", "demo", "-o", "demo")
    assert (tmp_path / "demo" / "result" / "report.html").exists()


def test_beam_ships_the_package_by_setup_py(
    source: Path, files: set[str], tmp_path: Path,
) -> None:
    """`--setup_file ./setup.py`: what workers of Dataflow install."""
    options = PipelineOptions([f"--setup_file={source / 'setup.py'}", "--sdk_location=container"])
    staged = Stager.create_job_resources(options, str(tmp_path))
    assert any(b"workflow.tar.gz" in each.role_payload for each in staged)
    with tarfile.open(tmp_path / f"beam_reuse-{__version__}.tar.gz") as archive:
        found = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert found >= {"setup.py", "pyproject.toml", *files}
