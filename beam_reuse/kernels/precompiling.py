"""Compiles kernels before a run needs them: on all cores, and only those whose code is not stored.

`signatures.txt` lists the kernels that a run of all analyses calls, with the types of their
arguments (`make kernels` writes it). A kernel that is not listed is compiled at its first call.
"""

import gc
import hashlib
import importlib
import os
import platform
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from beam_reuse.kernels.kept_folder import kept_folder

HERE = Path(__file__).parent
SIGNATURES = HERE / "signatures.txt"
_SOURCES = (HERE, HERE.parent / "columnar")


class Signature(NamedTuple):
    """A kernel by its module and name, and the types of its arguments as `spelled` writes them."""

    module: str
    name: str
    types: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.module} {self.name} {' '.join(self.types)}"

    @classmethod
    def read(cls, line: str) -> "Signature":
        module, name, *types = line.split()
        return cls(module, name, tuple(types))


def spelled(kind: Any) -> str:
    """A type of an argument in one word: `int64`, or `uint8[:,:]` for an array; `uint8[:]!` if it
    is read-only."""
    if not hasattr(kind, "ndim"):
        return str(kind)
    return f"{kind.dtype}[{','.join(':' * kind.ndim)}]{'' if kind.mutable else '!'}"


def numba_type(word: str) -> Any:
    """The type that `spelled` gives this word for."""
    from numba import types

    scalar, bracket, rest = word.partition("[")
    kind = types.boolean if scalar == "bool" else getattr(types, scalar)
    if not bracket:
        return kind
    return types.Array(kind, rest.count(":"), "C", readonly=rest.endswith("!"))


def known() -> list[Signature]:
    """What `signatures.txt` lists."""
    return [Signature.read(line) for line in SIGNATURES.read_text().splitlines()]


def compile_known(report: Callable[[int, int], None], processes: int) -> int:
    """Compile and store what is known and not stored; returns how many kernels that were.

    `report` is called with how many are done, and of how many, before and after each. Nothing is
    done where code cannot be stored. A kernel that cannot be compiled here is left to the run,
    which then says why. Cost if all is stored: one look at a file whose name has a hash of the
    sources; 0.7 s after an upgrade that changes no kernel.
    """
    mark = kept_folder() / f"complete-{_digest_of_sources()}"
    if mark.exists() or not _can_write(mark.parent):
        return 0
    missing = [each for each in known() if not is_stored(each)]
    if missing:
        _compile(missing, report, min(processes, len(missing)))
    if all(map(is_stored, missing)):
        with suppress(OSError):
            mark.touch()
    return len(missing)


def is_stored(signature: Signature) -> bool:
    """Whether the code of this kernel is stored for this processor and these versions."""
    kernel = _kernel(signature)
    types = tuple(map(numba_type, signature.types))
    stored: bool = kernel._cache.is_stored(types, kernel.targetctx.codegen())
    return stored


def _kernel(signature: Signature) -> Any:
    return getattr(importlib.import_module(signature.module), signature.name)


def _can_write(folder: Path) -> bool:
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        return os.access(folder, os.W_OK)
    return False


def _digest_of_sources() -> str:
    """Changes with whatever stored code may depend on: sources, versions, processor, signatures."""
    found = hashlib.sha256(repr((
        sys.version, *map(version, ("numba", "llvmlite", "numpy")), _processor(),
        os.environ.get("NUMBA_CPU_NAME"), os.environ.get("NUMBA_CPU_FEATURES"))).encode())
    for path in (SIGNATURES, *(path for each in _SOURCES for path in sorted(each.glob("*.py")))):
        found.update(path.read_bytes())
    return found.hexdigest()[:40]


def _processor() -> list[str]:
    """What this system says of its processor; several machines may share a folder."""
    with suppress(OSError), open("/proc/cpuinfo") as file:
        return sorted({line for line in file
                       if line.startswith(("model name", "flags", "Features"))})
    return list(platform.uname())


def _compile(
    missing: Sequence[Signature], report: Callable[[int, int], None], processes: int,
) -> None:
    """Compile in processes of their own, each a batch at a time; kernels of one module are a batch
    or a few, as they share others."""
    waiting: queue.SimpleQueue[list[Signature]] = queue.SimpleQueue()
    for batch in _batches(missing):
        waiting.put(batch)
    done: queue.SimpleQueue[int] = queue.SimpleQueue()
    threads = [threading.Thread(target=_attend, args=(waiting, done)) for _ in range(processes)]
    for thread in threads:
        thread.start()
    count, ended = 0, 0
    report(0, len(missing))
    while ended < processes:
        new = done.get()
        count, ended = count + new, ended + (not new)
        report(count, len(missing))
    for thread in threads:
        thread.join()


def _batches(missing: Sequence[Signature]) -> Iterator[list[Signature]]:
    """By module, the longest source first: it takes the longest."""
    by_module: dict[str, list[Signature]] = {}
    for each in missing:
        by_module.setdefault(each.module, []).append(each)
    for module in sorted(by_module, key=_source_bytes, reverse=True):
        yield by_module[module]


def _source_bytes(module: str) -> int:
    path = HERE.parents[1].joinpath(*module.split(".")).with_suffix(".py")
    return path.stat().st_size


def _attend(waiting: "queue.SimpleQueue[list[Signature]]", done: "queue.SimpleQueue[int]") -> None:
    """Hand batches to a process until there are none; puts 1 for each kernel, 0 at the end."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(
        [str(HERE.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])}
    try:
        with subprocess.Popen([sys.executable, "-m", __name__], stdin=subprocess.PIPE, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=environment) as process:
            assert process.stdin is not None and process.stdout is not None
            while process.poll() is None:
                try:
                    batch = waiting.get_nowait()
                except queue.Empty:
                    break
                for signature in batch:
                    print(signature, file=process.stdin, flush=True)
                    if not process.stdout.readline():
                        return
                    done.put(1)
    except OSError:
        pass
    finally:
        done.put(0)


def main() -> None:
    """Compile the signatures of the standard input, and write a line for each."""
    gc.disable()  # an eighth of the time: what a compiler makes, it keeps
    for line in sys.stdin:
        signature = Signature.read(line)
        with suppress(Exception):  # the run that calls it says why
            _kernel(signature).compile(tuple(map(numba_type, signature.types)))
        print(signature, flush=True)


if __name__ == "__main__":
    main()
