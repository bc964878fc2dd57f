"""The kernels that runs call: `make kernels` writes them to beam_reuse/kernels/signatures.txt.

Run as a program with a file's name it runs the demo, sorts strings as larger crawls have them, and
writes the signatures of what was called there.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any


def main(path: str) -> int:
    """Run the demo in this process; returns its status."""
    from beam_reuse.kernels.kept_code import KeptCode
    from beam_reuse.kernels.precompiling import Signature, spelled

    called: set[str] = set()
    load, save = KeptCode.load_overload, KeptCode.save_overload
    compiling: list[Any] = []  # kernels within a kernel that is compiled here are not called

    def loading(self: KeptCode, sig: Any, target: Any) -> Any:
        if not compiling:
            function = self._function
            called.add(str(Signature(
                function.__module__, function.__name__, tuple(map(spelled, sig)))))
        found = load(self, sig, target)
        if found is None:
            compiling.append(sig)
        return found

    def saving(self: KeptCode, sig: Any, data: Any) -> None:
        compiling.pop()
        save(self, sig, data)

    KeptCode.load_overload, KeptCode.save_overload = loading, saving
    from beam_reuse.cli.main import main as run

    with tempfile.TemporaryDirectory() as folder:
        status = run(["demo", "-o", f"{folder}/demo", "--workers", "1"])
    _sort_many_strings()
    Path(path).write_text("".join(f"{each}\n" for each in sorted(called)))
    return status


def _sort_many_strings() -> None:
    """URLs of a large site begin alike for longer than those of the demo, and come in many rows:
    each has kernels of its own."""
    from beam_reuse.columnar.sorting import sort_order
    from beam_reuse.columnar.varbytes import VarBytes

    prefix = b"http://www.site.example/" + 200 * b"a"
    few = VarBytes.from_list([b"%s%d" % (prefix, number) for number in range(3)])
    many = VarBytes.from_list([b"%d" % (number % 100) for number in range(3000)])
    for column in (few, many):
        sort_order([column], len(column))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
