"""What runs of any size need, and what their sizes cost.

    python benchmarks/scale.py                            # the plans, nothing is run
    python benchmarks/scale.py crawl/*.warc.gz            # and a sample run with the sizes of each

A plan follows from the bytes of the input and the memory of a worker (`pages.sizes`). With a
sample, the run of all analyses is repeated with the buckets, files and ranges of each larger plan;
CPU and memory are to stay near those of the sample's own plan.
"""

import argparse
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

if __package__ is None:
    sys.path.insert(0, str(Path(__file__).parents[1]))

from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.pages.inputs import range_bytes
from beam_reuse.pages.sizes import GB, LEAST_PIECE, MB, ROWS_PER_BYTE, TB, shuffle_for

PLANS = {"1 GB": GB, "100 GB": 100 * GB, "10 TB": 10 * TB, "400 TB": 400 * TB}
REFERENCE = 110  # bytes of a reference on its way
HELD = 1200  # bytes of one in the memory of the local runner
ROUNDS = 4  # of the bytes that are shuffled in all, a round has about so large a part


@dataclass(frozen=True)
class Needs:
    """What a run of `size` bytes of compressed crawl files needs."""

    size: int
    shuffle: Shuffle

    @property
    def rows(self) -> int:
        return ROWS_PER_BYTE * self.size

    @property
    def piece(self) -> int:
        """Bytes of a piece: at least what a worker writes for one bucket in one file."""
        return max(self.shuffle.flush_bytes // self.shuffle.buckets, LEAST_PIECE)

    @property
    def pieces(self) -> int:
        return -(-self.rows // self.piece)

    def columns(self) -> tuple[str, ...]:
        shuffle, ranges = self.shuffle, range_bytes(self.size)
        return (
            f"{-(-self.size // ranges):,} of {ranges / MB:.0f} MB", f"{shuffle.buckets:,}",
            f"{shuffle.flush_bytes / MB:.0f} MB", f"{self.piece / 1024:.0f} KB",
            f"{self.pieces:,}", f"{-(-self.rows // shuffle.flush_bytes):,}",
            f"{self.pieces * REFERENCE / GB:.2f} GB",
            f"{self.pieces * HELD / ROUNDS / GB:.2f} GB",
            f"{(2 * shuffle.flush_bytes + 3 * shuffle.bucket_budget) / MB:.0f} MB",
            f"{self.rows / GB:,.0f} GB")


HEAD = ("ranges", "buckets", "file", "piece", "pieces", "files", "references",
        "local runner", "worker", "disk")


def show(memory: int) -> None:
    print(f"| input | {' | '.join(HEAD)} |\n|{'---|' * (len(HEAD) + 1)}")
    for name, size in PLANS.items():
        needs = Needs(size, shuffle_for(size, "spill", memory))
        print(f"| {name} | {' | '.join(needs.columns())} |")


def run_as(size: int, arguments: list[str]) -> int:
    """A run of the command line with the sizes of `size` bytes, 0 for its own."""
    from beam_reuse import pipeline
    from beam_reuse.cli.main import main
    from beam_reuse.pages import inputs
    from beam_reuse.runners import memory_for

    def shuffle_of(plan: Any, given: Any, spill: str) -> Shuffle:
        """Filters are those of the sample: they grow with what is in them."""
        memory = memory_for(plan, given.bytes)
        own = shuffle_for(given.bytes, spill, memory)
        return replace(shuffle_for(size, spill, memory), filter_keys=own.filter_keys)

    if size:
        pipeline.shuffle_of = shuffle_of
        inputs.range_bytes = lambda _: range_bytes(size)
    return main(arguments)


def compare(files: list[str], plans: list[str]) -> None:
    from benchmarks import measure

    own = None
    for name, size in {"its own": 0, **PLANS}.items():
        if plans and name not in ("its own", *plans):
            continue
        with tempfile.TemporaryDirectory() as folder:
            cost = measure.run([sys.executable, __file__, "--as", str(size), "run", *files, "-o",
                                f"{folder}/result"])
        own = own or cost
        print(f"plan of {name}: CPU {cost.cpu:.1f} s ({cost.cpu / own.cpu:.2f}), memory "
              f"{cost.memory / 1e9:.2f} GB ({cost.memory / own.memory:.2f})", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--as"]:
        sys.exit(run_as(int(sys.argv[2]), sys.argv[3:]))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="crawl files of a sample")
    parser.add_argument("--plan", action="append", default=[], help="only this one: 100 GB")
    parser.add_argument("--memory", type=int, default=GB, help="bytes of a worker")
    args = parser.parse_args()
    show(args.memory)
    if args.files:
        compare(args.files, args.plan)


if __name__ == "__main__":
    main()
