"""CPU of a run with a baseline, beside that of a run over both crawls.

usage: baseline.py --new INPUT... --old INPUT... [--analyses LIST]

Both crawls are indexed first, which is not counted. Start-up, measured on one page, is taken off
every figure. Printed are CPU seconds of a run over both from crawl files and from indexes, of the
run with the baseline from the new crawl's files and from its index, and what share of the former
the latter are.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from measure import run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--new", nargs="+", required=True)
    parser.add_argument("--old", nargs="+", required=True)
    parser.add_argument("--analyses")
    given = parser.parse_args()
    some = ["--analyses", given.analyses] if given.analyses else []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page = folder / "page.jsonl"
        page.write_text('{"url": "http://a.example/", "text": "one page of a few words"}\n')
        new, old = folder / "new", folder / "old"
        cpu_of("index", given.new, new)
        cpu_of("index", given.old, old)
        start = cpu_of("run", [page], folder / "start", *some)
        beside = ("--baseline", str(old), *some)
        figures = {
            "files": (cpu_of("run", given.new, folder / "a", *beside),
                      cpu_of("run", [*given.new, *given.old], folder / "b", *some)),
            "indexes": (cpu_of("run", [new], folder / "c", *beside),
                        cpu_of("run", [new, old], folder / "d", *some)),
        }
    print(f"start-up: {start:.1f} s of CPU")
    for form, (grown, full) in figures.items():
        print(f"from {form}: {grown - start:.1f} s with the baseline, {full - start:.1f} s over "
              f"both: {(grown - start) / (full - start):.2f}")


def cpu_of(command: str, inputs: Sequence[object], output: Path, *options: str) -> float:
    """CPU seconds of a command."""
    return run([sys.executable, "-m", "beam_reuse", command, *map(str, inputs), "-o", str(output),
                *options]).cpu


if __name__ == "__main__":
    main()
