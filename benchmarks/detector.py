"""The detector at the edge: pages per second, start and memory with 10 million labels; with chunks
of text, and with trust on first use.

    python benchmarks/detector.py [LABELS]

Makes pages of 50 KB and a compact list in which some of their chunks are, each with a source
among half a million. Rates are ratios of CPU time to a plain loop over the same pages that only
cuts them and hashes file and chunks. Every part runs in a process of its own, so that memory is
its own.
"""

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

PAGES = 200
CHUNKS = 250
WORDS = 30
SOURCES = 500_000
ROUNDS = 3
SHARES = (0.0, 0.1, 1.0)


def make_page(number: int) -> bytes:
    """Some 50 KB of HTML, other words on every page."""
    dice = random.Random(number)
    words = [dice.randbytes(dice.randint(1, 4)).hex() for _ in range(400)]
    return f"<html><title>{number}</title>".encode() + b"\n".join(
        f"<p class=x>{' '.join(dice.choices(words, k=WORDS))}</p>".encode() for _ in range(CHUNKS))


def pages_with(share: float) -> list[bytes]:
    """Pages whose chunks are labels with a probability of `share`."""
    first = int(share * 10) * PAGES
    return [make_page(first + n) for n in range(PAGES)]


def make_labels(path: str, count: int) -> None:
    """A compact list of `count` labels, among them chunks of the pages."""
    from beam_reuse.core.labels import LabelSettings
    from beam_reuse.core.settings import ChunkSettings
    from beam_reuse.io.labels.compact_writer import write_compact

    started = time.process_time()
    write_compact(path, _batches(count), LabelSettings(ChunkSettings(), 0))
    print(f"written: {count:,} labels, {Path(path).stat().st_size >> 20:,} MB, "
          f"{time.process_time() - started:.0f} s of CPU, peak {_status('VmHWM')} MB")


def _batches(count: int) -> Iterator:
    import pyarrow as pa

    from beam_reuse.core.chunking import chunk_page
    from beam_reuse.core.pages import Kind
    from beam_reuse.core.settings import ChunkSettings
    from beam_reuse.io.labels.batches import label_batch

    dice = np.random.default_rng(1)
    known = [chunk_page(page, Kind.HTML, ChunkSettings()).sha1
             for share in SHARES for page in pages_with(share)]
    hashes = [some[dice.random(len(some)) < share]
              for share, some in zip(np.repeat(SHARES, PAGES), known, strict=True)]
    count -= sum(map(len, hashes))
    names = np.array([f"http://site{n % 9973}.org/articles/{n}.html" for n in range(SOURCES)])
    step = 1 << 16
    hashes += [np.frombuffer(dice.bytes(20 * min(step, count - low)), "V20")
               for low in range(0, count, step)]
    for some in hashes:
        urls = pa.array(names[dice.integers(0, SOURCES, len(some))])
        yield label_batch(some, np.ones(len(some), np.uint8), source_url=urls)


def check_pages(path: str) -> None:
    """Start, rates and memory of a process that checks pages."""
    started = time.monotonic()
    from beam_reuse.core.chunking import chunk_page, file_sha1
    from beam_reuse.core.pages import Kind
    from beam_reuse.core.settings import ChunkSettings
    from beam_reuse.detector import Detector

    imported = time.monotonic()
    detector = Detector(path)
    opened = time.monotonic()
    detector.check(b"<p>first")
    print(f"start: {imported - started:.2f} s to import, {opened - imported:.2f} s to open the "
          f"labels, {time.monotonic() - opened:.2f} s for the first page; {_status('VmRSS')} MB")

    def plain(page: bytes) -> None:
        file_sha1(page)
        chunk_page(page, Kind.HTML, ChunkSettings())

    print(f"{'chunks that match':>20} {'plain loop':>12} {'detector':>12} {'ratio':>6} "
          f"{'peak memory':>12}")
    for share in SHARES:
        pages = pages_with(share)
        one, other = _rate(plain, pages), _rate(detector.check, pages)
        print(f"{share:>20.0%} {one:>8,.0f} p/s {other:>8,.0f} p/s {one / other:>6.2f} "
              f"{_status('VmHWM'):>9} MB")


def stop_pages(path: str) -> None:
    """Cost and memory of a stop list of as many hashes, in a worker of a run."""
    from beam_reuse.core.chunking import chunk_page
    from beam_reuse.core.pages import Kind
    from beam_reuse.core.settings import ChunkSettings
    from beam_reuse.io.labels.compact import CompactList

    before = _status("RssAnon")
    started = time.monotonic()
    stops = CompactList.open(path).hashes
    opened = time.monotonic() - started
    for share in SHARES:
        hashes = [chunk_page(page, Kind.HTML, ChunkSettings()).sha1 for page in pages_with(share)]
        rate = _rate(stops.contain, hashes)
        print(f"stop list, {share:.0%} of chunks on it: {1e6 / rate:.0f} µs per page, "
              f"{1e9 / rate / CHUNKS:.0f} ns per chunk")
    print(f"opened in {opened:.2f} s; own memory {_status('RssAnon') - before:+} MB, with shared "
          f"pages of the file {_status('VmRSS')} MB")


def check_texts(path: str) -> None:
    """Rates where chunks are text and HTML is parsed: with a list that has learnt some pages, with
    a store of a hundred sites, and with one that is as large as it may be."""
    from beam_reuse.core.first_use import FirstUseSettings
    from beam_reuse.core.settings import ChunkSettings, StopSettings
    from beam_reuse.detector import Detector
    from beam_reuse.io.trust_store import TrustStore

    pages = [make_page(n) + b"<input type=search>" for n in range(PAGES)]
    known = Detector((), chunks=ChunkSettings(normalise="text"),
                     stops=StopSettings(min_chunk_bytes=25, min_chunk_tokens=5))
    for number in range(PAGES // 10):
        known.learn(pages[number], "http://a.example/")
    rates = {"a list": _rate(lambda page: known.check(page, "http://b.example/"), pages)}
    for sites, chunks in ((100, 30), (1000, 1000)):
        file = f"{path}.{sites}"
        store = TrustStore(file, FirstUseSettings())
        dice = random.Random(1)
        with store.visit(may_learn=True):
            for site in range(sites):
                name = f"site{site}.example"
                store.learn(name, f"https://{name}/", [
                    dice.randbytes(20) for _ in range(chunks)], 20000)
        store.close()
        learnt = Detector(file, trust="first-use")
        for page in pages * 5:  # by then it has in memory which chunks there may be
            learnt.check(page, "http://b.example/")
        rates[f"a store of {sites * chunks:,} chunks, {Path(file).stat().st_size / 1e6:.1f} MB"] = (
            _rate(lambda page, learnt=learnt: learnt.check(page, "http://b.example/"), pages))
    for name, rate in rates.items():
        print(f"chunks of text, {name}: {rate:,.0f} pages/s")


def _rate(work: Callable, items: list) -> float:
    """Items per second of CPU, the best of some rounds: neighbours only make it slower."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for item in items:
            work(item)
        best = min(best, time.process_time() - started)
    return len(items) / best


def _status(name: str) -> int:
    """A line of /proc/self/status, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) >> 10 for line in lines if line.startswith(name))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        for part in ("make_labels", "check_pages", "stop_pages", "check_texts"):
            code = f"import detector; detector.{part}({str(Path(folder, 'list.brl'))!r}"
            code += f", {count})" if part == "make_labels" else ")"
            subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent)


if __name__ == "__main__":
    main()
