"""What chunks of text cost, beside chunks of bytes and the parse that text takes.

    python benchmarks/text_chunks.py [--runs 5] FILE.warc.gz...

All HTML pages of the files are held in memory and given to each way in turns; printed are CPU
times, the least of several runs, and their ratios in this run.
"""

import argparse
import time
from collections.abc import Callable, Iterator

from beam_reuse.core.chunking import chunk_document, chunk_page
from beam_reuse.core.features import CHUNKS, FeatureSettings, TooDeep, page_features
from beam_reuse.core.nesting import check_nesting
from beam_reuse.core.pages import Kind, RawPage
from beam_reuse.core.settings import ChunkSettings, ReadSettings
from beam_reuse.core.text import Document, read_html
from beam_reuse.core.urls import name_page
from beam_reuse.io.crawl.inputs import list_files
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.io.crawl.ranges import cut
from beam_reuse.io.crawl.read import RangeReader

BYTES, TEXT = ChunkSettings(), ChunkSettings(normalise="text")
NAME = name_page("http://www.example.org/")
KEPT = frozenset((CHUNKS,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    pages = list(html_pages(args.inputs))
    size = sum(len(page.payload) for page in pages) / 1e6
    texts = sum(len(chunk_document(parsed(page)).text) for page in pages) / 1e6
    print(f"{len(pages):,} pages of HTML, {size:.1f} MB, their texts {texts:.1f} MB; ms per MB:")
    ways = {
        "chunks of bytes": lambda page: chunk_page(page.payload, page.kind, BYTES),
        "text parse": lambda page: read_html(decoded(page)),
        "chunks of text": lambda page: chunk_document(parsed(page)),
        "features, chunks of bytes": features(BYTES),
        "features, chunks of text": features(TEXT),
    }
    took = least_times(ways, pages, args.runs)
    for name, seconds in took.items():
        print(f"  {name:26} {1e3 * seconds / size:6.2f}")
    both = took["chunks of bytes"] + took["text parse"]
    print(f"chunks of text / (chunks of bytes + text parse): {took['chunks of text'] / both:.2f}")
    ratio = took["features, chunks of text"] / took["features, chunks of bytes"]
    print(f"all features of a page with text, chunks of text / of bytes: {ratio:.2f}")


def html_pages(inputs: list[str]) -> Iterator[RawPage]:
    for piece in cut(list_files(inputs)):
        for page in RangeReader(piece, ReadSettings()):
            if isinstance(page, RawPage) and page.kind is Kind.HTML:
                try:
                    check_nesting(page.payload, page.charset)
                except TooDeep:
                    continue
                yield page


def decoded(page: RawPage) -> str:
    return decode_text(page.payload, page.charset)


def parsed(page: RawPage) -> Document:
    return read_html(decoded(page), TEXT.tags)


def features(chunks: ChunkSettings) -> Callable[[RawPage], object]:
    """Everything that a run with all analyses asks of a page, chunks cut by these settings."""
    settings = FeatureSettings(chunks, text=True, kept=KEPT)
    return lambda page: page_features(page, NAME, decoded(page), settings)


def least_times(
    ways: dict[str, Callable[[RawPage], object]], pages: list[RawPage], runs: int
) -> dict[str, float]:
    """CPU seconds of each way over all pages, the least of several turns; the first compiles."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(runs + 1):
        for name, way in ways.items():
            began = time.thread_time()
            for page in pages:
                way(page)
            if turn:
                times[name].append(time.thread_time() - began)
    return {name: min(found) for name, found in times.items()}


if __name__ == "__main__":
    main()
