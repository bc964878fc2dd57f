"""What became of every record: counts by outcome and reason, from the rows themselves. No Beam.

Counts of records have names of two parts, `skipped/older-capture`; see `io.results.outcome`.
"""

from collections.abc import Iterator

import numpy as np

from beam_reuse.columnar.block import Block, Maybe
from beam_reuse.columnar.schema import NOTHING, gives, same
from beam_reuse.io.results import outcome as names
from beam_reuse.io.results import tables
from beam_reuse.io.results.manifest import UNREAD_ROWS
from beam_reuse.pages.ingest import REJECTED, SKIPPED
from beam_reuse.pages.sides import Sides
from beam_reuse.rows.results import Count

_OUTCOMES = {SKIPPED: names.SKIPPED, REJECTED: names.REJECTED}
ABSENT = "encoding-absent"
OF_BASELINE = "pages-of-baseline"


@gives(NOTHING)
def count_events(events: Block) -> Iterator[Count]:
    """How many events have which reason, and how many rows they stand for beyond themselves."""
    yield Count(UNREAD_ROWS, sum(events.array("rows").tolist()) - len(events))
    yield from _by_reason(events)


def _by_reason(events: Block) -> Iterator[Count]:
    keys = ("outcome", "reason")
    rows = events.select(keys).sort(keys)
    starts = rows.starts(keys)
    sizes = np.diff(np.append(starts, len(rows)))
    some = rows.take(starts)
    for outcome, reason, count in zip(
            some.array("outcome").tolist(), some.strings("reason").to_list(), sizes.tolist(),
            strict=True):
        yield Count(f"{_OUTCOMES[outcome]}/{reason.decode()}", count)


@gives(NOTHING)
def count_skipped(skipped: Block) -> Iterator[Count]:
    """How many rows of `skipped`, which are not among the events, have which reason."""
    events = skipped.select(("reason",))
    yield from _by_reason(events.with_columns(
        outcome=np.full(len(events), SKIPPED, np.int64)))


@gives(same)
def rejects(events: Block) -> Block:
    """Rows of the table `rejects`."""
    return events.take(events.array("outcome") == REJECTED)


@gives(tables.SKIPPED.rows)
def skipped(events: Block) -> Block:
    """Rows of the table `skipped`: of the events those that have a URL and are no rejects."""
    some = events.take((events.array("outcome") == SKIPPED) & events.maybe("url").valid)
    return Block({
        "file": some["file"], "offset": some["offset"], "url": some.maybe("url").values,
        "reason": some["reason"], "because_of": Maybe.nulls(len(some)),
    })


@gives(NOTHING)
def count_seen(seen: Block) -> Count:
    """How many records were read, from a row each."""
    return Count(names.RECORDS, len(seen))


@gives(NOTHING)
def count_indexed(indexes: Block) -> Count:
    """How many records were read for indexes."""
    return Count(names.RECORDS, int(indexes.array("records").sum()))


@gives(NOTHING)
def count_pages(ranked: Block, sides: Sides) -> Iterator[Count]:
    """How many pages, and how many of them are not in the encoding their header names; of a
    baseline only how many pages there are."""
    new = sides.new_parts(ranked.array("range"))
    yield Count(names.PAGES, int(new.sum()))
    yield Count(ABSENT, int(ranked.array("absent")[new].sum()))
    yield Count(OF_BASELINE, int((~new).sum()))
