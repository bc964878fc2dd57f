"""Machine code that is kept: whoever changes what it is made from gets other code."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.kept_code import digest_of

SOURCE = """
from beam_reuse.kernels.compiled import kernel

LIMIT = {limit}

@kernel
def inner(x):
    return x + {added}

@kernel
def outer(x):
    return inner(x) * LIMIT
"""
ALL_DIGESTS = """
import importlib, pkgutil, sys
import beam_reuse.columnar, beam_reuse.kernels
from numba.core.dispatcher import Dispatcher
from beam_reuse.kernels.kept_code import digest_of
found = set()
for package in (beam_reuse.kernels, beam_reuse.columnar):
    for each in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{each.name}")
        found |= {f"{each.py_func.__module__}.{each.py_func.__name__} {digest_of(each.py_func)}"
                  for each in vars(module).values() if isinstance(each, Dispatcher)}
print("\\n".join(sorted(found)))
"""
# Compiles the one kernel for one type, when it may begin.
COMPILE = """
import sys
import numpy as np
from made import outer
sys.stdin.readline()
given = np.arange(5).astype(sys.argv[1])
found = outer(given)
assert found.dtype == (given + 1).dtype and found.tolist() == [3, 6, 9, 12, 15], found
"""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "kept"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    return folder


def made(**values: Any) -> dict[str, Any]:
    """The kernels of SOURCE with these values."""
    module: dict[str, Any] = {"__name__": "made"}
    exec(SOURCE.format(**{"limit": 3, "added": 1} | values), module)
    return module


def test_a_digest_changes_with_what_code_is_made_from() -> None:
    first = digest_of(made()["outer"].py_func)
    assert digest_of(made()["outer"].py_func) == first
    others = {digest_of(made(**values)["outer"].py_func)
              for values in ({"limit": 4}, {"limit": 3.0}, {"added": 2}, {"added": "x"})}
    assert len(others - {first}) == 4


def test_a_digest_does_not_change_with_what_is_said() -> None:
    def function_of(text: str) -> Callable[..., Any]:
        space: dict[str, Any] = {"__name__": "made"}
        exec(f"def f(x):\n    {text}\n    return x + 'a'", space)
        return space["f"]

    said = {digest_of(function_of(text)) for text in ('"""One."""', '"""Two."""  # three')}
    assert len(said) == 1


def test_arrays_tuples_and_functions_of_other_modules_count() -> None:
    def function_of(value: Any) -> Callable[..., Any]:
        space: dict[str, Any] = {"__name__": "made", "VALUE": value}
        exec("def f(x):\n    return VALUE[0]", space)
        return space["f"]

    values = [np.arange(3), np.arange(4), np.arange(3, dtype=np.uint8), (1, 2), (1, 3), (1.0, 2)]
    assert len({digest_of(function_of(value)) for value in values}) == len(values)
    assert digest_of(function_of((1, 2))) == digest_of(function_of((1, 2)))


def test_a_kernel_that_calls_itself_has_a_digest() -> None:
    space: dict[str, Any] = {"__name__": "made", "kernel": kernel}
    exec("@kernel\ndef down(n):\n    return down(n - 1) if n > 0 else 0", space)
    assert len(digest_of(space["down"].py_func)) == 64


def test_digests_of_all_kernels_differ_and_are_the_same_in_every_process() -> None:
    said = [subprocess.run([sys.executable, "-c", ALL_DIGESTS], capture_output=True, text=True,
                           check=True, env={**os.environ, "PYTHONHASHSEED": seed}).stdout
            for seed in ("1", "2")]
    assert said[0] == said[1]
    digests = [line.split()[1] for line in said[0].splitlines()]
    assert len(digests) == len(set(digests)) > 150


def test_processes_that_compile_at_once_leave_the_right_code(kept: Path, tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(SOURCE.format(limit=3, added=1))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    names = ("int64", "float64", "float32", "complex128")
    for _ in range(2):  # the second time from what the first has kept
        processes = [subprocess.Popen([sys.executable, "-c", COMPILE, name], env=environment,
                                      stdin=subprocess.PIPE) for name in names]
        for each in processes:
            assert each.stdin is not None
            each.stdin.write(b"\n")
            each.stdin.close()
        assert [each.wait() for each in processes] == [0] * len(names)
        assert len(list(kept.glob("made.outer-*"))) == len(names)
    assert not [path for path in kept.iterdir() if "." in path.name.rpartition("-")[2]]


def test_what_is_cut_off_is_compiled_again(kept: Path) -> None:
    assert made()["outer"](np.arange(2)).tolist() == [3, 6]
    (path,) = kept.glob("made.outer-*")
    whole = path.read_bytes()
    for content in (b"", whole[:-100], whole[:-1] + b"?"):
        path.write_bytes(content)
        assert made()["outer"](np.arange(2)).tolist() == [3, 6]
        assert len(path.read_bytes()) > 1000 and path.read_bytes() != content
