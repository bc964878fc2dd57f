"""The chain of records of a crawl file, read from any point of it.

A *start* is an offset where a unit (a gzip member, a zstd frame, a line of a plain file)
begins that holds a record header. It is a property of the bytes at that offset alone, so
every reader of any part of the file agrees on it. The chain goes from record to record;
where a stretch cannot be read it becomes one reject at its first byte and the chain goes
on at the next start behind that byte.

A reader of a range [start, end) that begins in the middle of a file speculates: it takes
the first start in its range. It reads the records that begin before `end`, and the
garbage its chain ends in, up to the next start (`next_start`). Speculation can be fooled
by a crawl file stored inside a record; `ranges.true_starts` finds from the `next_start` of
all ranges which records are true. This is exact for gzip only: a fooled reader comes back to
the true chain, because bytes that lie across the end of a record cannot have the checksum
of a member that was stored in it. In a plain file, or in a zstd frame without checksum, a
page could hold the header of a record just as long as what the crawler wrote behind it, and
a fooled reader would pass over that; such files are read from their first byte only.

Offsets are unique in a file: the record number i (from 0) of one compressed unit at offset p
has offset p + i, and a unit with more records than bytes is cut off with a reject.
"""

from collections.abc import Generator, Iterator
from typing import Any, Protocol

from beam_reuse.core.pages import Outcome, RawPage, Rejected
from beam_reuse.io.crawl.members import HEAD, Corrupt, Inflated, Units
from beam_reuse.io.crawl.records import (
    SCAN,
    Place,
    Record,
    RecordFormat,
    find_record,
    frame,
    starts_line,
)
from beam_reuse.io.crawl.window import Window

WARC = "warc"
"""The form of a record of a plain file as it is stored; that of a compressed one has the suffix
of the compression, too."""
_SLACK = 16


class Chain(Protocol):
    """The starts of a file, and the records that follow each."""

    size: int
    first: int
    """Where the chain of the whole file begins."""

    def open(self, pos: int) -> Any:
        """What `read` needs of the unit at `pos`; `Corrupt` if `pos` is no start."""

    def find(self, pos: int, limit: int) -> int | None:
        """The first start at `pos` or later, before `limit`; None if there is none."""

    def read(self, pos: int, unit: Any) -> Generator[Outcome, None, int]:
        """The outcomes of the unit at start `pos`; returns where the chain goes on."""


class RangeChain:
    """Outcomes of the range [start, end) of a chain; iterate once.

    `position` moves on while iterating; `next_start` is set at the end: where the chain
    goes on, at or behind `end`.
    """

    def __init__(self, file: str, chain: Chain, start: int, end: int) -> None:
        self._file = file
        self._chain = chain
        self._end = end
        self.position = start
        self.next_start = end

    def __iter__(self) -> Iterator[Outcome]:
        chain = self._chain
        found = chain.find(self.position, self._end) if self.position else chain.first
        pos = self._end if found is None else found
        while found is not None and pos < chain.size:
            self.position = pos
            try:
                unit = chain.open(pos)
            except Corrupt as bad:
                after = chain.find(pos + 1, chain.size)
                yield reject(self._file, pos, bad, after)
                pos = chain.size if after is None else after
                continue
            if pos >= self._end:
                break
            pos = yield from chain.read(pos, unit)
        self.position = self.next_start = pos


def reject(file: str, offset: int, bad: Corrupt, after: int | None) -> Rejected:
    """The reject of a stretch; `after` is where reading goes on, None at the file's end.

    Where records follow, the file was not truncated: something else is wrong.
    """
    reason = bad.reason
    if reason == "truncated" and after is not None:
        reason = "bad-length"
    return Rejected(file, offset, bad.url, reason, bad.detail)


class PlainChain:
    """Records one after another in a file that is not compressed; see `Chain`."""

    def __init__(self, file: str, window: Window, form: RecordFormat, limit: int,
                 stores: bool = False) -> None:
        self.size = window.size
        self.first = 0
        self._stores = stores
        self._file = file
        self._window = window
        self._form = form
        self._limit = limit

    def open(self, pos: int) -> None:
        buffer, a, b = self._window.span(pos, HEAD)
        if not self._form.start.match(buffer, a, b) or not starts_line(self._window, pos):
            raise Corrupt("garbage", "no record starts here")

    def find(self, pos: int, limit: int) -> int | None:
        return find_record(self._window, pos, self._form, limit)

    def read(self, pos: int, unit: None) -> Generator[Outcome, None, int]:
        try:
            record = frame(self._window, pos, self._form, self._limit)
        except Corrupt as bad:
            after = self.find(pos + 1, self.size)
            yield reject(self._file, pos, bad, after)
            return self.size if after is None else after
        outcome = self._form.outcome(record, Place(self._file, pos, record.next - pos))
        if self._stores and isinstance(outcome, RawPage):
            buffer, a, b = self._window.span(pos, record.next - pos)
            outcome = outcome._replace(stored=buffer[a:b], form=WARC)
        yield outcome
        return record.next


