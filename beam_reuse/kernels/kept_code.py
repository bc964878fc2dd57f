"""Machine code of kernels, kept for all processes and checkouts of a user.

The name of a file says what its code was made from: the kernel with every kernel and constant that
it uses, the types of its arguments, the processor, the versions of Python and Numba. So files are
added and never changed, processes that write one at the same time write equal code, and code is
compiled again only if something that it is made from changes. (The cache that Numba has rewrites an
index, and two processes that do so at once may leave one that leads to code for other types.)
"""

import hashlib
import pickle
import sys
import types
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from beam_reuse.kernels.kept_folder import kept_folder

Function = Callable[..., Any]
_VERSIONS = (sys.version, numba.__version__, llvmlite.__version__, np.__version__)
_LIBRARIES = ("math", "numba", "numpy")


class KeptCode(_Cache):
    """The code of one kernel, for Numba's dispatcher. Where files cannot be read or written it is
    compiled in every process instead."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._enabled = True

    @property
    def cache_path(self) -> str:
        return str(kept_folder())

    def is_stored(self, sig: Any, codegen: Any) -> bool:
        """Whether there is code for these types of arguments."""
        return self._path(sig, codegen).exists()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for these types of arguments; None if it was not kept."""
        target_context.refresh()
        if not self._enabled:
            return None
        try:
            content = self._path(sig, target_context.codegen()).read_bytes()
        except OSError:
            return None
        digest, data = content[:32], content[32:]
        if hashlib.sha256(data).digest() != digest:  # cut off, as by a machine that lost its power
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(data))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep code that was compiled."""
        if not self._enabled or data.library.has_dynamic_globals or data.lifted:
            return
        content = dumps(data._reduce())
        path = self._path(sig, data.codegen)
        temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                temporary.write_bytes(hashlib.sha256(content).digest() + content)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Files are never changed: there is nothing to renew."""

    def _path(self, sig: Any, codegen: Any) -> Path:
        made_from = (_VERSIONS, codegen.magic_tuple(), str(sig), digest_of(self._function))
        name = hashlib.sha256(repr(made_from).encode()).hexdigest()[:40]
        return kept_folder() / f"{self._function.__module__}.{self._function.__name__}-{name}"


@cache
def digest_of(function: Function) -> str:
    """A hash of all that a function's code is made from: its own code, and what it uses."""
    return _digest(function, ())


def _digest(function: Function, callers: tuple[Function, ...]) -> str:
    if function in callers:
        return f"caller {callers.index(function)}"
    found = hashlib.sha256()
    for part in _parts(function, (*callers, function)):
        found.update(part.encode() + b"\0")
    return found.hexdigest()


def _parts(function: Function, callers: tuple[Function, ...]) -> Iterator[str]:
    """What makes a function: code, defaults, values around it, and the globals that it names."""
    codes = list(_codes(function.__code__))
    names = sorted({name for code in codes for name in code.co_names})
    for code in codes:
        consts = [each for each in code.co_consts if not isinstance(each, types.CodeType)]
        if function.__doc__ and code is codes[0]:
            consts[0] = None  # what is said of it makes no code
        yield repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars, consts))
    yield repr(function.__defaults__)
    for cell in function.__closure__ or ():
        yield _described(cell.cell_contents, names, callers)
    for name in names:
        if name in function.__globals__:
            yield f"{name} = {_described(function.__globals__[name], names, callers)}"


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _codes(each)


def _described(value: Any, names: list[str], callers: tuple[Function, ...]) -> str:
    """A value that a kernel names, in words that change when code that uses it would."""
    function = getattr(value, "py_func", None) or getattr(value, "_defn", None) or value
    if isinstance(function, types.FunctionType) and not _of_library(function.__module__):
        return _digest(function, callers)
    if isinstance(value, types.ModuleType):
        inside = () if _of_library(value.__name__) else names
        return " ".join((value.__name__, *(_described(getattr(value, name), names, callers)
                                           for name in inside if hasattr(value, name))))
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple):
        return "(" + ", ".join(_described(each, names, callers) for each in value) + ")"
    if isinstance(value, int | float | str | bytes | np.generic | None | numba.types.Type):
        return f"{type(value).__name__} {value!r}"
    return f"{value.__module__}.{value.__qualname__}"  # a class, or a function of a library


def _of_library(module: str) -> bool:
    return module.partition(".")[0] in _LIBRARIES
