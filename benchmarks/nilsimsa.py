"""What Nilsimsa costs: digests beside SHA-1, the index of labels beside comparing all pairs.

    python benchmarks/nilsimsa.py [--labels 10000,100000] [--queries 1000] [FILE.warc.gz...]

With files, labels and queries are also taken from the distinct chunks of their pages. Prints
CPU times and their ratios, each the best of several runs, and what a bucket and a
label found in one cost in pairs: the constants of the rule by which the index chooses.
"""

import argparse
import time
from collections.abc import Callable
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from beam_reuse.core import nilsimsa_index
from beam_reuse.core.chunking import chunk_page
from beam_reuse.core.nilsimsa import digests
from beam_reuse.core.nilsimsa_index import NilsimsaIndex, SearchPlan, possible_plans
from beam_reuse.core.pages import Kind, RawPage
from beam_reuse.core.settings import ChunkSettings, ReadSettings
from beam_reuse.demo.prose import Prose
from beam_reuse.io.crawl.inputs import list_files
from beam_reuse.io.crawl.ranges import cut
from beam_reuse.io.crawl.read import RangeReader

SETTINGS = ChunkSettings()
THRESHOLDS = (120, 115, 110, 105, 100, 95, 90)
_RUNS = 5

Digests = NDArray[np.uint8]


def seconds(work: Callable[[], object]) -> float:
    """CPU time of this thread, the best of several runs; the first run compiles."""
    work()
    times = []
    for _ in range(_RUNS):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return min(times)


def compare_digests() -> None:
    """Digests and SHA-1 of the chunks of one page of prose."""
    prose = Prose("benchmark")
    texts = [prose.paragraph(1 + i % 8) for i in range(4_000)]
    page = "".join(f'<div class="entry">{text}</div>\n' for text in texts).encode()
    chunks = chunk_page(page, Kind.HTML, SETTINGS)
    sha1 = seconds(lambda: chunk_page(page, Kind.HTML, SETTINGS))
    nilsimsa = seconds(lambda: digests(page, chunks.start, chunks.end, SETTINGS))
    size = len(page) / 1e6
    print(f"{len(chunks):,} chunks, {size:.1f} MB: cut and SHA-1 {1e3 * sha1 / size:.2f} ms/MB, "
          f"Nilsimsa {1e3 * nilsimsa / size:.2f} ms/MB, ratio {nilsimsa / sha1:.2f}")


def uniform(rng: np.random.Generator, count: int) -> Digests:
    return rng.integers(0, 256, (count, 32), np.uint8)


def near(rng: np.random.Generator, centres: Digests, count: int, share: float) -> Digests:
    """Digests that differ from one of the centres in about that share of their bits."""
    changes = np.packbits(rng.random((count, 256)) < share, axis=1)
    return np.asarray(centres[rng.integers(0, len(centres), count)] ^ changes)


def real_digests(paths: list[str]) -> Digests:
    """Digests of the distinct chunks of a crawl, shuffled."""
    found: dict[bytes, bytes] = {}
    for piece in cut(list_files(paths)):
        for page in RangeReader(piece, ReadSettings()):
            if isinstance(page, RawPage):
                chunks = chunk_page(page.payload, page.kind, SETTINGS)
                each = digests(page.payload, chunks.start, chunks.end, SETTINGS)
                found.update(zip(map(bytes, chunks.sha1), map(bytes, each), strict=True))
    rows = np.frombuffer(b"".join(found.values()), np.uint8).reshape(-1, 32)
    return np.asarray(np.random.default_rng(1).permutation(rows))


def index_with(plan: SearchPlan | None, labels: Digests, threshold: int) -> NilsimsaIndex:
    with mock.patch.object(nilsimsa_index, "choose_plan", lambda *_: plan):
        return NilsimsaIndex(labels, threshold)


def compare_index(name: str, labels: Digests, queries: Digests) -> None:
    """The index as it is and all pairs, for falling thresholds."""
    everything = index_with(None, labels, 115)
    some = queries[: max(10, 10**8 // len(labels) // 10)]
    pairs = seconds(lambda: everything.best(some)) / len(some)
    print(f"{len(labels):,} labels, {name}: all pairs {1e6 * pairs:.1f} us per query, "
          f"{1e9 * pairs / len(labels):.2f} ns per pair")
    for threshold in THRESHOLDS:
        began = time.thread_time()
        index = NilsimsaIndex(labels, threshold)
        build = time.thread_time() - began
        if index.plan is None:
            print(f"  {threshold}: all pairs")
            continue
        found = seconds(lambda index=index: index.best(queries)) / len(queries)
        print(f"  {threshold}: {1e6 * found:.2f} us per query, {found / pairs:.4f} of all pairs, "
              f"built in {build:.2f} s")


def measure_rule(labels: Digests, queries: Digests) -> None:
    """Fit the cost of a bucket and of a label found in one, over all plans of the thresholds."""
    everything = index_with(None, labels, 115)
    pairs = seconds(lambda: everything.best(queries)) / len(queries) / len(labels)
    rows = []
    for threshold in THRESHOLDS:
        for plan in possible_plans(len(labels), threshold):
            index = index_with(plan, labels, threshold)
            lookups = float(plan.probes.sum())
            candidates = lookups * len(labels) / 2**plan.bits
            if candidates < len(labels) / 10:
                took = seconds(lambda index=index: index.best(queries)) / len(queries) / pairs
                rows.append((lookups / took, candidates / took))
    bucket, candidate = np.linalg.lstsq(np.array(rows), np.ones(len(rows)), rcond=None)[0]
    print(f"{len(labels):,} labels: a bucket costs {bucket:.0f} pairs, "
          f"a label found in one {candidate:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--labels", default="10000,100000", help="numbers of labels")
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("files", nargs="*", help="crawl files to take chunks from")
    args = parser.parse_args()
    compare_digests()
    rng = np.random.default_rng(1)
    real = real_digests(args.files)
    for count in map(int, args.labels.split(",")):
        unrelated = uniform(rng, args.queries)
        spread = uniform(rng, count)
        crowded = near(rng, uniform(rng, 1 + count // 1000), count, 0.1)
        compare_index("evenly spread, queries unrelated", spread, unrelated)
        compare_index("evenly spread, queries altered copies", spread,
                      near(rng, spread, args.queries, 0.02))
        compare_index("1,000 round each of a few centres, queries too", crowded,
                      near(rng, crowded, args.queries, 0.1))
        if len(real) >= count + args.queries:
            compare_index("from the files, queries too", real[:count], real[-args.queries:])
        measure_rule(spread, unrelated[:100])


if __name__ == "__main__":
    main()
