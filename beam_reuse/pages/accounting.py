"""What became of every record: counts by outcome and reason, from the rows themselves."""

from collections.abc import Iterator

import apache_beam as beam
import numpy as np
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.columnar import Block, MapBlocks, ReduceRows
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.io.results import outcome as names
from beam_reuse.io.results.outcome import Count
from beam_reuse.pages.ingest import REJECTED, SKIPPED
from beam_reuse.pages.read_pages import Analysis, Pages

PAGE, NOTED, SEEN = 2, 3, 4
_NAMES = {
    SKIPPED: names.SKIPPED, REJECTED: names.REJECTED, PAGE: names.PAGES, NOTED: names.NOTED,
    SEEN: names.RECORDS,
}


class CountRecords(Analysis):
    """Pages -> blocks with `outcome`, `reason` and `count`, each pair once."""

    @no_annotations
    def expand(self, pages: Pages) -> beam.PCollection:
        return (
            (
                pages.events | "Events" >> MapBlocks(event_counts),
                pages.ranked | "Pages" >> MapBlocks(page_counts),
                pages.seen | "Seen" >> MapBlocks(seen_counts),
            )
            | "All" >> beam.Flatten()
            | "Sum" >> ReduceRows(pages.shuffle, ("outcome", "reason"), {"count": "sum"})
        )


def event_counts(events: Block) -> Block:
    """How many events have which reason."""
    rows = events.select(("outcome", "reason")).sort(("outcome", "reason"))
    starts = rows.starts(("outcome", "reason"))
    return rows.take(starts).with_columns(count=np.diff(np.r_[starts, len(rows)]))


def page_counts(ranked: Block) -> Block:
    """How many pages, and how many of them are not in the encoding their header names."""
    return pages_and_noted(len(ranked), int(ranked.array("absent").sum()))


def pages_and_noted(pages: int, absent: int) -> Block:
    """Counts of `pages` pages, `absent` of them not in the encoding their header names."""
    return Block({
        "outcome": np.array([PAGE, NOTED], np.int64),
        "reason": VarBytes.from_list([b"", b"encoding-absent"]),
        "count": np.array([pages, absent], np.int64),
    })


def seen_counts(seen: Block) -> Block:
    """How many records were read."""
    n = len(seen)
    return seen.with_columns(
        outcome=np.full(n, SEEN, np.int64), reason=VarBytes.from_list([b""] * n))


def count_tuples(counts: Block) -> Iterator[Count]:
    """The counts as the outcome of a run takes them."""
    outcomes, reasons = counts.array("outcome").tolist(), counts.strings("reason").to_list()
    for outcome, reason, n in zip(outcomes, reasons, counts.array("count").tolist(), strict=True):
        if n:
            yield (_NAMES[outcome], reason.decode()), n


def rejects(events: Block) -> Block:
    """Rows of the table `rejects`."""
    return events.take(events.array("outcome") == REJECTED)
