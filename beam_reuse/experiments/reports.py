"""What a person reads of an experiment, in lines of text."""

from collections.abc import Iterator, Mapping, Sequence

from beam_reuse.experiments.tables import Row
from beam_reuse.experiments.vectors import Site

_SHOWN = 10


def site_lines(site: Site) -> Iterator[str]:
    chunks = site.chunks
    yield (f"site: {chunks.pages:,} pages with chunks, {float(chunks.mean):.1f} chunks per page "
           f"on average, {site.files.distinct:,} distinct files, {chunks.distinct:,} distinct "
           "chunks")


def inject_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Up to ten numbers of copies, evenly spread, with what is found."""
    step = max(1, -(-len(rows) // _SHOWN))
    shown = [*rows[(len(rows) - 1) % step :: step]]
    yield from aligned(
        ["copies", "files found", "threshold", "chunks found", "threshold"],
        [
            [f"{row['copies']:,}", _percent(row["file_share"]), f"{row['file_threshold']:,}",
             _percent(row["chunk_share"]), f"{row['chunk_threshold']:,}"]
            for row in shown
        ])


def label_lines(blind: int, distinct: int, copies: int, threshold: int) -> Iterator[str]:
    yield (f"labels: {distinct:,} of the expert, {blind:,} blind ones (found after {copies:,} "
           f"copies: more than {threshold:,} times)")
    if blind in (0, distinct):
        found = "every chunk of the site" if blind else "no chunk of the site"
        way = ("raise --chunk-threshold or lower" if blind else "lower --chunk-threshold or raise")
        yield f"  Discovery finds {found}; to see a difference, {way} --blind-copies."


def tolerance_lines(rows: Sequence[Row]) -> Iterator[str]:
    yield "tolerated mutations, as multiples of the mean chunks per page:"
    yield from aligned(
        ["way", "of", "labels", "threshold", "from", "tolerance", "papers"],
        [
            [row["way"], row["level"], row["labels"], f"{row['threshold']:.3g}",
             row["threshold_from"],
             f"{row['tolerance']:.2f}" if row["tolerance"] is not None
             else f"> {row['looked_to']:.1f}",
             row["papers"] or ""]
            for row in rows
        ])


def rate_lines(by_kind: Mapping[str, Sequence[Row]], used: Mapping[str, int]) -> Iterator[str]:
    """What the threshold in use finds of each kind."""
    for kind, rows in by_kind.items():
        row = [row for row in rows if row["threshold"] <= used[kind]][-1]
        yield (f"{kind}s that occur more than {used[kind]:,} times: {row['true_positives']:,} of "
               f"{row['bad']:,} bad and {row['false_positives']:,} of {row['benign']:,} benign "
               "ones")


def effect_lines(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        yield (f"stop chunks {row['stop_chunks']}: {row['flagged']:,} of "
               f"{row['neighbourhoods']:,} neighbourhoods flagged, above "
               f"{row['threshold']:.3f}, by {row['labels']:,} labels")


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows of words below a head, in columns."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        words = (word.ljust(width) for word, width in zip(row, widths, strict=True))
        yield "  " + "  ".join(words).rstrip()


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
