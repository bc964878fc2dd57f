"""One range of a crawl file becomes a part of pages and a block of events.

The only place where records are read and pages are parsed; no Beam. An *event* is a record
that became no page: skipped, or rejected.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from beam_reuse.columnar.block import Block, Maybe, VarBytes
from beam_reuse.columnar.schema import KIND, NUMBER, PART, TEXT, columns, maybe
from beam_reuse.core.features import (
    FeatureSettings,
    TooDeep,
    TooLarge,
    needs_decoding,
    page_features,
)
from beam_reuse.core.pages import Outcome, RawPage, Rejected, Skipped
from beam_reuse.core.settings import ReadSettings
from beam_reuse.core.urls import BadUrl, cut_reason, name_page
from beam_reuse.io.crawl.declared import declared_by
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.io.crawl.ranges import NO_DOUBT, FileRange
from beam_reuse.io.crawl.read import RangeReader
from beam_reuse.io.part_columns import Page
from beam_reuse.io.parts import PartWriter, part_path
from beam_reuse.io.results.reporting import ProgressReporter

SKIPPED, REJECTED = 0, 1
PART_ROWS = columns(range=PART, path=TEXT, chunked=KIND, checksum=TEXT)
EVENT_ROWS = columns(file=TEXT, offset=NUMBER, outcome=NUMBER, reason=TEXT, url=maybe(TEXT),
                     detail=maybe(TEXT), depth=NUMBER, rows=NUMBER)
END_ROWS = columns(range=PART, file=TEXT, start=NUMBER, end=NUMBER, next=NUMBER,
                   first=maybe(NUMBER))
SEEN_ROWS = columns(range=PART, offset=NUMBER)
_REPORT_RECORDS = 64


@dataclass(frozen=True)
class IngestSettings:
    """What is read and what is kept of it. `cut_urls`: URLs of robots.txt and
    recursion errors become no pages (an index keeps them: its reader decides)."""

    read: ReadSettings
    features: FeatureSettings
    cut_urls: bool


@dataclass(frozen=True)
class Ingested:
    """What became of a range: where its part lies (None without pages), its events, where
    its chain of records began and ended (None where there is no doubt about it), and the
    offset of every record seen."""

    part: Block | None
    events: Block | None
    end: Block | None
    seen: Block


def ingest(
    source: FileRange, folder: str, settings: IngestSettings, progress: ProgressReporter,
) -> Ingested:
    """Read a range, write its part below `folder`. Memory: a row group and a record."""
    reader = RangeReader(source, settings.read)
    found = ingest_outcomes(_reported(reader, progress), source, folder, settings)
    if reader.next_start == NO_DOUBT:
        return found
    first = found.seen.array("offset")[:1].tolist()
    return replace(found, end=_end_of(source, first, reader.next_start))


def ingest_outcomes(
    outcomes: Iterable[Outcome], source: FileRange, folder: str, settings: IngestSettings,
) -> Ingested:
    """What becomes of the records of a range, which are true records."""
    path = part_path(folder, source.number)
    events = Events(source.number)
    offsets: list[int] = []
    with PartWriter(path, settings.features, settings.read.parser) as part:
        for outcome in outcomes:
            offsets.append(outcome.offset)
            page = _as_page(outcome, source, settings, events)
            if page is not None:
                part.add(page)
    block = None
    if part.rows:
        block = Block({
            "range": np.array([source.number], np.uint32),
            "path": VarBytes.from_list([path.encode()]),
            "chunked": np.ones(1, np.uint8),
            "checksum": VarBytes.from_list([b""]),
        })
    seen = Block({
        "range": np.full(len(offsets), source.number, np.uint32),
        "offset": np.array(offsets, np.int64),
    })
    return Ingested(block, events.block(), None, seen)


def _as_page(
    outcome: Outcome, source: FileRange, settings: IngestSettings, events: "Events",
) -> Page | None:
    """The page of an outcome; None where it became an event instead."""
    name_of_file = source.name_of(outcome.file)
    if not isinstance(outcome, RawPage):
        events.add(outcome, name_of_file)
        return None
    where = (outcome.file, outcome.offset, outcome.fetched_url)
    try:
        name = name_page(outcome.fetched_url)
    except BadUrl as error:
        events.add(Rejected(*where, "bad-url", str(error)), name_of_file)
        return None
    if settings.cut_urls:
        read = settings.read
        reason = cut_reason(name.url, read.max_prefix_depth, read.max_path_repeats)
        if reason is not None:
            events.add(Skipped(*where, reason), name_of_file, name.depth)
            return None
    try:
        text = (decode_text(outcome.payload, outcome.charset)
                if needs_decoding(outcome, settings.features) else None)
        features = page_features(outcome, name, text, settings.features, settings.read.parser)
    except TooDeep as error:
        events.add(Rejected(*where, "nested-too-deep", str(error)), name_of_file)
        return None
    except TooLarge as error:
        events.add(Rejected(*where, "too-large", str(error)), name_of_file)
        return None
    except (ValueError, ArithmeticError, LookupError, RecursionError) as error:
        detail = f"{type(error).__name__}: {error}"[:200]
        events.add(Rejected(*where, "unreadable", detail), name_of_file)
        return None
    return Page(outcome, name, features, source.crawl_of(outcome.file), name_of_file,
                declared_by(outcome, name.url))


@dataclass
class Events:
    """Collects the events of one range; `block` makes columns of them."""

    range: int
    rows: list[tuple[bytes, int, int, bytes, bytes, bytes, int, int]] = field(
        default_factory=list)

    def add(self, event: Skipped | Rejected, file: str, depth: int = 0) -> None:
        """`depth` is the prefix depth of a page that was cut, else 0. What is skipped has a URL
        where it holds a document, no other."""
        outcome, url, detail, rows = SKIPPED, "", "", 1
        if isinstance(event, Rejected):
            outcome, url, detail, rows = REJECTED, event.url, event.detail, event.rows
        elif event.is_document:
            url = event.url
        self.rows.append((
            file.encode(), event.offset, outcome, event.reason.encode(),
            url.encode("utf-8", "replace"), detail.encode("utf-8", "replace"), depth,
            rows,
        ))

    def block(self) -> Block | None:
        if not self.rows:
            return None
        file, offset, outcome, reason, url, detail, depth, rows = zip(*self.rows, strict=True)
        return Block({
            "range": np.full(len(self.rows), self.range, np.uint32),
            "file": VarBytes.from_list(list(file)),
            "offset": np.array(offset, np.int64),
            "outcome": np.array(outcome, np.int64),
            "reason": VarBytes.from_list(list(reason)),
            "url": Maybe.unless_empty(VarBytes.from_list(list(url))),
            "detail": Maybe.unless_empty(VarBytes.from_list(list(detail))),
            "depth": np.array(depth, np.int64),
            "rows": np.array(rows, np.int64),
        })


def _end_of(source: FileRange, first: list[int], next_start: int) -> Block:
    """Where the chain of records of a range ends; `first` has the offset of its first, if any."""
    return Block({
        "range": np.array([source.number], np.uint32),
        "file": VarBytes.from_list([source.chain.encode()]),
        "start": np.array([source.start], np.int64),
        "end": np.array([source.end], np.int64),
        "next": np.array([next_start], np.int64),
        "first": Maybe.spread(np.array(first, np.int64), np.array([bool(first)])),
    })


def _reported(reader: RangeReader, progress: ProgressReporter) -> Iterator[Outcome]:
    """The outcomes, with reports to the display now and then of how far the reader is."""
    told = records = 0
    for outcome in reader:
        yield outcome
        records += 1
        if records == _REPORT_RECORDS:
            progress.update(reader.bytes_read - told, records, "reading")
            told, records = reader.bytes_read, 0
    progress.update(reader.bytes_read - told, records, "reading")