class CompressedChain:
    """Gzip members or zstd frames, each with one record or more; see `Chain`."""

    def __init__(self, file: str, window: Window, units: Units, form: RecordFormat,
                 limit: int, stores: bool = False) -> None:
        self._stores = stores
        self.size = window.size
        self.first = units.first()
        self._file = file
        self._window = window
        self._units = units
        self._form = form
        self._limit = limit

    def open(self, pos: int) -> Inflated:
        unit = self._units.open(pos)
        if not self._form.start.match(unit.head):
            if unit.end is None and self.size - pos < HEAD:
                raise Corrupt("truncated", f"the file ends inside a {self._units.name}")
            raise Corrupt("garbage", f"a {self._units.name} that holds no record")
        return unit

    def find(self, pos: int, limit: int) -> int | None:
        magic = self._units.magic
        while pos < limit:
            buffer, a, b = self._window.span(pos, SCAN)
            i = buffer.find(magic, a, b)
            if i < 0:
                if b - a < SCAN:
                    return None
                pos += b - a - len(magic) + 1
                continue
            pos += i - a
            if pos >= limit:
                return None
            try:
                self.open(pos)
            except Corrupt:
                pos += 1
            else:
                return pos
        return None

    def read(self, pos: int, unit: Inflated) -> Generator[Outcome, None, int]:
        at = index = 0
        trusted = pos == self.first
        while True:
            offset = pos + index
            try:
                if index and index + _SLACK > unit.consumed():
                    raise Corrupt("too-many-records", "more records than compressed bytes",
                                  sound=True)
                record = frame(unit, at, self._form, self._limit)
                last = unit.ends_at(record.next)
                trusted = trusted or last or self._trust(pos)
            except Corrupt as bad:
                found = self._find_inside(unit, at, bad, trusted)
                if found is None:
                    after = self.find(unit.finish() if bad.sound else offset + 1, self.size)
                    yield reject(self._file, offset, bad, after)
                    return self.size if after is None else after
                yield reject(self._file, offset, bad, offset)
                at, trusted = found, True
            else:
                length = unit.finish() - pos if last and not index else record.next - at
                outcome = self._form.outcome(record, Place(self._file, offset, length))
                if self._stores and isinstance(outcome, RawPage):
                    outcome = outcome._replace(
                        stored=self._stored(unit, at, record, last and not index),
                        form=WARC + self._units.suffix)
                yield outcome
                if last:
                    return unit.finish()
                at = record.next
            unit.release(at - 1)
            index += 1

    def _stored(self, unit: Inflated, at: int, record: Record, alone: bool) -> bytes:
        """A record as it is in the file, if it is `alone` in its unit; else in one of its own."""
        if alone and self._units.stand_alone:
            buffer, a, b = self._window.span(unit.start, unit.finish() - unit.start)
            return buffer[a:b]
        buffer, a, b = unit.span(at, record.next - at)
        return self._units.packed(buffer[a:b])

    def _trust(self, pos: int) -> bool:
        """True if the unit at `pos` is sound to its end, else `Corrupt`.

        A unit with more than one record is looked through before the first is given out,
        unless it begins the file (one that was compressed as a whole, and is read from its
        first byte): in another place it may be a page's own, made up to add records.
        """
        self._units.open(pos).finish()
        return True

    def _find_inside(self, unit: Inflated, at: int, bad: Corrupt, trusted: bool) -> int | None:
        """Where the next record starts inside the unit, None if none does.

        A unit that turns out to be corrupt further on is no longer `bad.sound`.
        """
        if not bad.sound:
            return None
        if bad.reason == "truncated":
            bad.reason = "bad-length"
        try:
            if bad.reason == "too-many-records":
                unit.finish()
                return None
            found = find_record(unit, max(at, unit.base) + 1, self._form)
            if found is not None and not trusted:
                self._trust(unit.start)
            return found
        except Corrupt:
            bad.sound = False
            return None
