"""Bytes through one shuffle on the local runner, and the memory it takes.

    python benchmarks/shuffle_memory.py --gigabytes 4 [--workers 2] [--buckets 64]

Every row (SHA-1, page number, 80 bytes of payload) is generated in the pipeline, split by
bucket, grouped, sorted and checked; prints bytes, seconds, MB/s and the peak memory of the
process. The spill is removed.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator

import apache_beam as beam
import numpy as np
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from beam_reuse.pages.sizes import buckets_for
from beam_reuse.rows import Plan
from beam_reuse.rows.building import build

ROWS = 16_384
PAYLOAD = 80


def made_block(number: int) -> Block:
    """The block of that number: random keys and payload, the same in every run."""
    rng = np.random.default_rng(number)
    return Block(
        {
            "sha1": np.frombuffer(rng.bytes(20 * ROWS), "V20"),
            "page": np.arange(number * ROWS, (number + 1) * ROWS, dtype=np.uint64),
            "payload": VarBytes(
                np.arange(0, PAYLOAD * ROWS + 1, PAYLOAD),
                np.frombuffer(rng.bytes(PAYLOAD * ROWS), np.uint8),
            ),
        }
    )


def made_blocks(numbers: Block) -> Iterator[Block]:
    return map(made_block, numbers.array("number").tolist())


def checked(slabs: Iterator[Block]) -> Iterator[Block]:
    """Rows, bytes and page numbers of a bucket, after a look at the order of its keys."""
    last = b""
    for slab in slabs:
        first = slab.array("sha1")[0].tobytes()
        if first < last or len(slab.starts(["sha1"])) != len(slab):
            raise AssertionError(f"rows after {last.hex()} are not sorted")
        last = slab.array("sha1")[-1].tobytes()
        pages = int(slab.array("page").sum())
        sums = {"rows": len(slab), "bytes": slab.nbytes, "pages": pages}
        yield Block({name: np.array([value]) for name, value in sums.items()})


def report(named: tuple[str, dict[str, int]], rows: int, began: float) -> None:
    _, sums = named
    if (sums["rows"], sums["pages"]) != (rows, rows * (rows - 1) // 2):
        raise AssertionError(f"rows were lost: {sums} of {rows}")
    seconds = time.perf_counter() - began
    megabytes = sums["bytes"] / 1e6
    print(f"rows      {sums['rows']:,}")
    print(f"bytes     {sums['bytes']:,}")
    print(f"seconds   {seconds:.1f}  ({megabytes / seconds:.0f} MB/s, generated and sorted)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--workers", type=int, default=1, help="threads of the local runner")
    parser.add_argument("--buckets", type=int, help="default: what buckets_for says")
    parser.add_argument("--compress", action="store_true")
    parser.add_argument("--spill", help="folder to spill to (default: the temporary one)")
    args = parser.parse_args()

    blocks = max(1, round(args.gigabytes * 1e9 / made_block(0).nbytes))
    buckets = args.buckets or buckets_for(int(args.gigabytes * 1e9), 128 << 20, 32 << 20)
    options = PipelineOptions(
        [],
        direct_running_mode="multi_threading" if args.workers > 1 else "in_memory",
        direct_num_workers=args.workers,
    )
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="shuffle-memory-", dir=args.spill) as folder:
        shuffle = Shuffle(Store("files", folder), buckets, compress=args.compress)
        plan = Plan(shuffle)
        numbers = plan.rows([Block({"number": np.array([n])}) for n in range(blocks)])
        sums = numbers.map(made_blocks).stream("sha1", checked).total("rows", "bytes", "pages")
        with beam.Pipeline(runner=FnApiRunner(), options=options) as pipeline:
            built = build(pipeline, plan, {}, {"sums": sums})
            _ = built.values | "Report" >> beam.Map(report, blocks * ROWS, began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"buckets   {buckets}")
    print(f"peak      {peak:.0f} MB of memory")


if __name__ == "__main__":
    main()
