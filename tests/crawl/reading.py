"""Ways to read a file in tests."""

from collections.abc import Iterable
from pathlib import Path

from beam_reuse.core.pages import Outcome, RawPage, Rejected, Skipped
from beam_reuse.core.settings import ReadSettings
from beam_reuse.io.crawl.inputs import list_files
from beam_reuse.io.crawl.ranges import FileRange, cut, true_starts
from beam_reuse.io.crawl.read import RangeReader


def read_whole(path: Path, settings: ReadSettings | None = None) -> list[Outcome]:
    """All outcomes of a file or folder, every file read in one piece."""
    outcomes: list[Outcome] = []
    for file in list_files([str(path)]):
        piece = FileRange(0, (file,), 0, file.size)
        reader = RangeReader(piece, settings or ReadSettings())
        found = list(reader)
        assert reader.records == len(found)
        assert reader.bytes_read == file.size
        outcomes += found
    return outcomes


def read_cut(path: Path, range_bytes: int, settings: ReadSettings | None = None) -> list[Outcome]:
    """All outcomes of a file that are true after it was cut into ranges of `range_bytes`."""
    readers = []
    for piece in cut(list_files([str(path)]), range_bytes):
        reader = RangeReader(FileRange.from_bytes(piece.to_bytes()), settings or ReadSettings())
        readers.append((piece, reader, list(reader)))
    starts = true_starts((p.start, p.end, reader.next_start) for p, reader, _ in readers)
    return [outcome for (_, _, found), start in zip(readers, starts, strict=True)
            for outcome in found if outcome.offset >= start]


def shape(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """Outcomes as `tests.broken.files` writes them."""
    return tuple(_word(outcome) for outcome in outcomes)


def _word(outcome: Outcome) -> str:
    match outcome:
        case RawPage():
            return "page"
        case Skipped(reason=reason):
            return f"skipped:{reason}"
        case Rejected(reason=reason):
            return f"rejected:{reason}"
