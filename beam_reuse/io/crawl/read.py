"""One piece of work read: every record of it becomes exactly one outcome."""

from collections.abc import Iterator
from typing import Protocol

from beam_reuse.core.pages import Outcome, Rejected
from beam_reuse.core.settings import ReadSettings
from beam_reuse.io.crawl.arc import ArcFormat
from beam_reuse.io.crawl.chain import Chain, CompressedChain, PlainChain, RangeChain
from beam_reuse.io.crawl.folder import read_page
from beam_reuse.io.crawl.inputs import InputFile
from beam_reuse.io.crawl.parquet_rows import ParquetRows
from beam_reuse.io.crawl.ranges import NO_DOUBT, FileRange
from beam_reuse.io.crawl.records import RecordFormat
from beam_reuse.io.crawl.rows import Lines
from beam_reuse.io.crawl.sniff import FileFormat, sniff
from beam_reuse.io.crawl.warc import WarcFormat
from beam_reuse.io.crawl.window import Window, open_window


class Outcomes(Protocol):
    """Outcomes of a part of a file; `position` is how far it is while iterating."""

    position: int

    def __iter__(self) -> Iterator[Outcome]: ...


class RangeReader:
    """The outcomes of a range, ordered by offset in each file; iterate once.

    `records` and `bytes_read` move on while iterating and may be polled. At the end
    `next_start` is what `ranges.true_starts` wants: where the chain of records goes on, or
    `NO_DOUBT` where all outcomes are true. Files that cannot be read from the middle are read
    whole by the range that begins them.
    """

    def __init__(self, piece: FileRange, settings: ReadSettings) -> None:
        self._piece = piece
        self._settings = settings
        self._source: Outcomes | None = None
        self._done = 0
        self._start = 0
        self.records = 0
        self.next_start = NO_DOUBT

    @property
    def bytes_read(self) -> int:
        """Bytes of the range that are behind the reader; the range's size at the end."""
        here = self._source.position - self._start if self._source else 0
        return min(self._done + max(here, 0), self._piece.size)

    def __iter__(self) -> Iterator[Outcome]:
        piece = self._piece
        for file in piece.files:
            start, end = (piece.start, piece.end) if piece.is_part else (0, file.size)
            self._start = start
            try:
                for outcome in self._read(file, start, end):
                    self.records += 1
                    yield outcome
            except PermissionError as error:
                if self._source is not None:  # it was open: what is left of it must not vanish
                    raise
                if start == 0:  # every range of the file fails alike; one of them reports it
                    self.records += 1
                    yield Rejected(file.path, 0, "", "unreadable", f"{error.strerror or error}")
            except (OSError, MemoryError):
                raise
            except Exception as error:  # whatever a file holds, it must not stop the run
                at = self._source.position if self._source else start
                self.records += 1
                yield Rejected(file.path, at, "", "unreadable",
                               f"{type(error).__name__}: {error}"[:200])
            self._source = None
            self._done += end - start

    def _read(self, file: InputFile, start: int, end: int) -> Iterator[Outcome]:
        if file.unreadable:
            yield Rejected(file.path, 0, "", "unreadable", f"it is {file.unreadable}")
            return
        if file.size == 0:
            yield Rejected(file.path, 0, "", "empty-file", "the file holds nothing")
            return
        with open_window(file.path, file.size) as window:
            form = sniff(window, file.path)
            if form.content == "page":
                if start == 0:
                    yield read_page(file, window, form.units, self._settings)
                return
            source = self._source_of(file, window, form, start, end)
            self._source = source
            yield from source
            if isinstance(source, RangeChain) and form.splittable and self._piece.is_part:
                self.next_start = source.next_start

    def _source_of(self, file: InputFile, window: Window, form: FileFormat, start: int,
                   end: int) -> Outcomes:
        if form.content == "parquet":
            return ParquetRows(file.path, file.size, start, end, self._settings)
        if form.content == "jsonl":
            return Lines(file.path, window, form.units, start, end, self._settings)
        if not form.splittable:
            start, end = (0, file.size) if start == 0 else (file.size, file.size)
        return RangeChain(file.path, _chain(file, window, form, self._settings), start, end)


def _chain(file: InputFile, window: Window, form: FileFormat, settings: ReadSettings) -> Chain:
    records: RecordFormat = (
        WarcFormat(settings) if form.content == "warc" else ArcFormat(settings))
    limit, stores = settings.max_record_bytes, form.content in settings.stored
    if form.units is None:
        return PlainChain(file.path, window, records, limit, stores)
    return CompressedChain(file.path, window, form.units, records, limit, stores)


def read_range(piece: FileRange, settings: ReadSettings) -> Iterator[Outcome]:
    """The outcomes of a range, for callers that need neither progress nor the fold."""
    return iter(RangeReader(piece, settings))
