"""Records that only looked like records, because a reader began in the middle of a file."""

import itertools

import numpy as np

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.schema import gives, less, same
from beam_reuse.io.crawl.ranges import true_starts
from beam_reuse.rows.folds import GatherRows

FalseStarts = dict[int, int]


class FindFalseStarts(GatherRows):
    """Ends of ranges -> the ranges whose reader was misled, with the offset from which its records
    are true.

    Almost always empty: a reader is misled only by a crawl file stored in a crawl file.
    """

    def __init__(self) -> None:
        super().__init__(("file", "start"))

    def finish(self, held: Block | None) -> FalseStarts:  # type: ignore[override]
        return false_starts(held) if held else {}


def false_starts(rows: Block) -> FalseStarts:
    """Those of ends in order of file and start."""
    bounds = [*rows.starts(("file",)).tolist(), len(rows)]
    numbers, first = rows.array("range"), rows.maybe("first")
    found: FalseStarts = {}
    for low, high in itertools.pairwise(bounds):
        columns = (rows.array(name)[low:high].tolist() for name in ("start", "end", "next"))
        truth = true_starts(list(zip(*columns, strict=True)))
        for row, start in zip(range(low, high), truth, strict=True):
            if first.valid[row] and first.values[row] < start:
                found[int(numbers[row])] = start
    return found


@gives(lambda events, _: less(events, "range"))
def standing_events(events: Block, false: FalseStarts) -> Block:
    """Events without those of misled readers, and without their range."""
    return standing(events, false).without("range")


@gives(same)
def standing(rows: Block, false: FalseStarts) -> Block:
    """Rows (of captures or events) without those of misled readers."""
    if not false:
        return rows
    kept = np.ones(len(rows), np.bool_)
    for number, start in false.items():
        kept &= (rows.array("range") != number) | (rows.array("offset") >= start)
    return rows.take(kept)
