"""Crawl files and indexes become numbered pages, with every record accounted for."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.schema import BYTES, NUMBER, PART, TEXT, columns, gives
from beam_reuse.columnar.store import make_shared
from beam_reuse.core.features import FeatureSettings
from beam_reuse.core.settings import ReadSettings
from beam_reuse.io.crawl.ranges import FileRange
from beam_reuse.io.files import join
from beam_reuse.io.index import index_events
from beam_reuse.io.results.reporting import ProgressReporter
from beam_reuse.pages import accounting, captures, numbering
from beam_reuse.pages.cuts import FindFalseStarts, standing, standing_events
from beam_reuse.pages.ingest import (
    END_ROWS,
    EVENT_ROWS,
    PART_ROWS,
    SEEN_ROWS,
    Ingested,
    IngestSettings,
    ingest,
)
from beam_reuse.pages.inputs import Inputs
from beam_reuse.pages.pages import Pages
from beam_reuse.pages.rewrite import cut_parts
from beam_reuse.pages.sides import ONE_SIDE, Sides
from beam_reuse.rows import Plan, Rows, Tagged, Value
from beam_reuse.rows.ranking import rank

EVENTS, ENDS, SEEN = "events", "ends", "seen"
# Parts are worked on one by one; beyond so many, some are one after another.
MOST_DEALT = 1 << 13


@dataclass(frozen=True)
class Records:
    """What was read: `parts` of pages, `events` (records that became no page), and `false`, the
    ranges whose reader was misled."""

    parts: Rows
    events: Rows
    false: Value
    seen: Rows


def read_records(
    plan: Plan, inputs: Inputs, folder: str, settings: IngestSettings, progress: str,
) -> Records:
    """All records of the inputs. Parts of crawl files are written to `folder`; those of indexes
    stay where they are. Of a baseline only pages are looked at."""
    ranges = plan.rows([_one("range", each.to_bytes()) for each in inputs.ranges], "ranges",
                       columns(range=BYTES))
    fresh = ranges.map(read_range, folder, settings, ProgressReporter(progress))
    files = plan.rows([
        Block({"path": VarBytes.from_list([path.encode()]),
               "checksum": VarBytes.from_list([checksum.encode()])})
        for index in inputs.new_indexes for path, checksum in index.event_files()],
        "events of indexes", columns(path=TEXT, checksum=TEXT))
    stored = plan.rows([part for index in inputs.indexes for part in index.parts()], "indexes",
                       PART_ROWS)
    indexed = plan.rows([index.seen() for index in inputs.new_indexes], "records of indexes",
                        columns(records=NUMBER))
    read = records_of(fresh)
    return Records(
        read.parts + stored, read.events + files.map(read_events), read.false,
        read.seen + indexed.map(accounting.count_indexed))


def records_of(ranges: Rows) -> Records:
    """What was read of ranges, with the tags of `read_range`."""
    false = ranges.tagged(ENDS).fold(FindFalseStarts())
    return Records(
        ranges, ranges.tagged(EVENTS).map(standing_events, false), false,
        ranges.tagged(SEEN).map(standing, false).map(accounting.count_seen))


@dataclass(frozen=True)
class Crawl:
    """The pages of a crawl, its `rejects`, `skipped` and `depth_histogram`, and rows without
    columns that are there for what is counted on their way (`counted`)."""

    pages: Pages
    rejects: Rows
    skipped: Rows
    depths: Rows
    counted: Rows


def read_pages(
    plan: Plan, inputs: Inputs, read: ReadSettings, features: FeatureSettings, spill: str,
    progress: str = "",
) -> Crawl:
    """Pages, numbered from 0 in order of their URLs. Every record read is a page or an event,
    exactly once. The crawl is read and parsed once; what follows reads columns of the parts. Pages
    of a baseline are numbered with the others, and their records are not counted."""
    folder = join(spill, "parts")
    records = read_records(plan, inputs, folder,
                           IngestSettings(read, features, cut_urls=True), progress)
    ranges = len(inputs.ranges) + sum(len(index.files()) for index in inputs.indexes)
    uncut = not all(index.chunked for index in inputs.indexes)
    return number_pages(plan, records, read, features, spill, ranges, inputs.sides, uncut)


def number_pages(
    plan: Plan, records: Records, read: ReadSettings, features: FeatureSettings, spill: str,
    ranges: int, sides: Sides = ONE_SIDE, uncut: bool = False,
) -> Crawl:
    """The pages of records that were read in so many ranges, numbered from 0 in order of their
    URLs; parts that are `uncut` are cut into chunks by these settings."""
    each = read.captures == "all"
    found = records.parts.map(numbering.capture_rows, each)
    allowed = found.map(numbering.uncut, read, records.false, sides)
    keep, order = ((captures.keep_each, captures.BY_PAYLOAD) if each
                   else (captures.keep_latest, captures.LATEST_FIRST))
    ranked = rank(allowed, captures.KEY, keep, sides, order=order, sampled=found)
    ranges = min(max(ranges, 1), MOST_DEALT)
    parts = records.parts.join(
        ranked.rows.map(numbering.numbers, each, sides), "range", numbering.number_parts,
        other_order="row", buckets=ranges, dealt=True)
    if uncut:
        parts = parts.map(cut_parts, join(spill, "parts"), features)
    again = ranked.found.tagged(captures.FETCHED_AGAIN) if sides.are_two else plan.nothing()
    skipped = allowed.tagged(numbering.CUT) + ranked.found.tagged(captures.DROPPED)
    events = records.events
    depths = (allowed.tagged(numbering.DEPTHS) + events.map(numbering.depth_rows)).reduce(
        "depth", {"records": "sum"}, buckets=1)
    return Crawl(
        Pages(plan, parts, ranked.rows.map(numbering.page_names, sides), spill, ranges, sides,
              again, records.parts, features.text),
        events.map(accounting.rejects), events.map(accounting.skipped) + skipped, depths,
        records.seen + ranked.rows.map(accounting.count_pages, sides)
        + events.map(accounting.count_events) + skipped.map(accounting.count_skipped))


def _one(name: str, value: bytes) -> Block:
    return Block({name: VarBytes.from_list([value])})


TAGS = {EVENTS: columns(EVENT_ROWS, range=PART), ENDS: END_ROWS, SEEN: SEEN_ROWS}


@gives(PART_ROWS, TAGS)
def read_range(
    ranges: Block, folder: str, settings: IngestSettings, progress: ProgressReporter,
) -> Iterator[Block | Tagged]:
    """Parts of ranges of crawl files; also EVENTS, SEEN: a row for every record, and ENDS: one
    for every range of which it is not certain where its records begin."""
    make_shared(os.path.dirname(folder))
    for encoded in ranges.strings("range").to_list():
        found = ingest(FileRange.from_bytes(encoded), folder, settings, progress)
        progress.flush()
        yield from given_of(found)


def given_of(found: Ingested) -> Iterator[Block | Tagged]:
    """What was read of a range, as rows with tags."""
    if found.part is not None:
        yield found.part
    for tag, rows in ((EVENTS, found.events), (ENDS, found.end), (SEEN, found.seen)):
        if rows is not None:
            yield Tagged(tag, rows)


@gives(EVENT_ROWS)
def read_events(files: Block) -> Iterator[Block]:
    """The events of indexes."""
    for path, checksum in zip(
            files.strings("path").to_list(), files.strings("checksum").to_list(), strict=True):
        yield from index_events((path.decode(), checksum.decode()))

