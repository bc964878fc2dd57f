"""Kernels are compiled before the first run, on all cores, once, and only those that are needed."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

from beam_reuse.cli import first_run
from beam_reuse.kernels import precompiling
from beam_reuse.kernels.kept_code import KeptCode
from beam_reuse.kernels.precompiling import Signature, compile_known, known, numba_type, spelled

TOP = Path(__file__).parents[2]
FEW = [Signature.read(line) for line in (
    "beam_reuse.columnar.filters _fill uint64[:] uint64[:]!",
    "beam_reuse.kernels.mixing mix uint64",
    "beam_reuse.kernels.union_find _root int64[:] int64",
)]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for code, and three kernels that are known."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(precompiling, "known", lambda: list(FEW))
    return tmp_path / "kept"


def code_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if not path.name.startswith("complete-")]


def test_every_line_names_a_kernel_and_types() -> None:
    assert len(known()) > 60 and len(set(known())) == len(known())
    for each in known():
        kernel = precompiling._kernel(each)
        assert isinstance(kernel, Dispatcher) and isinstance(kernel._cache, KeptCode)
        assert tuple(spelled(numba_type(word)) for word in each.types) == each.types
        assert Signature.read(str(each)) == each


def test_the_demo_calls_what_is_listed(tmp_path: Path) -> None:
    """Else a new machine compiles in silence, or more than it needs: `make kernels` lists anew."""
    written = tmp_path / "signatures.txt"
    subprocess.run([sys.executable, "-m", "tests.record_kernels", str(written)], cwd=TOP,
                   check=True, capture_output=True)
    assert written.read_text() == precompiling.SIGNATURES.read_text(), "run `make kernels`"


def test_what_is_missing_is_compiled_once(kept: Path) -> None:
    reports: list[tuple[int, int]] = []
    assert compile_known(lambda *each: reports.append(each), processes=2) == 3
    assert reports[0] == (0, 3) and reports[-1] == (3, 3) and reports == sorted(reports)
    assert len(code_in(kept)) >= 3 and all(map(precompiling.is_stored, FEW))
    assert compile_known(lambda *_: pytest.fail("nothing is missing"), 2) == 0


def test_only_what_an_upgrade_changes_is_compiled_again(
    kept: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    compile_known(lambda *_: None, 2)
    monkeypatch.setattr(precompiling, "_digest_of_sources", lambda: "after-an-upgrade")
    assert compile_known(lambda *_: pytest.fail("no kernel has changed"), 2) == 0
    (one,) = kept.glob("beam_reuse.kernels.mixing.mix-*")
    one.unlink()
    monkeypatch.setattr(precompiling, "_digest_of_sources", lambda: "after-another")
    assert compile_known(lambda *_: None, 2) == 1
    assert one.exists()


def test_a_kernel_that_cannot_be_compiled_is_left_to_the_run(
    kept: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = Signature("beam_reuse.kernels.union_find", "_root", ("float64", "float64"))
    monkeypatch.setattr(precompiling, "known", lambda: [wrong, FEW[1]])
    reports: list[tuple[int, int]] = []
    assert compile_known(lambda *each: reports.append(each), 1) == 2
    assert reports[-1] == (2, 2)
    assert compile_known(lambda *_: None, 1) == 1  # it is tried again
    assert precompiling.is_stored(FEW[1]) and not list(kept.glob("complete-*"))


def test_nothing_is_compiled_where_nothing_can_be_stored(
    kept: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept.touch()
    assert compile_known(lambda *_: pytest.fail("nothing is to be done"), 2) == 0


def test_what_is_shown(kept: Path) -> None:
    out = io.StringIO()
    first_run.compile_kernels(out)
    lines = out.getvalue().splitlines()
    assert lines[0] == "0:00  compiling kernels, first run only, 0 of 3"
    assert lines[-1].endswith("compiling kernels, first run only, 3 of 3")
    first_run.compile_kernels(out)
    assert out.getvalue().splitlines() == lines


def test_processes_end_with_their_caller(kept: Path) -> None:
    """A process that nobody writes to any more ends, having compiled what it was given."""
    done = subprocess.run([sys.executable, "-m", precompiling.__name__], input=f"{FEW[1]}\n",
                          text=True, capture_output=True, check=True, env=dict(os.environ))
    assert done.stdout == f"{FEW[1]}\n"
    assert precompiling.is_stored(FEW[1])
