"""One piece of work read: every record of it becomes exactly one outcome."""

from collections.abc import Iterator

from beam_reuse.core.pages import Outcome, Rejected
from beam_reuse.core.settings import ReadSettings
from beam_reuse.io.arc import ArcFormat
from beam_reuse.io.chain import Chain, CompressedChain, PlainChain, RangeChain
from beam_reuse.io.inputs import InputFile
from beam_reuse.io.ranges import FileRange
from beam_reuse.io.records import RecordFormat
from beam_reuse.io.sniff import FileFormat, sniff
from beam_reuse.io.warc import WarcFormat
from beam_reuse.io.window import Window, open_window


class RangeReader:
    """The outcomes of a range; iterate once.

    `records` and `bytes_read` move on while iterating and may be polled. At the end
    `next_start` is what `ranges.true_starts` wants: where the chain of records goes on, or
    None where there is no doubt (whole files, rows). `known_start` reads the range from an
    offset the chain is known to pass, instead of looking for the first record.
    """

    def __init__(self, piece: FileRange, settings: ReadSettings,
                 known_start: int | None = None) -> None:
        self._piece = piece
        self._settings = settings
        self._known_start = known_start
        self._done = 0
        self._chain: RangeChain | None = None
        self.records = 0
        self.next_start: int | None = None

    @property
    def bytes_read(self) -> int:
        """Bytes of the range that are behind the reader; `piece.size` at the end."""
        if self._chain is None:
            return self._done
        here = self._chain.position - self._piece.start if self._piece.is_part else \
            self._chain.position
        return self._done + here

    def __iter__(self) -> Iterator[Outcome]:
        for file in self._piece.files:
            for outcome in self._read_file(file):
                self.records += 1
                yield outcome
            self._chain = None
            self._done += file.size if not self._piece.is_part else self._piece.size

    def _read_file(self, file: InputFile) -> Iterator[Outcome]:
        if file.size == 0:
            yield Rejected(file.path, 0, "", "empty-file", "the file holds nothing")
            return
        with open_window(file.path, file.size) as window:
            form = sniff(window, file.path)
            yield from self._read_chain(file, window, form)

    def _read_chain(self, file: InputFile, window: Window, form: FileFormat) -> Iterator[Outcome]:
        records: RecordFormat = (
            WarcFormat(self._settings) if form.content == "warc" else ArcFormat(self._settings))
        limit = self._settings.max_record_bytes
        chain: Chain
        first = 0
        if form.units is None:
            chain = PlainChain(file.path, window, records, limit)
        else:
            chain = CompressedChain(file.path, window, form.units, records, limit)
            first = form.units.first()
        start, end = (self._piece.start, self._piece.end) if self._piece.is_part else (
            0, file.size)
        if self._known_start is not None:
            start = self._known_start
        self._chain = RangeChain(file.path, chain, start or first, end,
                                 known=start == 0 or self._known_start is not None)
        yield from self._chain
        if self._piece.is_part:
            self.next_start = self._chain.next_start


def read_range(piece: FileRange, settings: ReadSettings) -> Iterator[Outcome]:
    """The outcomes of a range, for callers that need no progress and no fold."""
    return iter(RangeReader(piece, settings))
